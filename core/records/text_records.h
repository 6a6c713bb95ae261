#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/records/record.h"

namespace muster::records {

// How plain text becomes documents.
struct TextSplit {
  enum class By : std::uint8_t {
    file,       // one document a file, as it is, with CR LF where it has them
    line,       // one a line; the newline, and a CR before it, are left out
    separator,  // the bytes between two separators, as they are
  };
  By by = By::file;
  std::string separator = {};

  // "file", "line", or any other text: a separator, in which \n, \t, \r, \f, \0 and \\ stand for
  // what they do in C. Errc::invalid_input for an empty one, another escape, or bytes that are not
  // UTF-8.
  static Result<TextSplit> parse(std::string_view word);
  // What parse() makes this of.
  std::string word() const;
  // The bytes behind which a chunk may be cut; empty: only at the end of the file.
  std::string_view mark() const;
};

// Documents of `bytes`, which begin and end where documents do. What is not UTF-8 or holds a zero
// byte is lost, document by document; blank lines and empty documents are counted and passed over.
void read_text(std::string_view bytes, const TextSplit& split, std::uint64_t first_line,
               RecordSink& sink);

// Whether all of it is UTF-8; else the offset of the first byte that is not.
std::optional<std::size_t> first_invalid_utf8(std::string_view bytes);

}  // namespace muster::records
