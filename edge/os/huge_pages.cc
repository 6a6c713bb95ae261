#include "edge/os/huge_pages.h"

#include <sys/mman.h>

namespace muster {

void prefer_huge_pages(void* begin, std::size_t bytes) {
  [[maybe_unused]] const int refused = madvise(begin, bytes, MADV_HUGEPAGE);
}

}  // namespace muster
