#include "core/shape/mfu.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/text.h"
#include "core/shape/statistics.h"

namespace muster::shape {

Result<double> parse_parameters(std::string_view text) {
  std::string low = to_lower(trim(text));
  double scale = 1;
  if (low.ends_with('b')) scale = 1e9;
  if (low.ends_with('m')) scale = 1e6;
  if (low.ends_with('t')) scale = 1e12;
  if (scale > 1) low.pop_back();
  const auto value = parse_double(trim(low));
  constexpr double kFewest = 1e3, kMost = 1e15;
  if (!value || !(*value * scale >= kFewest) || *value * scale > kMost) {
    return make_error(Errc::invalid_input,
                      fmt::format("--params: '{}' is no number of parameters such as 32e9 or 0.6B",
                                  escape_controls(text, 40)));
  }
  return *value * scale;
}

std::string add_mfu(const ModelSize& size, Curve& curve) {
  const double peak = size.gpus * size.gpu->tflops * 1e12;
  std::vector<double> ratios, rates;
  for (CurvePoint& point : curve.points) {
    if (!(point.tokens_per_s > 0) || !std::isnan(point.mfu_ratio)) continue;
    const double ratio = 6 * size.parameters * point.tokens_per_s / peak;
    ratios.push_back(ratio);
    rates.push_back(point.tokens_per_s);
    point.mfu_ratio = std::min(1.0, ratio);
  }
  if (ratios.empty()) return {};
  const double ratio = *median(ratios);
  std::string text = fmt::format(
      "{}: MFU {:.1f} % (median; 6 x {:.3g} G parameters x {:.0f} tokens/s, over {:.0f} x {:.0f} "
      "TFLOP/s dense BF16 of {})",
      curve.source, ratio * 100, size.parameters / 1e9, *median(rates), size.gpus, size.gpu->tflops,
      size.gpu->name);
  if (ratio > 1) text += "; more than the GPUs can do: is the rate that of more GPUs (--gpus)?";
  return text;
}

}  // namespace muster::shape
