#include "core/storage/wrapped_line.h"

#include <fmt/core.h>

#include "base/text.h"

namespace muster::storage {

std::string wrapped_line(std::string_view head, std::string_view text) {
  constexpr std::size_t kIndent = 12, kWidth = 80;
  std::string out = fmt::format("{:<{}}", head, kIndent);
  std::size_t column = kIndent;
  for (const std::string_view word : split(text, ' ')) {
    if (column > kIndent && column + 1 + word.size() > kWidth) {
      out += "\n" + std::string(kIndent, ' ');
      column = kIndent;
    } else if (column > kIndent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out + "\n";
}

}  // namespace muster::storage
