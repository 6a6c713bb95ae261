// Any bytes as a tokenizer.json; what is read must be able to encode, and to give back what it
// encoded.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "core/tokens/tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  const auto tokenizer = muster::Tokenizer::from_json(json);
  if (!tokenizer) return 0;
  constexpr std::string_view kText = "abc ab 12  \n\xec\x95\x88\xeb\x85\x95 it's <|end|>!";
  muster::Encoder encoder(**tokenizer);
  std::vector<std::int32_t> ids;
  MUSTER_CHECK(encoder.encode(kText, {}, ids).has_value(), "the text is UTF-8");
  MUSTER_CHECK((*tokenizer)->decode(ids).has_value(), "its ids exist");
  return 0;
}
