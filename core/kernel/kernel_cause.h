#pragma once

#include <string>

#include "core/model/action.h"
#include "core/model/cause.h"
#include "core/model/kernel_event.h"
#include "core/model/severity.h"

namespace muster {

// What one event is evidence for when nothing else is known. Events of a host and of a run are
// weighed against each other elsewhere; there a judgement may get worse (the same program faults on
// every GPU), milder (Xid 45 behind a cancelled job) or another cause. What a line cannot tell by
// itself is `undetermined` or has Confidence::low: then nobody is accused.
struct KernelJudgement {
  Cause cause = Cause::undetermined;
  Severity severity = Severity::info;
  Confidence confidence = Confidence::low;
  Action first = Action::none, then = Action::none;  // none: nothing (more) to do
  std::string meaning;                               // in words: "the GPU does not answer on ..."
};

KernelJudgement cause_of(const KernelEvent& event);

}  // namespace muster
