#include "core/tokens/piece_splitter.h"

namespace muster::tokens {

PieceSplitter::PieceSplitter(SplitFamily family, Way way) : family_(family), way_(way) {}

PieceSplitter::Way PieceSplitter::best_way() {
  return Way::plain;
}

std::size_t PieceSplitter::split(std::string_view text, std::size_t at, std::uint32_t* ends,
                                 std::size_t room) const {
  std::size_t count = 0;
  while (count < room && at < text.size()) {
    at = piece_end(family_, text, at);
    ends[count++] = static_cast<std::uint32_t>(at);
  }
  return count;
}

}  // namespace muster::tokens
