#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/health/check.h"
#include "core/health/golden.h"
#include "core/model/finding.h"

// What was found on all hosts -> one answer: a fault that 200 hosts share is one finding.

namespace muster::health {

struct CheckedHost {
  std::string host;
  Reach reach = Reach::unreachable;
  std::string complaint;
  std::vector<CheckResult> results;  // of all checks that are on
  HostFacts facts;
  std::int64_t duration_ms = 0;
};

// One word for a host. A fault that is sure outweighs all that could not be seen.
//
//   fail     a check failed
//   unknown  none failed, and one that could was not answered; the host was not reached
//   warn     otherwise, a check warned
//   pass     none of these: every check that matters was answered
CheckOutcome verdict_of(const CheckedHost& host);

// Findings by cause (by check, where the cause only names a class), worst first. `golden` null:
// hosts are held against each other, and two thirds of them are the reference; without such a
// majority nobody is named.
Report fold_checks(const std::vector<CheckedHost>& hosts, const Golden* golden);

// "n1 n2 n3 and 197 more". For people.
std::string host_list(const std::vector<std::string>& hosts);

}  // namespace muster::health
