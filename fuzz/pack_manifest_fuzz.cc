// Any bytes as the manifest of a pack, and as the state of a run over one: what is taken reads back
// as itself, and its numbers are safe to compute with.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "core/blocks/block_hash.h"
#include "core/blocks/pack_manifest.h"
#include "core/blocks/resume_state.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster::blocks;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto manifest = decode_manifest(text)) {
    const auto again = decode_manifest(encode_manifest(*manifest));
    MUSTER_CHECK(again && *again == *manifest, "what is taken reads back");
    MUSTER_CHECK(manifest->tokens() / manifest->block_tokens == manifest->blocks, "no overflow");
    MUSTER_CHECK(manifest->groups.size() == groups_of(manifest->blocks), "a hash for each group");
    MUSTER_CHECK(parse_hash(manifest_identity(*manifest)).has_value(), "it has a name");
  }
  if (const auto state = decode_resume_state(text)) {
    const auto again = decode_resume_state(encode_resume_state(*state));
    MUSTER_CHECK(again && *again == *state, "what is taken reads back");
  }
  return 0;
}
