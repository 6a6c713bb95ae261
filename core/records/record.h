#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_range.h"

// What the readers of inputs hand out: documents, and what was met on the way to them.

namespace muster::records {

// One document to be tokenized. `text` is valid UTF-8 and not empty. The ranges are sorted and
// disjoint.
struct Document {
  std::string text;
  // Bytes in which added tokens are ordinary text: what people wrote into a conversation.
  std::vector<ByteRange> plain;
  // Bytes whose tokens count in the loss: all of a text, the answers of a conversation.
  std::vector<ByteRange> trained;
  // The text ends with the end token of its chat template (and what the template writes after it).
  bool ends_itself = false;
  bool operator==(const Document&) const = default;
};

// What may be wrong with a record, or worth a count.
enum class Fault : std::uint8_t {
  // The record is lost.
  not_json,        // no JSON object, broken, or something behind it
  invalid_utf8,    //
  no_field,        // none of the fields that are read; the detail names those that are there
  not_text,        // the field is null, a number, ...
  twice,           // the field stands twice: which one is meant?
  lone_surrogate,  // "\ud800": half a character
  bad_escape,      // "\q", "\u12"
  raw_nul,         // a zero byte in plain text: a binary or damaged file
  too_long,        // longer than limits::kRecordBytes
  no_chat,         // a conversation that the template does not render, or no template at hand
  not_encoded,     // the tokenizer refused it
  cut,             // its file ends within it, or is damaged before or behind it
  // Nothing was there to lose.
  blank,       // a line of blanks
  empty_text,  // "": a document without a token
  // The document is there all the same.
  byte_order_mark,  // at the start of a file: left out
  crlf,             // a line ends in CR LF: the CR belongs to the end of the line
  escaped_nul,      // "\u0000": kept, the tokenizer knows the byte
};
inline constexpr std::size_t kFaultCount = 17;

// The stable lower-case name: "lone_surrogate".
std::string_view fault_name(Fault fault);
// For people: "half a surrogate pair".
std::string_view fault_words(Fault fault);
// The record did not become a document although somebody wrote one.
bool loses_record(Fault fault);

class RecordSink {
 public:
  virtual ~RecordSink() = default;
  // `line` is that on which the document begins, from 1.
  virtual void document(Document&& document, std::uint64_t line) = 0;
  virtual void fault(Fault fault, std::uint64_t line, const std::string& detail) = 0;
};

}  // namespace muster::records
