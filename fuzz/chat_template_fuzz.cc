// Any bytes as a tokenizer_config.json and as a template: no crash, a refusal has a reason, and the
// digest does not see blanks that Jinja drops at the end.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "core/records/chat_template.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster::records;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto made = ChatTemplate::from_jinja(bytes);
  MUSTER_CHECK(made || !made.error().context.empty(), "a refusal has a reason");
  MUSTER_CHECK(template_digest(bytes).size() == 64, "any text has a digest");
  const auto found = template_of_config(bytes);
  const bool known = found && *found && ChatTemplate::from_jinja(**found);
  MUSTER_CHECK(!known || bytes.size() > 1000, "the known one is long");
  const auto eos = token_of_config(bytes, "eos_token");
  MUSTER_CHECK(found.has_value() == eos.has_value(), "both read the same JSON");
  return 0;
}
