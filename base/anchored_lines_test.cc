#include "base/anchored_lines.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

// "2:text[0 1] ..." of what comes; a line that begins with "more" wants the next.
std::string read(std::string_view text, std::size_t chunk, bool all = false) {
  const LiteralSearch search({"alpha", "omega"});
  AnchoredLines lines(search);
  if (all) lines.want_all();
  std::string out;
  const auto on_line = [&](std::string_view line, std::uint64_t number,
                           std::span<const std::uint16_t> literals) {
    out += std::to_string(number) + ":" + std::string(line.substr(0, 40)) + "[";
    for (const std::uint16_t literal : literals) out += std::to_string(literal);
    out += "] ";
    return line.starts_with("more");
  };
  for (std::size_t at = 0; at < text.size(); at += chunk) {
    lines.feed(text.substr(at, chunk), on_line);
  }
  lines.finish(on_line);
  return out + std::to_string(lines.lines()) + " lines, " + std::to_string(lines.cut()) + " cut";
}

TEST(AnchoredLines, TableCutAnywhere) {
  struct Row {
    const char* name;
    std::string text;
    std::string gives;
  };
  const Row rows[] = {
      {"nothing", "", "0 lines, 0 cut"},
      {"only line ends", "\n\n\n", "3 lines, 0 cut"},
      {"no literal", "beta\ngamma\n", "2 lines, 0 cut"},
      {"a literal over a line end is none", "alp\nha\n", "2 lines, 0 cut"},
      {"the last line is torn", "beta\nxalpha", "2:xalpha[0] 2 lines, 0 cut"},
      {"first and last", "alpha\n\nomega\n", "1:alpha[0] 3:omega[1] 3 lines, 0 cut"},
      {"both in one, twice", "omega alpha alpha omega\n",
       "1:omega alpha alpha omega[01] 1 lines, 0 cut"},
      {"carriage return", "alpha\r\nbeta\r\n", "1:alpha[0] 2 lines, 0 cut"},
      {"the next one too", "more alpha\nbeta\ngamma\n", "1:more alpha[0] 2:beta[] 3 lines, 0 cut"},
      {"more and more", "more alpha\nmore\nmore\nbeta\ngamma\nomega",
       "1:more alpha[0] 2:more[] 3:more[] 4:beta[] 6:omega[1] 6 lines, 0 cut"},
      {"more up to a literal", "more alpha\nomega\nbeta\n",
       "1:more alpha[0] 2:omega[1] 3 lines, 0 cut"},
      {"more at the end", "more alpha", "1:more alpha[0] 1 lines, 0 cut"},
  };
  for (const Row& row : rows) {
    for (std::size_t chunk = 1; chunk <= row.text.size() + 1; ++chunk) {
      EXPECT_EQ(read(row.text, chunk), row.gives) << row.name << ", chunks of " << chunk;
    }
  }
}

TEST(AnchoredLines, AllLinesWhereAllAreWanted) {
  const std::string text = "beta\n\nalpha\ngamma";
  for (std::size_t chunk = 1; chunk <= text.size(); ++chunk) {
    EXPECT_EQ(read(text, chunk, true), "1:beta[] 2:[] 3:alpha[0] 4:gamma[] 4 lines, 0 cut");
  }
}

TEST(AnchoredLines, OfALongLineTheBeginIsRead) {
  const std::string tail(limits::kLineBytes * 3, '.');
  for (const std::size_t chunk : {std::size_t{1000}, std::size_t{65536}, tail.size() * 4}) {
    EXPECT_EQ(read("alpha" + tail + "\n" + tail + "\nomega\n", chunk).substr(0, 8), "1:alpha.");
    EXPECT_TRUE(read("alpha" + tail + "\n" + tail + "\nomega\n", chunk)
                    .ends_with("3:omega[1] 3 lines, 2 cut"))
        << chunk;
  }
}

}  // namespace
}  // namespace muster
