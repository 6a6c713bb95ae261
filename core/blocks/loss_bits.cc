#include "core/blocks/loss_bits.h"

#include <bit>
#include <cstring>

#include "base/check.h"

namespace muster::blocks {
namespace {

// The lowest `count` bits; count <= 8.
constexpr unsigned low_bits(std::uint64_t count) {
  return (1U << count) - 1U;
}

}  // namespace

void LossBits::clear() {
  bytes_.clear();
  bits_ = 0;
}

void LossBits::append(std::uint64_t count, bool value) {
  const std::uint64_t end = bits_ + count;
  const unsigned begun = static_cast<unsigned>(bits_ % 8);
  if (value && begun != 0 && count != 0) {
    bytes_.back() = static_cast<std::uint8_t>(bytes_.back() | (0xffU << begun));
  }
  bytes_.resize(loss_bytes(end), value ? 0xff : 0);
  bits_ = end;
  if (end % 8 != 0) bytes_.back() = static_cast<std::uint8_t>(bytes_.back() & low_bits(end % 8));
}

void LossBits::append(std::span<const std::uint8_t> bytes, std::uint64_t begin,
                      std::uint64_t count) {
  if (count == 0) return;
  MUSTER_CHECK(begin + count <= bytes.size() * 8, "bits that are there");
  const std::uint64_t end = bits_ + count;
  const std::uint64_t from = bits_ / 8;
  const unsigned to_shift = static_cast<unsigned>(bits_ % 8);
  const unsigned from_shift = static_cast<unsigned>(begin % 8);
  bytes_.resize(loss_bytes(end), 0);
  const std::uint8_t* source = bytes.data() + begin / 8;
  std::uint64_t left = count;
  for (std::uint64_t to = from; left > 0;) {
    // Eight bits of the source, or what is left of them.
    unsigned value = static_cast<unsigned>(*source) >> from_shift;
    if (from_shift != 0 && left > 8 - from_shift) {
      value |= static_cast<unsigned>(source[1]) << (8 - from_shift);
    }
    const std::uint64_t taken = left < 8 ? left : 8;
    value &= low_bits(taken);
    bytes_[to] = static_cast<std::uint8_t>(bytes_[to] | (value << to_shift));
    if (to_shift != 0 && taken > 8 - to_shift) {
      bytes_[to + 1] = static_cast<std::uint8_t>(value >> (8 - to_shift));
    }
    ++source;
    ++to;
    left -= taken;
  }
  bits_ = end;
}

bool LossBits::at(std::uint64_t bit) const {
  MUSTER_CHECK(bit < bits_, "a bit that is there");
  return ((bytes_[bit / 8] >> (bit % 8)) & 1) != 0;
}

std::uint64_t count_set(std::span<const std::uint8_t> bytes) {
  std::uint64_t out = 0;
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, 8);
    out += static_cast<std::uint64_t>(std::popcount(word));
  }
  for (; at < bytes.size(); ++at) {
    out += static_cast<std::uint64_t>(std::popcount(static_cast<unsigned>(bytes[at])));
  }
  return out;
}

}  // namespace muster::blocks
