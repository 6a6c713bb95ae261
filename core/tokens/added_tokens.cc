#include "core/tokens/added_tokens.h"

#include <algorithm>
#include <cstring>

namespace muster::tokens {

void AddedTokenFinder::add(std::string_view content, std::uint32_t id) {
  const auto lead = static_cast<unsigned char>(content.front());
  only_first_ = empty() || only_first_ == lead ? std::optional(lead) : std::nullopt;
  std::uint32_t node = 0;
  for (const char c : content) {
    const auto byte = static_cast<unsigned char>(c);
    auto& children = nodes_[node].children;
    const auto found = std::find_if(children.begin(), children.end(),
                                    [byte](const auto& child) { return child.first == byte; });
    if (found != children.end()) {
      node = found->second;
      continue;
    }
    const auto fresh = static_cast<std::uint32_t>(nodes_.size());
    children.emplace_back(byte, fresh);
    nodes_.emplace_back();
    if (node == 0) first_[byte] = fresh;
    node = fresh;
  }
  nodes_[node].id = id;
}

// The first place from `from` on where a token may begin; `end` where there is none.
std::size_t AddedTokenFinder::skip(std::string_view text, std::size_t from, std::size_t end) const {
  if (only_first_) {
    const void* found = std::memchr(text.data() + from, *only_first_, end - from);
    return found == nullptr
               ? end
               : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
  }
  while (from < end && first_[static_cast<unsigned char>(text[from])] == 0) ++from;
  return from;
}

std::optional<AddedTokenFinder::Match> AddedTokenFinder::next(std::string_view text,
                                                              std::size_t from,
                                                              std::size_t end) const {
  if (empty()) return std::nullopt;
  for (from = skip(text, from, end); from < end; from = skip(text, from + 1, end)) {
    std::optional<Match> longest;
    std::uint32_t node = first_[static_cast<unsigned char>(text[from])];
    for (std::size_t at = from + 1; node != 0; ++at) {
      if (nodes_[node].id) longest = Match{from, at, *nodes_[node].id};
      if (at >= end) break;
      const auto byte = static_cast<unsigned char>(text[at]);
      std::uint32_t next_node = 0;
      for (const auto& [edge, child] : nodes_[node].children) {
        if (edge == byte) next_node = child;
      }
      node = next_node;
    }
    if (longest) return longest;
  }
  return std::nullopt;
}

void AddedTokenFinder::find(std::string_view text, std::span<const ByteRange> plain,
                            std::vector<Match>& out) const {
  if (empty()) return;
  std::size_t from = 0;
  const auto stretch = [&](std::size_t end) {
    while (from < end) {
      const auto match = next(text, from, end);
      if (!match) return;
      out.push_back(*match);
      from = match->end;
    }
  };
  for (const ByteRange& range : plain) {
    stretch(range.begin);
    from = range.end;
  }
  stretch(text.size());
}

}  // namespace muster::tokens
