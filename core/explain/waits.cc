#include "core/explain/waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "core/explain/joins.h"

namespace muster {
namespace {

constexpr std::size_t kFewRanks = 3;
// A job of one node has eight ranks as a rule: fewer time-outs than seven cover no job by
// themselves.
constexpr std::size_t kMostOfNode = 7;

std::optional<std::int64_t> number(const LogEvent& event, std::string_view name) {
  const auto value = parse_int(event.word(name));
  // What old releases print from memory that nobody set.
  if (!value || *value < -1 || *value > 1'000'000'000'000) return std::nullopt;
  return value;
}

std::string call_of(const LogEvent& event) {
  return fmt::format("{}/{}", event.word("group"), event.word("seq"));
}

Claim wait_claim(const Scene& scene, const Waits& waits, Cause cause) {
  Claim claim;
  claim.cause = cause;
  claim.severity = cause_row(cause).severity;
  claim.confidence = Confidence::medium;
  claim.events = waits.events;
  claim.what = cause_row(cause).meaning;
  claim.join = "waits";
  if (claim.events.empty()) return claim;
  const LogEvent& e = scene.event(claim.events.front());
  if (!e.word("op").empty()) {
    claim.what = fmt::format("{} rank{} waited in {} {}", waits.ranks.size(),
                             waits.ranks.size() == 1 ? "" : "s", e.word("op"), e.word("seq"));
  }
  return claim;
}

std::string list_ranks(const std::set<std::int32_t>& ranks) {
  std::string out;
  for (auto it = ranks.begin(); it != ranks.end();) {
    const std::int32_t first = *it;
    std::int32_t last = first;
    for (++it; it != ranks.end() && *it == last + 1; ++it) last = *it;
    out += out.empty() ? "" : ",";
    out += last > first ? fmt::format("{}-{}", first, last) : std::to_string(first);
  }
  return out;
}

// ---- What was open when they gave up ---------------------------------------------------------

struct Work {
  std::size_t begin = 0;
  std::optional<std::int32_t> rank;
  bool save = false;
  bool goes_on = false;  // a count that rose, or a line of it that came after the time-outs
};

std::optional<std::int32_t> rank_of_work(const Scene& scene, std::size_t i) {
  if (scene.rank(i)) return scene.rank(i);
  if (scene.says(i, {"main process"})) return 0;
  // As a word: neither "local_rank0" nor "rank05".
  const std::string text = to_lower(scene.event(i).text);
  const auto part = [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  };
  for (const std::string_view word : {"rank 0", "rank0"}) {
    for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
      const std::size_t end = at + word.size();
      const bool local = std::string_view(text).substr(0, at).ends_with("local ") ||
                         std::string_view(text).substr(0, at).ends_with("node ");
      if ((at == 0 || !part(text[at - 1])) && (end == text.size() || !part(text[end])) && !local) {
        return 0;
      }
    }
  }
  return std::nullopt;
}

bool same_work(const Scene& scene, std::size_t begin, std::size_t other) {
  const auto a = rank_of_work(scene, begin), b = rank_of_work(scene, other);
  return !a || !b || *a == *b;
}

bool counts(const LogEvent& event) {
  const auto done = number(event, "done"), of = number(event, "of");
  return done && of && *done < *of;
}

std::optional<Work> open_work(const Scene& scene, const Waits& waits) {
  std::optional<Work> open;
  for (const std::size_t i : scene.sorted()) {
    const std::string& rule = scene.event(i).rule;
    if (!rule.starts_with("progress:")) continue;
    const bool early = scene.clock().order(i, waits.events.front()) != Order::after;
    const bool part = counts(scene.event(i));
    // A part that tells how long it took is over: it begins nothing, and belongs to what is open.
    const bool begins = rule.ends_with("save_begin") || rule.ends_with("eval_begin") ||
                        (rule.ends_with("long_work") && part);
    if (begins && !(open && part) && early) {
      open = Work{i, rank_of_work(scene, i), rule.ends_with("save_begin"), part};
      continue;
    }
    if (!open || !same_work(scene, open->begin, i)) continue;
    const bool of_save = rule.ends_with("save_begin") || rule.ends_with("save_end");
    const bool of_kind = open->save == of_save || rule.ends_with("long_work");
    if (part && of_kind) {
      open->goes_on = true;
    } else if (early && (rule.ends_with("last_step") || rule.ends_with("restarted") ||
                         (rule.ends_with("_end") && of_kind))) {
      open.reset();
    } else if (of_kind && !early) {
      open->goes_on = true;
    }
  }
  if (open && open->rank && waits.ranks.contains(*open->rank)) open.reset();
  return open;
}

bool judge_work(const Scene& scene, const Waits& waits, std::vector<Claim>& claims) {
  const auto work = open_work(scene, waits);
  if (!work) return false;
  Claim claim = wait_claim(scene, waits, work->save ? Cause::slow_save : Cause::one_rank_long_work);
  claim.events.insert(claim.events.begin(), work->begin);
  if (work->save) {
    claim.severity = work->goes_on ? Severity::warning : Severity::critical;
    claim.culprits = {{CulpritKind::config, "collective_timeout"}};
    claim.what = fmt::format("a save took longer than the limit of the ranks that waited for it{}",
                             work->goes_on ? ", and was still writing" : "");
    claim.actions = {Action::raise_timeout, Action::restart_from_checkpoint};
    claim.next = "raise the limit above the longest save, or save in parallel";
    claims.push_back(std::move(claim));
    return true;
  }
  const std::string who = work->rank ? fmt::format("rank {}", *work->rank) : "one rank";
  claim.culprits = {work->rank ? Culprit{CulpritKind::rank, std::to_string(*work->rank)}
                               : Culprit{CulpritKind::unknown, ""}};
  claim.what = fmt::format(
      "{} was still in an evaluation or another long phase when {} rank{} "
      "hit the limit of a collective",
      who, waits.ranks.size(), waits.ranks.size() == 1 ? "" : "s");
  claim.actions = {Action::fix_code, Action::raise_timeout};
  if (!work->goes_on) claim.actions.push_back(Action::collect_evidence);
  claim.next = work->goes_on
                   ? "share that work among the ranks, or let collectives wait longer than it lasts"
                   : "find out whether it still moves; if so, share it among the ranks";
  if (work->goes_on && work->rank) claim.confidence = Confidence::high;
  claims.push_back(std::move(claim));
  return true;
}

// ---- Training that had ended -----------------------------------------------------------------

bool judge_finished(const Scene& scene, const Waits& waits, std::vector<Claim>& claims) {
  bool ended = false;
  std::size_t end = 0;
  for (const std::size_t i : scene.sorted()) {
    const std::string& rule = scene.event(i).rule;
    if (rule == "progress:finished") {
      ended = true;
      end = i;
    }
    if (rule == "progress:restarted" && ended && scene.clock().before(end, i)) ended = false;
  }
  if (!ended) return false;
  std::vector<std::size_t> after;
  for (Claim& claim : claims) {
    // A part that fails does so whether or not the training had ended.
    const bool own = layer_of(claim.cause) == Layer::hardware || claim.events.empty();
    if (own || claim.follows || claim.severity < Severity::warning) continue;
    if (!scene.clock().before(end, claim.events.front())) continue;
    claim.follows = true;
    after.push_back(claim.events.front());
  }
  const bool waited = !waits.events.empty() && scene.clock().before(end, waits.events.front());
  if (!waited && after.empty()) return false;
  Claim claim = wait_claim(scene, waits, Cause::timeout_after_completion);
  if (!waited) claim.events = after;
  claim.events.insert(claim.events.begin(), end);
  claim.confidence = Confidence::high;
  claim.what = waited ? "training had ended before the time-out: no result is lost"
                      : "training had ended before the error: no result is lost";
  claim.actions = {Action::keep_result, Action::fix_code};
  claim.next = "do what comes after training on all ranks, or leave the process group first";
  claims.push_back(std::move(claim));
  return true;
}

// ---- What the numbers say --------------------------------------------------------------------

// Groups of one name, one for each stage or shard, number their calls by themselves.
bool one_for_all(std::string_view group) {
  return group.empty() || group == "0" || contains_ignoring_case(group, "default");
}

// Ranks by what they say of one thing; `odd` is the smaller part where a clear majority agrees.
struct Vote {
  std::map<std::string, std::set<std::int32_t>> says;

