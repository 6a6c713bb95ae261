#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

// Which of many literals stand in a text, all in one pass, at the speed of memory where there are
// none.
//
//   LiteralSearch search({"NVRM: ", "oom-kill:"});
//   search.find(text, [&](std::size_t place, std::size_t literal) { ... });
//
// Four bytes are looked at in every stride-th place only. The shortest literal is long enough for
// the stride that one of these places falls into it, wherever it begins, so each literal is known
// by as many keys of four bytes, taken where they are rare in logs. A bitmap of hashes of the keys
// that stays in the nearest cache turns away all other places; what passes is compared. No step of
// it needs a special processor.

namespace muster {

class LiteralSearch {
 public:
  static constexpr std::size_t kKeyBytes = 4;
  // The shortest literal rules the stride of all: five bytes give every second place, eight and
  // more every fifth.
  static constexpr std::size_t kMinBytes = kKeyBytes + 1;

  // Each of at least kMinBytes and less than 256 bytes; at most 65,535 of them.
  explicit LiteralSearch(std::vector<std::string> literals);

  const std::vector<std::string>& literals() const { return literals_; }

  // `on_hit(place, literal)` for every place where a literal begins, once each; places of literals
  // of 100 bytes may come out of order by as much. Views given to it point into `text`.
  template <typename F>
  void find(std::string_view text, F&& on_hit) const {
    if (literals_.empty() || text.size() < kKeyBytes) return;
    const char* const begin = text.data();
    const std::size_t end = text.size() - kKeyBytes + 1;
    std::size_t at = 0;
    // Four places at a time: one branch for all of them.
    const std::size_t step = stride_;
    for (; at + 3 * step < end; at += 4 * step) {
      const std::uint64_t any = maybe(begin + at) | maybe(begin + at + step) |
                                maybe(begin + at + 2 * step) | maybe(begin + at + 3 * step);
      if (any == 0) continue;
      for (std::size_t i = at; i < at + 4 * step; i += step) check(text, i, on_hit);
    }
    for (; at < end; at += step) check(text, at, on_hit);
  }

 private:
  // 16 KiB: half of the smallest first cache. Some 800 keys make it let one place of 160 pass.
  static constexpr std::size_t kBitsLog2 = 17;

  struct Key {
    std::uint32_t bytes;
    std::uint16_t literal;
    std::uint8_t offset;  // of the key in the literal
  };

  static std::uint32_t load(const char* at) {
    std::uint32_t value;
    std::memcpy(&value, at, kKeyBytes);
    return value;
  }
  static std::size_t hash(std::uint32_t key) {
    return static_cast<std::size_t>((key * 0x9E3779B1u) >> (32 - kBitsLog2));
  }
  // 1 or 0, to be joined without a branch.
  std::uint64_t maybe(const char* at) const {
    const std::size_t slot = hash(load(at));
    return (filter_[slot / 64] >> (slot % 64)) & 1;
  }

  template <typename F>
  void check(std::string_view text, std::size_t at, F&& on_hit) const {
    if (maybe(text.data() + at) == 0) return;
    const std::uint32_t bytes = load(text.data() + at);
    for (std::size_t i = first_key(bytes); i < keys_.size() && keys_[i].bytes == bytes; ++i) {
      const Key& key = keys_[i];
      if (at < key.offset) continue;
      const std::size_t place = at - key.offset;
      if (text.substr(place).starts_with(literals_[key.literal])) on_hit(place, key.literal);
    }
  }
  std::size_t first_key(std::uint32_t bytes) const;

  std::vector<std::string> literals_;
  std::size_t stride_ = 1;
  std::vector<Key> keys_;  // by their bytes
  std::array<std::uint64_t, (std::size_t{1} << kBitsLog2) / 64> filter_{};
};

}  // namespace muster
