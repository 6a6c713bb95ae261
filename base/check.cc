#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace muster {

void check_failed(const char* file, int line, const char* expression, const char* why) {
  std::fprintf(stderr, "%s:%d: check failed: %s: %s\n", file, line, expression, why);
  std::abort();
}

}  // namespace muster
