#pragma once

#include <cstdint>
#include <string_view>

namespace muster {

enum class TraceFile : std::uint8_t {
  empty,
  dump,
  ras,
  hosts,
  log,
  archive,
  unknown,  // bytes of something else: an image, a model
};

// What a file is, by its first limits::kSniffBytes bytes. `whole`: these are all of it (a host map
// is only known whole).
TraceFile sniff_trace_file(std::string_view head, bool whole);

}  // namespace muster
