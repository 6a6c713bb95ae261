// Any bytes as JSON lines: each line is told once, a document is UTF-8 with ranges in order, and
// what one line is does not depend on the lines around it.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "core/records/jsonl_records.h"
#include "core/records/text_records.h"

namespace {

using namespace muster::records;

void check_ranges(const std::vector<muster::ByteRange>& ranges, std::size_t size) {
  std::uint64_t end = 0;
  for (const muster::ByteRange& range : ranges) {
    MUSTER_CHECK(range.begin >= end && range.begin < range.end, "ranges rise");
    end = range.end;
  }
  MUSTER_CHECK(end <= size, "ranges lie in the text");
}

class Checked : public RecordSink {
 public:
  void document(Document&& document, std::uint64_t line) override {
    MUSTER_CHECK(!document.text.empty(), "a document has a text");
    MUSTER_CHECK(!first_invalid_utf8(document.text), "a document is UTF-8");
    check_ranges(document.plain, document.text.size());
    check_ranges(document.trained, document.text.size());
    said.push_back(std::to_string(line) + document.text);
  }
  void fault(Fault fault, std::uint64_t line, const std::string& detail) override {
    MUSTER_CHECK(!first_invalid_utf8(detail), "a detail can be shown");
    said.push_back(std::to_string(line) + std::string(fault_name(fault)) + detail);
  }
  std::vector<std::string> said;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view lines(reinterpret_cast<const char*>(data), size);
  const std::string together = std::string(lines) + std::string(kRecordPadding, '"');
  const ChatTemplate chat = ChatTemplate::qwen3();
  JsonlReader reader({.chat = &chat});
  Checked all, each;
  reader.read(std::string_view(together).substr(0, size), 1, all);
  std::uint64_t number = 1;
  for (std::string_view left = lines; !left.empty(); ++number) {
    const std::size_t end = std::min(left.find('\n'), left.size() - 1) + 1;
    const std::string alone = std::string(left.substr(0, end)) + std::string(kRecordPadding, '\0');
    JsonlReader({.chat = &chat}).read(std::string_view(alone).substr(0, end), number, each);
    left.remove_prefix(end);
  }
  MUSTER_CHECK(all.said == each.said, "a line is a record of its own");
  return 0;
}
