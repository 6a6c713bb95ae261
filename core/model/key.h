#pragma once

#include <cstdint>

namespace muster {

// What a key means to a full screen. edge/os/terminal.h makes them of bytes,
// core/render/top_state.h takes them.
enum class Key : std::uint8_t { quit, sort, pause, help, up, down, page_up, page_down };

}  // namespace muster
