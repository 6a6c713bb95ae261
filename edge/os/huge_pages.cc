#include "edge/os/huge_pages.h"

#include <sys/mman.h>

namespace muster {

void prefer_huge_pages(void* begin, std::size_t bytes) {
  // Memory that the allocator had in use before has its small pages already: they are given back.
  [[maybe_unused]] int refused = madvise(begin, bytes, MADV_HUGEPAGE);
  refused = madvise(begin, bytes, MADV_DONTNEED);
}

}  // namespace muster
