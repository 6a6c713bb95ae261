#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

// What the gate saw before an attempt (docs/FORMATS.md, muster.gate/1). The gate writes it once,
// atomically, before the first rank starts.

namespace muster {

enum class CheckOutcome : std::uint8_t { pass, warn, fail, unknown, skipped };

std::string_view check_outcome_name(CheckOutcome outcome);

// Measured value or limit. A double without a fraction reads back as the same number, an integer.
using GateValue = std::variant<std::int64_t, double, std::string>;

struct GateCheck {
  std::string id;  // "driver_versions"
  CheckOutcome outcome = CheckOutcome::unknown;
  std::optional<GateValue> value;
  std::optional<GateValue> limit;
  std::string unit;                         // of value and limit: "GiB"; empty where there is none
  std::optional<std::int64_t> duration_ms;  // absent where the check did not run

  bool operator==(const GateCheck&) const = default;
};

// Somebody let the run start although a check did not pass.
struct GateOverride {
  std::string check;
  std::string reason;

  bool operator==(const GateOverride&) const = default;
};

struct GateRecord {
  std::vector<GateCheck> checks;
  // Blocks of the rank that has the fewest: the steps that all ranks can make.
  std::optional<std::int64_t> global_min_blocks;
  std::map<std::string, std::string> versions;  // "driver" -> "570.86.15"
  std::vector<GateOverride> overrides;

  bool operator==(const GateRecord&) const = default;
};

std::string encode_gate_record(const GateRecord& record);
Result<GateRecord> decode_gate_record(std::string_view bytes);

}  // namespace muster
