#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "core/explain/job_record.h"
#include "core/explain/joins.h"

namespace muster {
namespace {

// ---- Processes that the kernel killed --------------------------------------------------------

// The pid that a line tells of another process ("worker (pid 4711) is killed").
std::optional<std::int64_t> told_pid(const LogEvent& event) {
  for (const std::string_view name : {"pid", "worker", "child"}) {
    if (const auto pid = parse_int(event.word(name))) return pid;
  }
  const std::size_t at = event.text.find("(pid ");
  if (at == std::string::npos) return event.pid;
  const std::string_view rest = std::string_view(event.text).substr(at + 5);
  return parse_int(rest.substr(0, rest.find(')')));
}

// Programs that a training job runs, by the names that the kernel prints.
bool trains(std::string_view process) {
  const std::string name = to_lower(process);
  return name.starts_with("pt_") || name.find("python") != name.npos ||
         name.find("torch") != name.npos || name.find("train") != name.npos ||
         name.find("ray::") != name.npos || name.find("worker") != name.npos;
}

// Lines that tell of the end of a process, by its pid.
std::multimap<std::int64_t, std::size_t> mourners(const Scene& scene) {
  std::multimap<std::int64_t, std::size_t> out;
  for (const std::size_t i : scene.sorted()) {
    const EventRole role = scene.role(i);
    const bool tells = role == EventRole::root || role == EventRole::teardown;
    const auto pid =
        tells && scene.event(i).rule != "oom_kill" ? told_pid(scene.event(i)) : std::nullopt;
    if (pid) out.emplace(*pid, i);
  }
  return out;
}

// The first line of a rank that the killed process was its own.
std::optional<std::size_t> mourner_of(const Scene& scene, std::size_t kill,
                                      const std::multimap<std::int64_t, std::size_t>& lines) {
  if (!scene.event(kill).pid) return std::nullopt;
  const auto [first, last] = lines.equal_range(*scene.event(kill).pid);
  for (auto it = first; it != last; ++it) {
    if (scene.same_host(scene.host(it->second), scene.host(kill))) return it->second;
  }
  return std::nullopt;
}

void killed_process(const Scene& scene, std::vector<Claim>& claims) {
  std::vector<std::size_t> kills;
  for (const std::size_t i : scene.with_rule("oom_kill")) kills.push_back(i);
  if (kills.empty()) return;
  Claim* claim = find_claim(claims, Cause::host_oom_killed);
  if (claim == nullptr) return;
  const auto lines = mourners(scene);
  std::optional<std::size_t> chosen, mourner;
  for (const std::size_t kill : kills) {
    if (mourner) break;
    mourner = mourner_of(scene, kill, lines);
    if (mourner || !chosen) chosen = kill;
  }
  const LogEvent& e = scene.event(*chosen);
  const std::string process(e.word("process"));
  claim->join = "killed_process";
  claim->culprits.clear();
  if (e.pid) {
    claim->culprits = {scene.process_culprit(scene.host(*chosen), std::to_string(*e.pid))};
  } else {
    claim->culprits = {scene.host_culprit(scene.host(*chosen))};
  }
  claim->what = fmt::format("the kernel killed {} {}", process.empty() ? "process" : process,
                            e.pid ? std::to_string(*e.pid) : "");
  claim->what = std::string(trim(claim->what));
  const bool limited = !e.word("device").empty();
  claim->what += limited ? fmt::format(" at the memory limit of {}", e.word("device"))
                         : " because the host had no memory left";
  claim->actions = limited ? std::vector{Action::raise_limit, Action::reduce_memory,
                                         Action::restart_from_checkpoint}
                           : std::vector{Action::reduce_memory, Action::raise_limit,
                                         Action::restart_from_checkpoint};
  claim->next = "fewer loader workers or less prefetch, or more memory; watch it grow over a run";
  if (mourner) {
    // The process was one of the job: its rank says so.
    claim->events = {*chosen, *mourner};
    if (scene.rank(*mourner))
      claim->what += fmt::format("; it belonged to rank {}", *scene.rank(*mourner));
    for (Claim& other : claims) {
      const bool same =
          std::find(other.events.begin(), other.events.end(), *mourner) != other.events.end();
      if (&other != claim && same && other.events.size() == 1) other.follows = true;
    }
    return;
  }
  claim->events = {*chosen};
  const bool others = std::any_of(claims.begin(), claims.end(), [&](const Claim& c) {
    return &c != claim && !c.follows && layer_of(c.cause) <= Layer::program;
  });
  // Somebody else's process on the host: nothing says that the job felt it.
  if (!process.empty() && !trains(process)) {
    claim->confidence = Confidence::low;
    claim->severity = Severity::critical;
  } else if (others) {
    claim->cap(Confidence::medium);
  }
}

// ---- File servers ----------------------------------------------------------------------------

// Every host that lost the server found it again behind its last loss.
bool all_came_back(const Scene& scene, const std::vector<std::size_t>& lost,
                   const std::vector<std::size_t>& back) {
  std::map<std::string, std::size_t> last;
  for (const std::size_t i : lost) last.insert_or_assign(host_key(scene.host(i)), i);
  return std::all_of(last.begin(), last.end(), [&](const auto& one) {
    return std::any_of(back.begin(), back.end(), [&](std::size_t i) {
      return host_key(scene.host(i)) == one.first && scene.clock().before(one.second, i);
    });
  });
}

void file_server(const Scene& scene, std::vector<Claim>& claims) {
  std::map<std::string, std::vector<std::size_t>> lost, back;
  for (const std::size_t i : scene.sorted()) {
    const LogEvent& e = scene.event(i);
    const bool gone = e.cause == Cause::storage_server_lost;
    if (!gone && e.cause != Cause::storage_pause_recovered) continue;
    std::string server(e.word("device").empty() ? e.word("server") : e.word("device"));
    if (server.empty() && e.subject.kind == CulpritKind::host) server = e.subject.id;
    // Without its name nobody knows whether two hosts lost the same one.
    const std::string key = server.empty() ? "\n" + scene.host(i) : server;
    (gone ? lost : back)[key].push_back(i);
  }
  std::erase_if(claims, [](const Claim& c) {
    return c.cause == Cause::storage_server_lost || c.cause == Cause::storage_pause_recovered;
  });
  for (const auto& [key, events] : lost) {
    const std::string server = key.starts_with('\n') ? "" : key;
    const auto& returns = back[key];
    const bool recovered = all_came_back(scene, events, returns);
    // Ranks that gave up in between were stopped by the pause.
    const auto gave_up = [&](std::size_t i) {
      return scene.clock().before(events.front(), i) && scene.clock().before(i, returns.back());
    };
    const auto cascades = scene.with_role(EventRole::cascade);
    const bool harmed = recovered && std::any_of(cascades.begin(), cascades.end(), gave_up);
    Claim claim = claim_of(scene, Cause::storage_server_lost, events);
    claim.join = "file_server";
    claim.culprits = {scene.host_culprit(server)};
    claim.what = fmt::format("the file server {} stopped answering", server);
    if (recovered) {
      claim.events.push_back(returns.back());
      claim.what += " and answers again";
      if (!harmed) {
        claim.become(Cause::storage_pause_recovered, "file_server");
        claim.culprits.clear();
        claim.actions = {Action::watch};
        claim.next = "nothing, unless it comes back or no answer follows";
      }
      claim.cap(Confidence::medium);
    } else {
      claim.confidence = Confidence::high;
      claim.what += " and has not come back";
      claim.actions = {Action::repair_storage, Action::restart_from_checkpoint};
      claim.next = "repair the server or its path; killing the blocked processes does not help";
      for (const std::size_t i : scene.with_rule("hung_task")) {
        if (!scene.same_host(scene.host(i), scene.host(events.front()))) continue;
        if (scene.clock().order(i, events.front()) != Order::before) claim.events.push_back(i);
      }
    }
    claims.push_back(std::move(claim));
  }
}

// `host` is in "n2" or in a bracketed list, as far as that is one list of numbers.
bool in_list(std::string_view list, std::string_view host) {
  const std::size_t open = list.find('['), close = list.rfind(']');
  if (open == list.npos || close == list.npos || close < open) {
    return host_key(list) == host_key(host);
  }
  const std::string key = host_key(host), head = to_lower(list.substr(0, open));
  if (!key.starts_with(head)) return false;
  const std::string_view digits = std::string_view(key).substr(head.size());
  const auto number = parse_uint(digits);
  if (!number) return false;
  for (const std::string_view piece : split(list.substr(open + 1, close - open - 1), ',')) {
    const std::size_t dash = piece.find('-');
    const std::string_view from = piece.substr(0, dash);
    const auto first = parse_uint(from);
    const auto last = dash == piece.npos ? first : parse_uint(piece.substr(dash + 1));
    if (from.size() != digits.size() || !first || !last) continue;
    if (*number >= *first && *number <= *last) return true;
  }
  return false;
}

// The hosts of the input in a list of nodes; the list itself where none of them is.
std::vector<std::string> hosts_of_list(const Scene& scene, const std::string& list) {
  std::vector<std::string> out;
  if (list.find('[') != list.npos) {
    for (const auto& [key, host] : scene.identity().hosts()) {
      if (in_list(list, host)) out.push_back(host);
    }
  }
  if (out.empty()) out.push_back(list);
  return out;
}

void unkillable(const Scene& scene, std::vector<Claim>& claims) {
  Claim* claim = find_claim(claims, Cause::unkillable_process);
  std::vector<std::string> hosts;
  for (const FactRef& ref : all_facts<NodeState>(scene)) {
    const auto& node = std::get<NodeState>(ref.fact->value);
    const std::string reason = to_lower(node.reason);
    if (reason.find("kill task failed") == reason.npos &&
        reason.find("not ending with signals") == reason.npos) {
      continue;
    }
    if (claim == nullptr) {
      claims.emplace_back();
      claim = &claims.back();
      claim->cause = Cause::unkillable_process;
      claim->severity = Severity::warning;
    }
    claim->facts.push_back(ref.index);
    for (std::string& host : hosts_of_list(scene, node.host)) {
      if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) {
        hosts.push_back(std::move(host));
      }
    }
  }
  if (claim == nullptr) return;
  if (!hosts.empty()) claim->culprits.clear();
  for (const std::string& host : hosts) claim->culprits.push_back(scene.host_culprit(host));
  if (hosts.empty()) hosts.push_back(claim->culprits.empty() ? "" : claim->culprits.front().id);
  claim->join = "unkillable";
  claim->what = "the scheduler took the node out because processes of a job did not die";
  claim->actions = {Action::undrain_host, Action::reboot_host};
  claim->next = "give the node back to Slurm once none of them is left and the kernel log is quiet";
  for (const FactRef& ref : all_facts<ProcessRow>(scene)) {
    const auto& row = std::get<ProcessRow>(ref.fact->value);
    const bool there = std::any_of(hosts.begin(), hosts.end(), [&](const std::string& host) {
      return scene.applies(*ref.fact, host);
    });
    if (!there) continue;
    if (!row.state.starts_with('D')) continue;
    claim->facts.push_back(ref.index);
    const std::string wait = to_lower(row.wait);
    const bool files = wait.find("nfs") != wait.npos || wait.find("rpc") != wait.npos ||
                       wait.find("lustre") != wait.npos || wait.find("cl_") == 0 ||
                       wait.find("fuse") != wait.npos || wait.find("ll_") == 0;
    claim->what = fmt::format("processes could not be killed: {} waits in the kernel ({})", row.pid,
                              row.wait.empty() ? "not told where" : row.wait);
    claim->actions = {files ? Action::repair_storage : Action::reboot_host, Action::undrain_host,
                      files ? Action::reboot_host : Action::collect_evidence};
  }
}

// ---- Stops from outside ----------------------------------------------------------------------

// Reasons of the scheduler that are no news to whoever started the job.
std::string_view planned_reason(std::string_view text) {
  const std::string low = to_lower(text);
  if (low.find("time limit") != low.npos || low == "timeout") return "its time limit";
  if (low.find("preempt") != low.npos) return "preemption";
  if (low.find("requeue") != low.npos) return "a requeue";
  return "";
}

// What the records of the scheduler say of the end of the job.
struct RecordedStop {
  std::string_view reason, by;
  std::vector<std::size_t> facts;
  bool sure = true;  // they are those of the job of the logs
};

RecordedStop recorded_stop(const Scene& scene) {
  RecordedStop out;
  for (const FactRef& ref : all_facts<JobRecord>(scene)) {
    const auto& job = std::get<JobRecord>(ref.fact->value);
    const std::string state = state_word(job);
    // Of a whole job: its steps are cancelled in whatever way it ends.
    if (job.id.find('.') != std::string::npos) continue;
    const bool planned = state == "timeout" || state == "preempted" || state == "requeued";
    if (!planned && (state != "cancelled" || job.by.empty())) continue;
    const Belongs of = belongs(scene, job);
    if (of == Belongs::no) continue;
    out.sure &= of == Belongs::yes;
    (planned ? out.reason : out.by) = planned ? planned_reason(state) : std::string_view(job.by);
    out.facts.push_back(ref.index);
  }
  return out;
}

void stopped(const Scene& scene, std::vector<Claim>& claims) {
  RecordedStop record = recorded_stop(scene);
  std::string_view reason = record.reason;
  std::vector<std::size_t> events;
  for (const std::size_t i : scene.with_cause(Cause::external_stop)) {
    const std::string_view found = planned_reason(scene.event(i).text);
    if (found.empty() || scene.role(i) == EventRole::benign) continue;
    reason = found;
    events.push_back(i);
  }
  const std::string_view by = record.by;
  const auto& facts = record.facts;
  Claim* claim = find_claim(claims, Cause::external_stop);
  // A record that may be of another job needs a signal beside it.
  const bool others = std::any_of(claims.begin(), claims.end(), [](const Claim& c) {
    return !c.follows && c.severity == Severity::critical;
  });
  const bool alone = claim == nullptr && events.empty() && !record.sure;
  if (!reason.empty() && !(alone && others)) {
    if (claim == nullptr) {
      claims.emplace_back();
      claim = &claims.back();
      claim->cause = Cause::external_stop;
      claim->events = events;
    }
    claim->severity = Severity::info;
    claim->culprits.clear();
    claim->facts = facts;
    claim->what = fmt::format("the scheduler ended the job: {}", reason);
    claim->actions = {Action::restart_from_checkpoint};
    claim->next = "resubmit and resume; have it save some minutes before such an end";
    claim->join = "stopped";
    if (alone) claim->cap(Confidence::low);
    if (events.empty() && !record.sure) claim->cap(Confidence::medium);
    return;
  }
  if (claim == nullptr || claim->events.empty()) return;
  claim->severity = Severity::warning;
  claim->actions = {Action::find_sender, Action::restart_from_checkpoint};
  claim->next = "find who sent the signal: sacct, events of the orchestrator, audit log";
  const std::size_t first = claim->events.front();
  std::set<std::string> at_once;
  for (const std::size_t i : claim->events) {
    if (i == first || !scene.clock().before(first, i)) at_once.insert(host_key(scene.host(i)));
  }
  claim->culprits.clear();
  if (!by.empty()) {
    claim->what = fmt::format("user {} cancelled the job", by);
    claim->facts = facts;
    claim->join = "stopped";
  } else if (at_once.size() == 1 && !scene.host(first).empty() && scene.one_host()) {
    // Nobody else to compare with: all hosts may have been told to stop.
    claim->what = fmt::format("a signal from outside stopped {}", scene.host(first));
  } else if (at_once.size() == 1 && !scene.host(first).empty()) {
    claim->culprits = {scene.host_culprit(scene.host(first))};
    claim->what = fmt::format("a signal from outside stopped {}", scene.host(first));
  } else if (at_once.size() == 1 && scene.event(first).pid) {
    claim->culprits = {{CulpritKind::process, std::to_string(*scene.event(first).pid)}};
  } else if (at_once.size() > 1) {
    claim->what = "a signal from outside stopped all hosts at once";
  }
}

void node_failed(const Scene& scene, std::vector<Claim>& claims) {
  Claim* claim = find_claim(claims, Cause::node_failure);
  for (const FactRef& ref : all_facts<JobRecord>(scene)) {
    const auto& job = std::get<JobRecord>(ref.fact->value);
    if (state_word(job) != "node_fail") continue;
    const Belongs of = belongs(scene, job);
    if (of == Belongs::no) continue;
    if (claim == nullptr) {
      claims.emplace_back();
      claim = &claims.back();
      claim->cause = Cause::node_failure;
      claim->what = "the scheduler lost a node of the job";
      if (of == Belongs::unknown) claim->cap(Confidence::low);
    }
    claim->facts.push_back(ref.index);
    // Which one: whoever is down among its nodes.
    for (const FactRef& down : all_facts<NodeState>(scene)) {
      const auto& node = std::get<NodeState>(down.fact->value);
      const bool gone = to_lower(node.state).find("down") != std::string::npos ||
                        to_lower(node.reason).find("not respond") != std::string::npos;
      if (!gone || !claim->events.empty()) continue;
      for (const std::string& host : job.hosts) {
        if (!in_list(node.host, host)) continue;
        claim->culprits.push_back(scene.host_culprit(host));
        claim->facts.push_back(down.index);
      }
    }
  }
  if (claim == nullptr) return;
  claim->join = "node_failed";
  if (claim->culprits.empty()) {
    claim->culprits = {{CulpritKind::unknown, ""}};
    claim->next = "ask the scheduler which node it lost: its log, sinfo -R";
    return;
  }
  // The step's own lines are ended because of it.
  claim->actions = {Action::exclude_host, Action::drain_host, Action::restart_from_checkpoint};
  claim->next = "look at its console and BMC log before it comes back";
}

// ---- The node that failed jobs have in common ------------------------------------------------

void common_node(const Scene& scene, std::vector<Claim>& claims) {
  std::map<std::string, std::string> spelled;
  std::optional<std::set<std::string>> common;
  std::set<std::string> good;
  std::size_t failed = 0;
  std::vector<std::size_t> facts;
  for (const FactRef& ref : all_facts<JobRecord>(scene)) {
    const auto& job = std::get<JobRecord>(ref.fact->value);
    const std::string state = state_word(job);
    const bool bad = state == "failed" || state == "node_fail";
    if (job.hosts.empty() || job.id.find('.') != std::string::npos) continue;
    if (!bad && state != "completed") continue;
    std::set<std::string> hosts;
    for (const std::string& host : job.hosts) {
      hosts.insert(host_key(host));
      spelled.emplace(host_key(host), host);
    }
    facts.push_back(ref.index);
    if (!bad) {
      good.insert(hosts.begin(), hosts.end());
      continue;
    }
    ++failed;
    if (!common) {
      common = hosts;
    } else {
      std::erase_if(*common, [&](const std::string& host) { return !hosts.contains(host); });
    }
  }
  if (failed < 2 || !common) return;
  std::erase_if(*common, [&](const std::string& host) { return good.contains(host); });
  if (common->size() != 1) return;
  const std::string& host = spelled[*common->begin()];
  for (Claim& claim : claims) {
    if (claim.follows || claim.events.empty() || layer_of(claim.cause) > Layer::program) continue;
    if (host_key(host_of(scene, claim)) != host_key(host)) continue;
    claim.facts.insert(claim.facts.end(), facts.begin(), facts.end());
    claim.what +=
        fmt::format("; {} is the only node of all {} failed jobs and of no good one", host, failed);
    claim.join = "common_node";
    // Only what is wrong with the node itself: a file server that it lost stands elsewhere.
    const bool of_node = is_gpu_fault(claim.cause) || claim.cause == Cause::node_failure ||
                         claim.cause == Cause::nvme_failing;
    if (!of_node) continue;
    const bool gpu = !claim.culprits.empty() && claim.culprits.front().kind == CulpritKind::gpu;
    if (!gpu) claim.culprits = {scene.host_culprit(host)};
    claim.actions = {Action::exclude_host, Action::drain_host, Action::restart_from_checkpoint};
    return;
  }
  if (failed < 3) return;
  Claim claim;
  claim.cause = Cause::undetermined;
  claim.severity = Severity::warning;
  claim.confidence = Confidence::low;
  claim.culprits = {scene.host_culprit(host)};
  claim.facts = facts;
  claim.what =
      fmt::format("{} is the only node of all {} failed jobs and of no good one", host, failed);
  claim.actions = {Action::collect_evidence, Action::exclude_host};
  claim.next = "check the node by itself before it is used again";
  claim.join = "common_node";
  claims.push_back(std::move(claim));
}

// A table of trials: does the suspect group explain which failed?
void trials(const Scene& scene, std::vector<Claim>& claims) {
  std::map<std::string, std::size_t> failures_with;
  std::size_t failed = 0, passed = 0;
  std::vector<std::size_t> facts;
  for (const FactRef& ref : all_facts<TrialRun>(scene)) {
    const auto& run = std::get<TrialRun>(ref.fact->value);
    facts.push_back(ref.index);
    ++(run.failed ? failed : passed);
    for (const std::string& group : run.groups) failures_with[group] += run.failed ? 1 : 0;
  }
  if (failed < 2 || failures_with.empty()) return;
  const bool in_all = std::any_of(failures_with.begin(), failures_with.end(),
                                  [&](const auto& one) { return one.second == failed; });
  if (in_all) return;
  Claim claim;
  claim.cause = Cause::suspect_not_confirmed;
  claim.severity = Severity::warning;
  claim.confidence = Confidence::medium;
  claim.culprits = {{CulpritKind::unknown, ""}};
  claim.facts = facts;
  claim.what = fmt::format("{} runs failed, and no group of hosts was in all of them", failed);
  claim.actions = {Action::undrain_host, Action::collect_evidence};
  claim.next =
      "put the suspects back into use and look at what all failed runs share: software, "
      "settings, the upper tier of the network";
  claim.join = "trials";
  claims.push_back(std::move(claim));
}

// ---- Restarts --------------------------------------------------------------------------------

constexpr std::size_t kDeathsOfLoop = 3;

// The state an attempt began from, as its line tells it: a path, else the step.
std::string state_of(const LogEvent& event) {
  std::string path = path_of(event);
  if (!path.empty()) return path;
  const std::string_view step = event.word("step");
  return step.empty() ? "" : "iteration " + std::string(step);
}

// Loads of a state and deaths behind them, one after the other, of one rank or in one order.
std::uint64_t attempts_of(const Scene& scene, const std::vector<std::size_t>& loads,
                          const std::vector<std::size_t>& deaths) {
  struct Rank {
    std::optional<std::size_t> load, death;
    std::uint64_t pairs = 0, repeats = 0;
  };
  // Each rank loads it: one of them counts the attempts.
  const auto leader = scene.rank(loads.front());
  std::uint64_t repeats = 0, most = 0;
  std::map<std::optional<std::int32_t>, Rank> ranks;
  std::optional<std::size_t> load;
  std::size_t d = 0;
  const auto die = [&](std::size_t death) {
    Rank& rank = ranks[scene.rank(death)];
    rank.repeats += scene.event(death).repeats;
    if (!load || rank.load == load || !scene.clock().before(*load, death)) return;
    if (rank.death && !scene.clock().before(*rank.death, *load)) return;
    rank.load = load;
    rank.death = death;
    ++rank.pairs;
  };
  for (const std::size_t i : loads) {
    if (scene.rank(i) != leader) continue;
    while (d < deaths.size() && scene.place(deaths[d]) < scene.place(i)) die(deaths[d++]);
    load = i;
    repeats += scene.event(i).repeats;
  }
  while (d < deaths.size()) die(deaths[d++]);
  for (const auto& [name, rank] : ranks) {
    if (rank.pairs > 0) most = std::max(most, rank.pairs + std::min(repeats, rank.repeats));
  }
  return most;
}

void restart_loop(const Scene& scene, std::vector<Claim>& claims) {
  std::map<std::string, std::vector<std::size_t>> starts;  // by state
  for (const std::size_t i : scene.with_rule("progress:restarted")) {
    const std::string state = state_of(scene.event(i));
    if (!state.empty()) starts[state].push_back(i);
  }
  if (starts.size() != 1) return;  // each attempt comes further, or cannot tell
  const auto& [state, loads] = *starts.begin();
  for (Claim& claim : claims) {
    if (claim.follows || claim.events.empty() || layer_of(claim.cause) > Layer::link) continue;
    const std::string text = without_numbers(scene.event(claim.events.front()).text);
    std::vector<std::size_t> deaths;
    for (const std::size_t i : claim.events) {
      if (without_numbers(scene.event(i).text) == text) deaths.push_back(i);
    }
    std::sort(deaths.begin(), deaths.end(),
              [&](auto a, auto b) { return scene.place(a) < scene.place(b); });
    const std::uint64_t same = attempts_of(scene, loads, deaths);
    if (same < kDeathsOfLoop) continue;
    const std::string why = claim.what;
    claim.become(Cause::restart_loop, "restart_loop");
    claim.culprits = {{CulpritKind::file, state}};
    claim.what =
        fmt::format("{} times the same death after the same load of {}: {}", same, state, why);
    claim.actions = {Action::stop_restarts, Action::step_back_checkpoint};
    claim.next = "stop the restarts and load an older checkpoint; keep this one for analysis";
    claim.confidence = Confidence::high;
    // All attempts are evidence; the first two loads show that they are the same.
    claim.events.insert(claim.events.begin() + 1, loads.begin(),
                        loads.begin() + std::min<std::ptrdiff_t>(2, std::ssize(loads)));
    return;
  }
}

bool is_running(const JobRecord& job) {
  const std::string state = state_word(job);
  return state == "running" || state == "r";
}

// A worker died, the scheduler still counts the job as running, and nothing but complaints of
// those who wait came since.
void zombie(const Scene& scene, std::vector<Claim>& claims) {
  std::vector<std::size_t> facts;
  std::size_t unsure = 0;
  for (const FactRef& ref : all_facts<JobRecord>(scene)) {
    const auto& job = std::get<JobRecord>(ref.fact->value);
    const Belongs of = is_running(job) ? belongs(scene, job) : Belongs::no;
    if (of == Belongs::no) continue;
    unsure += of == Belongs::unknown ? 1 : 0;
    facts.push_back(ref.index);
  }
  // Of several that run nobody knows which one it is.
  if (facts.empty() || (unsure > 0 && facts.size() > 1)) return;
  for (Claim& claim : claims) {
    const bool died =
        layer_of(claim.cause) <= Layer::program && claim.severity == Severity::critical;
    if (claim.follows || claim.events.empty() || !died) continue;
    bool went_on = false;
    std::vector<std::size_t> waits;
    for (const std::size_t i : scene.sorted()) {
      if (!scene.clock().before(claim.events.back(), i)) continue;
      const std::string& rule = scene.event(i).rule;
      if (rule == "progress:last_step" || rule == "progress:restarted") went_on = true;
      const bool complaint = scene.says(i, {"heartbeat", "keep-alive"});
      if (complaint) waits.push_back(i);
    }
    if (went_on || waits.empty()) continue;
    const std::string why = claim.what;
    claim.become(Cause::zombie_job, "zombie");
    if (unsure > 0) claim.cap(Confidence::medium);
    claim.facts.insert(claim.facts.end(), facts.begin(), facts.end());
    claim.events.push_back(waits.front());
    if (waits.size() > 1) claim.events.push_back(waits.back());
    claim.what = fmt::format(
        "a worker died ({}), the rest of the job never stopped and counts as "
        "running",
        why);
    claim.actions = {Action::cancel_job, Action::restart_from_checkpoint, Action::fix_config};
    claim.next =
        "end the job and start it so that the first failed task ends all (srun "
        "--kill-on-bad-exit=1)";
    return;
  }
}

void port_holder(const Scene& scene, std::vector<Claim>& claims) {
  Claim* claim = find_claim(claims, Cause::port_in_use);
  if (claim == nullptr || claim->events.empty()) return;
  std::optional<std::int64_t> port;
  for (const std::size_t i : claim->events) {
    if (!port) port = parse_int(scene.event(i).word("port"));
  }
  if (!port) return;
  const std::string host = host_of(scene, *claim);
  claim->culprits = {
      {CulpritKind::port, fmt::format("{}/{}", host.empty() ? "this" : host, *port)}};
  claim->what = fmt::format("port {} is held by another process", *port);
  claim->actions = {Action::stop_process, Action::fix_config};
  claim->next = "see which process listens there (ss -ltnp); end it if it is a left-over";
  claim->join = "port_holder";
  claim->cap(Confidence::medium);
  for (const FactRef& ref : facts_of<Listener>(scene, host)) {
    const auto& listener = std::get<Listener>(ref.fact->value);
    if (listener.port != *port || (!listener.pid && listener.process.empty())) continue;
    const std::string id = listener.pid ? std::to_string(*listener.pid) : listener.process;
    claim->culprits = {scene.process_culprit(host, id)};
    claim->facts = {ref.index};
    claim->what = fmt::format("port {} is held by {} {}", *port, listener.process,
                              listener.pid ? std::to_string(*listener.pid) : "");
    claim->what = std::string(trim(claim->what));
    claim->next =
        fmt::format("see that {} is no live run, then end it; or choose another port", id);
    claim->confidence = Confidence::high;
    return;
  }
}

void short_of_plan(const Scene& scene, std::vector<Claim>& claims) {
  std::vector<std::size_t> good;
  for (const FactRef& ref : all_facts<JobRecord>(scene)) {
    const auto& job = std::get<JobRecord>(ref.fact->value);
    const bool bad = state_word(job) != "completed" || job.exit_code.value_or(0) != 0;
    if (bad || job.id.find('.') != std::string::npos) continue;
    good.push_back(ref.index);
  }
  if (good.size() != 1) return;
  const auto steps = scene.with_rule("progress:last_step");
  if (steps.empty() || !scene.with_rule("progress:finished").empty()) return;
  std::int64_t most = -1;
  std::optional<std::int64_t> target;
  for (const std::size_t i : steps) {
    most = std::max(most, parse_int(scene.event(i).word("step")).value_or(-1));
    if (const auto told = parse_int(scene.event(i).word("target_step"))) target = told;
  }
  // The last step may be logged every hundredth only.
  if (!target || most < 0 || most * 10 >= *target * 9) return;
  Claim claim;
  claim.cause = Cause::run_incomplete_exit_zero;
  claim.confidence = Confidence::medium;
  claim.events = {steps.back()};
  claim.facts = good;
  claim.culprits = {{CulpritKind::unknown, ""}};
  claim.what =
      fmt::format("the job counts as complete and its log ends at step {} of {}", most, *target);
  claim.next = "look at the end of the log of every rank before the result is used";
  claim.actions = {Action::collect_evidence, Action::restart_from_checkpoint};
  claim.join = "short_of_plan";
  claims.push_back(std::move(claim));
}

constexpr Join kJoins[] = {
    {"killed_process", "a process that the kernel killed; a rank that tells of its death",
     "whose process it was, and which limit", killed_process},
    {"file_server", "a file server that does not answer, and answers again", "a pause, or lost",
     file_server},
    {"unkillable", "a drained node; its processes", "what the processes wait for", unkillable},
    {"node_failed", "the end of a job by its node; states of nodes", "which node it was",
     node_failed},
    {"stopped", "signals and cancellations; the scheduler's record", "planned, or who sent it",
     stopped},
    {"common_node", "nodes of failed and of good jobs", "the node that all failed ones share",
     common_node},
    {"trials", "a table of test runs", "the suspicion fails its control", trials},
    {"restart_loop", "deaths that repeat; what each attempt loaded", "the state they begin from",
     restart_loop},
    {"zombie", "a dead worker; a job that counts as running", "the rest never stopped", zombie},
    {"port_holder", "a port in use; who listens", "the process that holds it", port_holder},
    {"short_of_plan", "a job that counts as complete; its last step", "it ended early",
     short_of_plan},
};

}  // namespace

std::span<const Join> job_joins() {
  return kJoins;
}

}  // namespace muster
