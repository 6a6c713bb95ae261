#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "core/model/kernel_event.h"

namespace muster {

// One line of a kernel log without what brought it here.
struct KernelLine {
  KernelTime time;
  std::string host;          // empty: the line does not name it
  std::string_view message;  // valid until the next call
};

// Takes off, in whatever order they are wrapped: dmesg ("[  123.456789] ", -T, -H, -x, -r, -d,
// --time-format iso), /dev/kmsg ("4,1234,5678901234,-;"), syslog (RFC 3164 and 5424, rsyslog),
// journalctl (short, short-iso, short-precise, short-full, short-monotonic, short-unix, json),
// JSON of containers and shippers ({"log":...}, {"message":...}), CRI ("... stderr F "), "host: "
// of pdsh and "file:" of grep, and the colours of a terminal. The tag of another program than the
// kernel stays: what a program says about a kernel message is none.
//
// Never fails: what is no wrap is message.
class KernelEnvelope {
 public:
  // `written`: when the file was last written; gives dates without a year theirs. Without it they
  // give no time.
  explicit KernelEnvelope(std::optional<WallTime> written) : written_(written) {}

  // Of every line, before `read` of it: dmesg -H gives the time as steps from line to line.
  void follow(std::string_view line);
  KernelLine read(std::string_view line);

 private:
  bool take_stamp(std::string_view& text, KernelLine& out);
  bool take_bracket(std::string_view& text, KernelLine& out);
  bool take_json(std::string_view& text, KernelLine& out);
  std::optional<WallTime> dated(std::string_view month_day, std::string_view clock) const;

  std::optional<WallTime> written_;
  std::optional<WallTime> stepped_;  // dmesg -H: the time of this line
  std::string plain_;                // without colours
  std::string unwrapped_[2];         // out of JSON, and out of JSON in it
};

}  // namespace muster
