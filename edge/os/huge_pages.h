#pragma once

#include <cstddef>

namespace muster {

// Asks the system for large pages in [begin, begin + bytes), which should not have been used yet. A
// wish: where it cannot be had nothing changes.
void prefer_huge_pages(void* begin, std::size_t bytes);

}  // namespace muster
