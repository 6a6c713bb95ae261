#include "train/run/sample.h"

#include <optional>

#include "base/limits.h"
#include "edge/os/files.h"
#include "train/fsdp/gather_window.h"
#include "train/math/generate.h"

namespace muster::train {
namespace {

// This rank's slices in what is computed in.
std::vector<AlignedBytes> bf16_copies(const ShardedState& state) {
  std::vector<AlignedBytes> copies;
  for (std::size_t unit = 0; unit < state.units.size(); ++unit) {
    const std::uint64_t slice = state.plan->slice(unit, state.shards);
    copies.emplace_back(slice * dtype_bytes(Dtype::bf16));
    round_to_bf16(state.dtype, state.units[unit].master.data(), copies.back().data(), slice);
  }
  return copies;
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
  std::optional<Error> fault;
  AlignedBytes nothing;  // weights of a unit that did not come: what is computed is thrown away
  const auto weights = [&](std::size_t unit) -> const std::byte* {
    if (!fault) {
      window.start(unit);
      const auto whole = window.wait(unit);
      if (whole) return *whole;
      fault = whole.error();
      nothing = AlignedBytes(math.plan().largest_unit(state.shards) * dtype_bytes(math.compute()));
    }
    return nothing.data();
  };
  auto ids = generate(math, weights, prompt, {.tokens = most, .stop = end});
  window.drain();
  if (fault) return *fault;
  return ids;
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
