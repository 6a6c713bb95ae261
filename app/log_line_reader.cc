#include "app/log_line_reader.h"

#include <utility>

#include "core/comms/log_envelope.h"

namespace muster {

namespace {

// "[", "<", "{" and digits; the capital of a month or a day.
bool may_begin_stamp(std::string_view text) {
  if (text.empty()) return false;
  const char c = text.front();
  return c == '[' || c == '<' || c == '{' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
}

}  // namespace

LogLineReader::LogLineReader(std::optional<WallTime> written)
    : written_(written), kernel_(written) {}

LogLine LogLineReader::read(std::string_view text) {
  LogLine out{.text = text, .message = text};
  std::string_view inner = text;
  if (auto unescaped = read_docker_line(text)) {
    unescaped_ = std::move(*unescaped);
    inner = unescaped_;
  }
  LogEnvelope envelope = read_log_envelope(inner, written_.value_or(WallTime{}));
  out.message = envelope.message;
  out.host = std::move(envelope.host);
  out.rank = envelope.rank;
  if (!out.rank && envelope.default_group) out.rank = envelope.in_group;
  out.pid = envelope.pid;
  out.time.at = envelope.at;
  out.time.has_zone = envelope.at_has_zone;
  if (!out.time.at && envelope.clock) {
    out.time.at = WallTime(*envelope.clock);
    out.time.has_date = false;
  }
  const bool carried = envelope.rank || envelope.native || !out.host.empty();
  if (carried && (out.time.at || !may_begin_stamp(text))) return out;
  // Kernel logs, journals and collectors have more forms than the logs of ranks.
  KernelLine kernel = kernel_.read(text);
  if (!out.time.at) {
    out.time.at = kernel.time.at;
    out.time.has_zone = kernel.time.has_zone;
    out.time.since_boot = kernel.time.since_boot;
  }
  if (out.host.empty() && !carried) {
    out.host = std::move(kernel.host);
    if (!out.host.empty() || kernel.message.size() < out.message.size()) {
      out.message = kernel.message;
    }
  }
  return out;
}

}  // namespace muster
