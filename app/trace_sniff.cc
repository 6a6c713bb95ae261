#include "app/trace_sniff.h"

#include "core/comms/host_map.h"
#include "core/comms/ras_reader.h"
#include "core/model/flight_record.h"
#include "edge/archive/archive_reader.h"

namespace muster {
namespace {

// A pickle of protocol 2 or later, the JSON variant, or a record of our own trainer.
bool looks_like_dump(std::string_view head) {
  if (looks_like_flight_record(head)) return true;
  if (head.size() >= 2 && head[0] == '\x80') return head[1] >= 2 && head[1] <= 5;
  const std::size_t start = head.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos || (head[start] != '{' && head[start] != '[')) return false;
  for (const std::string_view key : {"\"entries\"", "\"pg_config\"", "\"pg_status\"",
                                     "\"collective_seq_id\"", "\"profiling_name\""}) {
    if (head.find(key) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

TraceFile sniff_trace_file(std::string_view head, bool whole) {
  if (head.empty()) return TraceFile::empty;
  if (looks_like_archive(head)) return TraceFile::archive;
  if (looks_like_ras(head)) return TraceFile::ras;
  if (looks_like_dump(head)) return TraceFile::dump;
  if (whole && looks_like_host_map(head)) return TraceFile::hosts;
  // A log may hold a stray byte; a file that begins with zeros in it is no text.
  const bool binary = head.substr(0, 4096).find('\0') != std::string_view::npos;
  return binary ? TraceFile::unknown : TraceFile::log;
}

}  // namespace muster
