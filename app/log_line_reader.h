#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "core/explain/log_line.h"
#include "core/kernel/kernel_envelope.h"

namespace muster {

// Takes a line of any log out of what carried it: the tags of launchers and libraries, the wraps of
// syslog, dmesg, containers and collectors. The line that it gives is valid until the next call.
class LogLineReader {
 public:
  // `written`: when the file was last written; gives stamps without a year theirs.
  explicit LogLineReader(std::optional<WallTime> written);

  LogLine read(std::string_view text);

 private:
  std::optional<WallTime> written_;
  KernelEnvelope kernel_;
  std::string unescaped_;
};

}  // namespace muster
