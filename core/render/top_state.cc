#include "core/render/top_state.h"

#include <algorithm>

namespace muster {

TopState after_key(TopState state, Key key, std::size_t scroll_max) {
  const std::size_t page = state.rows > 10 ? state.rows - 6 : 4;
  const auto back = [&](std::size_t by) { state.scroll -= std::min(state.scroll, by); };
  // A list that has become shorter leaves `scroll` behind its end: the first key counts at once.
  state.scroll = std::min(state.scroll, scroll_max);
  switch (key) {
    case Key::quit:
      state.quit = true;
      break;
    case Key::sort:
      state.sort = static_cast<TopSort>((static_cast<int>(state.sort) + 1) % kTopSortCount);
      state.scroll = 0;
      break;
    case Key::pause:
      state.paused = !state.paused;
      break;
    case Key::help:
      state.help = !state.help;
      break;
    case Key::up:
      back(1);
      break;
    case Key::down:
      state.scroll += 1;
      break;
    case Key::page_up:
      back(page);
      break;
    case Key::page_down:
      state.scroll += page;
      break;
  }
  state.scroll = std::min(state.scroll, scroll_max);
  return state;
}

}  // namespace muster
