#pragma once

#include <cstdint>

namespace muster::train {

// What a rank does inside a step. Waits are told apart from work: a rank that computes for long is
// slow, one that waits for long has a slow neighbour.
enum class StepPhase : std::uint8_t { forward, gather_wait, backward, reduce_wait, optimizer };

// Told when a phase begins; it ends where the next one does, or the step. On the engine's thread,
// several times a stage: it should take no longer than reading a clock.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  virtual void enter(StepPhase phase) = 0;
};

}  // namespace muster::train
