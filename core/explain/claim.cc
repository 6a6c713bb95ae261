#include "core/explain/claim.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/limits.h"
#include "base/text.h"

namespace muster {
namespace {

// More ranks than this do not fail by chance at once: the program fails, not a rank.
constexpr std::size_t kRanksByChance = 4;
constexpr Duration kAtOnce = std::chrono::seconds(1);

void add(std::vector<Culprit>& to, Culprit culprit) {
  if (to.size() < limits::kCulpritsNamed && std::find(to.begin(), to.end(), culprit) == to.end()) {
    to.push_back(std::move(culprit));
  }
}

// The events that say the same as the first one at the same moment, as far as clocks tell.
std::vector<std::size_t> first_ones(const Scene& scene, const std::vector<std::size_t>& events) {
  std::vector<std::size_t> out;
  const std::string text = without_numbers(scene.event(events.front()).text);
  for (const std::size_t i : events) {
    if (i != events.front()) {
      if (without_numbers(scene.event(i).text) != text) continue;
      // The order of lines without stamps is that in which they were written out, no more.
      const auto later = scene.clock().gap(events.front(), i);
      const bool stamped = scene.event(i).time.at && scene.event(events.front()).time.at;
      if (stamped && later && *later > kAtOnce) continue;
    }
    out.push_back(i);
  }
  return out;
}

void name_ranks(const Scene& scene, Claim& claim) {
  const auto first = first_ones(scene, claim.events);
  std::set<std::int32_t> ranks;
  for (const std::size_t i : first) {
    if (scene.rank(i)) ranks.insert(*scene.rank(i));
  }
  // Its first line may not say whose it is; one that says so later speaks for it, if it is alone.
  if (ranks.empty()) {
    for (const std::size_t i : claim.events) {
      if (scene.rank(i)) ranks.insert(*scene.rank(i));
    }
    if (ranks.size() > 1) ranks.clear();
  }
  if (ranks.size() > kRanksByChance) {
    claim.culprits = {{CulpritKind::unknown, ""}};
    claim.cap(Confidence::medium);
    return;
  }
  if (ranks.size() > 1) claim.cap(Confidence::medium);
  for (const std::int32_t rank : ranks) {
    add(claim.culprits, {CulpritKind::rank, std::to_string(rank)});
  }
}

void name_processes(const Scene& scene, Claim& claim) {
  std::set<std::string> hosts;
  const bool named = std::any_of(claim.events.begin(), claim.events.end(),
                                 [&](std::size_t i) { return !scene.host(i).empty(); });
  for (const std::size_t i : claim.events) {
    const LogEvent& e = scene.event(i);
    if (scene.host(i).empty() && named) continue;
    if (!hosts.insert(scene.host(i)).second) continue;
    if (e.pid) {
      add(claim.culprits, scene.process_culprit(scene.host(i), std::to_string(*e.pid)));
    } else if (e.subject.kind != CulpritKind::none && !names_task(e)) {
      add(claim.culprits, e.subject);
    } else {
      add(claim.culprits, scene.host_culprit(scene.host(i)));
    }
  }
}

}  // namespace

Layer layer_of(Cause cause) {
  switch (cause) {
    case Cause::node_failure:
    case Cause::gpu_fell_off_bus:
    case Cause::gpu_firmware_hang:
    case Cause::ecc_uncorrectable:
    case Cause::ecc_contained:
    case Cause::gpu_memory_worn_out:
    case Cause::nvlink_down:
    case Cause::host_oom_killed:
    case Cause::host_memory_leak:
    case Cause::nvme_failing:
    case Cause::storage_server_lost:
    case Cause::container_lost_gpu:
    case Cause::driver_library_mismatch:
    case Cause::thermal_throttle_dips:
      return Layer::hardware;
    case Cause::nvswitch_not_set_up:
    case Cause::duplicate_gpu:
    case Cause::limit_too_low:
    case Cause::shm_full:
    case Cause::port_in_use:
    case Cause::disk_full:
    case Cause::inodes_exhausted:
    case Cause::disk_headroom_low:
    case Cause::nccl_env_mismatch:
    case Cause::no_route:
    case Cause::external_stop:
    case Cause::stale_rendezvous_store:
    case Cause::storage_write_error:
    case Cause::cache_not_shared:
      return Layer::setting;
    case Cause::ib_link_faulty:
    case Cause::ib_port_down:
    case Cause::ports_down_together:
    case Cause::roce_packet_loss:
    case Cause::undetermined:
      return Layer::link;
    case Cause::collective_hang:
    case Cause::rank_behind:
    case Cause::collective_mismatch:
    case Cause::uneven_steps:
    case Cause::one_rank_long_work:
    case Cause::timeout_after_completion:
    case Cause::slow_save:
    case Cause::evidence_missing:
      return Layer::wait;
    default:
      break;
  }
  const CauseRow& row = cause_row(cause);
  if (row.severity == Severity::ok) return Layer::benign;
  if (row.severity == Severity::critical || cause == Cause::app_memory_fault) return Layer::program;
  return Layer::slow;
}

bool is_gpu_fault(Cause cause) {
  switch (cause) {
    case Cause::gpu_fell_off_bus:
    case Cause::gpu_firmware_hang:
    case Cause::ecc_uncorrectable:
    case Cause::ecc_contained:
    case Cause::gpu_memory_worn_out:
    case Cause::nvlink_down:
      return true;
    default:
      return false;
  }
}

void Claim::become(Cause to, std::string_view by) {
  cause = to;
  severity = cause_row(to).severity;
  actions.clear();
  next.clear();
  join = by;
}

std::string without_numbers(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c < '0' || c > '9') out += c;
  }
  return out;
}

