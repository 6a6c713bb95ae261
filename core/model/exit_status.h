#pragma once

#include "base/result.h"
#include "core/model/finding.h"

// The one table of exit statuses (docs/FORMATS.md). Scripts and schedulers depend on it.

namespace muster {

enum class ExitStatus : int {
  ok = 0,  // ok or info
  warning = 1,
  critical = 2,  // gate: refused
  cannot_tell = 3,
  usage = 64,
  no_input = 65,  // no input could be read at all
  internal = 70,
  storage = 74,
  saved = 75,  // saved and left: start again
  out_of_step = 76,
  permission = 77,
  refused_config = 78,
  do_not_restart = 93,
  interrupted = 130,
};

// The worst finding of confidence medium or high decides. Where only low ones are above info: 3.
// `blind` alone gives 3 where what was blind could hide a critical finding.
ExitStatus exit_status_of(const Report& report);

// For an error that ended the verb before it could answer.
ExitStatus exit_status_of(const Error& error);

}  // namespace muster
