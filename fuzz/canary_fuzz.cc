#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

// A planted bug: four nested comparisons that only coverage feedback finds in reasonable time. A
// fuzz lane that does not report this target is blind, and fails.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4 || data[0] != 'b') return 0;
  if (data[1] != 'u') return 0;
  if (data[2] != 'g') return 0;
  if (data[3] != '!') return 0;
  std::fputs("canary: the planted bug was reached\n", stderr);
  std::abort();
}
