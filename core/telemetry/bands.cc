#include "core/telemetry/bands.h"

#include <algorithm>

#include "core/telemetry/gpu_model.h"

namespace muster {
namespace {

// Generic fractions of the limit where the model is not in the table; the floor is taken low, since
// calling a slow run a hang is worse than calling a hang slow.
constexpr GpuModel kAnyModel = {"any", "", 0, 0.12, 0.25, 0.70};

// Shares of the run's own compute level: 190 of 990 W hang, 575 starved, 640 communication on B300;
// 152 of 550 W on H100; 95 of 220 W on a 250-W card.
constexpr double kRelativeFloor = 0.40, kRelativeCompute = 0.80;
// Whole nodes have fans, CPUs and NICs: idle and loading are 0.39 to 0.46 of compute.
constexpr double kNodeFloor = 0.52, kNodeCompute = 0.75;

// A lower limit caps work, not rest and not a kernel that spins, which draws 152 W on an H100 at
// 700 W and at 500 W alike. So under a cap the lower bands stay where they were, as far as they
// keep clear of the band above.
constexpr double kClear = 0.8;

double under_cap(double scaled_w, double uncapped_w, double above_w) {
  return std::max(scaled_w, std::min(uncapped_w, kClear * above_w));
}

// How much of the floor of a model is spinning itself; the rest is room above it (152 of 210 W on
// H100, 192 of 330 W on B300, 78 of 120 W on A100).
constexpr double kSpinShare = 0.8;

double spin_of(const GpuModel& model) {
  return kSpinShare * model.wait_max * model.limit_w;
}

Bands scaled(const GpuModel& model, double limit_w, std::string_view source) {
  const double compute_min_w = model.compute_min * limit_w;
  const double spin_max_w = spin_of(model);
  const double wait_max_w = under_cap(model.wait_max * limit_w, spin_max_w, compute_min_w);
  const double idle_max_w =
      under_cap(model.idle_max * limit_w, model.idle_max * model.limit_w, wait_max_w);
  return {true, idle_max_w, wait_max_w, compute_min_w, spin_max_w, limit_w, source, false};
}

// How far bands learned at one limit must be stretched for another: 1 for the same.
double stretch(const CalibratedBands& b, double limit_w) {
  const double ratio = *b.limit_w / limit_w;
  return std::max(ratio, 1 / ratio);
}

// Which of two of one model: those learned nearest to the limit; where no limit is told, or none
// was, those of more samples.
bool fits_better(const CalibratedBands& a, const CalibratedBands& b, double limit_w) {
  const bool a_told = a.limit_w.value_or(0) > 0, b_told = b.limit_w.value_or(0) > 0;
  if (limit_w <= 0 || (!a_told && !b_told)) return a.samples > b.samples;
  if (!a_told || !b_told) return a_told;
  return stretch(a, limit_w) < stretch(b, limit_w);
}

const CalibratedBands* calibrated(const SeriesIdentity& who, const Calibration& calibration,
                                  double limit_w) {
  const auto& bands = calibration.bands;
  std::string_view model = who.kind == SeriesKind::node ? "node" : std::string_view(who.name);
  // A recording that names no model still belongs to the one GPU model of the calibration.
  if (model.empty() && !bands.empty() && bands[0].model != "node" &&
      std::all_of(bands.begin(), bands.end(),
                  [&](const CalibratedBands& b) { return b.model == bands[0].model; })) {
    model = bands[0].model;
  }
  const CalibratedBands* best = nullptr;
  for (const CalibratedBands& b : bands) {
    if (b.model != model) continue;
    if (best == nullptr || fits_better(b, *best, limit_w)) best = &b;
  }
  return best;
}

}  // namespace

PowerLevel Bands::level_of(Reading power_w) const {
  if (!known || !power_w.has_value()) return PowerLevel::none;
  const double w = power_w.value();
  if (w <= idle_max_w) return PowerLevel::idle;
  if (w <= wait_max_w) return PowerLevel::floor;
  return w < compute_min_w ? PowerLevel::mid : PowerLevel::high;
}

Bands bands_for(const SeriesIdentity& who, Reading limit_w, double reference_w,
                const Calibration& calibration) {
  const GpuModel* model = who.kind == SeriesKind::gpu ? find_gpu_model(who.name) : nullptr;
  if (const CalibratedBands* c = calibrated(who, calibration, limit_w.value_or(0))) {
    const double scale = c->limit_w && *c->limit_w > 0 && limit_w.value_or(0) > 0
                             ? limit_w.value() / *c->limit_w
                             : 1.0;
    const double compute_min_w = c->compute_min_w * scale;
    const double wait_max_w = under_cap(c->wait_max_w * scale, c->wait_max_w, compute_min_w);
    return {true,
            under_cap(c->idle_max_w * scale, c->idle_max_w, wait_max_w),
            wait_max_w,
            compute_min_w,
            std::max(c->wait_max_w, model != nullptr ? spin_of(*model) : 0),
            c->limit_w.value_or(c->compute_w) * scale,
            "calibration",
            false};
  }
  if (limit_w.has_value() && limit_w.value() > 0) {
    return scaled(model != nullptr ? *model : kAnyModel, limit_w.value(),
                  model != nullptr ? "defaults of the model" : "generic shares of the limit");
  }
  if (model != nullptr) return scaled(*model, model->limit_w, "defaults of the model");
  if (reference_w <= 0) return {};
  const bool node = who.kind == SeriesKind::node;
  return {true,
          0,
          (node ? kNodeFloor : kRelativeFloor) * reference_w,
          (node ? kNodeCompute : kRelativeCompute) * reference_w,
          0,
          reference_w,
          "shares of this run's own compute level",
          true};
}

}  // namespace muster
