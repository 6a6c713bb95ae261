#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/health/check_output.h"
#include "core/health/fold.h"
#include "core/health/golden.h"
#include "core/health/kernel_classes.h"
#include "core/health/limits.h"
#include "core/health/probe.h"

namespace muster {

struct CheckSettings {
  health::Limits limits;
  health::KernelAllowList allowed;
  std::optional<health::Golden> golden;
};

// All checks over what came back from one host, that of its kernel's log among them.
health::CheckedHost check_probe(const health::HostProbe& probe, const CheckSettings& settings);

// Takes hosts as they come, in any order; keeps their results, not their bytes.
class CheckRun {
 public:
  explicit CheckRun(CheckSettings settings) : settings_(std::move(settings)) {}

  void add(const health::HostProbe& probe);
  // In the order of their names, "n2" before "n10".
  const std::vector<health::CheckedHost>& hosts();
  Report report();
  // What good hosts have: only of those that passed, with or without warnings.
  health::Golden learn();
  // Of the host of that name; empty where it did not come.
  std::string ticket(std::string_view host) const;

 private:
  void sort();

  CheckSettings settings_;
  std::vector<health::CheckedHost> hosts_;
  std::map<std::string, std::vector<health::Serial>, std::less<>> serials_;
  bool sorted_ = true;
};

}  // namespace muster
