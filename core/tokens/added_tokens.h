#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_range.h"

namespace muster::tokens {

// A token that is cut out of the text before anything splits or merges it.
struct AddedToken {
  std::string content;
  std::uint32_t id = 0;
  bool special = false;
  bool normalized = false;  // looked for in the normalised text instead of the text itself
};

// Finds added tokens in a text: at the leftmost place where one stands the longest one.
class AddedTokenFinder {
 public:
  struct Match {
    std::size_t begin = 0, end = 0;
    std::uint32_t id = 0;
  };

  // Contents are not empty.
  void add(std::string_view content, std::uint32_t id);
  bool empty() const { return nodes_.size() == 1; }
  // The first match that begins at `from` or behind it and ends by `end`.
  std::optional<Match> next(std::string_view text, std::size_t from, std::size_t end) const;
  // All matches, from the left, that touch none of `plain` (sorted, disjoint).
  void find(std::string_view text, std::span<const ByteRange> plain, std::vector<Match>& out) const;

 private:
  struct Node {
    std::vector<std::pair<unsigned char, std::uint32_t>> children;
    std::optional<std::uint32_t> id;
  };
  std::size_t skip(std::string_view text, std::size_t from, std::size_t end) const;

  std::vector<Node> nodes_ = std::vector<Node>(1);
  std::array<std::uint32_t, 256> first_{};   // node behind a first byte; 0: none
  std::optional<unsigned char> only_first_;  // where all begin with the same byte
};

}  // namespace muster::tokens
