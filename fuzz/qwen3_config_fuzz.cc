#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "train/model/qwen3_config.h"
#include "train/model/unit_plan.h"

// Whatever a config.json says, a configuration that is accepted has a plan that adds up. Plans of a
// thousand layers take a while: small ones are made.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster::train;
  const auto config = read_qwen3_config({reinterpret_cast<const char*>(data), size});
  if (!config || config->layers > 8) return 0;
  const UnitPlan plan(*config);
  std::uint64_t elements = 0;
  for (const Unit& unit : plan.units()) {
    for (const TensorSpec& tensor : unit.tensors) elements += tensor.elements();
    MUSTER_CHECK(unit.elements > 0 && unit.elements < 1ULL << 48,
                 "numbers stay far from their end");
  }
  MUSTER_CHECK(elements == plan.parameters(), "each parameter once");
  MUSTER_CHECK(plan.largest_unit(7) % (7 * 128) == 0, "slices are equal");
  return 0;
}
