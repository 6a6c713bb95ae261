#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/log_event.h"

namespace muster {

// One line of any log, with what its envelope says (stamp, host, rank, process). Views are the
// caller's.
struct LogLine {
  std::string_view text;     // the whole line
  std::string_view message;  // behind the envelope; a part of `text`, or out of its JSON
  EventTime time = {};
  std::string host = {};
  std::optional<std::int32_t> rank = std::nullopt;
  std::optional<std::int64_t> pid = std::nullopt;
};

}  // namespace muster
