#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "core/health/gpu_row.h"
#include "core/health/judges.h"
#include "core/health/limits.h"
#include "core/health/pci_device.h"

namespace muster::health {
namespace {

// "GPU 3: NVIDIA H100 (UUID: ...)" -> "3".
std::optional<std::string_view> gpu_heading(std::string_view line) {
  if (!line.starts_with("GPU ")) return std::nullopt;
  const std::string_view rest = line.substr(4, line.find(':') - 4);
  return parse_uint(rest) ? std::optional(rest) : std::nullopt;
}

// "Link 4: Replay Errors: 12" -> 4, "Replay Errors: 12".
struct LinkLine {
  std::uint64_t link = 0;
  std::string_view rest;
};
std::optional<LinkLine> link_line(std::string_view line) {
  line = trim(line);
  if (!line.starts_with("Link ")) return std::nullopt;
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto link = parse_uint(trim(line.substr(5, colon - 5)));
  if (!link) return std::nullopt;
  return LinkLine{*link, trim(line.substr(colon + 1))};
}

struct GpuLinks {
  std::size_t active = 0;
  std::vector<std::uint64_t> inactive;
};

struct LinkStates {
  std::map<std::string_view, GpuLinks> gpus;  // by the number of nvidia-smi
  std::vector<std::string_view> lost;
};

LinkStates link_states(const ProbeAnswer& answer) {
  LinkStates out;
  GpuLinks* gpu = nullptr;
  for (const std::string_view line : lines_of(output_of(answer))) {
    if (says_lost(line)) out.lost.push_back(line);
    if (const auto heading = gpu_heading(line)) {
      gpu = &out.gpus[*heading];
      continue;
    }
    const auto link = link_line(line);
    if (!link || gpu == nullptr) continue;
    if (contains_ignoring_case(link->rest, "inactive")) {
      gpu->inactive.push_back(link->link);
    } else if (link->rest.ends_with("GB/s")) {
      ++gpu->active;
    }
  }
  return out;
}

bool has_nvswitch(const HostProbe& probe) {
  const ProbeAnswer* const pci = done_answer(probe, "pci_devices");
  if (pci == nullptr) return false;
  const auto devices = pci_devices(*pci);
  return std::any_of(devices.begin(), devices.end(),
                     [](const PciDevice& device) { return device.kind() == PciKind::nvswitch; });
}

CheckResult lost_gpu(std::string_view probe, std::string_view line) {
  CheckResult out = found(CheckOutcome::fail, "nvidia-smi says that a GPU is lost");
  out.cause = Cause::gpu_fell_off_bus;
  add_evidence(out, probe, line);
  return out;
}

std::string link_list(const std::vector<std::uint64_t>& links) {
  std::string out;
  for (const std::uint64_t link : links) out += fmt::format("{}{}", out.empty() ? "" : ",", link);
  return out;
}

}  // namespace

Judged judge_nvlink_links(const HostProbe& probe, const Limits& limits) {
  const ProbeAnswer& answer = answer_of(probe, "nvlink_status");
  const LinkStates states = link_states(answer);
  Judged out;
  for (const std::string_view line : states.lost) out.push_back(lost_gpu(answer.id, line));
  const auto limit = limits.number("nvlink_count");
  std::size_t expected = limit ? static_cast<std::size_t>(*limit) : 0;
  if (!limit) {
    for (const auto& [gpu, links] : states.gpus) {
      expected = std::max(expected, links.active + links.inactive.size());
    }
  }
  for (const auto& [gpu, links] : states.gpus) {
    if (links.active >= expected && links.inactive.empty()) continue;
    // More links than are wired: the others are never active, a limit says how many are.
    if (limit && links.active >= expected) continue;
    out.push_back(
        found_gpu(CheckOutcome::fail, probe, gpu,
                  fmt::format("GPU {}: {} of {} NVLinks are active{}", gpu, links.active, expected,
                              links.inactive.empty() ? "" : ", not " + link_list(links.inactive))));
    out.back().value = whole(links.active);
    out.back().limit = whole(expected);
    out.back().unit = "links";
  }
  if (!out.empty()) return out;
  if (expected != 0 && !states.gpus.empty())
    return passed(whole(expected), whole(expected), "links");
  if (has_nvswitch(probe) || expected != 0) {
    CheckResult none = found(CheckOutcome::fail, "nvidia-smi lists no NVLink");
    for (const std::string_view line : lines_of(output_of(answer))) {
      add_evidence(none, answer.id, line);
    }
    return {std::move(none)};
  }
  if (answer.status != 0) return cannot_tell(failure_of(answer));
  return skipped("no NVLink is listed, and nothing says that there should be (nvlink_count)");
}

Judged judge_nvlink_errors(const HostProbe& probe, const Limits& limits) {
  const ProbeAnswer& answer = answer_of(probe, "nvlink_errors");
  const double most = limits.required("nvlink_errors");
  std::map<std::pair<std::string_view, std::uint64_t>, double> sums;
  std::string_view gpu;
  std::optional<std::string_view> odd;
  Judged out;
  for (const std::string_view line : lines_of(output_of(answer))) {
    if (trim(line).empty()) continue;
    if (says_lost(line)) {
      out.push_back(lost_gpu(answer.id, line));
      continue;
    }
    if (const auto heading = gpu_heading(line)) {
      gpu = *heading;
      continue;
    }
    const auto link = link_line(line);
    const std::size_t colon = link ? link->rest.rfind(':') : std::string_view::npos;
    if (!link || colon == std::string_view::npos) {
      odd = odd.value_or(trim(line));
      continue;
    }
    const std::string_view number = trim(link->rest.substr(colon + 1));
    const auto count = parse_uint(number);
    if (count) {
      sums[{gpu, link->link}] += static_cast<double>(*count);
    } else if (number != "N/A") {
      odd = odd.value_or(trim(line));
    }
  }
  for (const auto& [where, sum] : sums) {
    if (sum < most) continue;
    out.push_back(
        found_gpu(CheckOutcome::warn, probe, where.first,
                  fmt::format("GPU {}, NVLink {}: {:.0f} errors", where.first, where.second, sum)));
    out.back().value = sum;
    out.back().limit = most;
    out.back().unit = "errors";
  }
  if (odd && sums.empty() && answer.status == 0) {
    out.push_back(cannot_tell(fmt::format("a line of nvidia-smi is not understood: {}",
                                          whole_characters(*odd, 120)))
                      .front());
  }
  if (sums.empty() && out.empty()) {
    return answer.status != 0 ? cannot_tell(failure_of(answer)) : skipped("no NVLink is listed");
  }
  if (odd && out.empty()) {
    return cannot_tell(
        fmt::format("a line of nvidia-smi is not understood: {}", whole_characters(*odd, 120)));
  }
  return or_passed(std::move(out), std::nullopt, most, "errors");
}

Judged judge_fabric_manager(const HostProbe& probe, const Limits&) {
  if (!has_nvswitch(probe)) return skipped("no NVSwitch on the PCI bus");
  const ProbeAnswer& answer = answer_of(probe, "services");
  bool ours = false;
  std::string_view load, active;
  for (const std::string_view line : lines_of(output_of(answer))) {
    if (line.starts_with("Id=")) ours = line.substr(3).starts_with("nvidia-fabricmanager");
    if (ours && line.starts_with("LoadState=")) load = line.substr(10);
    if (ours && line.starts_with("ActiveState=")) active = line.substr(12);
  }
  if (load.empty() || active.empty())
    return cannot_tell("services: nvidia-fabricmanager is not told");
  if (active == "active") return passed(std::string("active"));
  CheckResult out = found(CheckOutcome::fail,
                          load == "not-found"
                              ? std::string("NVSwitch is there and Fabric Manager not installed")
                              : fmt::format("Fabric Manager is {}", whole_characters(active, 40)));
  out.value = std::string(active);
  out.limit = std::string("active");
  return {std::move(out)};
}

}  // namespace muster::health
