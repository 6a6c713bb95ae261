#include "edge/os/terminal.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(KeyDecoder, ReadsKeysAndDropsTheRest) {
  struct Row {
    std::string name, bytes;
    std::vector<Key> want;
  };
  const std::vector<Row> rows = {
      {"letters", "sphq", {Key::sort, Key::pause, Key::help, Key::quit}},
      {"arrows", "\x1b[A\x1b[B", {Key::up, Key::down}},
      {"arrows of the application mode", "\x1bOA\x1bOB", {Key::up, Key::down}},
      {"pages", "\x1b[5~\x1b[6~", {Key::page_up, Key::page_down}},
      {"unknown letters", "xyzQ", {}},
      {"unknown sequence with a q in it", "\x1b[1;5q", {}},
      {"Escape alone, then a key", "\x1b\x1bq", {Key::quit}},
      {"a sequence without an end", "\x1b[" + std::string(100, '1') + "q", {Key::quit}},
      {"bytes above ASCII", "\xff\xc3\xa4s", {Key::sort}},
      {"controls", std::string("\0\x01\r\n", 4), {}},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(KeyDecoder().feed(row.bytes), row.want) << row.name;
    KeyDecoder pieces;
    std::vector<Key> got;
    for (const char c : row.bytes) {
      for (const Key key : pieces.feed(std::string_view(&c, 1))) got.push_back(key);
    }
    EXPECT_EQ(got, row.want) << row.name << ", byte by byte";
  }
}

TEST(ScreenUpdate, WritesOnlyWhatChanged) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(screen_update({"a", "b"}, {"a", "b"}), "");
  EXPECT_EQ(screen_update({"a", "b"}, {"a", "c"}), "\x1b[2;1H\x1b[2Kc");
  EXPECT_EQ(screen_update({}, Lines{"a"}), "\x1b[1;1H\x1b[2Ka");
  EXPECT_EQ(screen_update({"a", "b"}, Lines{"a"}), "\x1b[2;1H\x1b[2K");
}

}  // namespace
}  // namespace muster
