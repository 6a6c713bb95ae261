#include "core/progress/json_line.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"

namespace muster::progress {

struct JsonLineReader::Parser {
  simdjson::dom::parser parser;
  std::string padded;
};

namespace {

using Object = simdjson::dom::object;

constexpr double kLargestStep = 1e15;

// The first of `keys` that holds a number; numbers in strings count ("1.84", "53,012").
std::optional<double> number_of(const Object& object, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    simdjson::dom::element element;  // looked up once: most keys are not there
    if (object[key].get(element) != simdjson::SUCCESS) continue;
    double value = 0;
    if (element.get_double().get(value) == simdjson::SUCCESS) return value;
    std::int64_t whole = 0;
    if (element.get_int64().get(whole) == simdjson::SUCCESS) return static_cast<double>(whole);
    std::string_view text;
    if (element.get_string().get(text) != simdjson::SUCCESS) continue;
    if (const auto parsed = parse_double(text)) return parsed;
  }
  return std::nullopt;
}

std::optional<std::int64_t> count_of(const Object& object,
                                     std::initializer_list<const char*> keys) {
  const auto value = number_of(object, keys);
  if (!value || !(*value >= 0 && *value < kLargestStep) || *value != std::floor(*value)) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(*value);
}

std::string_view text_of(const Object& object, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    std::string_view text;
    if (object[key].get_string().get(text) == simdjson::SUCCESS) return text;
  }
  return {};
}

// Written times, or seconds or milliseconds since the epoch (told apart by their size).
std::optional<ParsedTime> time_of(const Object& object) {
  if (const auto ms = number_of(object, {"wall_ms", "time_ms", "timestamp_ms"})) {
    if (*ms > 0 && *ms < 7e12) {
      return ParsedTime{wall_from_ns(static_cast<std::int64_t>(*ms * 1e6)), true, true};
    }
  }
  const auto text = text_of(object, {"timestamp", "time", "ts", "asctime", "at"});
  if (!text.empty()) return parse_timestamp(text);
  if (const auto s = number_of(object, {"timestamp", "_timestamp", "ts", "time"})) {
    if (*s > 1e9 && *s < 7e9) {
      return ParsedTime{wall_from_ns(static_cast<std::int64_t>(*s * 1e9)), true, true};
    }
  }
  return std::nullopt;
}

std::optional<ProgressKind> kind_of(std::string_view name) {
  struct Name {
    std::string_view name;
    ProgressKind kind;
  };
  static constexpr std::array<Name, 12> kNames = {{{"save_begin", ProgressKind::save_begin},
                                                   {"save_end", ProgressKind::save_end},
                                                   {"save_known", ProgressKind::save_known},
                                                   {"eval_begin", ProgressKind::eval_begin},
                                                   {"eval_end", ProgressKind::eval_end},
                                                   {"compile", ProgressKind::compile},
                                                   {"startup", ProgressKind::startup},
                                                   {"epoch_end", ProgressKind::epoch_end},
                                                   {"finished", ProgressKind::finished},
                                                   {"restarted", ProgressKind::restarted},
                                                   {"error", ProgressKind::error},
                                                   {"monitor_stuck", ProgressKind::monitor_stuck}}};
  for (const Name& known : kNames) {
    if (known.name == name) return known.kind;
  }
  return std::nullopt;
}

std::optional<double> in_range(std::optional<double> value, double low, double high) {
  return value && *value >= low && *value <= high ? value : std::nullopt;
}

std::optional<StepRecord> step_of(const Object& object, const std::optional<ParsedTime>& time) {
  const auto step = count_of(object, {"step", "current_steps", "global_step", "iteration", "iter",
                                      "_step", "train/global_step"});
  if (!step) return std::nullopt;
  StepRecord record;
  record.step = *step;
  record.target_step = count_of(object, {"target_step", "total_steps", "max_steps"});
  record.loss = number_of(object, {"loss", "train_loss", "train/loss", "lm_loss"});
  record.grad_norm = number_of(object, {"grad_norm", "train/grad_norm"});
  record.learning_rate = number_of(object, {"learning_rate", "lr", "train/learning_rate"});
  record.tokens_per_s = in_range(number_of(object, {"tokens_per_s", "tok_per_s", "tokens_per_sec",
                                                    "tokens_per_second", "tps", "throughput"}),
                                 0, 1e15);
  record.step_s = in_range(number_of(object, {"step_s", "step_time_s", "step_time", "dt"}), 0, 1e7);
  const auto ms = in_range(number_of(object, {"step_ms", "step_time_ms", "dt_ms"}), 0, 1e10);
  if (!record.step_s && ms) record.step_s = *ms / 1e3;
  record.mfu_ratio = in_range(number_of(object, {"mfu_ratio", "mfu"}), 0, 100);
  if (record.mfu_ratio && *record.mfu_ratio > 1) *record.mfu_ratio /= 100;
  const auto rank = count_of(object, {"rank"});
  if (rank && *rank < 1'000'000) record.rank = static_cast<int>(*rank);
  if (time) {
    record.at = time->at;
    record.at_has_zone = time->has_zone;
    record.at_has_date = time->has_date;
  }
  const bool metric = record.target_step || record.loss || record.tokens_per_s || record.step_s;
  return metric ? std::optional(record) : std::nullopt;
}

}  // namespace

JsonLineReader::JsonLineReader() : parser_(std::make_unique<Parser>()) {}
JsonLineReader::JsonLineReader(JsonLineReader&&) noexcept = default;
JsonLineReader& JsonLineReader::operator=(JsonLineReader&&) noexcept = default;
JsonLineReader::~JsonLineReader() = default;

std::optional<JsonLine> JsonLineReader::read(std::string_view line) {
  parser_->padded.reserve(line.size() + simdjson::SIMDJSON_PADDING);
  parser_->padded.assign(line);
  Object object;
  if (parser_->parser.parse(parser_->padded).get_object().get(object) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  JsonLine read;
  read.time = time_of(object);
  read.event = kind_of(text_of(object, {"event", "kind"}));
  if (read.event) {
    read.event_step = count_of(object, {"step"});
    const auto duration = in_range(number_of(object, {"duration_s"}), 0, 1e8);
    if (duration) read.duration = seconds_to_duration(*duration);
    return read;
  }
  read.step = step_of(object, read.time);
  if (!read.step) {
    if (number_of(object, {"eval_loss", "val_loss"})) {
      read.event = ProgressKind::eval_end;
      read.event_step = count_of(object, {"step", "current_steps", "global_step"});
    } else {
      read.message = text_of(object, {"message", "msg"});
    }
  }
  if (!read.step && !read.event && read.message.empty()) return std::nullopt;
  return read;
}

}  // namespace muster::progress
