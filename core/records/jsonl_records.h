#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/records/chat_template.h"
#include "core/records/record.h"

namespace muster::records {

struct JsonlOptions {
  // The field that holds the text. Empty: "messages" where a record has it, else "text".
  std::string field = {};
  // Renders conversations; nothing: each is Fault::no_chat, with `why_no_chat`. Outlives the
  // reader.
  const ChatTemplate* chat = nullptr;
  std::string why_no_chat = "no chat template is at hand";
  // What people wrote in conversations may become control tokens.
  bool specials_in_chats = false;
};

// Behind the last byte of what is given to read(), so many bytes must be readable, whatever they
// are: lines are parsed where they lie.
inline constexpr std::size_t kRecordPadding = 64;

// Records of a file of JSON lines. A string in the field is a text, an array in it is a
// conversation: objects with "role" and "content" (chat_template.h). A text is taken as it stands,
// blanks and all.
//
// Each line is a record of its own; what is wrong with one costs no other. A line is checked for
// UTF-8, its nesting and the values that are read; other fields are passed over unread. Of a field
// that stands twice nobody knows which is meant: the record is lost. So it is with half a surrogate
// pair: it is no character, and U+FFFD in its place would be another text. A CR before the newline
// is a blank of JSON, and counted; an escaped zero byte is kept, and counted.
//
// One for each thread.
class JsonlReader {
 public:
  explicit JsonlReader(JsonlOptions options);
  JsonlReader(JsonlReader&&) noexcept;
  JsonlReader& operator=(JsonlReader&&) noexcept;
  ~JsonlReader();

  // Whole lines; the last one may lack its newline. `first_line` counts from 1.
  void read(std::string_view lines, std::uint64_t first_line, RecordSink& sink);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace muster::records
