#pragma once

#include <cstddef>

namespace muster {

// Asks the system for large pages in [begin, begin + bytes): whole pages of the process's own
// memory that hold zeros, and will again when they are next read. A wish: where it cannot be had
// nothing changes.
void prefer_huge_pages(void* begin, std::size_t bytes);

}  // namespace muster
