#include "train/comm/shm_exchange.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "edge/os/clock.h"
#include "train/comm/futex.h"
#include "train/comm/rank_sum.h"

namespace muster::train {
namespace {

// Between looks at who has left.
constexpr Duration kLook = std::chrono::milliseconds(100);
// Loads of the word before going to sleep: under a microsecond, for ranks that come together.
constexpr int kLooksAwake = 200;

}  // namespace

// ---- what the groups of one rank share ---------------------------------------------------------

std::byte* ShmHold::group(std::uint32_t number) const {
  return memory_->data() + number * shm_group_bytes(static_cast<std::size_t>(world_));
}

Status ShmHold::watch() {
  const auto* slots = reinterpret_cast<const ShmSlot*>(group(0) + sizeof(ShmHead));
  std::vector<int> pids, ranks;
  for (int rank = 0; rank < world_; ++rank) {
    const int pid = slots[rank].pid.load();
    if (pid == getpid()) continue;
    pids.push_back(pid);
    ranks.push_back(rank);
  }
  if (pids.empty()) return {};
  auto watch = ProcessWatch::start(pids, [this, ranks](std::size_t i) { ended(ranks[i]); });
  if (!watch) return watch.error();
  watch_ = std::move(*watch);
  return {};
}

void ShmHold::ended(int rank) {
  const std::lock_guard lock(mutex_);
  for (ShmExchange* group : groups_) {
    const auto member = std::ranges::lower_bound(group->ranks_, rank);
    if (member == group->ranks_.end() || *member != rank) continue;
    const auto place = static_cast<std::size_t>(member - group->ranks_.begin());
    if (group->slots_[place].presence.load() == ShmPresence::left) continue;
    group->fail(rank_gone(rank, "is gone: its process ended"));
  }
}

// ---- one group ---------------------------------------------------------------------------------

ShmExchange::ShmExchange(std::shared_ptr<ShmHold> hold, std::uint32_t group, std::vector<int> ranks)
    : hold_(std::move(hold)), ranks_(std::move(ranks)), parts_(ranks_.size()) {
  const auto own = std::ranges::lower_bound(ranks_, hold_->rank());
  MUSTER_CHECK(own != ranks_.end() && *own == hold_->rank(), "a member of its own group");
  place_ = static_cast<std::size_t>(own - ranks_.begin());
  std::byte* base = hold_->group(group);
  head_ = reinterpret_cast<ShmHead*>(base);
  slots_ = reinterpret_cast<ShmSlot*>(base + sizeof(ShmHead));
  pieces_ = base + shm_pieces_at(ranks_.size());
  slots_[place_].pid.store(getpid());
  slots_[place_].presence.store(ShmPresence::there);
  const std::lock_guard lock(hold_->mutex_);
  hold_->groups_.push_back(this);
}

ShmExchange::~ShmExchange() {
  const std::lock_guard lock(hold_->mutex_);
  std::erase(hold_->groups_, this);
}

std::byte* ShmExchange::piece(std::size_t member) const {
  return pieces_ + (2 * member + (rounds_ & 1)) * kPieceBytes;
}

std::vector<int> ShmExchange::missing() const {
  std::vector<int> out;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    if (slots_[i].rounds.load() <= rounds_) out.push_back(ranks_[i]);
  }
  return out;
}

std::optional<int> ShmExchange::leaver() const {
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    // It may have come to this round before it left: looked at in this order.
    const bool left = slots_[i].presence.load() == ShmPresence::left;
    if (left && slots_[i].rounds.load() <= rounds_) return ranks_[i];
  }
  return std::nullopt;
}

// Whether there is still something to wait for; tells of the failure where there is none.
bool ShmExchange::may_wait_on() {
  if (failed()) return false;
  if (const auto rank = leaver()) {
    fail(rank_gone(*rank, fmt::format("has left, and does not come to {}, call {} of the group",
                                      describe_call(call_), call_.seq)));
    return false;
  }
  if (until_ && system_clock().mono() >= *until_) {
    const std::vector<int> late = stalled_ ? std::vector<int>() : missing();
    // Nobody: the last has come just now.
    if (stalled_ || !late.empty())
      fail(missed_deadline(late, call_, system_clock().mono() - came_));
    return !stalled_ && late.empty();
  }
  return true;
}

bool ShmExchange::arrive() {
  const auto before = static_cast<std::uint32_t>(2 * rounds_);
  if (failed()) return false;
  slots_[place_].rounds.store(rounds_ + 1);
  if (head_->arrivals.fetch_add(1) + 1 == (rounds_ + 1) * ranks_.size()) {
    head_->epoch.fetch_add(2);
    if (head_->sleepers.load() > 0) futex_wake_all(head_->epoch);
    ++rounds_;
    return true;
  }
  const auto complete = [&](std::uint32_t epoch) { return (epoch & ~1u) != before; };
  std::uint32_t epoch = head_->epoch.load();
  for (int i = 0; i < kLooksAwake && epoch == before; ++i) epoch = head_->epoch.load();
  while (!complete(epoch)) {
    if (!may_wait_on()) return false;
    const Duration left = until_ ? *until_ - system_clock().mono() : kLook;
    head_->sleepers.fetch_add(1);
    futex_wait(head_->epoch, before, std::min(left, kLook));
    head_->sleepers.fetch_sub(1);
    epoch = head_->epoch.load();
  }
  ++rounds_;
  return true;  // all came: what failed since is for the next round
}

