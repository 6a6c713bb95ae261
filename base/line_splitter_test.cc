#include "base/line_splitter.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace muster {
namespace {

using Lines = std::vector<std::pair<std::string, std::uint64_t>>;

Lines split_in_chunks(const std::string& text, std::size_t chunk) {
  Lines lines;
  LineSplitter splitter;
  const auto take = [&](std::string_view line, std::uint64_t at) { lines.emplace_back(line, at); };
  for (std::size_t i = 0; i < text.size(); i += chunk) splitter.feed(text.substr(i, chunk), take);
  splitter.finish(take);
  return lines;
}

TEST(LineSplitter, EveryChunkSizeGivesTheSameLines) {
  const std::string text = "a\r\n\nlong line with more\nlast";
  const Lines whole = split_in_chunks(text, text.size());
  ASSERT_EQ(whole, (Lines{{"a", 0}, {"", 3}, {"long line with more", 4}, {"last", 24}}));
  for (std::size_t chunk = 1; chunk < text.size(); ++chunk) {
    EXPECT_EQ(split_in_chunks(text, chunk), whole) << chunk;
  }
}

TEST(LineSplitter, DropsAnEndlessLineAndGoesOn) {
  LineSplitter splitter;
  Lines lines;
  const auto take = [&](std::string_view line, std::uint64_t at) { lines.emplace_back(line, at); };
  const std::string block(64 * 1024, 'x');
  for (int i = 0; i < 100; ++i) splitter.feed(block, take);
  splitter.feed("tail\nnext\n", take);
  splitter.finish(take);
  EXPECT_EQ(splitter.dropped(), 1u);
  EXPECT_EQ(lines, (Lines{{"next", block.size() * 100 + 5}}));
}

}  // namespace
}  // namespace muster
