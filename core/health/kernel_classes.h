#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/health/judge.h"
#include "core/model/kernel_event.h"

// The kernel's log of one host -> results of the check kernel_log. What an event means alone is
// for core/kernel/ to say; here stands what a host is worth after it.

namespace muster::health {

// One event with what it is evidence for.
struct KernelSight {
  KernelEvent event;
  Cause cause = Cause::undetermined;
  Severity severity = Severity::info;
  Confidence confidence = Confidence::low;
  std::string meaning;
};

// Words that the user knows to be harmless on these machines: a line that holds one of them is not
// judged by its level. They never hide an event that is known for what it is (an Xid, a lost disk).
using KernelAllowList = std::vector<std::string>;

// Lines of `dmesg -r` of the levels emergency, alert and critical that are no known event and that
// no word allows; at most limits::kEvidenceLines of each text.
std::vector<std::string_view> grave_lines(std::string_view log, const KernelAllowList& allowed);

// Events of severity critical and confidence medium or high fail the host, of warning warn; hints
// warn at most. Programs' own faults, notices and what the driver calls noise pass; so do memory
// errors that were contained, with a text. One result for a cause and part: the events of a storm
// are its evidence. `grave` gives one warning.
Judged judge_kernel(const HostProbe& probe, std::span<const KernelSight> sights,
                    std::span<const std::string_view> grave);

}  // namespace muster::health
