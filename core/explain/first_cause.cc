#include "core/explain/first_cause.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "base/text.h"

namespace muster {
namespace {

constexpr Duration kLate = std::chrono::minutes(1);
constexpr Duration kHardwareLate = std::chrono::hours(1);
constexpr Duration kWentOn = std::chrono::minutes(2);
constexpr Duration kTogether = std::chrono::minutes(2);
// More than a rank prints between the death of another and its own.
constexpr std::uint64_t kLinesOn = 20;
// Longer than any step and what leads up to it.
constexpr Duration kWorkedOn = std::chrono::minutes(30);

bool can_stop(const Claim& claim) {
  if (claim.follows) return false;
  if (claim.cause == Cause::external_stop) return true;
  return claim.severity >= Severity::warning && layer_of(claim.cause) < Layer::wait;
}

Order order_of(const Scene& scene, const Claim& a, const Claim& b) {
  if (a.events.empty() || b.events.empty()) return Order::unknown;
  return scene.clock().order(a.events.front(), b.events.front());
}

bool is_late(const Scene& scene, const Claim& claim, const Waits& waits) {
  if (claim.events.empty() || waits.events.empty()) return false;
  const std::size_t own = claim.events.front();
  const Duration most = layer_of(claim.cause) == Layer::hardware ? kHardwareLate : kLate;
  for (const std::size_t wait : waits.events) {
    if (!scene.clock().before(wait, own)) continue;
    const auto gap = scene.clock().gap(wait, own);
    if (gap && *gap > most) return true;
    if (layer_of(claim.cause) == Layer::hardware) continue;
    // The rank itself gave up waiting first, or nobody else is in sight.
    const bool same_rank = scene.rank(own) && scene.rank(own) == scene.rank(wait);
    const bool same_log = !scene.rank(own) && !scene.event(own).time.at &&
                          scene.event(own).source == scene.event(wait).source;
    if (same_rank || same_log) return true;
  }
  return false;
}

// Nothing that a dying run prints comes behind it.
bool is_last_complaint(const Scene& scene, std::size_t event) {
  return std::none_of(scene.sorted().begin(), scene.sorted().end(), [&](std::size_t i) {
    const EventRole role = scene.role(i);
    const bool complaint =
        role == EventRole::root || role == EventRole::cascade || role == EventRole::teardown;
    return complaint && i != event && scene.clock().order(i, event) != Order::before;
  });
}

// A step many lines behind it in one log, where nobody complains any more.
bool steps_behind(const Scene& scene, std::size_t event, std::size_t step) {
  const LogEvent& a = scene.event(event);
  const LogEvent& b = scene.event(step);
  return b.rule == "progress:last_step" && a.source == b.source && a.line && b.line &&
         *b.line >= *a.line + kLinesOn && is_last_complaint(scene, event);
}

// The run came to its end and nobody complains of another: what a program said at a time that is
// not known was no more than a notice of it.
bool ended_well(const Scene& scene, const Claim& claim) {
  if (!scene.with_role(EventRole::cascade).empty() ||
      !scene.with_role(EventRole::teardown).empty()) {
    return false;
  }
  const auto ends = scene.with_rule("progress:finished");
  return std::any_of(ends.begin(), ends.end(), [&](std::size_t i) {
    return scene.clock().order(claim.events.back(), i) == Order::unknown;
  });
}

// Steps, saves or a restart behind it: the run did not end there.
bool went_on(const Scene& scene, const Claim& claim) {
  if (claim.events.empty()) return false;
  if (layer_of(claim.cause) > Layer::hardware && ended_well(scene, claim)) return true;
  for (const std::size_t i : scene.with_role(EventRole::context)) {
    const std::string& rule = scene.event(i).rule;
    if (!rule.starts_with("progress:") || !scene.clock().before(claim.events.back(), i)) continue;
    // A count or a step may come a moment late from another rank; a whole save or the end not.
    if (rule == "progress:finished") return true;
    if (steps_behind(scene, claim.events.back(), i)) return true;
    const auto gap = scene.clock().gap(claim.events.back(), i);
    const bool news = rule == "progress:last_step" || rule == "progress:restarted" ||
                      rule == "progress:save_end" || rule == "progress:eval_end";
    if (news && gap && *gap > kWentOn) return true;
  }
  return false;
}

// All ranks still began collectives long after it.
bool worked_on(const Scene& scene, const Claim& claim, const Waits& waits) {
  if (claim.events.empty()) return false;
  for (const std::size_t wait : waits.events) {
    const auto ran = parse_int(scene.event(wait).word("ran_ms"));
    const auto gap = scene.clock().gap(claim.events.back(), wait);
    if (!ran || *ran < 0 || !gap || *gap > std::chrono::hours(24 * 30)) return false;
    if (*gap - std::chrono::milliseconds(*ran) < kWorkedOn) return false;
  }
  return !waits.events.empty();
}

// Others complained of a peer well before it: it may be what they complained of, or follow from it.
bool complained_before(const Scene& scene, const Claim& claim) {
  if (claim.events.empty() || layer_of(claim.cause) < Layer::program) return false;
  for (const std::size_t i : scene.with_role(EventRole::cascade)) {
    if (scene.event(i).word("peer").empty()) continue;
    if (!scene.clock().before(i, claim.events.front())) continue;
    const auto gap = scene.clock().gap(i, claim.events.front());
    if (gap && *gap > kLate && *gap < kHardwareLate) return true;
  }
  return false;
}

struct Places {
  std::set<std::int32_t> ranks;
  std::set<std::string> hosts;  // "": an event that is not told where
};

Places places_of(const Scene& scene, const Claim& claim) {
  Places out;
  for (const std::size_t i : claim.events) {
    if (scene.rank(i)) out.ranks.insert(*scene.rank(i));
    out.hosts.insert(host_key(scene.host(i)));
  }
  return out;
}

// On one host or rank, or not told where.
bool same_place(const Scene& scene, const Claim& a, const Claim& b) {
  const Places one = places_of(scene, a), two = places_of(scene, b);
  const auto in_both = [](const auto& left, const auto& right, const auto& wanted) {
    return std::any_of(left.begin(), left.end(),
                       [&](const auto& x) { return wanted(x) && right.contains(x); });
  };
  if (in_both(one.ranks, two.ranks, [](std::int32_t) { return true; })) return true;
  const bool bare = scene.one_host();
  return in_both(one.hosts, two.hosts, [&](const std::string& h) { return bare || !h.empty(); });
}

// Whether `shallow` is what `deep` looks like from a program at the same place. Kernels note late
// what programs feel at once; a setting is there before it is felt.
bool explains(const Scene& scene, const Claim& deep, const Claim& shallow) {
  const Layer layer = layer_of(deep.cause);
  if (layer > Layer::setting || layer >= layer_of(shallow.cause)) return false;
  if (deep.cause == Cause::external_stop || deep.confidence == Confidence::low) return false;
  if (deep.events.empty() || shallow.events.empty()) return false;
  if (!same_place(scene, deep, shallow)) return false;
  const std::size_t a = shallow.events.front(), b = deep.events.front();
  if (!scene.clock().before(a, b)) return true;
  const auto gap = scene.clock().gap(a, b);
  return layer == Layer::hardware && gap && *gap <= kTogether;
}

void fold_shallow(const Scene& scene, std::vector<Claim*>& claims) {
  for (const Claim* deep : claims) {
    for (Claim* shallow : claims) {
      if (!deep->follows && explains(scene, *deep, *shallow)) shallow->follows = true;
    }
  }
  std::erase_if(claims, [](const Claim* c) { return c->follows; });
}

// What an exception says where the GPU itself may have failed under it.
bool feels_gpu(const Scene& scene, const Claim& claim) {
  return claim.cause != Cause::rank_exception ||
         std::any_of(claim.events.begin(), claim.events.end(), [&](std::size_t i) {
           return scene.says(i, {"cuda", "gpu", "nccl", "cublas", "cudnn", "nvml", "nvidia", "ecc",
                                 "device", "driver"});
         });
}

bool names_process_of(const Scene& scene, const Claim& fault, const Claim& other) {
  return std::any_of(fault.events.begin(), fault.events.end(), [&](std::size_t i) {
    return scene.rank(i) && std::any_of(other.events.begin(), other.events.end(),
                                        [&](auto k) { return scene.rank(k) == scene.rank(i); });
  });
}

// Faults of GPUs in a log whose clock compares with nothing, beside the job's own line.
void judge_untimed(const Scene& scene, std::vector<Claim*>& claims) {
  const std::vector<Claim*> all = claims;
  std::erase_if(claims, [&](Claim* fault) {
    if (!is_gpu_fault(fault->cause) || fault->events.empty()) return false;
    for (Claim* own : all) {
      if (layer_of(own->cause) != Layer::program || own->events.empty()) continue;
      if (scene.clock().comparable(fault->events.front(), own->events.front())) continue;
      const std::string other = own->what;
      own->cap(Confidence::medium);
      fault->cap(Confidence::medium);
      if (feels_gpu(scene, *own) || names_process_of(scene, *fault, *own)) {
        fault->what += fmt::format("; no clock tells whether it came before \"{}\"", other);
        return false;
      }
      own->what += fmt::format("; no clock tells whether \"{}\" came before", fault->what);
      fault->what += "; no clock tells whether it was in this run";
      return true;
    }
    return false;
  });
}

// Keeps only those for which `bad` is false, unless that is nobody.
template <typename Test>
void prefer(std::vector<Claim*>& claims, const Test& bad) {
  if (std::all_of(claims.begin(), claims.end(), [&](const Claim* c) { return bad(*c); })) return;
  std::erase_if(claims, [&](const Claim* c) { return bad(*c); });
}

// A stable order whatever the order of the sources was.
bool sooner(const Scene& scene, const Claim* a, const Claim* b) {
  const auto place = [&](const Claim* c) {
    return c->events.empty() ? scene.sorted().size() : scene.place(c->events.front());
  };
  const std::size_t one = place(a), two = place(b);
  return one != two ? one < two : a->cause < b->cause;
}

Claim undetermined_of(const std::vector<Claim*>& both) {
  Claim out = *both.front();
  out.cause = Cause::undetermined;
  out.confidence = Confidence::low;
  out.severity = Severity::critical;
  out.what = "the clocks do not tell which of these was first";
  for (const Claim* claim : both) {
    out.what += fmt::format("{} {}", claim == both.front() ? ":" : " /", claim->what);
    if (claim == both.front()) continue;
    out.events.insert(out.events.end(), claim->events.begin(), claim->events.end());
    out.culprits.insert(out.culprits.end(), claim->culprits.begin(), claim->culprits.end());
  }
  out.actions = {Action::collect_evidence};
  out.next =
      "compare the clocks of these hosts (chronyc tracking) or find a moment that both logged";
  out.join = "first_cause";
  return out;
}

// An error that the run got over is worth a look, and no reason to stop anything.
void survived(Claim& claim) {
  if (claim.join == "restart_loop" || claim.cause == Cause::external_stop) return;
  const std::string what = claim.what;
  claim.become(Cause::undetermined, "first_cause");
  claim.severity = Severity::info;
  claim.confidence = Confidence::low;
  claim.what = what + "; the run went on behind it";
  claim.actions = {Action::watch};
  claim.next = "nothing now; look at it if it comes again";
}

// The one that is first, with what is left of its confidence; absent: nothing can stop a run.
std::optional<Claim> first_stop(const Scene& scene, const Waits& waits,
                                std::vector<Claim>& claims) {
  std::vector<Claim*> standing;
  for (Claim& claim : claims) {
    if (!can_stop(claim)) continue;
    const bool hardware = layer_of(claim.cause) == Layer::hardware;
    if (is_late(scene, claim, waits)) {
      claim.follows = true;
    } else if (!worked_on(scene, claim, waits)) {
      standing.push_back(&claim);
    } else if (hardware) {
      // Its host may keep another zone: a lost GPU is lost, whenever that was.
      claim.cap(is_gpu_fault(claim.cause) ? Confidence::medium : Confidence::low);
      standing.push_back(&claim);
    }
  }
  for (Claim* claim : standing) {
    if (complained_before(scene, *claim)) claim->cap(Confidence::low);
  }
  if (standing.empty()) return std::nullopt;
  std::sort(standing.begin(), standing.end(),
            [&](const Claim* a, const Claim* b) { return sooner(scene, a, b); });
  // Work that went on behind an event acquits it.
  prefer(standing, [&](const Claim& c) { return went_on(scene, c); });
  judge_untimed(scene, standing);
  fold_shallow(scene, standing);
  prefer(standing, [](const Claim& c) { return c.confidence == Confidence::low; });
  // What only facts tell is a state, no event: it may have been so for a long time.
  Layer told = Layer::benign;
  for (const Claim* c : standing) {
    if (!c->events.empty()) told = std::min(told, layer_of(c->cause));
  }
  prefer(standing, [&](const Claim& c) { return c.events.empty() && layer_of(c.cause) >= told; });
  std::vector<Claim*> first = standing;
  std::erase_if(first, [&](const Claim* c) {
    return std::any_of(standing.begin(), standing.end(), [&](const Claim* other) {
      return order_of(scene, *other, *c) == Order::before;
    });
  });
  if (first.empty()) first = {standing.front()};
  Layer least = Layer::benign;
  for (const Claim* c : first) least = std::min(least, layer_of(c->cause));
  const bool contested = first.size() > 1;
  std::erase_if(first, [&](const Claim* c) { return layer_of(c->cause) > least; });
  const bool elsewhere = std::any_of(first.begin() + 1, first.end(), [&](const Claim* c) {
    return !same_place(scene, *first.front(), *c);
  });
  if (first.size() > 1 && elsewhere) return undetermined_of(first);
  Claim out = *first.front();
  if (contested) out.cap(Confidence::medium);
  if (layer_of(out.cause) > Layer::hardware && went_on(scene, out)) survived(out);
  first.front()->follows = true;  // it stands in front now
  return out;
}

// Whose host or rank is the one that fell silent: two witnesses that do not know of each other.
void add_silence(const Scene& scene, const Waits& waits, Claim& claim) {
  if (waits.silent.empty() || waits.log_missing || claim.events.empty()) return;
  const std::size_t i = claim.events.front();
  const bool rank = scene.rank(i) && waits.silent.contains(*scene.rank(i));
  const auto there = scene.identity().ranks_on(scene.host(i));
  const bool host = !there.empty() &&
                    std::all_of(waits.silent.begin(), waits.silent.end(), [&](std::int32_t silent) {
                      return std::find(there.begin(), there.end(), silent) != there.end();
                    });
  if (!rank && !host) return;
  if (claim.cause == Cause::rank_exception && rank && waits.silent.size() == 1) {
    claim.what += fmt::format("; the other {} ranks only timed out", waits.ranks.size());
    return;
  }
  claim.what += fmt::format(
      "; of all ranks only {} there print no time-out",
      waits.silent.size() == 1
          ? fmt::format("rank {}", *waits.silent.begin())
          : fmt::format("ranks {} to {}", *waits.silent.begin(), *waits.silent.rbegin()));
}

}  // namespace

std::vector<Claim> take_old(std::vector<Claim>& claims) {
  std::vector<Claim> old;
  std::copy_if(claims.begin(), claims.end(), std::back_inserter(old),
               [](const Claim& c) { return c.before.has_value(); });
  std::erase_if(claims, [](const Claim& c) { return c.before.has_value(); });
  for (Claim& claim : old) {
    const auto days = std::chrono::floor<std::chrono::days>(*claim.before).count();
    claim.what += fmt::format("; {} day{} before this run", days, days == 1 ? "" : "s");
    claim.cap(Confidence::low);
    if (!cause_row(claim.cause).allows(Severity::info)) {
      const std::string what = claim.what;
      claim.become(Cause::undetermined, "first_cause");
      claim.what = what;
    }
    claim.severity = Severity::info;
    claim.actions = {Action::watch};
    claim.next = "nothing for this run; see that it was repaired then";
  }
  return old;
}

std::vector<Claim> order_claims(const Scene& scene, const Waits& waits, std::vector<Claim> claims) {
  std::vector<Claim> out;
  if (auto first = first_stop(scene, waits, claims)) {
    add_silence(scene, waits, *first);
    out.push_back(std::move(*first));
  }
  std::vector<Claim*> rest;
  for (Claim& claim : claims) {
    if (!claim.follows) rest.push_back(&claim);
  }
  const bool stopped = !out.empty();
  const auto rank_of = [&](const Claim* c) {
    const bool wait = layer_of(c->cause) == Layer::wait;
    // A line that says itself what did not match beats what waits let one guess.
    const int guess = wait && c->join == "waits" ? 1 : 0;
    return std::tuple(wait ? 0 : 1, guess, -static_cast<int>(c->severity));
  };
  std::sort(rest.begin(), rest.end(), [&](const Claim* a, const Claim* b) {
    if (rank_of(a) != rank_of(b)) return rank_of(a) < rank_of(b);
    return sooner(scene, a, b);
  });
  for (Claim* claim : rest) {
    // Waits follow from whatever stopped the run, and what needs no action is no news beside it.
    const bool minor = claim->severity < Severity::warning;
    if (stopped && (minor || layer_of(claim->cause) == Layer::wait)) continue;
    if (!out.empty() && claim->severity < out.front().severity && minor) continue;
    if (!out.empty()) claim->cap(Confidence::low);
    out.push_back(std::move(*claim));
  }
  return out;
}

}  // namespace muster
