#include "train/run/sample.h"

#include <algorithm>
#include <cstring>

#include "base/limits.h"
#include "edge/os/files.h"
#include "train/fsdp/gather_window.h"
#include "train/model/bf16.h"

namespace muster::train {
namespace {

// This rank's slices in what is computed in.
std::vector<AlignedBytes> bf16_copies(const ShardedState& state) {
  std::vector<AlignedBytes> copies;
  for (const UnitShard& unit : state.units) {
    const std::size_t elements = unit.master.size() / sizeof(float);
    AlignedBytes copy(elements * sizeof(std::uint16_t));
    for (std::size_t i = 0; i < elements; ++i) {
      float value = 0;
      std::memcpy(&value, unit.master.data() + i * sizeof(float), sizeof(float));
      const std::uint16_t low = to_bf16(value);
      std::memcpy(copy.data() + i * sizeof(low), &low, sizeof(low));
    }
    copies.push_back(std::move(copy));
  }
  return copies;
}

Result<std::int32_t> next_id(ModelMath& math, GatherWindow& window,
                             const std::vector<std::int32_t>& ids, std::vector<double>& logits) {
  const std::vector<std::uint8_t> counted(ids.size(), 0);
  const MicroBatch batch{1, ids.size(), ids, counted};
  if (const Status begun = math.begin(batch, 1); !begun) return begun.error();
  const auto& stages = math.plan().stages();
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    window.start(stages[stage].unit);
    const auto weights = window.wait(stages[stage].unit);
    if (!weights) return weights.error();
    if (stage + 1 < stages.size()) {
      math.forward(stage, *weights);
    } else {
      math.logits(ids.size() - 1, *weights, logits);
    }
  }
  const auto most = std::max_element(logits.begin(), logits.end());
  return static_cast<std::int32_t>(most - logits.begin());
}

}  // namespace

Result<std::vector<std::int32_t>> continue_ids(ModelMath& math, const ShardedState& state,
                                               Communicator& shards,
                                               std::span<const std::int32_t> prompt,
                                               std::int32_t end, std::uint64_t most) {
  std::vector<AlignedBytes> copies;
  if (math.compute() == Dtype::bf16) copies = bf16_copies(state);
  std::vector<const std::byte*> slices;
  for (std::size_t unit = 0; unit < state.units.size(); ++unit) {
    slices.push_back(copies.empty() ? state.units[unit].master.data() : copies[unit].data());
  }
  GatherWindow window(math.plan(), math.compute(), std::move(slices), shards, 0);
  std::vector<std::int32_t> ids(prompt.begin(), prompt.end()), out;
  std::vector<double> logits(math.plan().units()[0].tensors[0].shape[0]);  // the vocabulary
  while (out.size() < most) {
    const auto id = next_id(math, window, ids, logits);
    if (!id) return id.error();
    if (*id == end) break;
    ids.push_back(*id);
    out.push_back(*id);
  }
  window.drain();
  return out;
}

Result<std::unique_ptr<const Tokenizer>> load_tokenizer(const std::string& path) {
  const auto info = real_files().stat(path);
  const bool folder = info && info->type == FileInfo::Type::folder;
  const std::string file = folder ? path + "/tokenizer.json" : path;
  const auto bytes = read_whole(real_files(), file, limits::kDocumentBytes);
  if (!bytes) return bytes.error();
  auto tokenizer = Tokenizer::from_json(*bytes);
  if (!tokenizer) return within(file, tokenizer.error());
  return tokenizer;
}

}  // namespace muster::train