  std::optional<std::set<std::int32_t>> odd() const {
    std::size_t all = 0, most = 0;
    const std::set<std::int32_t>* majority = nullptr;
    for (const auto& [text, ranks] : says) {
      all += ranks.size();
      if (ranks.size() > most) {
        most = ranks.size();
        majority = &ranks;
      }
    }
    // Where nearly each says another thing, nobody is odd.
    if (says.size() != 2 || all < kFewRanks || most * 3 < all * 2) return std::nullopt;
    for (const auto& [text, ranks] : says) {
      if (&ranks != majority) return ranks;
    }
    return std::nullopt;
  }
};

std::vector<Culprit> name_all(const std::set<std::int32_t>& ranks) {
  std::vector<Culprit> out;
  for (const std::int32_t rank : ranks) out.push_back({CulpritKind::rank, std::to_string(rank)});
  return out;
}

bool judge_mismatch(const Scene& scene, const Waits& waits, std::vector<Claim>& claims) {
  std::map<std::string, Vote> ops, sizes;
  for (const std::size_t i : waits.events) {
    const LogEvent& e = scene.event(i);
    if (!scene.rank(i) || e.word("seq").empty() || e.word("op").empty()) continue;
    ops[call_of(e)].says[std::string(e.word("op"))].insert(*scene.rank(i));
    // What each gives to an exchange of unequal parts may differ.
    const std::string_view op = e.word("op");
    const bool equal = op.find("ALLREDUCE") != op.npos || op.find("_BASE") != op.npos ||
                       op.find("BROADCAST") != op.npos;
    if (equal && op.find("ALLTOALL") == op.npos && number(e, "numel_in")) {
      sizes[call_of(e)].says[std::string(e.word("numel_in"))].insert(*scene.rank(i));
    }
  }
  for (auto* votes : {&ops, &sizes}) {
    for (const auto& [call, vote] : *votes) {
      if (vote.says.size() < 2 || vote.says.size() > 3) continue;
      std::set<std::int32_t> one_rank;
      for (const auto& [text, ranks] : vote.says) one_rank.insert(ranks.begin(), ranks.end());
      if (one_rank.size() < 2) continue;
      Claim claim = wait_claim(scene, waits, Cause::collective_mismatch);
      const auto odd = vote.odd();
      claim.culprits = odd ? name_all(*odd) : std::vector<Culprit>{{CulpritKind::unknown, ""}};
      claim.what = fmt::format("at one sequence number ranks call different {}: {} and {}",
                               votes == &ops ? "collectives" : "sizes", vote.says.begin()->first,
                               std::next(vote.says.begin())->first);
      if (!one_for_all(call.substr(0, call.find('/')))) claim.cap(Confidence::low);
      claim.actions = {Action::fix_code, Action::collect_evidence};
      claim.next = "compare the path of these ranks through the program at that step";
      claims.push_back(std::move(claim));
      return true;
    }
  }
  return false;
}

// The ranks with the least of a number, if all others have one and the same.
std::set<std::int32_t> least(const std::map<std::int32_t, std::int64_t>& numbers) {
  std::set<std::int32_t> out;
  std::int64_t low = INT64_MAX, high = INT64_MIN;
  for (const auto& [rank, value] : numbers) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (numbers.size() < kFewRanks || low >= high) return out;
  for (const auto& [rank, value] : numbers) {
    if (value == low) {
      out.insert(rank);
    } else if (value != high) {
      return {};
    }
  }
  return out.size() * 2 < numbers.size() ? out : std::set<std::int32_t>{};
}

// Lines of ranks of the last attempt: an earlier one counted its calls by itself.
std::vector<std::size_t> of_last_attempt(const Scene& scene, std::string_view word) {
  constexpr Duration kOneEnd = std::chrono::hours(1);  // ranks give up within the longest limits
  std::vector<std::size_t> out;
  for (const std::size_t i : scene.sorted()) {
    if (number(scene.event(i), word) && scene.rank(i)) out.push_back(i);
  }
  if (out.empty()) return out;
  const std::size_t last = out.back();
  const auto starts = scene.with_rule("progress:restarted");
  std::erase_if(out, [&](std::size_t i) {
    // Another attempt or another clock: where nobody knows, its number is compared with none.
    const auto at = scene.clock().at(i), end = scene.clock().at(last);
    return (at && end && *end - *at > kOneEnd) ||
           std::any_of(starts.begin(), starts.end(), [&](std::size_t start) {
             return scene.clock().before(i, start) && scene.clock().before(start, last);
           });
  });
  return out;
}

bool judge_behind(const Scene& scene, const Waits& waits, std::vector<Claim>& claims) {
  std::map<std::string, std::map<std::int32_t, std::int64_t>> enqueued;
  for (const std::size_t i : of_last_attempt(scene, "enqueued")) {
    const LogEvent& e = scene.event(i);
    auto& value = enqueued[std::string(e.word("group"))][*scene.rank(i)];
    value = std::max(value, *number(e, "enqueued"));
  }
  for (const auto& [group, numbers] : enqueued) {
    const auto behind = least(numbers);
    if (behind.empty()) continue;
    Claim claim = wait_claim(scene, waits, Cause::rank_behind);
    claim.culprits = name_all(behind);
    if (!one_for_all(group)) claim.cap(Confidence::low);
    claim.what =
        fmt::format("rank {} had issued fewer collectives than all others", list_ranks(behind));
    claim.actions = {Action::collect_evidence, Action::restart_from_checkpoint};
    claim.next = fmt::format("look at the log and the stacks of rank {}", list_ranks(behind));
    claims.push_back(std::move(claim));
    return true;
  }
  return false;
}

// A heartbeat that fails on one rank accuses it; where it fails on several, their numbers decide.
void judge_stuck(const Scene& scene, std::vector<Claim>& claims) {
  Claim* claim = find_claim(claims, Cause::watchdog_stuck);
  if (claim == nullptr) return;
  std::map<std::int32_t, std::int64_t> pending;
  std::set<std::int32_t> ranks;
  for (const std::size_t i : claim->events) {
    const LogEvent& e = scene.event(i);
    if (!scene.rank(i)) continue;
    ranks.insert(*scene.rank(i));
    const auto held = number(e, "pending");
    if (held) pending.emplace(*scene.rank(i), *held);
  }
  if (ranks.size() < 2) return;
  const auto behind = least(pending);
  if (!behind.empty()) {
    claim->become(Cause::rank_behind, "waits");
    claim->culprits = name_all(behind);
    claim->cap(Confidence::medium);
    claim->what = fmt::format(
        "the watchdogs of {} ranks were stuck, and rank {} had issued the "
        "fewest collectives",
        ranks.size(), list_ranks(behind));
  } else if (claim->culprits.size() != 1 || claim->culprits[0].kind != CulpritKind::rank) {
    claim->culprits = {{CulpritKind::unknown, ""}};
    claim->cap(Confidence::medium);
  } else {
    claim->cap(Confidence::medium);
  }
  claim->actions = {Action::collect_evidence, Action::restart_from_checkpoint};
  claim->next = "take the stacks of that process (py-spy, gdb): which call holds it";
}

// ---- Whose lines are not there ---------------------------------------------------------------

bool plain_size(std::int32_t world) {
  return world % 8 == 0 || (world & (world - 1)) == 0;
}

// Each rank that waited wrote a log of its own, and a silent one's is not among them: nobody knows
// what it would say.
bool lacks_log(const Scene& scene, const Waits& waits) {
  std::map<std::string_view, std::set<std::int32_t>> writers;
  for (const std::size_t i : waits.events) {
    if (scene.rank(i)) writers[scene.event(i).source].insert(*scene.rank(i));
  }
  const bool shared = std::any_of(writers.begin(), writers.end(),
                                  [](const auto& log) { return log.second.size() > 1; });
  if (shared) return false;
  return std::any_of(waits.silent.begin(), waits.silent.end(), [&](std::int32_t rank) {
    const auto& sources = scene.input().sources;
    const bool own = std::any_of(sources.begin(), sources.end(),
                                 [rank](const LogSource& s) { return s.rank == rank; });
    const auto& all = scene.sorted();
    return !own && std::none_of(all.begin(), all.end(),
                                [&](std::size_t i) { return scene.rank(i) == rank; });
  });
}

void find_silent(const Scene& scene, Waits& waits) {
  if (waits.ranks.size() < kFewRanks) return;
  std::set<std::string> calls;
  for (const std::size_t i : waits.events) calls.insert(call_of(scene.event(i)));
  if (calls.size() > 1) return;  // they wait in different places: no list of one call
  const auto told = scene.identity().world();
  std::int32_t most = *waits.ranks.rbegin();
  if (!scene.identity().ranks().empty()) most = std::max(most, *scene.identity().ranks().rbegin());
  const std::int32_t world = told.value_or(most + 1);
  std::set<std::int32_t> silent;
  for (std::int32_t rank = 0; rank < world; ++rank) {
    if (!waits.ranks.contains(rank)) silent.insert(rank);
  }
  if (silent.empty() || silent.size() * 2 > waits.ranks.size()) return;
  waits.world_known = told.has_value();
  const bool covers = told || (waits.ranks.size() >= kMostOfNode && plain_size(world));
  if (silent.size() == 1) {
    if (covers) waits.silent = silent;
    return;
  }
  const std::string host = scene.identity().host_of_rank(*silent.begin());
  const auto there = scene.identity().ranks_on(host);
  if (host.empty() || std::set<std::int32_t>(there.begin(), there.end()) != silent) return;
  waits.silent = silent;
  waits.silent_host = host;
}

bool judge_silent(const Scene& scene, const Waits& waits, std::vector<Claim>& claims) {
  if (waits.silent.empty()) return false;
  Claim claim = wait_claim(scene, waits, Cause::rank_behind);
  claim.culprits = waits.silent.size() == 1
                       ? name_all(waits.silent)
                       : std::vector<Culprit>{scene.host_culprit(waits.silent_host)};
  claim.what = fmt::format("{} ranks waited in one collective, and only rank {} did not say so",
                           waits.ranks.size(), list_ranks(waits.silent));
  if (!waits.world_known) claim.cap(Confidence::low);
  claim.actions = {Action::collect_evidence, Action::restart_from_checkpoint};
  claim.next =
      fmt::format("look at the log, the stacks and the host of rank {}", list_ranks(waits.silent));
  if (waits.log_missing) {
    claim.cap(Confidence::low);
    claim.culprits = {{CulpritKind::unknown, ""}};
    claim.what = fmt::format("{} ranks waited in one collective; no log of rank {} was read",
                             waits.ranks.size(), list_ranks(waits.silent));
    claim.next = fmt::format("the log of rank {} is not among what was read: fetch it",
                             list_ranks(waits.silent));
  }
  claims.push_back(std::move(claim));
  return true;
}

}  // namespace

