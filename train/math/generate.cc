#include "train/math/generate.h"

#include <algorithm>
#include <cmath>

#include "base/hash_mix.h"

namespace muster::train {
namespace {

// Texts are padded to multiples of this: the mathematics need memory and code for each length, and
// no token sees what stands behind it.
constexpr std::size_t kPadding = 64;

// In [0, 1), another one for each place of a text.
double chance(std::uint64_t seed, std::uint64_t place) {
  std::uint64_t bits = mix(mix(kHashSeed, seed), place);
  bits ^= bits >> 29;
  return static_cast<double>((bits * 0xbf58476d1ce4e5b9ULL) >> 11) * 0x1p-53;
}

std::int32_t pick(std::span<double> logits, double temperature, double lot) {
  const auto best = std::max_element(logits.begin(), logits.end());
  const auto likeliest = static_cast<std::int32_t>(best - logits.begin());
  if (!(temperature > 0)) return likeliest;
  const double most = *best;
  double sum = 0;
  for (double& logit : logits) sum += logit = std::exp((logit - most) / temperature);
  double left = lot * sum;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    left -= logits[i];
    if (left < 0) return static_cast<std::int32_t>(i);
  }
  return likeliest;
}

}  // namespace

Result<std::vector<std::int32_t>> generate(ModelMath& math, const UnitWeights& weights,
                                           std::span<const std::int32_t> prompt,
                                           const Sampling& sampling) {
  if (prompt.empty()) return make_error(Errc::invalid_input, "a sample needs a prompt");
  const std::vector<Stage>& stages = math.plan().stages();
  const Unit& embed = math.plan().units()[stages.front().unit];
  std::vector<double> logits(embed.tensors.front().shape.front());
  std::vector<std::int32_t> ids(prompt.begin(), prompt.end());
  std::vector<std::int32_t> out;
  while (out.size() < sampling.tokens) {
    const std::size_t last = ids.size() - 1;
    std::vector<std::int32_t> padded = ids;
    padded.resize((ids.size() + kPadding - 1) / kPadding * kPadding);
    const std::vector<std::uint8_t> counted(padded.size(), 0);
    const Status begun = math.begin({1, padded.size(), padded, counted}, 1);
    if (!begun) return begun.error();
    for (std::size_t stage = 0; stage + 1 < stages.size(); ++stage) {
      math.forward(stage, weights(stages[stage].unit));
    }
    math.logits(last, weights(stages.back().unit), logits);
    const std::int32_t next = pick(logits, sampling.temperature, chance(sampling.seed, last));
    if (next == sampling.stop) break;
    ids.push_back(next);
    out.push_back(next);
  }
  return out;
}

}  // namespace muster::train
