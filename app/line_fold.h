#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

// Of a dense log of NCCL or of PyTorch's watchdog, the lines that say no more than one before them:
// what has been read once, and had no news for any reader, need not be read again and again.
//
// Two lines are alike where the same rank or process says the same; stamps, and behind the name of
// who speaks numbers of four digits and more (ports, pointers, counts of calls), may differ. Of
// those that were passed over the last one is kept, to be read at the end with the number of the
// others. Memory is bounded: a shape that is new takes the place of the one that was seen longest
// ago.
class LineFold {
 public:
  struct Folded {
    std::string text;
    std::uint64_t number = 0;   // of the last of them
    std::uint64_t skipped = 0;  // lines in all, this one too
  };

  // The shape of a line; absent: lines of this kind are read each.
  static std::optional<std::uint64_t> shape_of(std::string_view line);

  // A line of this shape is one more of those that say nothing new: it is passed over.
  bool folds(std::uint64_t shape, std::string_view line, std::uint64_t number);
  // A line of this shape was read and had no news: from now on they are passed over. Gives back
  // what was kept of the shape that had to make room.
  std::optional<Folded> settle(std::uint64_t shape, std::uint64_t number);
  // All that was kept, in the order of their lines.
  std::vector<Folded> take();

 private:
  struct Slot {
    std::uint64_t shape = 0;
    bool used = false;
    Folded folded;
  };
  std::span<Slot> set_of(std::uint64_t shape);

  std::vector<Slot> slots_;
};

}  // namespace muster
