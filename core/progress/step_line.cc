#include "core/progress/step_line.h"

#include <algorithm>
#include <array>

#include "core/progress/number.h"
#include "core/progress/step_fields.h"

namespace muster::progress {
namespace {

// The step's name stands near the start of its line, behind at most a logger's name.
constexpr std::size_t kNameReach = 160;

// Where the name of the step and its number begin; npos where a line names none.
struct StepName {
  std::size_t begin = std::string_view::npos;
  std::size_t number = std::string_view::npos;

  bool found() const { return number != std::string_view::npos; }
};

bool equals_lower(std::string_view text, std::string_view word) {
  return text.size() == word.size() && std::equal(text.begin(), text.end(), word.begin(),
                                                  [](char a, char b) { return lower(a) == b; });
}

bool is_step_name(std::string_view word) {
  switch (word.size()) {
    case 4:
      return equals_lower(word, "step") || equals_lower(word, "iter");
    case 9:
      return equals_lower(word, "iteration");
    case 11:
      return equals_lower(word, "global_step");
    default:
      return false;
  }
}

// "step", "iteration", ... with a number behind it.
StepName find_step_name(std::string_view body) {
  const std::size_t reach = std::min(body.size(), kNameReach);
  for (std::size_t i = 0; i < reach;) {
    if (!is_word(body[i])) {
      ++i;
      continue;
    }
    const std::size_t begin = i;
    while (i < body.size() && is_word(body[i])) ++i;
    const char first = lower(body[begin]);
    if ((first != 's' && first != 'i' && first != 'g') ||
        !is_step_name(body.substr(begin, i - begin))) {
      continue;
    }
    std::size_t number = i;
    while (number < body.size() && (body[number] == ' ' || body[number] == ':' ||
                                    body[number] == '=' || body[number] == '#')) {
      ++number;
    }
    if (number == i || number >= body.size() || !is_digit(body[number])) continue;
    return {begin, number};
  }
  return {};
}

// "480", "480/4000", "480/    4000"; moves `text` behind.
bool take_step(std::string_view& text, StepRecord& record) {
  const auto step = take_count(text);
  if (!step) return false;
  record.step = *step;
  std::string_view rest = text;
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  if (!rest.starts_with('/')) return true;
  rest.remove_prefix(1);
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  const auto total = take_count(rest);
  if (total) {
    record.target_step = *total;
    text = rest;
  }
  return true;
}

bool names_evaluation(std::string_view before) {
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (i > 0 && is_word(before[i - 1])) continue;
    const std::string_view word = before.substr(i, 4);
    if (equals_lower(word, "eval") || equals_lower(word, "vali") || equals_lower(word, "test")) {
      return true;
    }
  }
  return false;
}

// Only blanks, brackets and a percentage: "step 480/4000 (12.00%) |".
bool is_bare(std::string_view after) {
  return after.find_first_not_of(" \t()[]|%.:0123456789-") == std::string_view::npos;
}

// "step 500: checkpoint written, time 12 s" has a time and is still no training step.
bool speaks_of_saving(std::string_view body) {
  for (std::size_t i = 0; i + 4 <= body.size(); ++i) {
    const char c = lower(body[i]);
    if (c != 'c' && c != 's') continue;
    const std::string_view word = body.substr(i, 4);
    if (equals_lower(word, "save") || equals_lower(word, "savi") || equals_lower(word, "ckpt") ||
        equals_lower(word, "chec")) {
      return true;
    }
  }
  return false;
}

// "step 480/4000 loss 1.8 ..." of many trainers; needs a metric, or the bare count on its own.
StepLineKind read_named(std::string_view body, StepRecord& record) {
  const StepName name = find_step_name(body);
  if (!name.found()) return StepLineKind::none;
  const std::string_view in_front = body.substr(0, name.begin);
  std::string_view rest = body.substr(name.number);
  if (!take_step(rest, record)) return StepLineKind::none;
  const FieldCount before = read_step_fields(in_front, record);
  const FieldCount after = read_step_fields(rest, record);
  const int metrics = before.metrics + after.metrics;
  const bool bare = record.target_step && is_bare(rest) && is_bare(in_front);
  if (metrics == 0 && !after.eval && !bare) return StepLineKind::none;
  if (!record.loss && !after.eval && speaks_of_saving(body)) return StepLineKind::none;
  if (names_evaluation(in_front)) return StepLineKind::evaluation;
  return after.eval && !after.timed ? StepLineKind::evaluation : StepLineKind::step;
}

// Older DeepSpeed: "0/480, RunningAvgSamplesPerSec=25.9": epoch, then step.
StepLineKind read_deepspeed_timer(std::string_view body, StepRecord& record) {
  if (body.empty() || !is_digit(body[0])) return StepLineKind::none;
  std::string_view rest = body;
  if (!take_count(rest) || !rest.starts_with('/')) return StepLineKind::none;
  rest.remove_prefix(1);
  const auto step = take_count(rest);
  if (!step || !rest.starts_with(", ")) return StepLineKind::none;
  if (rest.find("SamplesPerSec=") == std::string_view::npos) return StepLineKind::none;
  record.step = *step;
  read_step_fields(rest, record);
  return StepLineKind::step;
}

// verl: "step:12 - actor/pg_loss:0.02 - timing_s/step:130.2 - perf/mfu/actor:0.34 - ...".
StepLineKind read_verl(std::string_view body, StepRecord& record) {
  if (!body.starts_with("step:") || body.find(" - ") == std::string_view::npos) {
    return StepLineKind::none;
  }
  std::string_view rest = body.substr(5);
  const auto step = take_count(rest);
  if (!step || !rest.starts_with(" - ")) return StepLineKind::none;
  record.step = *step;
  while (rest.starts_with(" - ")) {
    rest.remove_prefix(3);
    const std::size_t end = std::min(rest.find(" - "), rest.size());
    const std::string_view pair = rest.substr(0, end);
    rest.remove_prefix(end);
    const std::size_t colon = pair.rfind(':');
    if (colon == std::string_view::npos) continue;
    std::string_view number = pair.substr(colon + 1);
    const std::string_view key = pair.substr(0, colon);
    const auto value = take_number(number);
    if (!value) continue;
    if (key == "actor/pg_loss" || key == "train/loss") record.loss = *value;
    if (key == "actor/grad_norm" || key == "train/grad_norm") record.grad_norm = *value;
    if (key == "actor/lr" || key == "train/lr") record.learning_rate = *value;
    if (key == "perf/mfu/actor" && *value >= 0 && *value <= 1) record.mfu_ratio = *value;
    if (key == "perf/throughput" && *value >= 0) record.tokens_per_s = *value;
    if (key == "timing_s/step" && *value > 0) record.step_s = *value;
  }
  return StepLineKind::step;
}

constexpr std::array kReaders = {&read_verl, &read_deepspeed_timer, &read_named};

}  // namespace

StepLineKind read_step_line(std::string_view body, StepRecord& record) {
  for (const auto read : kReaders) {
    const StepLineKind kind = read(body, record);
    if (kind != StepLineKind::none) return kind;
  }
  return StepLineKind::none;
}

std::optional<std::int64_t> find_step(std::string_view text) {
  if (const StepName name = find_step_name(text); name.found()) {
    std::string_view number = text.substr(name.number);
    if (const auto step = take_count(number)) return step;
  }
  for (const std::string_view mark : {"checkpoint-", "step_", "step-", "iter_"}) {
    const std::size_t at = text.find(mark);
    if (at == std::string_view::npos) continue;
    std::string_view number = text.substr(at + mark.size());
    std::size_t digits = 0;
    while (digits < number.size() && is_digit(number[digits])) ++digits;
    number = number.substr(0, digits);
    if (const auto step = take_count(number)) return step;
  }
  return std::nullopt;
}

}  // namespace muster::progress
