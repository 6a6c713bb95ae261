#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "core/health/gpu_row.h"
#include "core/health/judges.h"
#include "core/health/pci_device.h"

namespace muster::health {
namespace {

const char* kind_word(PciKind kind) {
  return kind == PciKind::gpu ? "GPU" : kind == PciKind::adapter ? "adapter" : "NVMe drive";
}

CheckResult of_device(const HostProbe& probe, const PciDevice& device, std::string text) {
  CheckResult out = found(CheckOutcome::warn, std::move(text));
  out.culprit = {device.kind() == PciKind::gpu ? CulpritKind::gpu : CulpritKind::host,
                 device.kind() == PciKind::gpu ? part_id(probe, device.address) : probe.host};
  return out;
}

// "570.86" and "open" of /proc/driver/nvidia/version.
bool open_driver(const HostProbe& probe) {
  const ProbeAnswer* const answer = done_answer(probe, "nvidia_version");
  return answer != nullptr && contains_ignoring_case(output_of(*answer), "open kernel module");
}

// 5.12 and later pass buffers of devices on without a module of their own (dma-buf).
bool passes_dma_buffers(const HostProbe& probe) {
  const ProbeAnswer* const answer = done_answer(probe, "kernel_release");
  if (answer == nullptr) return false;
  const auto pieces = split(trim(output_of(*answer)), '.');
  if (pieces.size() < 2) return false;
  const auto major = parse_uint(pieces[0]);
  const auto minor = parse_uint(pieces[1].substr(0, pieces[1].find_first_not_of("0123456789")));
  return major && minor && (*major > 5 || (*major == 5 && *minor >= 12));
}

}  // namespace

Judged judge_pcie_links(const HostProbe& probe, const Limits&) {
  const ProbeAnswer& answer = answer_of(probe, "pci_devices");
  Judged out;
  std::size_t looked_at = 0;
  for (const PciDevice& device : pci_devices(answer)) {
    const PciKind kind = device.kind();
    if (kind == PciKind::other || kind == PciKind::nvswitch) continue;
    if (!device.width || !device.most_width) continue;
    ++looked_at;
    if (*device.width < *device.most_width) {
      out.push_back(of_device(probe, device,
                              fmt::format("{} {} has {} of {} PCIe lanes", kind_word(kind),
                                          device.address, *device.width, *device.most_width)));
      out.back().value = std::int64_t{*device.width};
      out.back().limit = std::int64_t{*device.most_width};
      out.back().unit = "lanes";
    } else if (kind != PciKind::gpu && device.speed_gts && device.most_speed_gts &&
               *device.speed_gts < *device.most_speed_gts) {
      // The link of a GPU is slow while it has nothing to do: that is no fault.
      out.push_back(
          of_device(probe, device,
                    fmt::format("{} {} runs at {:g} of {:g} GT/s", kind_word(kind), device.address,
                                *device.speed_gts, *device.most_speed_gts)));
      out.back().value = *device.speed_gts;
      out.back().limit = *device.most_speed_gts;
      out.back().unit = "GT/s";
    }
  }
  constexpr double kBusyPercent = 50;
  const ProbeAnswer* const smi = done_answer(probe, "nvidia_smi_query");
  if (smi != nullptr) {
    for (const GpuRow& row : gpu_table(*smi).rows) {
      const auto gen = row.number(GpuCell::gen), most = row.number(GpuCell::most_gen);
      if (!gen || !most || *gen >= *most) continue;
      if (row.number(GpuCell::busy_percent).value_or(0) < kBusyPercent) continue;
      out.push_back(
          found_gpu(CheckOutcome::warn, probe, row.cell(GpuCell::index),
                    fmt::format("GPU {} works and its PCIe link is at generation {:.0f} of "
                                "{:.0f}",
                                row.cell(GpuCell::index), *gen, *most)));
    }
  }
  if (out.empty() && looked_at == 0) return skipped("no GPU, adapter or drive with a PCIe link");
  return or_passed(std::move(out));
}

Judged judge_pcie_acs(const HostProbe& probe, const Limits&) {
  // Source validation, redirection of requests and completions, upstream forwarding (PCIe base
  // specification, ACS control register): any of them sends traffic between GPU and adapter
  // through the processor.
  constexpr std::uint64_t kMask = 0x1 | 0x4 | 0x8 | 0x10;
  const ProbeAnswer& answer = answer_of(probe, "pci_acs");
  std::size_t on = 0;
  CheckResult out;
  for (const std::string_view line : lines_of(output_of(answer))) {
    const auto words = words_of(line);
    if (words.size() != 2) continue;
    const std::string text =
        words[1].starts_with("0x") ? std::string(words[1]) : fmt::format("0x{}", words[1]);
    const auto control = parse_hex(text);
    if (!control || (*control & kMask) == 0) continue;
    ++on;
    add_evidence(out, answer.id, line);
  }
  if (on == 0) return passed();
  out.outcome = CheckOutcome::warn;
  out.text = fmt::format(
      "ACS is on in {} PCIe bridges: GPUDirect goes through the processor, or "
      "hangs",
      on);
  out.value = whole(on);
  out.limit = std::int64_t{0};
  out.unit = "bridges";
  return {std::move(out)};
}

Judged judge_gdr(const HostProbe& probe, const Limits&) {
  for (const std::string_view line : lines_of(output_of(answer_of(probe, "modules")))) {
    const std::string_view name = line.substr(0, line.find(' '));
    if (name == "nvidia_peermem" || name == "nv_peer_mem") return passed(std::string(name));
  }
  if (open_driver(probe) && passes_dma_buffers(probe)) return passed(std::string("dma-buf"));
  CheckResult out = found(CheckOutcome::warn,
                          "GPUDirect RDMA: no module nvidia_peermem, and no open driver with "
                          "dma-buf");
  out.value = std::string("none");
  return {std::move(out)};
}

}  // namespace muster::health
