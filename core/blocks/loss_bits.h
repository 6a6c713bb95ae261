#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace muster::blocks {

// One bit a token: it counts in the loss. Bit t of a run of tokens is bit t % 8, the least first,
// of byte t / 8; bits behind the last token are 0. So numpy reads them by
// unpackbits(bitorder="little").
class LossBits {
 public:
  std::uint64_t size() const { return bits_; }
  void clear();
  // `count` bits of one value behind the last.
  void append(std::uint64_t count, bool value);
  // Bits [begin, begin + count) of `bytes`, wherever they stand in their bytes.
  void append(std::span<const std::uint8_t> bytes, std::uint64_t begin, std::uint64_t count);
  bool at(std::uint64_t bit) const;
  std::span<const std::uint8_t> bytes() const { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
  std::uint64_t bits_ = 0;
};

constexpr std::uint64_t loss_bytes(std::uint64_t tokens) {
  return tokens / 8 + (tokens % 8 != 0 ? 1 : 0);
}
std::uint64_t count_set(std::span<const std::uint8_t> bytes);

}  // namespace muster::blocks
