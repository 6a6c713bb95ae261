#include "app/pack_best_fit.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/memory_bytes.h"

namespace muster {
namespace {

constexpr std::size_t kIdsFile = 0, kEndsFile = 1, kLossFile = 2;
constexpr std::uint64_t kWindowTokens = 256 * 1024;

Error shorter() {
  return make_error(Errc::corrupt, "the spilled tokens are shorter than they were written");
}

// Positions in the stream of all documents' tokens.
class Stream {
 public:
  explicit Stream(const BestFitInput& input)
      : input_(input), spilled_(input.spilled_blocks * input.block_tokens) {}

  // The ends of all documents.
  Result<std::vector<std::uint64_t>> ends() {
    std::vector<std::uint64_t> out(input_.spill.files()[kEndsFile].bytes / sizeof(std::uint64_t));
    const auto n = input_.spill.read(kEndsFile, 0, writable_bytes(std::span(out)));
    if (!n) return n.error();
    if (*n != out.size() * sizeof(std::uint64_t)) return shorter();
    for (const std::uint64_t end : input_.pending.ends) out.push_back(spilled_ + end);
    return out;
  }

  // Tokens [begin, begin + to.size()) and their bits behind those that `bits` has.
  Status read(std::uint64_t begin, std::span<std::int32_t> to, blocks::LossBits& bits) {
    const std::uint64_t end = begin + to.size();
    const std::uint64_t cut = std::clamp(spilled_, begin, end);
    if (cut > begin) {
      const auto n = input_.spill.read(kIdsFile, begin * sizeof(std::int32_t),
                                       writable_bytes(to.first(cut - begin)));
      if (!n) return n.error();
      bytes_.resize((cut - 1) / 8 - begin / 8 + 1);
      const auto m = input_.spill.read(kLossFile, begin / 8, writable_bytes(std::span(bytes_)));
      if (!m) return m.error();
      if (*n != (cut - begin) * sizeof(std::int32_t) || *m != bytes_.size()) {
        return shorter();
      }
      bits.append(bytes_, begin % 8, cut - begin);
    }
    if (cut < end) {
      const std::uint64_t from = cut - spilled_;
      std::copy_n(input_.pending.ids.begin() + static_cast<std::ptrdiff_t>(from), end - cut,
                  to.begin() + static_cast<std::ptrdiff_t>(cut - begin));
      bits.append(input_.pending.trained.bytes(), from, end - cut);
    }
    return {};
  }

 private:
  const BestFitInput& input_;
  std::uint64_t spilled_;
  std::vector<std::uint8_t> bytes_;
};

// Where the text of each piece begins in the stream.
std::vector<std::uint64_t> begins_of(const std::vector<std::uint64_t>& lengths,
                                     const blocks::BestFitPlan& plan, std::uint32_t block_tokens,
                                     bool split) {
  std::vector<std::uint64_t> out;
  out.reserve(plan.pieces.size());
  std::uint64_t begin = 0;
  for (const std::uint64_t length : lengths) {
    std::uint64_t at = begin;
    for (std::uint64_t left = length; left > 0;
         left -= std::min<std::uint64_t>(left, block_tokens)) {
      out.push_back(at);
      at += block_tokens;
      if (!split) break;
    }
    begin += length;
  }
  return out;
}

}  // namespace

Result<blocks::BestFitPlan> write_best_fit(const BestFitInput& input, PackFiles& out,
                                           const std::stop_token& stop) {
  Stream stream(input);
  auto lengths = stream.ends();
  if (!lengths) return lengths.error();
  std::adjacent_difference(lengths->begin(), lengths->end(), lengths->begin());
  blocks::BestFitPlan plan = blocks::plan_best_fit(*lengths, input.block_tokens, input.split);
  const auto begins = begins_of(*lengths, plan, input.block_tokens, input.split);
  const auto& pieces = plan.pieces;
  std::vector<std::uint64_t> order(pieces.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&pieces](std::uint64_t a, std::uint64_t b) {
    return pieces[a].block != pieces[b].block ? pieces[a].block < pieces[b].block
                                              : pieces[a].offset < pieces[b].offset;
  });
  const std::uint64_t L = input.block_tokens;
  const std::uint64_t window = std::max<std::uint64_t>(1, kWindowTokens / L);
  std::vector<std::int32_t> ids;
  std::size_t next = 0;
  for (std::uint64_t first = 0; first < plan.blocks; first += window) {
    if (stop.stop_requested()) return make_error(Errc::unavailable, "interrupted");
    const std::uint64_t count = std::min(window, plan.blocks - first);
    ids.assign(count * L, input.pad);
    blocks::LossBits bits;
    for (; next < order.size() && pieces[order[next]].block < first + count; ++next) {
      const blocks::PiecePlace& piece = pieces[order[next]];
      const std::uint64_t at = (piece.block - first) * L + piece.offset;
      bits.append(at - bits.size(), false);
      const Status read =
          stream.read(begins[order[next]], std::span(ids).subspan(at, piece.tokens), bits);
      if (!read) return read.error();
    }
    bits.append(count * L - bits.size(), false);
    if (Status done = out.blocks(first, ids, bits.bytes()); !done) return done.error();
  }
  const auto ends = blocks::piece_ends(plan, input.block_tokens);
  if (Status done = out.ends(ends); !done) return done.error();
  return plan;
}

}  // namespace muster
