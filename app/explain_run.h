#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "app/explain_input.h"
#include "base/result.h"
#include "core/explain/log_rule.h"
#include "core/model/finding.h"
#include "edge/os/files.h"
#include "edge/os/time_zone.h"

namespace muster {

struct ExplainRequest {
  std::vector<std::string> paths;
  std::vector<LogRule> rules;             // of the user: they come before the built-in ones
  std::map<std::string, TimeZone> zones;  // of stamps without one, by host; "" for all others
  bool zone_guessed = false;              // that of "" is only this machine's, nobody told it
  std::function<void(const ReadProgress&)> on_progress;
};

// Reads everything and names the first cause. `blind` is what could not be read; a note says how
// much was, and in which zone stamps without one were taken.
Result<Report> explain_once(const ExplainRequest& request, Files& files);

}  // namespace muster
