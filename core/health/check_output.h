#pragma once

#include <string>
#include <vector>

#include "core/health/fold.h"

// Checked hosts in the forms that others read. Text from hosts is escaped.

namespace muster::health {

// The checks with what they look at and their limits, as they hold.
std::string check_list(const Limits& limits);

// One line for each host: its name, its verdict, and what made it.
std::string check_table_text(const std::vector<CheckedHost>& hosts);

// Every check of every host with value, limit and duration (docs/FORMATS.md, muster.check/1).
std::string check_json(const std::vector<CheckedHost>& hosts);

// For the textfile collector of node_exporter: muster_check{host,check} is 0 passed, 1 warned, 2
// failed, 3 unknown, as exit statuses are; a check that was skipped has no line.
std::string check_prometheus(const std::vector<CheckedHost>& hosts);

// For the vendor or the data centre, in Markdown: what is wrong with one host, what it is, with
// serials, and the lines that say so. `serials` are "GPU 3" -> "1650023...".
struct Serial {
  std::string part, number;
};
std::vector<Serial> serials_of(const HostProbe& probe);
std::string check_ticket(const CheckedHost& host, const std::vector<Serial>& serials);

// One line for the batch system, why the host is drained: the checks that failed; empty where none
// did.
std::string drain_reason(const CheckedHost& host);

}  // namespace muster::health
