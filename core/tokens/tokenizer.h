#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_range.h"
#include "base/result.h"
#include "core/tokens/large_table.h"

// Text <-> token ids, equal to what Hugging Face's `tokenizers` 0.22 makes of the same
// tokenizer.json with add_special_tokens=False: what a post-processor would add (a BOS), truncation
// and padding are settings of a call, and a packer decides them itself.
//
// Done is byte-level BPE with the splits of Qwen2/Qwen3, Llama 3, GPT-4o/gpt-oss and DeepSeek V3.
// Whatever else a file asks for is refused by its name (core/tokens/tokenizer_json.h).

namespace muster {

namespace tokens {
struct Model;
class EncodeState;
}  // namespace tokens

// Immutable after load; may be shared by threads.
class Tokenizer {
 public:
  // Errc::corrupt for what is no JSON, Errc::invalid_input for one that contradicts itself,
  // Errc::unsupported for what this program does not do, Errc::exhausted beyond a limit.
  // `advice` is told of the memory of large tables, also of those of encoders, before it is used.
  static Result<std::unique_ptr<const Tokenizer>> from_json(std::string_view bytes,
                                                            tokens::MemoryAdvice advice = nullptr);
  ~Tokenizer();

  // All ids are below this, those of added tokens included. Not every id below need exist.
  std::uint32_t vocabulary_count() const;
  // Of an added token, or of a vocabulary entry by the text that it stands for.
  std::optional<std::int32_t> id_of(std::string_view token) const;
  // Whether it is an added token that the file marks as special (a control token).
  bool is_special(std::int32_t id) const;
  // The bytes of all tokens, special ones included, back to back: valid UTF-8 only where the ids
  // end at characters. Errc::invalid_input for an id that does not exist.
  Result<std::string> decode(std::span<const std::int32_t> ids) const;

 private:
  friend class Encoder;
  explicit Tokenizer(std::unique_ptr<const tokens::Model> model);
  std::unique_ptr<const tokens::Model> model_;
};

// One for each thread: owns a cache of pieces (6.2 MiB). The tokenizer must outlive it. What is in
// the cache changes the speed and never the answer.
class Encoder {
 public:
  explicit Encoder(const Tokenizer& tokenizer);
  ~Encoder();
  Encoder(Encoder&&) noexcept;

  // Appends the ids of `utf8`; on an Error `out` is as it was. Errc::invalid_input where it is no
  // valid UTF-8, Errc::exhausted beyond limits::kEncodedBytes.
  //
  // In `plain` (sorted, disjoint, within the text) added tokens are ordinary text: "<|im_end|>" of
  // a user's message becomes no control id. An added token that lies only partly in such a range is
  // ordinary text as well. A border of a range is no border of pieces.
  Status encode(std::string_view utf8, std::span<const ByteRange> plain,
                std::vector<std::int32_t>& out);
  // The same ids, and for each the byte in `utf8` where its text starts; slower. Inside of
  // characters that normalisation changed this is the start of the changed stretch.
  Status encode_with_starts(std::string_view utf8, std::span<const ByteRange> plain,
                            std::vector<std::int32_t>& out, std::vector<std::uint64_t>& starts);

 private:
  std::unique_ptr<tokens::EncodeState> state_;
};

}  // namespace muster
