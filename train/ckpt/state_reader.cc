#include "train/ckpt/state_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "train/ckpt/save_layout.h"

namespace muster::train {
namespace {

// One file of another rank, opened when its first byte is needed. What stands in it is computed,
// and compared with its head.
class SavedShard {
 public:
  SavedShard(SaveDisk& disk, std::string folder, StateFile layout)
      : disk_(disk), folder_(std::move(folder)), layout_(std::move(layout)) {}

  Status read(std::size_t tensor, std::uint64_t offset, std::span<char> out) {
    if (!file_) {
      if (Status opened = open(); !opened) return opened;
    }
    return file_->read_at(layout_.head.size() + layout_.tensors[tensor].begin + offset, out);
  }

 private:
  Status open() {
    const std::string path = folder_ + "/" + layout_.name;
    auto file = disk_.open(path);
    if (!file) return file.error();
    std::string head(std::min<std::uint64_t>(layout_.head.size(), (*file)->bytes()), '\0');
    if (Status read = (*file)->read_at(0, head); !read) return read;
    if (head != layout_.head) {
      // The types of numbers stand in it too: those of another run are the likely reason.
      return make_error(Errc::unsupported,
                        path + ": of another model, or of a run that computes in other numbers");
    }
    if ((*file)->bytes() != layout_.bytes) {
      return make_error(Errc::corrupt, fmt::format("{}: {} bytes, {} are due", path,
                                                   (*file)->bytes(), layout_.bytes));
    }
    file_ = std::move(*file);
    return {};
  }

  SaveDisk& disk_;
  std::string folder_;
  StateFile layout_;
  std::unique_ptr<LoadFile> file_;
};

}  // namespace

Status load_exact_state(SaveDisk& disk, const std::string& folder, std::uint64_t world,
                        ShardedState& state) {
  const UnitPlan& plan = *state.plan;
  const std::uint64_t wide = dtype_bytes(state.dtype);
  std::vector<std::unique_ptr<SavedShard>> shards(world);
  for (std::size_t unit = 0; unit < state.units.size(); ++unit) {
    UnitShard& own = state.units[unit];
    const std::array<AlignedBytes*, 3> parts = {&own.master, &own.first_moment, &own.second_moment};
    for (AlignedBytes* const part : parts) std::memset(part->data(), 0, part->size());
    const std::uint64_t slice = plan.slice(unit, state.shards), saved = plan.slice(unit, world);
    const std::uint64_t from = state.shard * slice;
    const std::uint64_t end = std::min(from + slice, plan.units()[unit].elements);
    for (std::uint64_t at = from; at < end;) {
      const std::uint64_t shard = at / saved;
      const std::uint64_t until = std::min(end, (shard + 1) * saved);
      if (!shards[shard]) {
        shards[shard] =
            std::make_unique<SavedShard>(disk, folder, state_file(plan, state.dtype, shard, world));
      }
      for (std::size_t p = 0; p < parts.size(); ++p) {
        char* const to = reinterpret_cast<char*>(parts[p]->data()) + (at - from) * wide;
        const Status read = shards[shard]->read(
            unit * parts.size() + p, (at - shard * saved) * wide, {to, (until - at) * wide});
        if (!read) return read;
      }
      at = until;
    }
  }
  return {};
}

}  // namespace muster::train
