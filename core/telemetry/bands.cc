#include "core/telemetry/bands.h"

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

Bands scaled(const GpuModel& model, double limit_w, std::string_view source) {
  return {true,
          model.idle_max * limit_w,
          model.wait_max * limit_w,
          model.compute_min * limit_w,
          limit_w,
          source,
          false};
}

const CalibratedBands* calibrated(const SeriesIdentity& who, const Calibration& calibration) {
  const bool node = who.kind == SeriesKind::node;
  for (const CalibratedBands& b : calibration.bands) {
    if (node ? b.model == "node" : b.model == who.name) return &b;
  }
  // A recording that names no model still belongs to the one GPU model of the calibration.
  if (!node && who.name.empty() && calibration.bands.size() == 1 &&
      calibration.bands[0].model != "node") {
    return &calibration.bands[0];
  }
  return nullptr;
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
  if (const CalibratedBands* c = calibrated(who, calibration)) {
    const double scale = c->limit_w && *c->limit_w > 0 && limit_w.value_or(0) > 0
                             ? limit_w.value() / *c->limit_w
                             : 1.0;
    return {true,
            c->idle_max_w * scale,
            c->wait_max_w * scale,
            c->compute_min_w * scale,
            c->limit_w.value_or(c->compute_w) * scale,
            "calibration",
            false};
  }
  const GpuModel* model = who.kind == SeriesKind::gpu ? find_gpu_model(who.name) : nullptr;
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
          reference_w,
          "shares of this run's own compute level",
          true};
}

}  // namespace muster
