#pragma once

#include <cstddef>
#include <cstdint>

#include "core/model/key.h"

namespace muster {

// What comes first: by host, or the least power, the least utilization, the oldest value. A value
// that is missing comes before all that are there.
enum class TopSort : std::uint8_t { host, power, util, age };
inline constexpr int kTopSortCount = 4;

// What the person in front of `muster top` has chosen.
struct TopState {
  std::size_t columns = 80, rows = 24;
  TopSort sort = TopSort::host;
  std::size_t scroll = 0;  // rows of the table above the window
  bool paused = false, help = false, quit = false;
};

// The state after `key`. `scroll_max` is that of the frame on the screen (core/render/top_frame.h).
TopState after_key(TopState state, Key key, std::size_t scroll_max);

}  // namespace muster
