#include "train/fsdp/gradient_staging.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "train/fsdp/unit_use.h"

namespace muster::train {
namespace {

constexpr std::size_t kTurns = 2;

}  // namespace

GradientStaging::GradientStaging(const UnitPlan& plan, Dtype wire, std::span<AlignedBytes> sums,
                                 Communicator& shards)
    : wire_(wire), sums_(sums), shards_(shards) {
  if (shards.world() == 1) return;
  const auto world = static_cast<std::size_t>(shards.world());
  const std::size_t width = dtype_bytes(sum_dtype(wire));
  const std::vector<UnitUse> uses = unit_uses(plan);
  std::vector<std::size_t> needed(kTurns);
  for (std::size_t unit = 0; unit < uses.size(); ++unit) {
    elements_.push_back(plan.slice(unit, world));
    const std::size_t bytes = elements_[unit] * world * width;
    own_buffer_.emplace_back();
    if (uses[unit].shared()) {
      own_buffer_[unit] = needed.size();
      needed.push_back(bytes);
      continue;
    }
    for (std::size_t turn = 0; turn < kTurns; ++turn) needed[turn] = std::max(needed[turn], bytes);
  }
  for (const std::size_t bytes : needed) buffers_.push_back({AlignedBytes(bytes), {}, {}});
}

GradientStaging::Buffer& GradientStaging::next_free(std::size_t unit) {
  if (own_buffer_[unit]) return buffers_[*own_buffer_[unit]];
  return buffers_[turn_++ % kTurns];
}

Status GradientStaging::complete(Buffer& buffer) {
  const auto ticket = std::exchange(buffer.on_its_way, std::nullopt);
  return ticket ? shards_.wait(*ticket) : Status();
}

Result<std::byte*> GradientStaging::begin(std::size_t unit) {
  if (buffers_.empty()) return sums_[unit].data();
  for (Buffer& buffer : buffers_) {
    if (buffer.unit == unit) return buffer.memory.data();
  }
  Buffer& buffer = next_free(unit);
  MUSTER_CHECK(!buffer.unit, "a unit is reduced before its buffer is taken");
  const Status done = complete(buffer);
  if (!done) return done.error();
  buffer.unit = unit;
  const auto world = static_cast<std::size_t>(shards_.world());
  std::memset(buffer.memory.data(), 0, elements_[unit] * world * dtype_bytes(sum_dtype(wire_)));
  return buffer.memory.data();
}

void GradientStaging::reduce(std::size_t unit) {
  if (buffers_.empty()) return;
  const auto at = std::find_if(buffers_.begin(), buffers_.end(),
                               [unit](const Buffer& b) { return b.unit == unit; });
  MUSTER_CHECK(at != buffers_.end(), "what is reduced was begun");
  at->unit.reset();
  ++reductions_;
  at->on_its_way =
      shards_.reduce_scatter_add(at->memory.data(), sums_[unit].data(), elements_[unit], wire_,
                                 {Purpose::gradients, static_cast<std::uint32_t>(unit)});
}

Status GradientStaging::finish() {
  for (Buffer& buffer : buffers_) {
    const Status done = complete(buffer);
    if (!done) return done;
  }
  return {};
}

void GradientStaging::drain() {
  for (Buffer& buffer : buffers_) {
    buffer.unit.reset();
    [[maybe_unused]] const Status done = complete(buffer);
  }
}

std::uint64_t GradientStaging::bytes() const {
  std::uint64_t out = 0;
  for (const Buffer& buffer : buffers_) out += buffer.memory.size();
  return out;
}

}  // namespace muster::train
