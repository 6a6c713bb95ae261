#include "core/health/judge.h"

#include <fmt/core.h>

#include "base/check.h"
#include "base/limits.h"
#include "base/text.h"
#include "core/health/limits.h"
#include "core/health/pci_device.h"

namespace muster::health {

namespace {

CheckResult plain(CheckOutcome outcome, std::string text) {
  CheckResult out;
  out.outcome = outcome;
  out.text = std::move(text);
  return out;
}

}  // namespace

Judged passed(std::optional<GateValue> value, std::optional<GateValue> limit, std::string unit) {
  CheckResult out = plain(CheckOutcome::pass, "");
  out.value = std::move(value);
  out.limit = std::move(limit);
  out.unit = std::move(unit);
  return {std::move(out)};
}

Judged cannot_tell(std::string reason) {
  return {plain(CheckOutcome::unknown, std::move(reason))};
}

Judged skipped(std::string reason) {
  return {plain(CheckOutcome::skipped, std::move(reason))};
}

CheckResult found(CheckOutcome outcome, std::string text) {
  return plain(outcome, std::move(text));
}

CheckResult found_gpu(CheckOutcome outcome, const HostProbe& probe, std::string_view gpu,
                      std::string text) {
  CheckResult out = plain(outcome, std::move(text));
  out.culprit = {CulpritKind::gpu, part_id(probe, gpu)};
  return out;
}

CheckResult found_port(CheckOutcome outcome, const HostProbe& probe, std::string_view port,
                       std::string text) {
  CheckResult out = plain(outcome, std::move(text));
  out.culprit = {CulpritKind::port, part_id(probe, port)};
  return out;
}

void add_evidence(CheckResult& result, std::string_view probe, std::string_view line) {
  if (result.evidence.size() >= limits::kEvidenceLines) return;
  result.evidence.push_back({std::string(probe), std::nullopt,
                             std::string(whole_characters(trim(line), limits::kEvidenceChars))});
}

Judged or_passed(Judged results, std::optional<GateValue> value, std::optional<GateValue> limit,
                 std::string unit) {
  if (!results.empty()) return results;
  return passed(std::move(value), std::move(limit), std::move(unit));
}

std::string_view output_of(const ProbeAnswer& answer) {
  return answer.parts.empty() ? std::string_view() : std::string_view(answer.parts.front().bytes);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty() && out.size() < limits::kSiteLines) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    out.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string shown_line(std::string_view text) {
  constexpr std::size_t kShown = 160;
  text = trim(text);
  return std::string(trim(whole_characters(text.substr(0, text.find('\n')), kShown)));
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> out;
  for (;;) {
    const std::size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return out;
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    out.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

const ProbeAnswer& answer_of(const HostProbe& probe, std::string_view id) {
  const ProbeAnswer* const answer = done_answer(probe, id);
  MUSTER_CHECK(answer != nullptr, "a judge reads probes that its row names");
  return *answer;
}

const ProbeAnswer* done_answer(const HostProbe& probe, std::string_view id) {
  const ProbeAnswer* const answer = probe.find(id);
  return answer != nullptr && answer->end == ProbeEnd::done ? answer : nullptr;
}

std::string why_not(const HostProbe& probe, std::string_view id) {
  const ProbeAnswer* const answer = probe.find(id);
  if (answer == nullptr) return fmt::format("{}: no answer came", id);
  constexpr std::string_view kWords[] = {
      "",          "not there",     "no permission", "no end in time",
      "too large", "could not run", "was not run"};
  if (answer->end == ProbeEnd::done) return "";
  std::string out = fmt::format("{}: {}", id, kWords[static_cast<std::size_t>(answer->end)]);
  const std::string complaint = shown_line(answer->complaint);
  return complaint.empty() ? out : fmt::format("{} ({})", out, complaint);
}

std::string reach_text(const HostProbe& probe) {
  std::string out(reach_meaning(probe.reach));
  const std::string complaint = shown_line(probe.complaint);
  return complaint.empty() ? out : fmt::format("{} ({})", out, complaint);
}

std::string failure_of(const ProbeAnswer& answer) {
  if (answer.status == 0) return "";
  std::string words = shown_line(answer.complaint);
  if (words.empty()) words = shown_line(output_of(answer));
  if (words.empty()) return fmt::format("{}: exit status {}", answer.id, answer.status);
  return fmt::format("{}: {}", answer.id, words);
}

std::vector<std::string_view> path_words(std::string_view path, std::string_view folder) {
  if (!path.starts_with(folder)) return {};
  return split(path.substr(folder.size()), '/');
}

std::string part_id(const HostProbe& probe, std::string_view part) {
  return fmt::format("{}/{}", probe.host, whole_characters(trim(part), 64));
}

GateValue whole(std::uint64_t value) {
  return static_cast<std::int64_t>(
      std::min<std::uint64_t>(value, std::numeric_limits<std::int64_t>::max()));
}

std::optional<std::size_t> gpus_on_pci(const HostProbe& probe) {
  const ProbeAnswer* const answer = done_answer(probe, "pci_devices");
  if (answer == nullptr) return std::nullopt;
  std::size_t count = 0;
  for (const PciDevice& device : pci_devices(*answer)) {
    if (device.kind() == PciKind::gpu) ++count;
  }
  return count;
}

bool may_have_gpus(const HostProbe& probe, const Limits& limits) {
  if (limits.number("gpu_count").value_or(0) > 0) return true;
  if (done_answer(probe, "nvidia_gpus") != nullptr) return true;
  const ProbeAnswer* const smi = probe.find("nvidia_smi_query");
  if (smi != nullptr && smi->end != ProbeEnd::missing) return true;
  const ProbeAnswer* const pci = probe.find("pci_devices");
  if (pci != nullptr && pci->end == ProbeEnd::missing) return false;
  return gpus_on_pci(probe).value_or(1) > 0;
}

bool may_have_infiniband(const HostProbe& probe, const Limits& limits) {
  if (limits.number("ib_ports").value_or(0) > 0) return true;
  const ProbeAnswer* const ports = probe.find("ib_ports");
  return ports == nullptr || ports->end != ProbeEnd::missing;
}

}  // namespace muster::health
