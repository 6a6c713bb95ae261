#include "core/progress/step_metrics.h"

#include <fmt/core.h>
#include <simdjson.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/limits.h"
#include "base/text.h"
#include "core/progress/step_table.h"

namespace muster {
namespace {

namespace dom = simdjson::dom;

// What is known of one moment; milliseconds since the epoch.
struct Moment {
  StepRecord record;
  bool has_step = false;
};
using Moments = std::map<std::int64_t, Moment>;

std::optional<double> number_of(simdjson::simdjson_result<dom::element> value) {
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) return parse_double(text);
  double number = 0;
  return value.get(number) == simdjson::SUCCESS ? std::optional(number) : std::nullopt;
}

// Ranks of one quantity at one time: the slowest makes the step.
void put(NamedQuantity what, double value, Moment& moment) {
  if (what.quantity == StepQuantity::step) {
    if (!(value >= 0 && value <= 1e15)) return;
    const auto step = static_cast<std::int64_t>(value);
    moment.record.step = moment.has_step ? std::min(moment.record.step, step) : step;
    moment.has_step = true;
    return;
  }
  StepRecord told;
  set_quantity(what, value, told);
  StepRecord& record = moment.record;
  if (told.step_s) record.step_s = std::max(record.step_s.value_or(0), *told.step_s);
  if (told.loading_s) record.loading_s = std::max(record.loading_s.value_or(0), *told.loading_s);
  if (told.tokens_per_s) {
    record.tokens_per_s =
        std::min(record.tokens_per_s.value_or(*told.tokens_per_s), *told.tokens_per_s);
  }
  if (told.mfu_ratio) {
    record.mfu_ratio = std::min(record.mfu_ratio.value_or(*told.mfu_ratio), *told.mfu_ratio);
  }
  if (told.loss) record.loss = told.loss;
}

// False where the series is of something else.
bool add_series(dom::object series, Moments& moments) {
  std::string_view name;
  if (series["metric"]["__name__"].get(name) != simdjson::SUCCESS) return false;
  const NamedQuantity what = step_quantity(name);
  const bool of_steps =
      what.quantity == StepQuantity::step || what.quantity == StepQuantity::step_time ||
      what.quantity == StepQuantity::tokens || what.quantity == StepQuantity::mfu ||
      what.quantity == StepQuantity::loading || what.quantity == StepQuantity::loss;
  dom::array values;
  if (!of_steps || series["values"].get(values) != simdjson::SUCCESS) return false;
  for (const dom::element pair : values) {
    const auto at_s = number_of(pair.at(0));
    const auto value = number_of(pair.at(1));
    if (!at_s || !value || !(*at_s >= 0 && *at_s <= 9e9)) continue;
    if (moments.size() >= limits::kCurvePoints) break;
    put(what, *value, moments[static_cast<std::int64_t>(*at_s * 1e3)]);
  }
  return true;
}

Error failed(simdjson::error_code code) {
  const bool cut = code != simdjson::NO_SUCH_FIELD && code != simdjson::INCORRECT_TYPE;
  return make_error(cut ? Errc::corrupt : Errc::invalid_input,
                    cut ? "the answer of Prometheus is cut or damaged"
                        : "JSON, but no answer of Prometheus to query_range");
}

}  // namespace

bool looks_like_step_metrics(std::string_view head) {
  const std::string_view start = trim(head).substr(0, 4096);
  return start.starts_with('{') && start.find("\"status\"") != std::string_view::npos &&
         (start.find("\"resultType\"") != std::string_view::npos ||
          start.find("\"errorType\"") != std::string_view::npos);
}

Result<StepMetrics> read_step_metrics(std::string_view json, ProgressSink& sink) {
  if (json.size() > limits::kDocumentBytes) {
    return make_error(Errc::exhausted, fmt::format("an answer of Prometheus of more than {} MiB",
                                                   limits::kDocumentBytes >> 20));
  }
  dom::parser parser(limits::kDocumentBytes);
  dom::element document;
  if (parser.parse(json.data(), json.size()).get(document) != simdjson::SUCCESS) {
    return make_error(Errc::corrupt, "the answer of Prometheus is cut or damaged");
  }
  std::string_view status;
  if (document["status"].get(status) == simdjson::SUCCESS && status == "error") {
    std::string_view why;
    if (document["error"].get(why) != simdjson::SUCCESS) why = "no reason given";
    return make_error(Errc::invalid_input,
                      "Prometheus says that the query failed: " + escape_controls(why, 200));
  }
  dom::array results;
  if (const auto code = document["data"]["result"].get(results)) return failed(code);
  StepMetrics out;
  Moments moments;
  for (const dom::element result : results) {
    dom::object series;
    if (result.get(series) != simdjson::SUCCESS || !add_series(series, moments)) {
      ++out.passed_over;
    }
  }
  const bool counted = std::none_of(moments.begin(), moments.end(),
                                    [](const auto& moment) { return moment.second.has_step; });
  std::int64_t count = 0;
  for (auto& [at_ms, moment] : moments) {
    if (counted) moment.record.step = count++;
    if (!counted && !moment.has_step) continue;
    moment.record.at = wall_from_ns(at_ms * 1'000'000);
    moment.record.at_has_zone = true;
    sink.step(moment.record);
    ++out.records;
  }
  return out;
}

}  // namespace muster
