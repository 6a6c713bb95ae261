#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/model/rank_witness.h"

// What the text of a failure means: of an exception ("ValueError: ..."), of what the watchdog
// thread died of, of a NCCL WARN line. Tables, first match wins; pure.

namespace muster {

struct FailureMeaning {
  enum class What : std::uint8_t {
    witness,      // the rank that wrote it failed
    consequence,  // of another rank's end, or an ordinary end: says nothing
    note,         // true of the job, names no rank for sure
  };
  What what = What::consequence;
  WitnessKind kind = WitnessKind::exception;  // for witness
  std::optional<int> code;
};

// The last line of a traceback, or the text behind "terminated with exception:".
FailureMeaning meaning_of_exception(std::string_view text);
// The text behind "NCCL WARN ".
FailureMeaning meaning_of_nccl_warning(std::string_view text);
// A signal that ended a process.
FailureMeaning meaning_of_signal(int signal);

}  // namespace muster
