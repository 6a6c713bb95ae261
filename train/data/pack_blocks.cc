#include "train/data/pack_blocks.h"

#include <fmt/core.h>

#include <charconv>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/limits.h"
#include "core/blocks/loss_bits.h"
#include "core/blocks/pack_manifest.h"
#include "core/blocks/step_plan.h"
#include "edge/os/data_file.h"
#include "edge/os/files.h"

namespace muster::train {
namespace {

class PackBlocks final : public BlockSource {
 public:
  PackBlocks(blocks::PackManifest manifest, const blocks::StepPlan& plan, const StepCut& cut,
             DataReader ids, DataReader loss)
      : manifest_(std::move(manifest)),
        plan_(plan),
        cut_(cut),
        ids_(std::move(ids)),
        loss_(std::move(loss)),
        bits_(blocks::loss_bytes(manifest_.block_tokens)) {}

  std::uint64_t block_tokens() const override { return manifest_.block_tokens; }
  std::uint64_t blocks() const override { return manifest_.blocks; }
  std::uint64_t steps() const override { return plan_.steps(); }
  bool shared() const override { return true; }
  std::uint64_t digest() const override;
  Status read(std::uint64_t epoch, std::uint64_t step, StepBlocks& out) override;

 private:
  bool all_count() const { return manifest_.trained_tokens == manifest_.tokens(); }
  Status read_bits(std::uint64_t block);
  Result<std::uint64_t> labels_of_step(const blocks::EpochBlocks& order, std::uint64_t step);
  Status read_block(std::uint64_t block, std::span<std::int32_t> ids,
                    std::span<std::uint8_t> counted);

  blocks::PackManifest manifest_;
  blocks::StepPlan plan_;
  StepCut cut_;
  DataReader ids_, loss_;
  std::vector<std::uint8_t> bits_;  // of the loss, of one block
};

// The front of the identity: 16 of its 32 digits.
std::uint64_t PackBlocks::digest() const {
  const std::string identity = blocks::manifest_identity(manifest_);
  std::uint64_t out = 0;
  std::from_chars(identity.data(), identity.data() + 16, out, 16);
  return out;
}

// Blocks have a multiple of 8 tokens: their bits are whole bytes.
Status PackBlocks::read_bits(std::uint64_t block) {
  return loss_.read_at(block * bits_.size(), {reinterpret_cast<char*>(bits_.data()), bits_.size()});
}

// All ranks read the bits of all blocks of a step, a byte for every eight tokens.
Result<std::uint64_t> PackBlocks::labels_of_step(const blocks::EpochBlocks& order,
                                                 std::uint64_t step) {
  const std::uint64_t batch = cut_.global_batch();
  if (all_count()) return batch * (manifest_.block_tokens - 1);
  std::uint64_t out = 0;
  for (std::uint64_t i = 0; i < batch; ++i) {
    const Status done = read_bits(order.at(step * batch + i));
    if (!done) return done.error();
    out += blocks::count_set(bits_) - (bits_.front() & 1u);  // the first is nobody's next token
  }
  return out;
}

Status PackBlocks::read_block(std::uint64_t block, std::span<std::int32_t> ids,
                              std::span<std::uint8_t> counted) {
  const auto place = std::as_writable_bytes(ids);
  Status done =
      ids_.read_at(block * place.size(), {reinterpret_cast<char*>(place.data()), place.size()});
  if (done) done = read_bits(block);
  if (!done) return done;
  for (std::size_t t = 0; t < counted.size(); ++t) {
    counted[t] = static_cast<std::uint8_t>((bits_[t / 8] >> (t % 8)) & 1u);
  }
  return {};
}

Status PackBlocks::read(std::uint64_t epoch, std::uint64_t step, StepBlocks& out) {
  MUSTER_CHECK(step < steps(), "a step that there is");
  const std::uint64_t length = manifest_.block_tokens;
  out.micro_batch = cut_.micro_batch;
  out.length = length;
  out.ids.resize(cut_.accumulation * cut_.micro_batch * length);
  out.counted.resize(out.ids.size());
  const blocks::EpochBlocks order(plan_, cut_.seed, epoch);
  const auto labels = labels_of_step(order, step);
  if (!labels) return labels.error();
  out.labels = *labels;
  for (std::uint64_t k = 0; k < cut_.accumulation * cut_.micro_batch; ++k) {
    const std::uint64_t position =
        plan_.position(step, cut_.rank, k / cut_.micro_batch, k % cut_.micro_batch);
    const Status done =
        read_block(order.at(position), std::span(out.ids).subspan(k * length, length),
                   std::span(out.counted).subspan(k * length, length));
    if (!done) return done;
  }
  return {};
}

Result<DataReader> open_sized(const std::string& path, std::uint64_t bytes) {
  auto file = DataReader::open(path);
  if (file && file->bytes() != bytes) {
    return make_error(Errc::corrupt, fmt::format("{}: it has {} bytes, and its manifest says {}",
                                                 path, file->bytes(), bytes));
  }
  return file;
}

}  // namespace

Result<std::unique_ptr<BlockSource>> open_pack_blocks(const std::string& folder,
                                                      const StepCut& cut) {
  if (const Status fits = check_cut(cut); !fits) return fits.error();
  const std::string path = folder + "/" + std::string(blocks::kManifestName);
  const auto text = read_whole(real_files(), path, limits::kContractBytes);
  if (!text && text.error().code == Errc::not_found) {
    return make_error(Errc::not_found, folder + ": no pack: it has no manifest.json");
  }
  if (!text) return text.error();
  auto manifest = blocks::decode_manifest(*text);
  if (!manifest) return within(path, manifest.error());
  const blocks::StepShape shape{manifest->blocks, cut.global_batch(), cut.micro_batch, cut.world,
                                blocks::Remainder::drop};
  const auto plan = blocks::StepPlan::make(shape);
  if (!plan) return within(folder, plan.error());
  auto ids = open_sized(folder + "/" + std::string(blocks::kBlocksName), manifest->tokens() * 4);
  if (!ids) return ids.error();
  auto loss = open_sized(folder + "/" + std::string(blocks::kLossBitsName),
                         blocks::loss_bytes(manifest->tokens()));
  if (!loss) return loss.error();
  return std::unique_ptr<BlockSource>(std::make_unique<PackBlocks>(
      std::move(*manifest), *plan, cut, std::move(*ids), std::move(*loss)));
}

}  // namespace muster::train
