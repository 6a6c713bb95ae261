#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/health/probe.h"
#include "core/model/action.h"
#include "core/model/cause.h"
#include "core/model/culprit.h"
#include "core/model/finding.h"
#include "core/model/gate_record.h"

namespace muster::health {

// Limits by name, "disk_used_percent" -> 95: defaults of the table, then muster.toml, then a golden
// reference where one was learnt.
class Limits;

// What one check found on one host.
struct CheckResult {
  std::string check;  // id of its row
  CheckOutcome outcome = CheckOutcome::unknown;
  std::optional<GateValue> value, limit;
  std::string unit;
  Culprit culprit;                 // the host, or "n1/3" of a GPU, "n1/mlx5_2:1" of a port
  std::string text;                // one line: what is wrong, with units; empty when it passed
  std::vector<Evidence> evidence;  // the lines that decided
  std::optional<Cause> cause;      // where it is another than that of the row
  std::int64_t duration_ms = 0;    // of the probes that it read
};

// A row of the table of checks.
struct Check {
  std::string_view id;  // "ib_port_rate"
  std::string_view
      group;  // of the twelve: "gpu" "disk_space" "docker" "kernel_log" "bmc" "disk" "ib" "nvlink"
              // "gdr" "vbios" "firmware" "pcie" and "os" "time" "net" "storage"
  std::string_view title;                    // "InfiniBand ports run at their rate"
  std::span<const std::string_view> probes;  // that it reads; where one did not end well: unknown
  Cause cause;                               // of a finding that it makes
  std::span<const Action> actions;
  std::string_view advice;  // one line
  // Whether the host has what is checked (GPUs, InfiniBand); where not, the check is `skipped`.
  // What cannot be told is there.
  bool (*applies)(const HostProbe& probe, const Limits& limits) = nullptr;
  // Pure; at least one result; the probes are there and ended `done` (a non-zero status is its own
  // business). Several results: several GPUs or ports at fault.
  std::vector<CheckResult> (*judge)(const HostProbe& probe, const Limits& limits);
  bool only_warns = false;  // its judge never fails a host: blind, it hides nothing critical
};

std::span<const Check> check_table();
// Also that of kernel_log. Null for an id that no check has.
const Check* find_check(std::string_view id);

// The row of the check of kernels' logs. It stands apart: what their lines mean is read elsewhere
// (core/kernel/), and its results come from judge_kernel() (kernel_classes.h).
const Check& kernel_log_check();

// All checks of the table that are on, over one host. A host that was not reached gives `unknown`
// for each. A judge never throws and never reads another probe's bytes.
std::vector<CheckResult> check_host(const HostProbe& probe, const Limits& limits);

}  // namespace muster::health
