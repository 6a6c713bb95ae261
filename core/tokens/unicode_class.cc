#include "core/tokens/unicode_class.h"

#include <algorithm>
#include <map>

#include "core/tokens/tables/unicode_tables.h"

namespace muster::tokens {

CodePointTable::CodePointTable(const std::uint32_t* runs, std::size_t count, unsigned bits) {
  pages_.resize(0x110000);
  std::size_t at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t length = runs[i] >> bits;
    std::fill_n(pages_.begin() + static_cast<std::ptrdiff_t>(at), length,
                static_cast<std::uint8_t>(runs[i] & ((1u << bits) - 1)));
    at += length;
  }
  share();
}

void CodePointTable::share() {
  std::map<std::string, std::uint16_t> seen;
  std::vector<std::uint8_t> kept;
  for (std::size_t page = 0; page < index_.size(); ++page) {
    const auto* bytes = pages_.data() + page * 256;
    const auto fresh = static_cast<std::uint16_t>(kept.size() / 256);
    const auto [it, added] =
        seen.emplace(std::string(reinterpret_cast<const char*>(bytes), 256), fresh);
    if (added) kept.insert(kept.end(), bytes, bytes + 256);
    index_[page] = it->second;
  }
  pages_ = std::move(kept);
}

void CodePointTable::set(std::uint32_t point, std::uint8_t value) {
  const std::size_t page = point >> 8;
  const auto users = std::count(index_.begin(), index_.end(), index_[page]);
  if (users > 1) {
    const std::size_t from = static_cast<std::size_t>(index_[page]) << 8;
    const std::size_t to = pages_.size();
    pages_.resize(to + 256);
    std::copy_n(pages_.begin() + static_cast<std::ptrdiff_t>(from), 256,
                pages_.begin() + static_cast<std::ptrdiff_t>(to));
    index_[page] = static_cast<std::uint16_t>(to >> 8);
  }
  pages_[static_cast<std::size_t>(index_[page]) << 8 | (point & 0xFF)] = value;
}

const CodePointTable& class_table() {
  static const CodePointTable kTable(class_runs().data(), class_runs().size(), 4);
  return kTable;
}

void append_utf8(std::uint32_t point, std::string& out) {
  const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (point < 0x80) {
    put(point);
    return;
  }
  if (point < 0x800) {
    put(0xC0 | point >> 6);
  } else {
    if (point < 0x10000) {
      put(0xE0 | point >> 12);
    } else {
      put(0xF0 | point >> 18);
      put(0x80 | (point >> 12 & 0x3F));
    }
    put(0x80 | (point >> 6 & 0x3F));
  }
  put(0x80 | (point & 0x3F));
}

}  // namespace muster::tokens
