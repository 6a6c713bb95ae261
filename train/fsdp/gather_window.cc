#include "train/fsdp/gather_window.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "train/fsdp/unit_use.h"

namespace muster::train {

GatherWindow::GatherWindow(const UnitPlan& plan, Dtype dtype, std::vector<const std::byte*> slices,
                           Communicator& shards, std::size_t prefetch)
    : slices_(std::move(slices)), shards_(shards) {
  if (shards.world() == 1) return;
  const auto world = static_cast<std::size_t>(shards.world());
  const std::size_t ring = 1 + prefetch;
  const std::vector<UnitUse> uses = unit_uses(plan);
  std::vector<std::size_t> needed(ring);
  std::size_t turn = 0;
  for (std::size_t unit = 0; unit < uses.size(); ++unit) {
    slice_bytes_.push_back(plan.slice(unit, world) * dtype_bytes(dtype));
    const std::size_t buffer = uses[unit].shared() ? needed.size() : turn++ % ring;
    if (uses[unit].shared()) needed.push_back(0);
    needed[buffer] = std::max(needed[buffer], slice_bytes_[unit] * world);
    buffer_of_.push_back(buffer);
  }
  for (const std::size_t bytes : needed) buffers_.push_back({AlignedBytes(bytes), {}, {}});
}

void GatherWindow::start(std::size_t unit) {
  if (buffers_.empty()) return;
  Buffer& buffer = buffers_[buffer_of_[unit]];
  if (buffer.unit == unit) return;
  MUSTER_CHECK(!buffer.on_its_way, "a unit that is gathered is used before its buffer is taken");
  buffer.on_its_way = shards_.all_gather(slices_[unit], buffer.memory.data(), slice_bytes_[unit],
                                         {Purpose::weights, static_cast<std::uint32_t>(unit)});
  buffer.unit = unit;
  ++gathers_;
  const auto held = std::count_if(buffers_.begin(), buffers_.end(),
                                  [](const Buffer& b) { return b.unit.has_value(); });
  peak_ = std::max(peak_, static_cast<std::size_t>(held));
}

Result<const std::byte*> GatherWindow::wait(std::size_t unit) {
  if (buffers_.empty()) return slices_[unit];
  start(unit);
  Buffer& buffer = buffers_[buffer_of_[unit]];
  if (const auto ticket = std::exchange(buffer.on_its_way, std::nullopt)) {
    const Status done = shards_.wait(*ticket);
    if (!done) return done.error();
  }
  return static_cast<const std::byte*>(buffer.memory.data());
}

void GatherWindow::forget() {
  for (Buffer& buffer : buffers_) {
    MUSTER_CHECK(!buffer.on_its_way, "every unit that is gathered is used");
    buffer.unit.reset();
  }
}

void GatherWindow::drain() {
  for (Buffer& buffer : buffers_) {
    buffer.unit.reset();
    const auto ticket = std::exchange(buffer.on_its_way, std::nullopt);
    if (!ticket) continue;
    // It failed, or it did not: nobody reads what came.
    [[maybe_unused]] const Status done = shards_.wait(*ticket);
  }
}

std::uint64_t GatherWindow::bytes() const {
  std::uint64_t out = 0;
  for (const Buffer& buffer : buffers_) out += buffer.memory.size();
  return out;
}

}  // namespace muster::train
