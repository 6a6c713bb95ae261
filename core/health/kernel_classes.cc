#include "core/health/kernel_classes.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/limits.h"
#include "base/text.h"

namespace muster::health {
namespace {

// The level of "<2>[ 12.5] text"; nothing where there is none. The number also has the facility,
// above three bits.
std::optional<std::uint64_t> level_of(std::string_view line) {
  if (!line.starts_with('<')) return std::nullopt;
  const std::size_t end = line.find('>');
  const auto value =
      end == std::string_view::npos ? std::nullopt : parse_uint(line.substr(1, end - 1));
  return value ? std::optional(*value & 7) : std::nullopt;
}

bool holds_any(std::string_view line, const KernelAllowList& words) {
  return std::any_of(words.begin(), words.end(), [line](const std::string& word) {
    return !word.empty() && line.find(word) != std::string_view::npos;
  });
}

CheckOutcome outcome_of(const KernelSight& sight) {
  // The program that met it is gone; what the GPU is like now, gpu_row_remap and gpu_ecc_errors
  // say.
  if (sight.cause == Cause::ecc_contained) return CheckOutcome::pass;
  if (sight.severity == Severity::critical && sight.confidence != Confidence::low) {
    return CheckOutcome::fail;
  }
  return sight.severity >= Severity::warning ? CheckOutcome::warn : CheckOutcome::pass;
}

std::string part_of(const KernelEvent& event) {
  if (!event.pci.empty()) return event.pci;
  return event.device;
}

CheckResult result_of(const HostProbe& probe, const KernelSight& sight) {
  const KernelEvent& event = sight.event;
  const bool gpu = event.kind == KernelEventKind::xid || event.kind == KernelEventKind::gpu_lost;
  const std::string part = part_of(event);
  std::string what(kernel_event_kind_name(event.kind));
  if (event.code) what = fmt::format("{} {}", what == "sxid" ? "SXid" : "Xid", *event.code);
  std::string text = part.empty() ? what : fmt::format("{} of {}", what, part);
  if (!sight.meaning.empty()) text += ": " + sight.meaning;
  CheckResult out = gpu && !event.pci.empty()
                        ? found_gpu(outcome_of(sight), probe, event.pci, std::move(text))
                        : found(outcome_of(sight), std::move(text));
  // What is not sure accuses nobody by a name of its own.
  out.cause = sight.confidence == Confidence::low ? Cause::undetermined : sight.cause;
  return out;
}

}  // namespace

std::vector<std::string_view> grave_lines(std::string_view log, const KernelAllowList& allowed) {
  constexpr std::uint64_t kCritical = 2;
  std::vector<std::string_view> out;
  for (const std::string_view line : lines_of(log)) {
    const auto level = level_of(line);
    if (!level || *level > kCritical || holds_any(line, allowed)) continue;
    out.push_back(line);
    if (out.size() == limits::kEvidenceLines) break;
  }
  return out;
}

Judged judge_kernel(const HostProbe& probe, std::span<const KernelSight> sights,
                    std::span<const std::string_view> grave) {
  std::map<std::tuple<Cause, std::string>, CheckResult> faults;
  for (const KernelSight& sight : sights) {
    if (outcome_of(sight) == CheckOutcome::pass && sight.severity < Severity::warning) continue;
    CheckResult result = result_of(probe, sight);
    const auto key = std::tuple(*result.cause, part_of(sight.event));
    const auto at = faults.try_emplace(key, result).first;
    if (result.outcome == CheckOutcome::fail && at->second.outcome != CheckOutcome::fail) {
      result.evidence = std::move(at->second.evidence);
      at->second = std::move(result);
    }
    add_evidence(at->second, "kernel_log", sight.event.text);
  }
  Judged out;
  for (auto& [key, result] : faults) out.push_back(std::move(result));
  if (!grave.empty()) {
    CheckResult lines = found(CheckOutcome::warn,
                              fmt::format("{} lines of the kernel's gravest levels that no rule "
                                          "knows",
                                          grave.size()));
    lines.cause = Cause::undetermined;
    for (const std::string_view line : grave) add_evidence(lines, "kernel_log", line);
    out.push_back(std::move(lines));
  }
  return or_passed(std::move(out));
}

}  // namespace muster::health
