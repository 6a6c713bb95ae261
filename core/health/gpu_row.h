#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/health/probe.h"

namespace muster::health {

// The columns of the probe nvidia_smi_query, in its order.
enum class GpuCell : std::uint8_t {
  index,
  pci,
  uuid,
  serial,
  name,
  memory_mib,
  used_mib,
  driver,
  vbios,
  persistence,
  ecc_now,
  ecc_pending,
  ecc_uncorrected,
  gen,
  most_gen,
  width,
  most_width,
  temperature_c,
  fan_percent,
  power_w,
  power_limit_w,
  throttle,
  busy_percent,
  count
};

// One GPU. Cells are views into the answer.
struct GpuRow {
  std::array<std::string_view, static_cast<std::size_t>(GpuCell::count)> cells;

  std::string_view cell(GpuCell cell) const { return cells[static_cast<std::size_t>(cell)]; }
  // Nothing for "[N/A]", "[Not Supported]" and what is no number.
  std::optional<double> number(GpuCell cell) const;
  // A word that is a value: nothing for the bracketed ones.
  std::optional<std::string_view> word(GpuCell cell) const;
  // The driver cannot read the GPU any more: "[GPU is lost]", "[Unknown Error]".
  std::optional<std::string_view> lost() const;
};

struct GpuTable {
  std::vector<GpuRow> rows;
  std::vector<std::string_view> complaints;  // lines that are no rows
};

GpuTable gpu_table(const ProbeAnswer& answer);

// "GPU is lost" and the other words for a GPU that the driver cannot reach.
bool says_lost(std::string_view line);

}  // namespace muster::health
