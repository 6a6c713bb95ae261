#include "app/shape_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/limits.h"
#include "core/shape/shapes.h"
#include "core/shape/verdicts.h"

namespace muster {
namespace {

using shape::Curve;
using shape::Measure;

std::string_view measure_name(Measure measure) {
  constexpr std::string_view kNames[] = {"nothing that tells speed", "printed step times",
                                         "printed throughput", "times of the lines", "printed MFU"};
  return kNames[static_cast<std::size_t>(measure)];
}

void add_notes(const Curve& curve, const shape::Shapes& shapes, Report& report) {
  std::string note =
      fmt::format("{}: {} points, steps {} to {}, by {}", curve.source, curve.points.size(),
                  curve.points.front().step, curve.points.back().step, measure_name(curve.measure));
  if (shapes.median > 0) note += ", median " + shape::speed_text(curve, shapes.median);
  report.notes.push_back(std::move(note));
  if (const std::string sampling = shape::sampling_text(curve); !sampling.empty()) {
    report.notes.push_back(sampling);
  }
  if (curve.dropped > 0) {
    report.blind.push_back({curve.source,
                            fmt::format("{} more steps than are held: the end is not "
                                        "read",
                                        curve.dropped),
                            true});
  }
}

Plot plot_of(const Curve& curve, const shape::Shapes& shapes) {
  Plot plot;
  plot.title = curve.source;
  plot.x_name = "step";
  plot.y_name = curve.seconds ? "s a step" : (curve.measure == Measure::mfu ? "MFU" : "tokens/s");
  std::int64_t last = -1;
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const auto& point = curve.points[i];
    if (i > 0 && point.attempt != curve.points[i - 1].attempt) {
      plot.marks.push_back({static_cast<double>(point.step), "restart"});
    }
    if (point.step <= last) continue;  // steps made again after a restart
    last = point.step;
    plot.x.push_back(static_cast<double>(point.step));
    plot.y.push_back(curve.seconds ? point.step_s : 1 / point.step_s);
  }
  for (const auto& change : shapes.changes) {
    const bool growth =
        std::any_of(shapes.attempts.begin(), shapes.attempts.end(), [&](const auto& attempt) {
          return attempt.slow_grows && change.from >= attempt.from && change.from < attempt.end;
        });
    if (growth) continue;
    plot.marks.push_back({static_cast<double>(curve.points[change.from].step),
                          change.ratio > 1 ? "slower" : "faster"});
  }
  return plot;
}

// Where settings and the command line both expect something, the command line is right.
shape::Expectation expectation(const ShapeRequest& request, const shape::Surroundings& around) {
  const auto& given = request.expected;
  if (given.step_s || given.tokens_per_s || given.mfu_ratio) return given;
  return shape::expectation_of(around);
}

// The same of several curves (the log of each rank says it) is one finding; the others are
// evidence.
void add_finding(Finding finding, std::vector<Finding>& findings) {
  for (Finding& told : findings) {
    if (told.cause != finding.cause || told.severity != finding.severity) continue;
    if (told.evidence.size() < limits::kEvidenceLines && !finding.evidence.empty()) {
      told.evidence.push_back({finding.evidence.front().source, {}, std::move(finding.summary)});
    }
    return;
  }
  findings.push_back(std::move(finding));
}

void judge_all(const ShapeRequest& request, ShapeInput& input, ShapeAnswer& answer) {
  const shape::Expectation expected = expectation(request, input.around);
  Report& report = answer.report;
  for (Curve& curve : input.curves) {
    if (request.model) {
      std::string note = shape::add_mfu(*request.model, curve);
      report.notes.push_back(note.empty() ? curve.source + ": no tokens per second, so no MFU"
                                          : std::move(note));
    }
    const shape::Shapes shapes = shape::find_shapes(curve);
    add_notes(curve, shapes, report);
    if (curve.measure == Measure::none) {
      report.blind.push_back({curve.source,
                              "steps without a time, a rate or a clock: no speed is "
                              "told",
                              true});
      continue;
    }
    constexpr std::size_t kTells = 8;  // points; fewer show neither a level nor its noise
    if (shapes.judged < kTells) {
      report.blind.push_back(
          {curve.source,
           fmt::format("{} points behind the start are too few to see a shape", shapes.judged),
           input.curves.size() == 1});
    }
    auto found = shape::judge_shape({curve, shapes, input.around, expected});
    for (Finding& finding : found) {
      if (input.curves.size() == 1) {
        report.findings.push_back(std::move(finding));
        continue;
      }
      finding.summary = curve.source + ": " + finding.summary;
      add_finding(std::move(finding), report.findings);
    }
    answer.plots.push_back(plot_of(curve, shapes));
  }
  sort_findings(report.findings);
}

}  // namespace

Result<ShapeAnswer> shape_once(const ShapeRequest& request, Files& files) {
  auto input = read_shape_inputs(request.paths, request.input, files);
  if (!input) return input.error();
  ShapeAnswer answer;
  answer.report.verb = "shape";
  answer.report.blind = std::move(input->blind);
  if (input->curves.empty()) {
    auto none = shape::judge_no_steps(input->around,
                                      input->stepless.empty() ? nullptr : &input->stepless.back());
    if (!none) {
      return make_error(Errc::invalid_input,
                        "no step in what was read: a trainer's log, a table with a column of step "
                        "times, an answer of Prometheus or an event file of TensorBoard is needed "
                        "(--pattern for a log that nobody knows, --columns for a table)");
    }
    answer.report.findings.push_back(std::move(*none));
  } else {
    judge_all(request, *input, answer);
  }
  answer.report.notes.insert(answer.report.notes.end(), input->notes.begin(), input->notes.end());
  return answer;
}

}  // namespace muster
