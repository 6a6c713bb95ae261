#include "core/render/top_state.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster {
namespace {

TEST(TopState, ScrollStaysInTheTable) {
  struct Row {
    std::string name;
    std::size_t scroll;
    std::vector<Key> keys;
    std::size_t scroll_max, want;
  };
  const std::vector<Row> rows = {
      {"down", 0, {Key::down}, 9, 1},
      {"up at the top", 0, {Key::up}, 9, 0},
      {"down at the end", 9, {Key::down}, 9, 9},
      {"nothing to scroll", 0, {Key::down, Key::page_down}, 0, 0},
      {"a page", 0, {Key::page_down}, 40, 18},
      {"a page back", 20, {Key::page_up}, 40, 2},
      {"a page over the top", 3, {Key::page_up}, 40, 0},
      {"the list became shorter", 100, {Key::up}, 9, 8},
      {"a new order starts at the top", 7, {Key::sort}, 9, 0},
  };
  for (const Row& row : rows) {
    TopState state;
    state.scroll = row.scroll;
    for (const Key key : row.keys) state = after_key(state, key, row.scroll_max);
    EXPECT_EQ(state.scroll, row.want) << row.name;
  }
}

TEST(TopState, SortsGoRound) {
  TopState state;
  std::vector<TopSort> seen;
  for (int i = 0; i < kTopSortCount; ++i) {
    state = after_key(state, Key::sort, 0);
    seen.push_back(state.sort);
  }
  EXPECT_EQ(seen, (std::vector{TopSort::power, TopSort::util, TopSort::age, TopSort::host}));
}

TEST(TopState, SwitchesGoOnAndOff) {
  TopState state = after_key(after_key({}, Key::pause, 0), Key::help, 0);
  EXPECT_TRUE(state.paused && state.help && !state.quit);
  state = after_key(after_key(state, Key::pause, 0), Key::help, 0);
  EXPECT_FALSE(state.paused || state.help);
  EXPECT_TRUE(after_key(state, Key::quit, 0).quit);
}

}  // namespace
}  // namespace muster
