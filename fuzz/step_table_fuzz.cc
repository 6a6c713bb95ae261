// Any bytes as a table of steps, in two chunkings: the same records; and the curve that comes out
// of them is judged and drawn, whatever it looks like.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "core/model/plot.h"
#include "core/progress/step_table.h"
#include "core/render/plot_svg.h"
#include "core/render/plot_text.h"
#include "core/shape/judge.h"

namespace {

class Checked : public muster::ProgressSink {
 public:
  void step(const muster::StepRecord& record) override {
    MUSTER_CHECK(record.step >= 0, "steps are counted from 0");
    MUSTER_CHECK(!record.step_s || *record.step_s > 0, "a step takes time");
    MUSTER_CHECK(!record.loading_s || *record.loading_s >= 0, "no time back");
    sum = sum * 31 + static_cast<std::uint64_t>(record.step) + record.line;
    builder.step(record);
  }
  void event(const muster::ProgressEvent& event) override { builder.event(event); }
  muster::shape::CurveBuilder builder;
  std::uint64_t sum = 0;
};

void read(std::string_view table, std::size_t chunk, Checked& sink) {
  muster::StepTableDecoder decoder;
  for (std::size_t at = 0; at < table.size(); at += chunk) {
    decoder.feed(table.substr(at, chunk), sink);
  }
  decoder.finish(sink);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view table(reinterpret_cast<const char*>(data), size);
  Checked whole, pieces;
  read(table, size + 1, whole);
  read(table, 7, pieces);
  MUSTER_CHECK(whole.sum == pieces.sum, "chunks make no difference");
  muster::looks_like_step_table(table);
  const muster::shape::Curve curve = whole.builder.finish("table");
  const muster::shape::Shapes shapes = muster::shape::find_shapes(curve);
  muster::shape::Expectation expected;
  expected.step_s = 1;
  const auto findings = muster::shape::judge_shape({curve, shapes, {}, expected});
  muster::Plot plot{"table", "step", "s", {}, {}, {{3, "mark"}}};
  for (const auto& point : curve.points) {
    plot.x.push_back(static_cast<double>(point.step));
    plot.y.push_back(point.step_s);
  }
  muster::render_plot(plot, {});
  muster::render_svg({plot}, findings.empty() ? "" : findings.front().summary);
  return 0;
}
