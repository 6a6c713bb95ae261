#include "core/explain/facts_alone.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "core/explain/joins.h"

namespace muster {
namespace {

Claim claim_of_fact(Cause cause, Severity severity, std::size_t fact, std::string what) {
  Claim claim;
  claim.cause = cause;
  claim.severity = severity;
  claim.confidence = cause == Cause::undetermined ? Confidence::low : Confidence::medium;
  claim.culprits = {{CulpritKind::unknown, ""}};
  claim.facts = {fact};
  claim.what = std::move(what);
  claim.join = "facts_alone";
  return claim;
}

// ---- Jobs ------------------------------------------------------------------------------------

bool is_step(const JobRecord& job) {
  return job.id.find('.') != std::string::npos;
}

Claim out_of_memory(const Scene& scene, const FactRef& ref, const JobRecord& job) {
  Claim claim =
      claim_of_fact(Cause::host_oom_killed, Severity::critical, ref.index,
                    fmt::format("the scheduler says that job {} ran out of host memory", job.id));
  if (job.hosts.size() == 1) claim.culprits = {scene.host_culprit(job.hosts.front())};
  claim.actions = {Action::reduce_memory, Action::raise_limit, Action::restart_from_checkpoint};
  claim.next = "look for the OOM kill in the kernel logs of its nodes; ask for more memory";
  return claim;
}

Claim cancelled(const FactRef& ref, const JobRecord& job) {
  return claim_of_fact(Cause::external_stop, Severity::warning, ref.index,
                       job.by.empty() ? fmt::format("job {} was cancelled", job.id)
                                      : fmt::format("user {} cancelled job {}", job.by, job.id));
}

Claim failed(const FactRef& ref, const JobRecord& job, std::string_view state) {
  std::string what = fmt::format("the job {} ended {}", job.id, state);
  if (job.exit_signal && *job.exit_signal != 0) {
    what += fmt::format(", signal {}", *job.exit_signal);
  } else if (job.exit_code) {
    what += fmt::format(", exit code {}", *job.exit_code);
  }
  Claim claim = claim_of_fact(Cause::undetermined, Severity::critical, ref.index,
                              what + "; its log tells why");
  claim.next = "give muster explain the log of that job as well";
  return claim;
}

// The newest of the worst kind; a step speaks only where its job does not.
void jobs(const Scene& scene, std::vector<Claim>& claims) {
  std::optional<Claim> memory, stop, failure;
  for (const bool steps : {true, false}) {
    for (const FactRef& ref : all_facts<JobRecord>(scene)) {
      const auto& job = std::get<JobRecord>(ref.fact->value);
      if (is_step(job) != steps) continue;
      const std::string state = to_lower(job.state);
      // Steps are cancelled in whatever way their job ends.
      if (state.starts_with("out_of_me") || state == "oom") memory = out_of_memory(scene, ref, job);
      if (!steps && state.starts_with("cancel")) stop = cancelled(ref, job);
      if (state == "failed" || state == "f") failure = failed(ref, job, "FAILED");
      if (state.starts_with("boot_fail")) failure = failed(ref, job, "BOOT_FAIL");
    }
  }
  // Beside what only tells of its end, a stop is the context of that.
  if (!claims.empty()) stop.reset();
  for (auto* one : {&memory, &failure, &stop}) {
    if (*one) {
      claims.push_back(std::move(**one));
      return;
    }
  }
}

// ---- Nodes and mounts --------------------------------------------------------------------------

void nodes(const Scene& scene, std::vector<Claim>& claims) {
  std::optional<Claim> claim;
  for (const FactRef& ref : all_facts<NodeState>(scene)) {
    const auto& node = std::get<NodeState>(ref.fact->value);
    const std::string state = to_lower(node.state), reason = to_lower(node.reason);
    const bool down = state.starts_with("down") || state.find("+down") != state.npos ||
                      state == "notready" || state.find("not_respond") != state.npos ||
                      reason.find("not respond") != reason.npos;
    if (!down || node.host.empty()) continue;
    if (!claim) {
      claim = claim_of_fact(Cause::undetermined, Severity::warning, ref.index,
                            fmt::format("{} is down or does not answer the scheduler", node.host));
      claim->culprits = {};
      claim->next = "look at its console and BMC log; ask scontrol show node for the reason";
    } else {
      claim->facts.push_back(ref.index);
    }
    claim->culprits.push_back(scene.host_culprit(node.host));
  }
  if (claim) claims.push_back(std::move(*claim));
}

// Images that are read only are always full.
bool is_image(const DiskSpace& space) {
  return space.device.starts_with("/dev/loop") || space.device.starts_with("/dev/sr") ||
         space.device == "squashfuse" || space.device == "efivarfs" ||
         lies_in(space.mount, "/snap");
}

void mounts(const Scene& scene, std::vector<Claim>& claims) {
  for (const FactRef& ref : all_facts<DiskSpace>(scene)) {
    const auto& space = std::get<DiskSpace>(ref.fact->value);
    if (is_image(space) || !space.avail || !space.size || *space.size <= 0) continue;
    if (*space.avail > 0) continue;
    const bool shm = space.mount == "/dev/shm";
    Claim claim = claim_of_fact(
        shm            ? Cause::shm_full
        : space.inodes ? Cause::inodes_exhausted
                       : Cause::disk_full,
        Severity::critical, ref.index,
        fmt::format("{} has no {} left", space.mount, space.inodes ? "free inodes" : "room"));
    claim.culprits = {{CulpritKind::file, space.mount}};
    claims.push_back(std::move(claim));
    return;
  }
}

// ---- GPUs --------------------------------------------------------------------------------------

struct Told {
  std::optional<Claim> errors, pending, heat, unread, past;
};

void weigh_state(const Scene& scene, const FactRef& ref, const GpuState& state, Told& told) {
  const std::string name = to_lower(state.name), value = to_lower(trim(state.value));
  const auto count = parse_uint(value);
  const auto say = [&](std::optional<Claim>& to, Cause cause, Severity severity, std::string what) {
    const Culprit gpu = state.gpu.empty() ? scene.host_culprit(ref.fact->host)
                                          : scene.gpu_culprit(ref.fact->host, state.gpu);
    if (!to) {
      to = claim_of_fact(cause, severity, ref.index, std::move(what));
      to->culprits = {gpu};
      return;
    }
    to->facts.push_back(ref.index);
    if (std::find(to->culprits.begin(), to->culprits.end(), gpu) == to->culprits.end()) {
      to->culprits.push_back(gpu);
    }
  };
  const bool uncorrectable = name.find("uncorr") != name.npos && count && *count > 0;
  if (uncorrectable && name.starts_with("volatile")) {
    say(told.errors, Cause::ecc_uncorrectable, Severity::critical,
        fmt::format("{} uncorrectable errors of a GPU's memory since its driver was loaded",
                    *count));
  } else if (uncorrectable && name.starts_with("aggregate")) {
    say(told.past, Cause::undetermined, Severity::info,
        fmt::format("{} uncorrectable errors of a GPU's memory in its life, none told of now",
                    *count));
  } else if (name == "pending" && value == "yes") {
    say(told.pending, Cause::ecc_contained, Severity::warning,
        "a remap of rows of a GPU's memory waits for a reset");
    told.pending->actions = {Action::reset_gpu, Action::watch};
    told.pending->next = "reset the GPU in the next window, then read its remapped rows again";
  } else if (name.find("hw thermal slowdown") != name.npos && value == "active") {
    say(told.heat, Cause::undetermined, Severity::warning,
        "a GPU lowers its clock because it is too hot");
    told.heat->confidence = Confidence::medium;
    told.heat->actions = {Action::check_power_cooling, Action::recheck};
    told.heat->next = "compare its temperature with its peers; look at fans and heat sink";
  } else if (value == "err!") {
    say(told.unread, Cause::undetermined, Severity::critical,
        "a GPU does not answer all questions of nvidia-smi (ERR!)");
    told.unread->next = "look in the kernel log for an Xid of that GPU, 79 above all";
  }
}

void gpus(const Scene& scene, std::vector<Claim>& claims) {
  Told told;
  for (const FactRef& ref : all_facts<GpuState>(scene)) {
    weigh_state(scene, ref, std::get<GpuState>(ref.fact->value), told);
  }
  for (auto* one : {&told.errors, &told.pending, &told.heat, &told.unread, &told.past}) {
    if (!*one) continue;
    claims.push_back(std::move(**one));
    return;
  }
}

// ---- Lines of no weight ------------------------------------------------------------------------

void loss_no_number(const Scene& scene, std::vector<Claim>& claims) {
  const auto lines = scene.with_role(EventRole::context);
  const auto first = std::find_if(lines.begin(), lines.end(), [&](std::size_t i) {
    return scene.event(i).rule.starts_with("loss_nan");
  });
  if (first == lines.end()) return;
  Claim claim = claim_of(scene, Cause::undetermined, {*first});
  claim.severity = Severity::warning;
  claim.confidence = Confidence::medium;
  claim.culprits = {{CulpritKind::unknown, ""}};
  const std::string_view step = scene.event(*first).word("step");
  claim.what = step.empty() ? "the loss is no number (nan)"
                            : fmt::format("the loss is no number (nan) since step {}", step);
  claim.actions = {Action::step_back_checkpoint, Action::fix_code};
  claim.next =
      "go back to a checkpoint before it; look at the data, the rate of learning and the "
      "norm of the gradients just before";
  claim.join = "facts_alone";
  claims.push_back(std::move(claim));
}

// An adapter of which nobody tells whether the run goes over it.
void quiet_adapter(const Scene& scene, std::vector<Claim>& claims) {
  for (const std::size_t i : scene.with_rule("nic_fault")) {
    const LogEvent& e = scene.event(i);
    if (scene.role(i) != EventRole::confirmation || e.severity < Severity::warning) continue;
    claims.push_back(claim_of(scene, Cause::undetermined, {i}));
    claims.back().confidence = Confidence::low;
    claims.back().next =
        "see whether it carries the run or its storage (ip route), then its counters";
    claims.back().join = "facts_alone";
    return;
  }
}

// Of several ends the first is the one that the others may follow from.
void first_end(const Scene& scene, std::vector<Claim>& claims) {
  const bool ended = std::any_of(claims.begin(), claims.end(),
                                 [](const Claim& c) { return c.join == "after_end"; });
  if (ended) return;
  for (const std::size_t i : scene.with_role(EventRole::teardown)) {
    const LogEvent& e = scene.event(i);
    const auto code = parse_int(e.word("code"));
    if (!scene.rank(i) || !code || *code == 0) continue;
    Claim claim = claim_of(scene, Cause::undetermined, {i});
    claim.severity = Severity::critical;
    claim.confidence = Confidence::low;
    claim.culprits = {{CulpritKind::rank, std::to_string(*scene.rank(i))}};
    const std::string on = scene.host(i).empty() ? "" : " on " + scene.host(i);
    claim.what = fmt::format("rank {}{} ended first, exit code {}; its own log tells why",
                             *scene.rank(i), on, *code);
    claim.actions = {Action::collect_evidence, Action::restart_from_checkpoint};
    claim.next = "read the last lines of that rank's own log";
    claim.join = "facts_alone";
    claims.push_back(std::move(claim));
    return;
  }
}

}  // namespace

void add_facts_alone(const Scene& scene, std::vector<Claim>& claims) {
  for (const auto add : {jobs, mounts, gpus, nodes, first_end, loss_no_number, quiet_adapter}) {
    const bool stands = std::any_of(claims.begin(), claims.end(), [](const Claim& c) {
      return !c.follows && (c.severity >= Severity::warning || c.cause == Cause::external_stop);
    });
    if (stands) return;
    add(scene, claims);
  }
}

}  // namespace muster