Claim claim_of(const Scene& scene, Cause cause, std::vector<std::size_t> events) {
  Claim claim;
  claim.cause = cause;
  claim.severity = cause_row(cause).severity;
  claim.events = std::move(events);
  const LogEvent& first = scene.event(claim.events.front());
  for (const std::size_t i : claim.events) {
    const LogEvent& e = scene.event(i);
    if (e.severity && i == claim.events.front()) claim.severity = *e.severity;
  }
  if (first.confidence) claim.cap(*first.confidence);
  if (cause == Cause::undetermined) claim.cap(Confidence::medium);
  claim.actions = first.actions;
  claim.next = first.advice;
  claim.what = first.meaning.empty() ? std::string(cause_row(cause).meaning) : first.meaning;
  if (is_gpu_fault(cause)) {
    for (const std::size_t i : claim.events) add(claim.culprits, scene.hardware_of(i));
  } else if (cause == Cause::host_oom_killed) {
    name_processes(scene, claim);
  } else if (names_task(first) && !scene.rank(claim.events.front()) &&
             !scene.host(claim.events.front()).empty()) {
    add(claim.culprits, scene.host_culprit(scene.host(claim.events.front())));
  } else if (first.subject.kind != CulpritKind::none) {
    add(claim.culprits, first.subject);
  } else if (layer_of(cause) == Layer::program) {
    name_ranks(scene, claim);
  }
  return claim;
}

std::vector<Claim> claims_of_roots(const Scene& scene) {
  std::map<std::tuple<bool, Cause, std::string>, std::vector<std::size_t>> groups;
  for (const std::size_t i : scene.with_role(EventRole::root)) {
    const LogEvent& e = scene.event(i);
    const bool old = scene.clock().before_run(i).value_or(Duration::zero()) > kOld;
    groups[{old, e.cause, e.cause == Cause::undetermined ? e.rule : ""}].push_back(i);
  }
  std::vector<Claim> out;
  for (auto& [key, events] : groups) {
    const auto before =
        std::get<bool>(key) ? scene.clock().before_run(events.back()) : std::optional<Duration>();
    out.push_back(claim_of(scene, std::get<Cause>(key), std::move(events)));
    out.back().before = before;
  }
  return out;
}

}  // namespace muster
