#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/health/probe.h"

namespace muster::health {

enum class PciKind : std::uint8_t { gpu, nvswitch, adapter, nvme, other };

// A device as /sys/bus/pci/devices shows it; what is not there or odd is absent.
struct PciDevice {
  std::string address;  // "0000:3b:00.0"
  std::optional<std::uint32_t> device_class, vendor;
  std::optional<int> width, most_width;             // lanes
  std::optional<double> speed_gts, most_speed_gts;  // GT/s

  // GPU and NVSwitch of NVIDIA, adapters of Mellanox, NVMe drives of anybody.
  PciKind kind() const;
};

// Of the probe pci_devices, by address.
std::vector<PciDevice> pci_devices(const ProbeAnswer& answer);

}  // namespace muster::health
