#include "core/tokens/vocabulary.h"

#include <fmt/core.h>
#include <xxhash.h>

#include <bit>

#include "base/text.h"
#include "core/tokens/unicode_class.h"

namespace muster::tokens {
namespace {

// A table half full needs a handful of looks; a file that makes it this many was built to.
constexpr std::size_t kLooks = 1024;

std::uint64_t hash_of(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

// Byte of each character of the alphabet below U+0144; -1 for what is not of it.
std::array<std::int16_t, 0x144> make_alphabet() {
  std::array<std::int16_t, 0x144> bytes{};
  bytes.fill(-1);
  std::size_t next = 0x100;
  for (std::int16_t byte = 0; byte < 256; ++byte) {
    const bool prints = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte != 0xAD);
    bytes[prints ? static_cast<std::size_t>(byte) : next++] = byte;
  }
  return bytes;
}

}  // namespace

Vocabulary::Vocabulary(std::uint32_t ids, std::size_t entries)
    : places_(ids), slots_(std::bit_ceil(entries * 2 + 2)) {}

Status Vocabulary::add_name(std::uint32_t id, std::string_view bytes) {
  if (places_[id].taken) {
    return make_error(Errc::invalid_input, fmt::format("\"{}\" has id {}, which \"{}\" has already",
                                                       escape_controls(bytes, 80), id,
                                                       escape_controls(this->bytes(id), 80)));
  }
  places_[id] = {static_cast<std::uint32_t>(arena_.size()),
                 static_cast<std::uint32_t>(bytes.size()) & 0x7FFFFFFFu, 1};
  arena_.append(bytes);
  return {};
}

Status Vocabulary::add(std::uint32_t id, std::string_view bytes) {
  const std::uint64_t hash = hash_of(bytes);
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  for (std::size_t looks = 0; slots_[at].id != kNone; ++looks, at = (at + 1) & mask) {
    if (slots_[at].hash == hash >> 32 && this->bytes(slots_[at].id) == bytes) {
      return make_error(Errc::invalid_input,
                        fmt::format("\"{}\" has two ids, {} and {}", escape_controls(bytes, 80),
                                    slots_[at].id, id));
    }
    if (looks == kLooks) return make_error(Errc::exhausted, "its entries were made to collide");
  }
  if (Status added = add_name(id, bytes); !added) return added;
  slots_[at] = {id, static_cast<std::uint32_t>(hash >> 32)};
  return {};
}

std::uint32_t Vocabulary::find(std::string_view bytes) const {
  const std::uint64_t hash = hash_of(bytes);
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at].id != kNone) {
    if (slots_[at].hash == hash >> 32 && this->bytes(slots_[at].id) == bytes) return slots_[at].id;
    at = (at + 1) & mask;
  }
  return kNone;
}

bool from_byte_alphabet(std::string_view text, std::string& bytes) {
  static const auto kAlphabet = make_alphabet();
  for (std::size_t at = 0; at < text.size();) {
    const Decoded c = decode_valid(text.data() + at);
    if (c.point >= kAlphabet.size() || kAlphabet[c.point] < 0) return false;
    bytes += static_cast<char>(kAlphabet[c.point]);
    at += c.bytes;
  }
  return true;
}

}  // namespace muster::tokens
