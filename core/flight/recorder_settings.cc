#include "core/flight/recorder_settings.h"

#include <charconv>

namespace muster {
namespace {

// "2.10.1" -> 210; nothing readable -> 0.
int release_of(std::string_view version) {
  int major = 0, minor = 0;
  const char* const end = version.data() + version.size();
  const auto first = std::from_chars(version.data(), end, major);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '.') return 0;
  if (std::from_chars(first.ptr + 1, end, minor).ec != std::errc()) return 0;
  constexpr int kMost = 99;  // no release: not readable
  if (major < 0 || minor < 0 || major > kMost || minor > kMost) return 0;
  return major * 100 + minor;
}

}  // namespace

std::string recorder_settings(std::string_view torch_version) {
  const int release = release_of(torch_version);
  if (release != 0 && release < 202) return "";
  if (release != 0 && release < 210) {
    return "export TORCH_NCCL_TRACE_BUFFER_SIZE=20000 TORCH_NCCL_DUMP_ON_TIMEOUT=1 "
           "TORCH_NCCL_DEBUG_INFO_TEMP_FILE=/SHARED/flight/nccl_trace_rank_";
  }
  return "export TORCH_FR_BUFFER_SIZE=20000 TORCH_FR_DUMP_ON_TIMEOUT=1 "
         "TORCH_FR_DUMP_TEMP_FILE=/SHARED/flight/comm_lib_trace_rank_";
}

}  // namespace muster
