#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::tokens {

// Bytes <-> id of the entries of a vocabulary.
class Vocabulary {
 public:
  // `ids`: all ids are below; `entries`: how many will come.
  Vocabulary(std::uint32_t ids, std::size_t entries);

  // Errc::invalid_input where the id or the bytes are taken, Errc::exhausted where a file was made
  // so that its entries collide.
  Status add(std::uint32_t id, std::string_view bytes);
  // For an entry that no text can become (its name is not of the byte alphabet): only by id.
  Status add_name(std::uint32_t id, std::string_view bytes);

  std::uint32_t ids() const { return static_cast<std::uint32_t>(places_.size()); }
  bool has(std::uint32_t id) const { return id < places_.size() && places_[id].taken; }
  std::string_view bytes(std::uint32_t id) const {
    return std::string_view(arena_).substr(places_[id].at, places_[id].size);
  }
  // kNone where no entry has these bytes.
  std::uint32_t find(std::string_view bytes) const;

  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

 private:
  struct Place {
    std::uint32_t at = 0;
    std::uint32_t size : 31 = 0;
    std::uint32_t taken : 1 = 0;
  };
  struct Slot {
    std::uint32_t id = kNone;
    std::uint32_t hash = 0;
  };

  std::string arena_;
  std::vector<Place> places_;
  std::vector<Slot> slots_;
};

// The alphabet of byte-level BPE: each byte as one printable character. Bytes that print stand for
// themselves, the others are U+0100 and up in their order (as GPT-2 began it). Appends the bytes
// that `text` (valid UTF-8) stands for; false where a character is not of the alphabet.
bool from_byte_alphabet(std::string_view text, std::string& bytes);

}  // namespace muster::tokens
