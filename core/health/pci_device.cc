#include "core/health/pci_device.h"

#include <map>

#include "base/text.h"
#include "core/health/judge.h"

namespace muster::health {
namespace {

// No PCIe link has more lanes; virtual machines show 63 and 255.
constexpr std::int64_t kMostLanes = 32;

std::optional<std::uint32_t> hex_of(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  const auto value = parse_hex(text);
  if (!value || *value > 0xffffffffu) return std::nullopt;
  return static_cast<std::uint32_t>(*value);
}

std::optional<int> lanes_of(std::string_view text) {
  const auto value = parse_int(text);
  if (!value || *value < 1 || *value > kMostLanes) return std::nullopt;
  return static_cast<int>(*value);
}

// "32.0 GT/s PCIe", "8 GT/s"; "Unknown" is nothing.
std::optional<double> speed_of(std::string_view text) {
  const auto words = words_of(text);
  if (words.size() < 2 || words[1] != "GT/s") return std::nullopt;
  return parse_double(words[0]);
}

void take(PciDevice& device, std::string_view name, std::string_view text) {
  if (name == "class") device.device_class = hex_of(text);
  if (name == "vendor") device.vendor = hex_of(text);
  if (name == "current_link_width") device.width = lanes_of(text);
  if (name == "max_link_width") device.most_width = lanes_of(text);
  if (name == "current_link_speed") device.speed_gts = speed_of(text);
  if (name == "max_link_speed") device.most_speed_gts = speed_of(text);
}

}  // namespace

PciKind PciDevice::kind() const {
  constexpr std::uint32_t kNvidia = 0x10de, kMellanox = 0x15b3;
  if (!device_class) return PciKind::other;
  const std::uint32_t major = *device_class >> 16, both = *device_class >> 8;
  if (vendor == kNvidia && major == 0x03) return PciKind::gpu;
  if (vendor == kNvidia && both == 0x0680) return PciKind::nvswitch;
  if (vendor == kMellanox && major == 0x02) return PciKind::adapter;
  if (both == 0x0108) return PciKind::nvme;
  return PciKind::other;
}

std::vector<PciDevice> pci_devices(const ProbeAnswer& answer) {
  std::map<std::string_view, PciDevice> devices;
  for (const ProbePart& part : answer.parts) {
    const auto words = path_words(part.name, "/sys/bus/pci/devices/");
    if (words.size() != 2) continue;
    PciDevice& device = devices[words[0]];
    device.address = std::string(words[0]);
    take(device, words[1], trim(part.bytes));
  }
  std::vector<PciDevice> out;
  for (auto& [address, device] : devices) out.push_back(std::move(device));
  return out;
}

}  // namespace muster::health
