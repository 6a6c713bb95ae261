#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "core/health/gpu_row.h"
#include "core/health/judges.h"
#include "core/health/limits.h"

namespace muster::health {
namespace {

GpuTable table_of(const HostProbe& probe) {
  return gpu_table(answer_of(probe, "nvidia_smi_query"));
}

CheckResult of_row(CheckOutcome outcome, const HostProbe& probe, const GpuRow& row,
                   std::string text) {
  return found_gpu(outcome, probe, row.cell(GpuCell::index), std::move(text));
}

// What nvidia-smi says in place of rows when it cannot work at all.
std::optional<CheckResult> driver_fault(std::string_view line) {
  if (contains_ignoring_case(line, "driver/library version mismatch")) {
    CheckResult out =
        found(CheckOutcome::fail, "library and kernel module of the GPU driver differ in version");
    out.cause = Cause::driver_library_mismatch;
    return out;
  }
  if (contains_ignoring_case(line, "couldn't communicate with the nvidia driver")) {
    CheckResult out = found(CheckOutcome::fail, "the GPU driver is not loaded");
    out.cause = Cause::service_down;
    return out;
  }
  if (says_lost(line)) {
    CheckResult out = found(CheckOutcome::fail, "the driver cannot reach a GPU");
    out.cause = Cause::gpu_fell_off_bus;
    return out;
  }
  return std::nullopt;
}

// A host that might be one without GPUs: then a missing GPU is no fault that we could name.
bool expects_gpus(const HostProbe& probe, const Limits& limits) {
  if (limits.number("gpu_count").value_or(0) > 0) return true;
  return gpus_on_pci(probe).value_or(1) > 0 || done_answer(probe, "nvidia_gpus") != nullptr;
}

constexpr const char* kNoGpuOnBus =
    "nvidia-smi is there and the PCI bus shows no GPU: say how many there should be (gpu_count)";

}  // namespace

Judged judge_gpu_driver(const HostProbe& probe, const Limits& limits) {
  const ProbeAnswer& answer = answer_of(probe, "nvidia_smi_query");
  const GpuTable table = gpu_table(answer);
  if (!expects_gpus(probe, limits)) return cannot_tell(kNoGpuOnBus);
  Judged out;
  for (const GpuRow& row : table.rows) {
    const auto lost = row.lost();
    if (!lost) continue;
    out.push_back(of_row(CheckOutcome::fail, probe, row,
                         fmt::format("GPU {} ({}) cannot be read: {}", row.cell(GpuCell::index),
                                     row.cell(GpuCell::pci), *lost)));
    add_evidence(out.back(), answer.id, *lost);
  }
  std::vector<std::string_view> lines = table.complaints;
  for (const std::string_view line : lines_of(answer.complaint)) lines.push_back(line);
  for (const std::string_view line : lines) {
    auto fault = driver_fault(line);
    if (!fault) continue;
    add_evidence(*fault, answer.id, line);
    out.push_back(std::move(*fault));
  }
  if (!out.empty()) return out;
  if (table.rows.empty() && answer.status != 0) return cannot_tell(failure_of(answer));
  return passed();
}

Judged judge_gpu_count(const HostProbe& probe, const Limits& limits) {
  const ProbeAnswer& answer = answer_of(probe, "nvidia_smi_query");
  const GpuTable table = gpu_table(answer);
  if (!expects_gpus(probe, limits)) return cannot_tell(kNoGpuOnBus);
  std::size_t seen = 0;
  for (const GpuRow& row : table.rows) seen += row.lost() ? 0u : 1u;
  const auto limit = limits.number("gpu_count");
  std::size_t expected = limit ? static_cast<std::size_t>(*limit) : 0;
  std::string why = "told";
  const std::size_t on_bus = gpus_on_pci(probe).value_or(0);
  const ProbeAnswer* const known = done_answer(probe, "nvidia_gpus");
  const std::size_t by_driver = known != nullptr ? known->parts.size() : 0;
  if (!limit) {
    expected = std::max(on_bus, by_driver);
    why = on_bus >= by_driver ? "on the PCI bus" : "known to the driver";
  }
  // With no other witness the rows themselves are one: a lost GPU has a row.
  if (expected == 0) expected = std::max<std::size_t>(table.rows.size(), 1);
  if (seen >= expected) return passed(whole(seen), whole(expected), "GPUs");
  if (table.rows.empty() && answer.status != 0 && expected <= 1 && on_bus == 0) {
    return cannot_tell(failure_of(answer));
  }
  CheckResult out = found(CheckOutcome::fail, fmt::format("{} of {} GPUs answer ({} {})", seen,
                                                          expected, expected, why));
  out.value = whole(seen);
  out.limit = whole(expected);
  out.unit = "GPUs";
  for (const std::string_view line : table.complaints) add_evidence(out, answer.id, line);
  return {std::move(out)};
}

Judged judge_gpu_ecc(const HostProbe& probe, const Limits&) {
  Judged out;
  std::size_t read = 0, unread = 0;
  for (const GpuRow& row : table_of(probe).rows) {
    const auto count = row.number(GpuCell::ecc_uncorrected);
    if (count) ++read;
    if (!count && row.word(GpuCell::ecc_uncorrected)) ++unread;
    if (!count || *count <= 0) continue;
    out.push_back(of_row(CheckOutcome::fail, probe, row,
                         fmt::format("GPU {}: {:.0f} uncorrectable memory errors since the driver "
                                     "started",
                                     row.cell(GpuCell::index), *count)));
    out.back().value = *count;
    out.back().limit = std::int64_t{0};
    out.back().unit = "errors";
  }
  if (out.empty() && unread != 0) return cannot_tell("the ECC count of a GPU is no number");
  if (out.empty() && read == 0) return skipped("no GPU counts memory errors");
  return or_passed(std::move(out), std::int64_t{0}, std::int64_t{0}, "errors");
}

Judged judge_gpu_ecc_mode(const HostProbe& probe, const Limits&) {
  Judged out;
  for (const GpuRow& row : table_of(probe).rows) {
    const auto now = row.word(GpuCell::ecc_now), pending = row.word(GpuCell::ecc_pending);
    if (!now) continue;
    const std::string_view gpu = row.cell(GpuCell::index);
    if (pending && *pending != *now) {
      out.push_back(of_row(
          CheckOutcome::warn, probe, row,
          fmt::format("GPU {}: ECC is {} and will be {} after a reset", gpu, *now, *pending)));
    } else if (*now == "Disabled") {
      out.push_back(of_row(CheckOutcome::warn, probe, row,
                           fmt::format("GPU {}: ECC is off, memory errors go unseen", gpu)));
    }
  }
  return or_passed(std::move(out));
}

Judged judge_gpu_remap(const HostProbe& probe, const Limits&) {
  const ProbeAnswer& answer = answer_of(probe, "nvidia_smi_remap");
  Judged out;
  std::size_t rows = 0;
  for (const std::string_view line : lines_of(output_of(answer))) {
    const auto cells = split(line, ',');
    if (cells.size() != 5) continue;
    ++rows;
    const std::string_view gpu = trim(cells[0]), pending = trim(cells[3]), failed = trim(cells[4]);
    // Old drivers say 1, newer ones Yes.
    if (failed == "1" || failed == "Yes") {
      out.push_back(
          found_gpu(CheckOutcome::fail, probe, gpu,
                    fmt::format("GPU {}: a row of its memory could not be remapped", gpu)));
      out.back().cause = Cause::gpu_memory_worn_out;
    } else if (pending == "1" || pending == "Yes") {
      out.push_back(found_gpu(CheckOutcome::fail, probe, gpu,
                              fmt::format("GPU {}: rows of its memory wait for a reset to be "
                                          "remapped",
                                          gpu)));
    } else {
      continue;
    }
    add_evidence(out.back(), answer.id, line);
  }
  if (out.empty() && rows == 0 && answer.status != 0) return cannot_tell(failure_of(answer));
  return or_passed(std::move(out));
}

Judged judge_gpu_recovery(const HostProbe& probe, const Limits&) {
  const ProbeAnswer& answer = answer_of(probe, "nvidia_smi_recovery");
  Judged out;
  std::size_t rows = 0;
  for (const std::string_view line : lines_of(output_of(answer))) {
    const auto cells = split(line, ',');
    if (cells.size() != 2 || !parse_uint(trim(cells[0]))) continue;
    ++rows;
    const std::string_view action = trim(cells[1]);
    if (action == "None" || action.starts_with('[') || action == "N/A") continue;
    out.push_back(found_gpu(CheckOutcome::fail, probe, trim(cells[0]),
                            fmt::format("GPU {}: its driver asks for recovery: {}", trim(cells[0]),
                                        whole_characters(action, 60))));
    add_evidence(out.back(), answer.id, line);
  }
  if (rows == 0) return skipped("the driver has no recovery action (older than 570)");
  return or_passed(std::move(out));
}

Judged judge_gpu_memory(const HostProbe& probe, const Limits& limits) {
  const double most = limits.required("gpu_idle_mib");
  std::set<std::string_view> held;
  for (const std::string_view line : lines_of(output_of(answer_of(probe, "gpu_holders")))) {
    const auto words = words_of(line);
    if (words.size() == 2 && words[0] == "unseen" && words[1] != "0") {
      return cannot_tell("who uses the GPUs cannot be seen: processes of other users");
    }
    if (words.size() < 4 || !parse_uint(words[0])) continue;
    for (const std::string_view gpu : split(words.back(), ',')) held.insert(gpu);
  }
  Judged out;
  for (const GpuRow& row : table_of(probe).rows) {
    const auto used = row.number(GpuCell::used_mib);
    if (!used || *used <= most) continue;
    // Numbers of /dev/nvidia* and those of nvidia-smi may differ: any holder clears all.
    if (!held.empty()) continue;
    out.push_back(of_row(CheckOutcome::warn, probe, row,
                         fmt::format("GPU {}: {:.0f} MiB of its memory are in use and no process "
                                     "holds it",
                                     row.cell(GpuCell::index), *used)));
    out.back().value = *used;
    out.back().limit = most;
    out.back().unit = "MiB";
  }
  return or_passed(std::move(out), std::nullopt, most, "MiB");
}

Judged judge_gpu_persistence(const HostProbe& probe, const Limits&) {
  Judged out;
  for (const GpuRow& row : table_of(probe).rows) {
    if (row.word(GpuCell::persistence) != "Disabled") continue;
    out.push_back(of_row(CheckOutcome::warn, probe, row,
                         fmt::format("GPU {}: persistence mode is off, each start of a program "
                                     "waits for the driver",
                                     row.cell(GpuCell::index))));
  }
  return or_passed(std::move(out));
}

Judged judge_gpu_temperature(const HostProbe& probe, const Limits& limits) {
  const double most = limits.required("gpu_temperature_c");
  // No sensor of a GPU that works reads so.
  constexpr double kColdest = 1, kHottest = 125;
  Judged out;
  double hottest = 0;
  for (const GpuRow& row : table_of(probe).rows) {
    const auto value = row.number(GpuCell::temperature_c);
    if (!value) continue;
    hottest = std::max(hottest, *value);
    const std::string_view gpu = row.cell(GpuCell::index);
    if (*value < kColdest || *value > kHottest) {
      out.push_back(
          of_row(CheckOutcome::warn, probe, row,
                 fmt::format("GPU {} shows {:.0f} C, which cannot be: suspect the driver, "
                             "its previous version reads right",
                             gpu, *value)));
      out.back().cause = Cause::host_setting;
    } else if (*value >= most) {
      out.push_back(
          of_row(CheckOutcome::warn, probe, row,
                 fmt::format("GPU {} is at {:.0f} C, the limit is {:.0f} C", gpu, *value, most)));
    } else {
      continue;
    }
    out.back().value = *value;
    out.back().limit = most;
    out.back().unit = "C";
  }
  return or_passed(std::move(out), hottest, most, "C");
}

Judged judge_gpu_clocks(const HostProbe& probe, const Limits&) {
  // Of the mask of reasons: idle, and those that are no choice of the driver (NVML's manual).
  constexpr std::uint64_t kIdle = 0x1, kSlowdown = 0x8, kThermal = 0x40, kBrake = 0x80;
  Judged out;
  for (const GpuRow& row : table_of(probe).rows) {
    const auto mask = parse_hex(row.cell(GpuCell::throttle));
    if (!mask || (*mask & kIdle) != 0) continue;
    const char* const why = (*mask & kThermal) != 0    ? "it is too hot"
                            : (*mask & kBrake) != 0    ? "its power supply asks for it"
                            : (*mask & kSlowdown) != 0 ? "of heat or power"
                                                       : nullptr;
    if (why == nullptr) continue;
    out.push_back(of_row(CheckOutcome::warn, probe, row,
                         fmt::format("GPU {}: the hardware holds its clock down, {}",
                                     row.cell(GpuCell::index), why)));
    add_evidence(out.back(), "nvidia_smi_query", row.cell(GpuCell::throttle));
  }
  return or_passed(std::move(out));
}

Judged judge_gpu_power_limit(const HostProbe& probe, const Limits&) {
  const GpuTable table = table_of(probe);
  std::map<std::string_view, double> highest;
  for (const GpuRow& row : table.rows) {
    const auto limit = row.number(GpuCell::power_limit_w);
    if (!limit) continue;
    double& best = highest[row.cell(GpuCell::name)];
    best = std::max(best, *limit);
  }
  Judged out;
  for (const GpuRow& row : table.rows) {
    const auto limit = row.number(GpuCell::power_limit_w);
    if (!limit) continue;
    const double best = highest[row.cell(GpuCell::name)];
    // Half a percent: limits are set in whole watts.
    if (*limit >= best * 0.995) continue;
    out.push_back(of_row(CheckOutcome::warn, probe, row,
                         fmt::format("GPU {} is limited to {:.0f} W, the others to {:.0f} W",
                                     row.cell(GpuCell::index), *limit, best)));
    out.back().value = *limit;
    out.back().limit = best;
    out.back().unit = "W";
  }
  return or_passed(std::move(out));
}

Judged judge_gpu_versions(const HostProbe& probe, const Limits&) {
  const GpuTable table = table_of(probe);
  std::map<std::string_view, std::map<std::string_view, std::size_t>> versions;
  for (const GpuRow& row : table.rows) {
    const auto vbios = row.word(GpuCell::vbios);
    if (vbios) ++versions[row.cell(GpuCell::name)][*vbios];
  }
  Judged out;
  for (const auto& [name, counts] : versions) {
    if (counts.size() < 2) continue;
    std::string text = fmt::format("VBIOS of {} differs on one host:", name);
    for (const auto& [vbios, count] : counts) text += fmt::format(" {} on {}", vbios, count);
    out.push_back(found(CheckOutcome::warn, std::move(text)));
  }
  return or_passed(std::move(out));
}

}  // namespace muster::health
