#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

// Pickle opcodes for tests, in the manner of PyTorch's own writer: protocol 2, a string is put when
// it first comes and got afterwards, the smallest opcode that holds an integer.

namespace muster {

class PickleText {
 public:
  PickleText() : out_("\x80\x02") {}

  // An opcode, or any bytes, as they are.
  PickleText& raw(std::string_view bytes) {
    out_ += bytes;
    return *this;
  }
  PickleText& text(std::string_view value) {
    const auto [at, fresh] = strings_.emplace(value, count_);
    if (!fresh) return get(at->second);
    fixed('X', static_cast<std::uint32_t>(value.size()));
    out_ += value;
    put();
    return *this;
  }
  PickleText& integer(std::int64_t value) {
    if (value >= 0 && value <= 0xff) return fixed('K', static_cast<std::uint8_t>(value));
    if (value >= 0 && value <= 0xffff) return fixed('M', static_cast<std::uint16_t>(value));
    if (value == static_cast<std::int32_t>(value)) {
      return fixed('J', static_cast<std::int32_t>(value));
    }
    out_ += "\x8a\x08";
    return little(value);
  }
  PickleText& boolean(bool value) { return raw(value ? "\x88" : "\x89"); }
  PickleText& none() { return raw("N"); }
  PickleText& dict() { return raw("}("); }  // ... end_dict()
  PickleText& end_dict() { return raw("u"); }
  PickleText& list() { return raw("]("); }  // ... end_list()
  PickleText& end_list() { return raw("e"); }
  PickleText& pair(std::string_view key, std::string_view value) { return text(key).text(value); }
  PickleText& pair(std::string_view key, std::int64_t value) { return text(key).integer(value); }
  PickleText& get(std::uint32_t place) {
    if (place <= 0xff) return fixed('h', static_cast<std::uint8_t>(place));
    return fixed('j', place);
  }
  // The place of what lies on top now.
  std::uint32_t put() {
    if (count_ <= 0xff) {
      fixed('q', static_cast<std::uint8_t>(count_));
    } else {
      fixed('r', count_);
    }
    return count_++;
  }
  std::string stop() const { return out_ + "."; }
  const std::string& open() const { return out_; }

 private:
  template <typename T>
  PickleText& little(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      out_ += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xff);
    }
    return *this;
  }
  template <typename T>
  PickleText& fixed(char opcode, T value) {
    out_ += opcode;
    return little(value);
  }

  std::string out_;
  std::map<std::string, std::uint32_t, std::less<>> strings_;
  std::uint32_t count_ = 0;
};

}  // namespace muster
