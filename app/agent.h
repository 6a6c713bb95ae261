#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>

#include "app/owned_row.h"
#include "core/model/telemetry_source.h"
#include "edge/net/http_server.h"
#include "edge/os/clock.h"
#include "edge/os/self_usage.h"
#include "edge/store/history.h"

namespace muster {

// The newest row of every series, and the pages made of it. Safe from any thread.
//
//   /metrics  values no older than three intervals (core/telemetry/exposition.h), then our own:
//             muster_agent_sample_age_seconds of every series of the last hour,
//             muster_agent_reader_stuck, muster_agent_cpu_seconds_total,
//             muster_agent_resident_bytes
//   /healthz  200 while the newest sample with a value is no older than three intervals, else 503
class AgentPages {
 public:
  AgentPages(Clock& clock, Duration interval, std::function<SelfUsage()> usage)
      : clock_(clock), fresh_(3 * interval), usage_(std::move(usage)) {}

  void row(const TelemetryRow& row, WallTime at);
  void stuck_readers(int count);
  HttpReply answer(std::string_view path) const;  // an HttpHandler

 private:
  struct Newest {
    OwnedRow row;
    MonoTime seen;
  };
  HttpReply metrics() const;
  HttpReply health() const;

  Clock& clock_;
  const Duration fresh_;
  const std::function<SelfUsage()> usage_;
  mutable std::mutex mutex_;
  std::map<std::string, Newest> newest_;
  bool any_ = false;
  MonoTime newest_value_{};
  int stuck_ = 0;
};

struct AgentOptions {
  Duration interval = std::chrono::seconds(1);
  History* history = nullptr;                    // none: nothing is kept
  std::function<void(std::string_view)> report;  // a problem, once when it begins
};

// Reads `source` every interval until `stop`. A tick that comes late is skipped, not caught up.
// What is kept is committed every five seconds (a transaction a tick would be mostly overhead) and
// at the end. No failure of source or history ends the loop.
void run_agent(const AgentOptions& options, TelemetrySource& source, Clock& clock,
               AgentPages& pages, const std::stop_token& stop);

}  // namespace muster
