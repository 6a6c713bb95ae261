#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "train/model/dtype.h"
#include "train/model/unit_plan.h"

namespace muster::train {

// Blocks that one rank computes at once. A block predicts its own next tokens: the label of
// position t is ids[t + 1], the last position of a block has none.
struct MicroBatch {
  std::uint64_t sequences = 0, length = 0;
  std::span<const std::int32_t> ids;      // sequences x length
  std::span<const std::uint8_t> counted;  // sequences x length; 1: this token counts as a label
};

// The mathematics of one model, stage by stage. Weights come and gradients go as flat memory of one
// unit (UnitPlan), whole and unpadded, 64-byte aligned; nobody here knows of ranks. It keeps
// between calls only the activations of one micro batch. One thread at a time.
//
// A micro batch is begin, forward of all stages from 0 up, then backward of all stages from the
// last down. Stages share a unit only in tied models; both then add to the same gradient memory.
class ModelMath {
 public:
  virtual ~ModelMath() = default;

  virtual const UnitPlan& plan() const = 0;
  virtual Dtype compute() const = 0;  // of weights; gradients have sum_dtype(compute())

  // `scale`: what every counted label's loss is multiplied with, 1 / labels of the whole optimizer
  // step over all ranks. Errc::invalid_input where an id is not in the vocabulary.
  virtual Status begin(const MicroBatch& batch, double scale) = 0;

  virtual void forward(std::size_t stage, const std::byte* weights) = 0;

  // After forward of the last stage: sum over counted labels of -ln p(label), not scaled.
  virtual double loss_sum() const = 0;

  // Adds to `gradients`, laid out like the weights. Stages not needed any more give up their
  // activations.
  virtual void backward(std::size_t stage, const std::byte* weights, std::byte* gradients) = 0;

  // In place of forward of the last stage, with its weights: what the model says of the token after
  // `position` (sequence * length + place), not normalised. `out` is as long as the vocabulary.
  virtual void logits(std::uint64_t position, const std::byte* weights, std::span<double> out) = 0;

  // Memory for activations and scratch, bytes; grows only when a batch has another shape.
  virtual std::uint64_t activation_bytes() const = 0;
  // Floating-point operations of matrix products that were executed since the start.
  virtual std::uint64_t executed_flops() const = 0;
};

}  // namespace muster::train
