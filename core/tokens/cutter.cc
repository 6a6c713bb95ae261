#include "core/tokens/cutter.h"

#include "base/check.h"

namespace muster::tokens {
namespace {

// What one long piece leaves behind is given back.
constexpr std::size_t kKept = 1 << 20;

}  // namespace

void Cutter::clear() {
  lanes_.clear();
  closed_.clear();
  used_ = 0;
  if (ids_.size() <= kKept) return;
  ids_ = {};
  closed_ = {};
}

std::size_t Cutter::add(std::string_view piece) {
  if (ids_.size() < used_ + piece.size()) ids_.resize((used_ + piece.size()) * 3 / 2);
  lanes_.push_back({.rest = piece,
                    .walk = table_.trie().begin(piece),
                    .border = {},
                    .begin = used_,
                    .closed = closed_.size(),
                    .size = piece.size()});
  used_ += piece.size();
  closed_.resize(closed_.size() + piece.size() / 64 + 1);
  return lanes_.size() - 1;
}

void Cutter::run() {
  for (std::uint32_t i = 0; i < lanes_.size(); ++i) walking_.push_back(i);
  while (!walking_.empty() || !judging_.empty()) {
    std::size_t kept = 0;
    for (const std::uint32_t i : walking_) {
      if (step(lanes_[i])) {
        walking_[kept++] = i;
      } else {
        judging_.push_back(i);
      }
    }
    walking_.resize(kept);
    kept = 0;
    for (const std::uint32_t i : judging_) {
      const Verdict verdict = judge(lanes_[i]);
      if (verdict == Verdict::open) judging_[kept++] = i;
      if (verdict == Verdict::taken) walking_.push_back(i);
    }
    judging_.resize(kept);
  }
}

// One byte further; false where the longest token is found.
bool Cutter::step(Lane& lane) {
  if (table_.trie().step(lane.rest, lane.walk)) return true;
  lane.token = lane.walk.token();
  begin_judging(lane);
  return false;
}

// The token is the longest that comes into question.
void Cutter::begin_judging(Lane& lane) {
  table_.prefetch(lane.token);
  lane.known = lane.count == 0;
  if (lane.known) return;
  lane.first = lane.token;
  const Known& before = known(last_of(lane), lane.token);
  if (before.left == last_of(lane) && before.first == lane.token) {
    lane.known = true;
    lane.token = before.token;
    return;
  }
  lane.border = {last_of(lane), lane.token, MergeTable::kNone};
  merges_.prefetch(lane.border.left, lane.border.right);
}

// One look back in time at the border before the token.
Cutter::Verdict Cutter::judge(Lane& lane) {
  if (lane.known) return lane.token == kNone ? go_back(lane) : take(lane);
  if (merges_.rank(lane.border.left, lane.border.right) < lane.border.limit) {
    lane.token = table_.shorter(lane.token);
    if (lane.token == kNone) {
      remember(lane, kNone);
      return go_back(lane);
    }
    lane.border = {last_of(lane), lane.token, MergeTable::kNone};
    table_.prefetch(lane.token);
    merges_.prefetch(lane.border.left, lane.border.right);
    return Verdict::open;
  }
  const auto last = static_cast<unsigned char>(lane.rest.data()[-1]);
  const auto next = static_cast<unsigned char>(lane.rest.front());
  if (!table_.back(lane.border) || lane.border.limit <= table_.lowest(last, next)) {
    remember(lane, lane.token);
    return take(lane);
  }
  merges_.prefetch(lane.border.left, lane.border.right);
  return Verdict::open;
}

Cutter::Verdict Cutter::take(Lane& lane) {
  const std::size_t size = table_.bytes(lane.token);
  const std::size_t end = lane.size - lane.rest.size() + size;
  if ((closed_word(lane, end) >> end % 64 & 1) != 0) {
    lane.token = table_.shorter(lane.token);
    if (lane.token == kNone) return go_back(lane);
    begin_judging(lane);
    return Verdict::open;
  }
  ids_[lane.begin + lane.count++] = lane.token;
  lane.rest.remove_prefix(size);
  if (lane.rest.empty()) return Verdict::done;
  lane.walk = table_.trie().begin(lane.rest);
  return Verdict::taken;
}

// Nothing behind the last token is left: shorter ones in its place.
Cutter::Verdict Cutter::go_back(Lane& lane) {
  do {
    MUSTER_CHECK(lane.count > 0, "each piece has its tokens");
    const std::size_t at = lane.size - lane.rest.size();
    closed_word(lane, at) |= std::uint64_t{1} << at % 64;
    const std::uint32_t token = ids_[lane.begin + --lane.count];
    const std::size_t back = table_.bytes(token);
    lane.rest = {lane.rest.data() - back, lane.rest.size() + back};
    lane.token = table_.shorter(token);
  } while (lane.token == kNone);
  begin_judging(lane);
  return Verdict::open;
}

}  // namespace muster::tokens
