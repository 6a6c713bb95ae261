#pragma once

#include <string_view>

#include "app/pack_build.h"
#include "app/pack_encoder.h"
#include "core/blocks/block_hash.h"

namespace muster {

// A small tokenizer: each byte is its own id, "<e>" is one added token outside of plain text. A
// text with "!refuse" in it is refused.
class ByteEncoder final : public TextEncoder {
 public:
  static constexpr std::int32_t kEos = 256;

  Status encode(std::string_view utf8, std::span<const ByteRange> plain,
                std::vector<std::int32_t>& out) override {
    std::vector<std::uint64_t> starts;
    return encode_with_starts(utf8, plain, out, starts);
  }
  Status encode_with_starts(std::string_view utf8, std::span<const ByteRange> plain,
                            std::vector<std::int32_t>& out,
                            std::vector<std::uint64_t>& starts) override {
    if (utf8.find("!refuse") != std::string_view::npos) {
      return make_error(Errc::invalid_input, "refused");
    }
    for (std::size_t i = 0; i < utf8.size(); ++i) {
      bool ordinary = !utf8.substr(i).starts_with("<e>");
      for (const ByteRange& range : plain) {
        ordinary = ordinary || (range.begin < i + 3 && i < range.end);
      }
      starts.push_back(i);
      out.push_back(ordinary ? static_cast<unsigned char>(utf8[i]) : kEos);
      if (!ordinary) i += 2;
    }
    return {};
  }
};

inline PackVocabulary byte_vocabulary() {
  PackVocabulary made;
  made.make_encoder = [] { return std::make_unique<ByteEncoder>(); };
  made.decode = [](std::span<const std::int32_t> ids) -> Result<std::string> {
    std::string text;
    for (const std::int32_t id : ids) text += id == 256 ? "<e>" : std::string(1, char(id));
    return text;
  };
  made.hash = blocks::hash_text(blocks::hash_bytes("bytes"));
  made.count = 300;
  made.eos = {ByteEncoder::kEos, false};
  made.pad = 299;
  made.chat = records::ChatTemplate::qwen3();
  return made;
}

}  // namespace muster
