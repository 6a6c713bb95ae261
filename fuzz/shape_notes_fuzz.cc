// Any text as what stands beside a curve, and as a run that made no step.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/line_splitter.h"
#include "core/shape/judge.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  muster::shape::Surroundings around;
  muster::shape::SurroundingsReader reader(around, "notes");
  muster::LineSplitter lines;
  std::uint64_t number = 0;
  const auto take = [&](std::string_view line, std::uint64_t) { reader.line(line, ++number); };
  lines.feed(text, take);
  lines.finish(take);
  MUSTER_CHECK(!around.cores || *around.cores > 0, "a task has a core");
  muster::shape::expectation_of(around);
  muster::shape::judge_no_steps(around, nullptr);
  muster::shape::CurveBuilder builder;
  for (int step = 0; step < 40; ++step) {
    muster::StepRecord record;
    record.step = step;
    record.step_s = step % 8 == 0 ? 9.0 : 1.0;
    record.loading_s = 0.5;
    builder.step(record);
  }
  const muster::shape::Curve curve = builder.finish("steps", around.restart_steps);
  const muster::shape::Shapes shapes = muster::shape::find_shapes(curve);
  muster::shape::judge_shape({curve, shapes, around, muster::shape::expectation_of(around)});
  return 0;
}
