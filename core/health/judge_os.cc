#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"
#include "core/health/judges.h"
#include "core/health/limits.h"
#include "core/model/json_reader.h"

namespace muster::health {

Judged judge_swap(const HostProbe& probe, const Limits&) {
  std::size_t count = 0;
  double used_kib = 0;
  for (const std::string_view line : lines_of(output_of(answer_of(probe, "swaps")))) {
    const auto words = words_of(line);
    if (words.size() < 5 || words[0] == "Filename") continue;
    const auto used = parse_uint(words[words.size() - 2]);
    if (!used) continue;
    ++count;
    used_kib += static_cast<double>(*used);
  }
  if (count == 0) return passed(std::int64_t{0}, std::int64_t{0}, "areas");
  CheckResult out = found(CheckOutcome::warn,
                          fmt::format("swap is on, {:.0f} MiB of it in use", used_kib / 1024));
  out.value = whole(count);
  out.limit = std::int64_t{0};
  out.unit = "areas";
  return {std::move(out)};
}

namespace {

// Soft limit of /proc/self/limits; infinity for "unlimited".
std::optional<double> soft_limit(std::string_view text, std::string_view name) {
  for (const std::string_view line : lines_of(text)) {
    if (!line.starts_with(name)) continue;
    const auto words = words_of(line.substr(name.size()));
    if (words.empty()) return std::nullopt;
    if (words[0] == "unlimited") return HUGE_VAL;
    return parse_double(words[0]);
  }
  return std::nullopt;
}

}  // namespace

Judged judge_process_limits(const HostProbe& probe, const Limits& limits) {
  // Limits of the shell that looked: those of the batch system's may differ, preflight knows.
  const std::string_view text = output_of(answer_of(probe, "limits"));
  const auto files = soft_limit(text, "Max open files");
  const auto locked = soft_limit(text, "Max locked memory");
  if (!files || !locked) return cannot_tell("limits: open files or locked memory is not told");
  Judged out;
  const double least = limits.required("open_files");
  if (*files < least) {
    out.push_back(
        found(CheckOutcome::warn, fmt::format("a login here may open {:.0f} files", *files)));
    out.back().value = *files;
    out.back().limit = least;
    out.back().unit = "files";
  }
  if (std::isfinite(*locked) && done_answer(probe, "ib_ports") != nullptr) {
    out.push_back(found(CheckOutcome::warn,
                        fmt::format("a login here may lock {:.0f} MiB of memory: RDMA needs it "
                                    "unlimited",
                                    *locked / (1024.0 * 1024))));
    out.back().value = *locked;
    out.back().limit = std::string("unlimited");
    out.back().unit = "bytes";
  }
  return or_passed(std::move(out), *files, least, "files");
}

namespace {

struct CoreClock {
  std::optional<double> allowed, now, most;  // kHz
};

std::vector<CoreClock> core_clocks(const ProbeAnswer& answer) {
  std::map<std::string_view, CoreClock> cores;
  for (const ProbePart& part : answer.parts) {
    const auto words = path_words(part.name, "/sys/devices/system/cpu/cpufreq/");
    if (words.size() != 2) continue;
    const auto value = parse_double(trim(part.bytes));
    if (words[1] == "scaling_max_freq") cores[words[0]].allowed = value;
    if (words[1] == "scaling_cur_freq") cores[words[0]].now = value;
    if (words[1] == "cpuinfo_max_freq") cores[words[0]].most = value;
  }
  std::vector<CoreClock> out;
  for (const auto& [name, core] : cores) {
    if (core.most && *core.most > 0) out.push_back(core);
  }
  return out;
}

}  // namespace

Judged judge_cpu_clock(const HostProbe& probe, const Limits& limits) {
  const double least = limits.required("cpu_clock_percent");
  const double busy = limits.required("cpu_busy_clock_percent");
  const auto cores = core_clocks(answer_of(probe, "cpufreq"));
  if (cores.empty()) return cannot_tell("cpufreq: no core tells its highest clock");
  std::size_t limited = 0;
  double fastest = 0;
  for (const CoreClock& core : cores) {
    if (core.allowed && 100 * *core.allowed < least * *core.most) ++limited;
    if (core.now) fastest = std::max(fastest, 100 * *core.now / *core.most);
  }
  Judged out;
  if (limited != 0) {
    out.push_back(found(CheckOutcome::warn,
                        fmt::format("{} of {} cores may not reach {:.0f} % of their clock", limited,
                                    cores.size(), least)));
  }
  const ProbeAnswer* const load = done_answer(probe, "loadavg");
  const std::string_view text = load == nullptr ? std::string_view() : output_of(*load);
  const auto running = parse_double(text.substr(0, text.find(' ')));
  // As many threads as half of the cores run, and not one core is fast.
  const bool loaded = running && *running >= 0.5 * static_cast<double>(cores.size());
  if (loaded && fastest > 0 && fastest < busy) {
    out.push_back(
        found(CheckOutcome::warn,
              fmt::format("under load {:.1f} no core runs above {:.0f} % of its clock: its "
                          "frequency scaling is broken",
                          *running, fastest)));
    out.back().value = fastest;
    out.back().limit = busy;
    out.back().unit = "%";
  }
  return or_passed(std::move(out));
}

Judged judge_memory_errors(const HostProbe& probe, const Limits& limits) {
  const double most = limits.required("ecc_corrected");
  Judged out;
  for (const ProbePart& part : answer_of(probe, "edac").parts) {
    const auto words = path_words(part.name, "/sys/devices/system/edac/mc/");
    const auto count = parse_uint(trim(part.bytes));
    if (words.size() != 2 || !count || *count == 0) continue;
    const bool corrected = words[1] == "ce_count";
    if (corrected && static_cast<double>(*count) <= most) continue;
    out.push_back(found(corrected ? CheckOutcome::warn : CheckOutcome::fail,
                        fmt::format("memory controller {}: {} {} errors", words[0], *count,
                                    corrected ? "corrected" : "uncorrectable")));
    out.back().value = whole(*count);
    out.back().limit = corrected ? GateValue(most) : GateValue(std::int64_t{0});
    out.back().unit = "errors";
  }
  return or_passed(std::move(out));
}

Judged judge_services(const HostProbe& probe, const Limits&) {
  const ProbeAnswer& answer = answer_of(probe, "services");
  Judged out;
  std::string_view id;
  std::size_t told = 0;
  for (const std::string_view line : lines_of(output_of(answer))) {
    if (line.starts_with("Id=")) id = line.substr(3);
    if (!line.starts_with("ActiveState=")) continue;
    ++told;
    const std::string_view state = line.substr(12);
    // One that is off is off on purpose; Fabric Manager has a check of its own.
    if (state != "failed" || id.starts_with("nvidia-fabricmanager")) continue;
    out.push_back(
        found(CheckOutcome::warn, fmt::format("service {} has failed", whole_characters(id, 60))));
  }
  if (told == 0)
    return cannot_tell(answer.status != 0 ? failure_of(answer) : "services: none told");
  return or_passed(std::move(out));
}

Judged judge_stuck_processes(const HostProbe& probe, const Limits& limits) {
  const double most = limits.required("stuck_process_s");
  Judged out;
  for (const std::string_view line : lines_of(output_of(answer_of(probe, "stuck_processes")))) {
    const auto words = words_of(line);
    if (words.size() < 3 || !parse_uint(words[0])) continue;
    const auto age = parse_uint(words[1]);
    if (!age || static_cast<double>(*age) < most) continue;
    out.push_back(found(CheckOutcome::warn,
                        fmt::format("process {} ({}) waits for a device and takes no signal",
                                    words[0], whole_characters(words[2], 40))));
    add_evidence(out.back(), "stuck_processes", line);
  }
  return or_passed(std::move(out));
}

Judged judge_clock_skew(const HostProbe& probe, const Limits& limits) {
  if (!probe.host_clock || !probe.sent_at || !probe.received_at) {
    return cannot_tell("the host's clock did not come");
  }
  // The host looked at its clock between our two looks, nobody knows when: what it must be off by
  // at least is what counts.
  const double early = duration_to_seconds(*probe.sent_at - *probe.host_clock);
  const double late = duration_to_seconds(*probe.host_clock - *probe.received_at);
  const double off = std::max({early, late, 0.0});
  const double warns = limits.required("clock_skew_s"), fails = limits.required("clock_refused_s");
  if (off < warns) return passed(off, warns, "s");
  CheckResult out =
      found(off >= fails ? CheckOutcome::fail : CheckOutcome::warn,
            fmt::format("its clock is {:.1f} s {}{}", off, early > 0 ? "behind" : "ahead",
                        off >= fails ? ": certificates are refused, apt and TLS fail" : ""));
  out.value = off;
  out.limit = off >= fails ? fails : warns;
  out.unit = "s";
  return {std::move(out)};
}

Judged judge_time_sync(const HostProbe& probe, const Limits&) {
  for (const std::string_view line : lines_of(output_of(answer_of(probe, "time_sync")))) {
    const auto words = words_of(line);
    if (words.size() < 2 || words[0] != "synchronised") continue;
    if (words[1] == "yes") return passed(std::string("yes"));
    if (words[1] != "no") break;
    CheckResult out = found(CheckOutcome::warn, "nothing keeps its clock in time");
    out.value = std::string("no");
    return {std::move(out)};
  }
  return cannot_tell("time_sync: the kernel's word is not understood");
}

Judged judge_docker(const HostProbe& probe, const Limits& limits) {
  const ProbeAnswer& answer = answer_of(probe, "docker_info");
  const auto document = parse_json(trim(output_of(answer)));
  const JsonNode* const errors = document ? document->find("ServerErrors") : nullptr;
  const auto* const list = errors != nullptr ? errors->get<JsonNode::Array>() : nullptr;
  std::string complaint = answer.status != 0 ? shown_line(answer.complaint) : std::string();
  if (list != nullptr && !list->empty() && list->front().get<std::string>() != nullptr) {
    complaint = shown_line(*list->front().get<std::string>());
  }
  if (contains_ignoring_case(complaint, "permission denied")) {
    return cannot_tell("docker: only root and its group may ask");
  }
  if (contains_ignoring_case(complaint, "cannot connect to the docker daemon")) {
    CheckResult out = found(CheckOutcome::fail, "the Docker service does not answer");
    add_evidence(out, answer.id, complaint);
    return {std::move(out)};
  }
  if (!complaint.empty()) return cannot_tell("docker_info: " + complaint);
  if (answer.status != 0) return cannot_tell(failure_of(answer));
  if (!document) return cannot_tell("docker_info: no JSON");
  const JsonNode* const runtimes = document->find("Runtimes");
  const JsonNode* const devices = document->find("DiscoveredDevices");
  const bool has_runtime = runtimes != nullptr && runtimes->find("nvidia") != nullptr;
  if (may_have_gpus(probe, limits) && runtimes != nullptr && !has_runtime && devices == nullptr) {
    return {found(CheckOutcome::warn, "Docker has no runtime for GPUs (nvidia)")};
  }
  return passed();
}

}  // namespace muster::health