bool ShmExchange::meet(const CallSignature& own, std::optional<MonoTime> until,
                       std::span<CallSignature> all) {
  call_ = own;
  until_ = until;
  came_ = system_clock().mono();
  // Others may still read what this rank wrote two calls ago, where a failure ended that one.
  if (failed()) return false;
  slots_[place_].calls[own.seq & 1] = own;
  if (!arrive()) return false;
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = slots_[i].calls[own.seq & 1];
  return true;
}

bool ShmExchange::stall() {
  stalled_ = true;  // as in a round to which nobody comes
  while (may_wait_on()) futex_wait(head_->epoch, head_->epoch.load() & ~1u, kLook);
  return false;
}

bool ShmExchange::gather(const std::byte* shard, std::byte* full, std::size_t bytes) {
  std::byte* own = full + place_ * bytes;
  if (own != shard && bytes > 0) std::memmove(own, shard, bytes);
  const std::size_t members = ranks_.size();
  if (members == 1) return !failed();
  for (std::size_t at = 0; at < bytes; at += kPieceBytes) {
    const std::size_t n = std::min(kPieceBytes, bytes - at);
    std::memcpy(piece(place_), own + at, n);
    const auto round = rounds_;
    if (!arrive()) return false;
    // From the next one on: not all read the same piece at once.
    for (std::size_t i = 1; i < members; ++i) {
      const std::size_t from = (place_ + i) % members;
      const std::byte* source = pieces_ + (2 * from + (round & 1)) * kPieceBytes;
      std::memcpy(full + from * bytes + at, source, n);
    }
  }
  return true;
}

bool ShmExchange::reduce(const std::byte* full, std::byte* sum, std::size_t elements, Dtype wire) {
  const std::size_t members = ranks_.size();
  const std::size_t item = dtype_bytes(sum_dtype(wire));  // in `full`
  const std::size_t sent = dtype_bytes(wire);
  const std::size_t most = kPieceBytes / sent / members / 64 * 64;
  for (std::size_t at = 0; at < elements; at += most) {
    const std::size_t n = std::min(most, elements - at);
    std::byte* out = piece(place_);
    for (std::size_t to = 0; to < members; ++to) {
      const std::byte* from = full + (to * elements + at) * item;
      if (wire == Dtype::bf16) {
        to_wire_bf16(reinterpret_cast<const float*>(from),
                     reinterpret_cast<std::uint16_t*>(out + to * n * sent), n);
      } else if (to != place_) {
        std::memcpy(out + to * n * sent, from, n * sent);
      }
    }
    const auto round = rounds_;
    if (!arrive()) return false;
    for (std::size_t i = 0; i < members; ++i) {
      parts_[i] = pieces_ + (2 * i + (round & 1)) * kPieceBytes + place_ * n * sent;
    }
    if (wire != Dtype::bf16) parts_[place_] = full + (place_ * elements + at) * item;
    add_in_rank_order(parts_, sum + at * item, n, wire);
  }
  return !failed();
}

Result<std::unique_ptr<Exchange>> ShmExchange::split(std::span<const std::size_t> members) {
  std::vector<int> ranks;
  for (const std::size_t member : members) ranks.push_back(ranks_[member]);
  // The first of each colour takes a place in the memory for all of it.
  auto* first = reinterpret_cast<ShmHead*>(hold_->group(0));
  std::uint32_t group = 0;
  if (members.front() == place_) group = 1 + first->groups.fetch_add(1);
  std::vector<std::uint32_t> taken(ranks_.size());
  if (!gather(reinterpret_cast<const std::byte*>(&group),
              reinterpret_cast<std::byte*>(taken.data()), sizeof group)) {
    return make_error(Errc::unavailable, "the ranks no longer agree");
  }
  group = taken[members.front()];
  if (group >= kShmGroups) {
    return make_error(Errc::exhausted, fmt::format("more than {} groups of ranks", kShmGroups));
  }
  auto part = std::make_unique<ShmExchange>(hold_, group, std::move(ranks));
  if (!arrive()) return make_error(Errc::unavailable, "the ranks no longer agree");
  return part;
}

// ---- failures ----------------------------------------------------------------------------------

void ShmExchange::fail(CollectiveFailure failure) {
  const std::lock_guard lock(failing_);
  ShmFailure& told = slots_[place_].failure;
  if (failed() || told.told.load() != 0) return;
  told.kind = failure.kind;
  told.when_ns = system_clock().mono().time_since_epoch().count();
  told.odd_count = static_cast<std::uint32_t>(std::min(failure.odd_ranks.size(), kFailureRanks));
  std::copy_n(failure.odd_ranks.begin(), told.odd_count, told.odd.begin());
  const std::size_t length = std::min(failure.text.size(), kFailureText - 1);
  std::copy_n(failure.text.begin(), length, told.text.begin());
  told.told.store(1);
  head_->epoch.fetch_or(1);
  futex_wake_all(head_->epoch);
}

// The earliest, where several ranks found it out at one time.
std::optional<CollectiveFailure> ShmExchange::failure() const {
  if (!failed()) return std::nullopt;
  const ShmFailure* first = nullptr;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    const ShmFailure& told = slots_[i].failure;
    if (told.told.load() == 0) continue;
    if (first == nullptr || told.when_ns < first->when_ns) first = &told;
  }
  if (first == nullptr) return std::nullopt;
  const auto count = std::min<std::size_t>(first->odd_count, kFailureRanks);
  return CollectiveFailure{first->kind,
                           {first->odd.begin(), first->odd.begin() + static_cast<long>(count)},
                           first->text.data()};
}

void ShmExchange::leave() {
  slots_[place_].presence.store(ShmPresence::left);
  futex_wake_all(head_->epoch);
}

}  // namespace muster::train
