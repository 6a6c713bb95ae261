#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "core/model/kernel_event.h"

// A kernel log, or any log that may hold lines of one -> events.
//
//   KernelReader reader({.host = "n012", .written = mtime});
//   reader.line(text, number);  // every line, from 1, without its line end
//   KernelReading reading = reader.finish();
//
// Read is what kernel_envelope.h unwraps and kernel_forms.h knows; lines of programs that quote the
// kernel give nothing. Lines that belong together are one event: the two or three of an OOM kill,
// "fallen off the bus" beside its Xid 79, the companions of an SXid. Lines are bounded by whoever
// cuts them (LineSplitter). Kept are the first limits::kKernelEventsOfPart of a kind, code, part
// and process, the rest is counted in the last of them, and limits::kKernelEvents of a log.

namespace muster {

struct KernelReading {
  std::vector<KernelEvent> events;  // in the order of the lines
  std::uint64_t not_kept = 0;       // events beyond limits::kKernelEvents
};

class KernelReader {
 public:
  struct Options {
    std::string host;                 // where the lines name none; empty: not known
    std::optional<WallTime> written;  // of the file: gives dates without a year theirs
  };
  explicit KernelReader(Options options);
  ~KernelReader();
  KernelReader(KernelReader&&) noexcept;
  KernelReader& operator=(KernelReader&&) noexcept;

  // Whether the line is one of the kernel that it knows. Only lines with one of kernel_anchors()
  // (anchors.h) ever are; others may be left out where `shows_steps` is false.
  bool line(std::string_view text, std::uint64_t number);
  // Once, at the end.
  KernelReading finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Whether a log, by its first lines, tells times as steps from line to line (dmesg -H): then every
// line has to come.
bool shows_steps(std::string_view head);

}  // namespace muster
