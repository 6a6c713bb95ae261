#include "core/flight/judge_evidence.h"

#include <algorithm>

#include "base/limits.h"
#include "core/flight/shifted_numbers.h"

namespace muster {
namespace {

// Share of the waiting ranks that an answer must explain to be sure.
constexpr double kExplainsEnough = 0.8;

}  // namespace

std::vector<std::int32_t> merged(const std::vector<std::int32_t>& a,
                                 const std::vector<std::int32_t>& b) {
  std::vector<std::int32_t> all;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  return all;
}

FlightEvidence::FlightEvidence(const FlightFleet& fleet, const WaitGraph& graph,
                               std::span<const RankWitness> witnesses, bool logs_given)
    : fleet_(fleet), graph_(graph), witnesses_(witnesses), logs_given_(logs_given) {}

const CallHistory& FlightEvidence::history() const {
  if (!history_) history_ = std::make_unique<CallHistory>(fleet_);
  return *history_;
}

std::vector<std::int32_t> FlightEvidence::explained_by(
    const std::vector<std::uint32_t>& roots) const {
  std::vector<std::int32_t> explained;
  for (const std::uint32_t node : graph_.reaching(roots)) {
    const auto& waiters = graph_.who_waits_in(node);
    explained.insert(explained.end(), waiters.begin(), waiters.end());
  }
  std::sort(explained.begin(), explained.end());
  explained.erase(std::unique(explained.begin(), explained.end()), explained.end());
  return explained;
}

bool FlightEvidence::forgotten(const WaitNode& node) const {
  const auto lost = [&](std::int32_t rank) {
    const FlightRank* own = fleet_.find(rank);
    const FlightLane* lane = own == nullptr ? nullptr : own->lane(node.group);
    return lane != nullptr && own->forgot_unfinished(*lane);
  };
  if (node.waiting.empty()) return false;
  if (node.kind == WaitKind::message) {
    return std::any_of(node.waiting.begin(), node.waiting.end(), lost);
  }
  // One member that still knows that the number before was done vouches for all.
  return std::all_of(node.waiting.begin(), node.waiting.end(), lost);
}

void give_up(Suspicion& suspicion) {
  suspicion.kind = FlightVerdictKind::undecided;
  suspicion.confidence = Confidence::low;
  suspicion.culprits.clear();
  suspicion.why =
      "the rings are too short: they have forgotten what came first; TORCH_FR_BUFFER_SIZE=20000 "
      "would tell";
}

namespace {

// Different calls at one number are a fault whenever the dumps were written.
bool is_disagreement(FlightVerdictKind kind) {
  return kind == FlightVerdictKind::mismatch || kind == FlightVerdictKind::ahead_left_loop ||
         kind == FlightVerdictKind::extra_op || kind == FlightVerdictKind::p2p_size_mismatch;
}

}  // namespace

void FlightEvidence::doubt(Suspicion& suspicion) const {
  if (!numbers_fit(suspicion.roots)) {
    suspicion.kind = FlightVerdictKind::undecided;
    suspicion.confidence = Confidence::low;
    suspicion.culprits.clear();
    suspicion.why =
        "a rank counts the collectives of this group from another start than the others (its "
        "recorder began anew?): equal numbers are not the same call; a second set of dumps would "
        "tell";
  } else if (by_filtered_batches(suspicion.roots)) {
    suspicion.confidence = Confidence::low;
    suspicion.why +=
        "; but in dumps of the unfinished only, the messages of finished batches look unfinished "
        "too: dumps of everything would tell";
  } else if (!is_disagreement(suspicion.kind) && !tells_times() && !somebody_overdue()) {
    suspicion.confidence = Confidence::low;
    suspicion.why +=
        "; but no record tells its time, and dumps of different moments of a job at work look the "
        "same";
  } else if (!is_disagreement(suspicion.kind) && !of_one_moment()) {
    suspicion.confidence = Confidence::low;
    suspicion.why += "; but these dumps are of different moments: others show what came later";
  }
}

void FlightEvidence::weigh(Suspicion& suspicion) const {
  suspicion.explained = explained_by(suspicion.roots).size();
  if (suspicion.confidence == Confidence::low) return;
  doubt(suspicion);
  const double share = graph_.waiting().empty() ? 0
                                                : static_cast<double>(suspicion.explained) /
                                                      static_cast<double>(graph_.waiting().size());
  if (suspicion.confidence != Confidence::high) return;
  const bool blind = !fleet_.missing().empty() || fleet_.hides();
  if (share < kExplainsEnough || blind) suspicion.confidence = Confidence::medium;
}

const FlightEvidence::Progress& FlightEvidence::progress(std::uint32_t group) const {
  const auto [place, added] = progress_.emplace(group, Progress{});
  if (!added) return place->second;
  Progress& furthest = place->second;
  for (const std::int32_t member : fleet_.groups()[group].ranks) {
    const FlightRank* rank = fleet_.find(member);
    const FlightLane* lane = rank == nullptr ? nullptr : rank->lane(group);
    if (lane == nullptr) continue;
    for (const std::uint32_t index : lane->collectives) {
      const std::int64_t seq = rank->entry(index).seq;
      const FlightStatus status = rank->status(index);
      if (status == FlightStatus::timed_out) furthest.timed_out = std::max(furthest.timed_out, seq);
      if (status != FlightStatus::done || !is_synchronising(rank->call(index).family)) continue;
      furthest.done = std::max(furthest.done, seq);
      if (!lane->ends_by_retirement) furthest.done_by_event = std::max(furthest.done_by_event, seq);
    }
  }
  return furthest;
}

bool FlightEvidence::others_went_on(const WaitNode& node) const {
  return progress(node.group).done_by_event > node.seq;
}

bool FlightEvidence::older_than_its_peers(std::int32_t rank) const {
  const FlightRank& own = *fleet_.find(rank);
  bool older = false;
  for (const FlightLane& lane : own.lanes()) {
    if (lane.collectives.empty()) continue;
    const std::int64_t last = own.entry(lane.collectives.back()).seq;
    const Progress& furthest = progress(lane.group);
    if (furthest.timed_out > last) return false;
    older = older || furthest.done > last;
  }
  return older;
}

namespace {

// How long the rank had given no sign of life when its file was written.
std::optional<std::int64_t> silence_ns(const FlightRank& rank) {
  std::int64_t silence = 0;
  if (!rank.dump().written_at || !rank.last_sign_ns()) return {};
  const std::int64_t written = wall_to_ns(*rank.dump().written_at);
  if (__builtin_sub_overflow(written, *rank.last_sign_ns(), &silence)) return {};
  return silence;
}

}  // namespace

bool FlightEvidence::look_apart() const {
  for (const WaitNode& node : graph_.nodes()) {
    if (node.kind == WaitKind::collective && others_went_on(node)) return true;
    if (node.kind == WaitKind::idle_rank && older_than_its_peers(node.rank)) return true;
  }
  // Who waits in a file that was written at work, and who has long been silent.
  constexpr std::int64_t kAtWorkNs = 2'000'000'000;
  std::optional<std::int64_t> least, most;
  for (const std::int32_t rank : graph_.waiting()) {
    const auto silence = silence_ns(*fleet_.find(rank));
    if (!silence) continue;
    least = std::min(least.value_or(*silence), *silence);
    most = std::max(most.value_or(*silence), *silence);
  }
  return least && *least >= 0 && *least < kAtWorkNs && *most >= limits::kFlightLongWaitNs;
}

bool FlightEvidence::of_one_moment() const {
  if (!one_moment_) one_moment_ = !look_apart();
  return *one_moment_;
}

bool FlightEvidence::somebody_is(FlightStatus status) const {
  return std::any_of(fleet_.ranks().begin(), fleet_.ranks().end(), [&](const FlightRank& rank) {
    for (std::size_t i = rank.first_entry(); i < rank.dump().entries.size(); ++i) {
      if (rank.status(static_cast<std::uint32_t>(i)) == status) return true;
    }
    return false;
  });
}

bool FlightEvidence::somebody_overdue() const {
  constexpr std::int64_t kNsPerMs = 1'000'000;
  if (somebody_is(FlightStatus::timed_out)) return true;
  if (std::any_of(witnesses_.begin(), witnesses_.end(), [](const RankWitness& witness) {
        return witness.kind == WitnessKind::collective_timeout;
      })) {
    return true;
  }
  return std::any_of(fleet_.ranks().begin(), fleet_.ranks().end(), [](const FlightRank& rank) {
    for (auto i = static_cast<std::uint32_t>(rank.first_entry()); i < rank.dump().entries.size();
         ++i) {
      const std::int64_t timeout_ms = rank.entry(i).timeout_ms;
      const auto age_ns = rank.age_ns(i);
      if (!rank.unfinished(i) || timeout_ms <= 0 || !age_ns) continue;
      // The watchdog writes the dump when the time is out, or somebody a little before. Much later
      // is the time of a copy, and tells nothing.
      const std::int64_t age_ms = *age_ns / kNsPerMs;
      const std::int64_t late_ms = 2 * timeout_ms + limits::kFlightCopyMs;
      if (age_ms >= timeout_ms - timeout_ms / 10 && age_ms <= late_ms) return true;
    }
    return false;
  });
}

std::optional<std::int64_t> FlightEvidence::longest_wait_ns() const {
  std::optional<std::int64_t> longest;
  for (const FlightRank& rank : fleet_.ranks()) {
    for (auto i = static_cast<std::uint32_t>(rank.first_entry()); i < rank.dump().entries.size();
         ++i) {
      const auto age = rank.unfinished(i) ? rank.age_ns(i) : std::nullopt;
      if (age && (!longest || *age > *longest)) longest = age;
    }
  }
  return longest;
}

bool FlightEvidence::tells_times() const {
  return std::any_of(fleet_.ranks().begin(), fleet_.ranks().end(), [](const FlightRank& rank) {
    for (auto i = static_cast<std::uint32_t>(rank.first_entry()); i < rank.dump().entries.size();
         ++i) {
      if (rank.unfinished(i) && rank.entry(i).created_ns != FlightEntry::kAbsent) return true;
    }
    return false;
  });
}

bool FlightEvidence::by_filtered_batches(const std::vector<std::uint32_t>& nodes) const {
  const auto filtered = [&](std::int32_t rank) {
    const FlightRank* own = fleet_.find(rank);
    return own != nullptr && own->filtered();
  };
  return std::any_of(nodes.begin(), nodes.end(), [&](std::uint32_t index) {
    const WaitNode& node = graph_.nodes()[index];
    return node.kind == WaitKind::message && (filtered(node.from) || filtered(node.to));
  });
}

bool FlightEvidence::group_fits(std::uint32_t group) const {
  const auto [place, added] = fits_.emplace(group, true);
  if (added) place->second = !numbers_are_shifted(fleet_, group);
  return place->second;
}

bool FlightEvidence::numbers_fit(const std::vector<std::uint32_t>& nodes) const {
  return std::all_of(nodes.begin(), nodes.end(), [&](std::uint32_t index) {
    const WaitNode& node = graph_.nodes()[index];
    if (node.kind == WaitKind::collective) return group_fits(node.group);
    const FlightRank* rank = node.kind == WaitKind::idle_rank ? fleet_.find(node.rank) : nullptr;
    if (rank == nullptr) return true;
    return std::all_of(rank->lanes().begin(), rank->lanes().end(),
                       [&](const FlightLane& lane) { return group_fits(lane.group); });
  });
}

bool inside_launch(const FlightRank& rank, const FlightLane& lane, std::uint32_t entry) {
  return lane.last_enqueued && lane.collectives.back() == entry &&
         *lane.last_enqueued < rank.entry(entry).seq;
}

}  // namespace muster
