#include "train/data/rank_file_blocks.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/limits.h"
#include "core/blocks/block_hash.h"
#include "core/blocks/block_order.h"
#include "edge/os/data_file.h"

namespace muster::train {
namespace {

constexpr std::uint64_t kChunkBytes = 4 * 1024 * 1024;

class RankFileBlocks final : public BlockSource {
 public:
  RankFileBlocks(DataReader file, std::uint64_t block_tokens, const StepCut& cut)
      : file_(std::move(file)),
        block_tokens_(block_tokens),
        blocks_(file_.bytes() / (4 * block_tokens)),
        cut_(cut) {}

  std::uint64_t block_tokens() const override { return block_tokens_; }
  std::uint64_t blocks() const override { return blocks_; }
  std::uint64_t steps() const override { return blocks_ / blocks_of_step(); }
  bool shared() const override { return false; }
  std::uint64_t digest() const override { return digest_; }

  // Reads the whole file once: a step of training reads as fast as this, and takes longer.
  Status take_digest() {
    blocks::RunningHash hash;
    std::string chunk;
    for (std::uint64_t at = 0; at < file_.bytes(); at += chunk.size()) {
      chunk.resize(std::min(kChunkBytes, file_.bytes() - at));
      if (const Status read = file_.read_at(at, chunk); !read) return read;
      hash.add(chunk);
    }
    digest_ = hash.value().low;
    return {};
  }

  Status read(std::uint64_t epoch, std::uint64_t step, StepBlocks& out) override {
    MUSTER_CHECK(step < steps(), "a step that there is");
    out.micro_batch = cut_.micro_batch;
    out.length = block_tokens_;
    out.ids.resize(blocks_of_step() * block_tokens_);
    out.counted.assign(out.ids.size(), 1);
    out.labels = cut_.global_batch() * (block_tokens_ - 1);
    const blocks::BlockOrder order(blocks_, cut_.seed, epoch);
    for (std::uint64_t i = 0; i < blocks_of_step(); ++i) {
      const std::uint64_t block = order.at(step * blocks_of_step() + i);
      const auto place =
          std::as_writable_bytes(std::span(out.ids).subspan(i * block_tokens_, block_tokens_));
      const Status done = file_.read_at(block * block_tokens_ * 4,
                                        {reinterpret_cast<char*>(place.data()), place.size()});
      if (!done) return done;
    }
    return {};
  }

 private:
  std::uint64_t blocks_of_step() const { return cut_.accumulation * cut_.micro_batch; }

  DataReader file_;
  std::uint64_t block_tokens_, blocks_, digest_ = 0;
  StepCut cut_;
};

}  // namespace

Result<std::unique_ptr<BlockSource>> open_rank_file(const std::string& path,
                                                    std::uint64_t block_tokens,
                                                    const StepCut& cut) {
  if (block_tokens < 2 || block_tokens > limits::kPackBlockTokens) {
    return make_error(Errc::invalid_input, fmt::format("blocks of {} tokens: 2 to {} are possible",
                                                       block_tokens, limits::kPackBlockTokens));
  }
  if (const Status fits = check_cut(cut); !fits) return fits.error();
  auto file = DataReader::open(path);
  if (!file) return file.error();
  auto out = std::make_unique<RankFileBlocks>(std::move(*file), block_tokens, cut);
  if (out->blocks() > limits::kPackBlocks) {
    return make_error(Errc::invalid_input,
                      fmt::format("{}: more than {} blocks", path, limits::kPackBlocks));
  }
  if (out->steps() == 0) {
    return make_error(
        Errc::invalid_input,
        fmt::format("{}: {} blocks of {} tokens are fewer than the {} of one step", path,
                    out->blocks(), block_tokens, cut.accumulation * cut.micro_batch));
  }
  if (const Status read = out->take_digest(); !read) return read.error();
  return std::unique_ptr<BlockSource>(std::move(out));
}

}  // namespace muster::train