Waits find_waits(const Scene& scene) {
  Waits waits;
  for (const std::size_t i : scene.sorted()) {
    const LogEvent& e = scene.event(i);
    const bool timeout = e.rule == "collective_timeout" ||
                         (scene.role(i) == EventRole::cascade && e.cause == Cause::collective_hang);
    if (!timeout || scene.role(i) == EventRole::benign) continue;
    waits.events.push_back(i);
    if (scene.rank(i)) waits.ranks.insert(*scene.rank(i));
  }
  if (!waits.events.empty()) find_silent(scene, waits);
  waits.log_missing = lacks_log(scene, waits);
  return waits;
}

void judge_waits(const Scene& scene, const Waits& waits, std::vector<Claim>& claims) {
  judge_stuck(scene, claims);
  if (judge_finished(scene, waits, claims)) return;
  if (waits.events.empty()) return;
  if (judge_mismatch(scene, waits, claims) || judge_work(scene, waits, claims) ||
      judge_behind(scene, waits, claims) || judge_silent(scene, waits, claims)) {
    return;
  }
  Claim claim = wait_claim(scene, waits, Cause::collective_hang);
  claim.culprits = {{CulpritKind::unknown, ""}};
  claim.what += "; the log does not show who did not come";
  claim.actions = {Action::collect_evidence, Action::restart_from_checkpoint};
  claim.next = "read the logs of the other ranks, or their flight-recorder dumps (muster trace)";
  claims.push_back(std::move(claim));
}

}  // namespace muster
