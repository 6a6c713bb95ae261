#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/explain/scene.h"
#include "core/model/finding.h"

namespace muster {

// How deep a cause lies: where time does not tell which of two was first, the deeper one is (a lost
// GPU makes an exception, an exception makes no lost GPU).
enum class Layer : std::uint8_t {
  hardware,  // the node, its GPUs, disks, kernel, file server
  setting,   // limits, room, configuration; and whoever stops the job from outside
  program,   // exceptions, memory of the GPU, data
  link,      // network and its ports
  wait,      // collectives
  slow,      // makes a run slow, never stops it
  benign,    // nothing to do
};
Layer layer_of(Cause cause);
// Faults of GPUs, whose culprit is the GPU.
bool is_gpu_fault(Cause cause);

// One thing that may be the answer, in the making. Joins refine claims, add some and mark others as
// consequences; first_cause.h chooses.
struct Claim {
  Cause cause = Cause::undetermined;
  Severity severity = Severity::critical;
  Confidence confidence = Confidence::high;
  std::vector<Culprit> culprits;
  std::vector<std::size_t> events;  // of the scene, first to last; may be empty
  std::vector<std::size_t> facts;   // of the input
  std::string what;                 // one clause: what happened
  std::vector<Action> actions;      // empty: the usual ones of the cause
  std::string next;                 // empty: in the words of the first action
  std::optional<Duration> before;   // certainly this long before the run began
  bool follows = false;             // only a consequence of another
  std::string join;                 // which join made or changed it; empty: the lines alone

  std::optional<std::size_t> first() const {
    return events.empty() ? std::nullopt : std::optional(events.front());
  }
  void cap(Confidence most) { confidence = std::min(confidence, most); }
  // Refined by a join: new cause with its usual severity.
  void become(Cause to, std::string_view by);
};

// One claim for each cause that events of role root state. What says the same on many ranks or
// hosts is one claim; its culprits are the parts that each have the fault themselves (every GPU
// with a dead firmware), or the ranks that were first where the rest may follow from them.
//
// Lines that are certainly older than the run by more than kOld make claims of their own, with
// `before`: they can be no cause of its end.
inline constexpr Duration kOld = std::chrono::hours(24);
std::vector<Claim> claims_of_roots(const Scene& scene);

// The lines of a cause, of any role but benign: for joins that look for what supports it.
Claim claim_of(const Scene& scene, Cause cause, std::vector<std::size_t> events);

// Text with its numbers taken out, to compare what two ranks say.
std::string without_numbers(std::string_view text);

}  // namespace muster
