#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/byte_range.h"
#include "base/result.h"
#include "core/blocks/token_run.h"
#include "core/records/record.h"

namespace muster {

// Text -> ids, as core/tokens does it; tests have a small one. One for each thread. The contracts
// are those of Encoder (core/tokens/tokenizer.h).
class TextEncoder {
 public:
  virtual ~TextEncoder() = default;
  virtual Status encode(std::string_view utf8, std::span<const ByteRange> plain,
                        std::vector<std::int32_t>& out) = 0;
  virtual Status encode_with_starts(std::string_view utf8, std::span<const ByteRange> plain,
                                    std::vector<std::int32_t>& out,
                                    std::vector<std::uint64_t>& starts) = 0;
};

// Who may write control tokens.
enum class PackSpecials : std::uint8_t {
  usual,  // texts may: somebody rendered them; what people said in conversations may not
  text,   // nobody
  ids,    // everybody, as with Hugging Face's defaults
};

inline constexpr std::string_view kPackSpecialsNames[] = {"usual", "text", "ids"};

struct EosRule {
  std::optional<std::int32_t> eos;  // nothing: documents end as they are
  // Documents that end themselves (records::Document::ends_itself) end with this very token.
  bool ends_chats = false;
};

// Documents -> a run of tokens with their loss bits and ends.
class PackEncoder {
 public:
  PackEncoder(std::unique_ptr<TextEncoder> encoder, EosRule eos, PackSpecials specials)
      : encoder_(std::move(encoder)), eos_(eos), specials_(specials) {}

  // Appends the document. EOS comes exactly once: not behind a document whose last token it is
  // already, nor behind one that ends itself with it. It is trained where the document's last byte
  // is. On failure the run is as it was.
  Status add(records::Document&& document, blocks::TokenRun& run);

  std::uint64_t eos_added() const { return eos_added_; }

 private:
  std::unique_ptr<TextEncoder> encoder_;
  EosRule eos_;
  PackSpecials specials_;
  std::uint64_t eos_added_ = 0;
  std::vector<std::uint64_t> starts_;
};

}  // namespace muster
