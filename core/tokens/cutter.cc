#include "core/tokens/cutter.h"

#include "base/check.h"

namespace muster::tokens {
namespace {

// What one long piece leaves behind is given back.
constexpr std::size_t kKept = 1 << 14;

}  // namespace

void Cutter::cut(std::string_view piece, std::vector<std::uint32_t>& ids) {
  const std::size_t first = ids.size();
  std::uint32_t token = table_.longest(piece);
  std::size_t at = 0;  // behind the tokens that are taken
  if (table_.bytes(token) == piece.size()) {
    ids.push_back(token);
    return;
  }
  if (closed_.size() > kKept) closed_ = {};
  closed_.assign(piece.size() / 64 + 1, 0);
  while (true) {
    const std::size_t end = at + table_.bytes(token);
    if ((closed_[end / 64] >> end % 64 & 1) == 0 &&
        (ids.size() == first || table_.stay(ids.back(), token, merges_))) {
      ids.push_back(token);
      at = end;
      if (at == piece.size()) return;
      token = table_.longest(piece.substr(at));
      continue;
    }
    token = table_.shorter(token);
    if (token != CutTable::kNone) continue;
    MUSTER_CHECK(ids.size() > first, "each piece has its tokens");
    closed_[at / 64] |= std::uint64_t{1} << at % 64;
    token = ids.back();
    ids.pop_back();
    at -= table_.bytes(token);
  }
}

}  // namespace muster::tokens
