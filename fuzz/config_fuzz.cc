// Any bytes as muster.toml, as run.toml and as a calibration: never a crash, and whatever is taken
// stands the checks that every other way in has to pass.

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "edge/config/calibration_file.h"
#include "edge/config/config_file.h"
#include "edge/config/run_spec_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const muster::ConfigFile file = muster::parse_config(text, "f");
  MUSTER_CHECK(file.complaints.size() <= 20, "complaints are bounded");
  for (const muster::ConfigEntry& entry : file.entries) {
    MUSTER_CHECK(entry.line >= 1 && entry.line <= size, "a value stands in the file");
    MUSTER_CHECK(muster::check_config_value(*entry.key, entry.value).has_value(), "a value fits");
  }
  const auto spec = muster::parse_run_spec(text, "f");
  MUSTER_CHECK(!spec || muster::check_run_spec(*spec).has_value(), "a run stands its checks");
  if (!spec) MUSTER_CHECK(spec.error().context.starts_with("f:"), "an error says where");
  const auto calibration = muster::parse_calibration(text, "f");
  MUSTER_CHECK(!calibration || !calibration->bands.empty(), "a calibration has bands");
  return 0;
}
