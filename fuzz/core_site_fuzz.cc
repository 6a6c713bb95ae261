// Any bytes as a file of any name: never a crash, facts in the order of the lines, all bounded.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/limits.h"
#include "core/site/site_document.h"

// The first line is the name of the file: endings and hosts in it count.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = input.find('\n');
  const std::string_view name = input.substr(0, end);
  const std::string_view bytes =
      end == std::string_view::npos ? std::string_view() : input.substr(end + 1);
  const auto facts = muster::read_site_document(name, bytes);
  if (!facts) return 0;
  MUSTER_CHECK(!facts->empty(), "a document says something");
  MUSTER_CHECK(facts->size() <= muster::limits::kSiteFacts, "facts are bounded");
  std::uint64_t last = 1;
  for (const muster::SiteFact& fact : *facts) {
    MUSTER_CHECK(fact.line && *fact.line >= last, "facts come in the order of the lines");
    MUSTER_CHECK(fact.text.size() <= muster::limits::kEvidenceChars, "evidence is bounded");
    MUSTER_CHECK(fact.source == name, "a fact knows its file");
    last = *fact.line;
  }
  return 0;
}
