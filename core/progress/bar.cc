#include "core/progress/bar.h"

#include <algorithm>

#include "base/text.h"
#include "core/progress/number.h"
#include "core/progress/step_fields.h"

namespace muster::progress {
namespace {

constexpr std::int64_t kMaxEpoch = 1'000'000;
constexpr std::int64_t kMaxTotal = 1'000'000'000'000;

void skip_blanks(std::string_view& text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
}

// "4.95s/it", "0.20it/s", "12.0batch/s"; "?it/s" is none yet.
std::optional<double> parse_rate(std::string_view text) {
  skip_blanks(text);
  const auto value = take_number(text);
  if (!value || !(*value > 0)) return std::nullopt;
  if (text.starts_with("s/")) return *value;
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash > 12) return std::nullopt;
  return text.substr(slash).starts_with("/s") ? std::optional(1 / *value) : std::nullopt;
}

// "Epoch 3", "Epoch 3/10", "epoch 3"
std::optional<std::int64_t> epoch_of(std::string_view label) {
  if (!label.starts_with("Epoch ") && !label.starts_with("epoch ")) return std::nullopt;
  label.remove_prefix(6);
  skip_blanks(label);
  const auto epoch = take_count(label);
  if (!epoch || *epoch > kMaxEpoch) return std::nullopt;
  return epoch;
}

bool is_eval_label(std::string_view label) {
  return contains_ignoring_case(label, "valid") || contains_ignoring_case(label, "eval") ||
         contains_ignoring_case(label, "sanity") || label.starts_with("Test") ||
         label.starts_with("Predict");
}

bool is_train_label(std::string_view label) {
  return label.empty() || equals_ignoring_case(label, "train") ||
         equals_ignoring_case(label, "training") || equals_ignoring_case(label, "steps") ||
         equals_ignoring_case(label, "step") || equals_ignoring_case(label, "iterations");
}

// torchtune: "1|480|Loss: 1.84"
std::optional<StepRecord> parse_torchtune_label(std::string_view label) {
  if (!take_count(label) || !label.starts_with('|')) return std::nullopt;
  label.remove_prefix(1);
  const auto step = take_count(label);
  if (!step || !label.starts_with('|')) return std::nullopt;
  StepRecord record;
  record.step = *step;
  read_step_fields(label.substr(1), record);
  return record;
}

struct DictPair {
  std::string_view key;
  double value = 0;
};

// The next "'key': number" or "'key': 'number'" of a flat dictionary.
std::optional<DictPair> take_pair(std::string_view& dict) {
  for (;;) {
    const std::size_t open = dict.find_first_of("'\"");
    if (open == std::string_view::npos) return std::nullopt;
    const char quote = dict[open];
    const std::size_t close = dict.find(quote, open + 1);
    if (close == std::string_view::npos) return std::nullopt;
    DictPair pair{dict.substr(open + 1, close - open - 1)};
    dict.remove_prefix(close + 1);
    if (!dict.starts_with(':')) continue;
    dict.remove_prefix(1);
    skip_blanks(dict);
    if (dict.starts_with('\'') || dict.starts_with('"')) dict.remove_prefix(1);
    const auto value = take_number(dict);
    if (!value) continue;
    if (dict.starts_with('\'') || dict.starts_with('"')) dict.remove_prefix(1);
    pair.value = *value;
    return pair;
  }
}

}  // namespace

std::optional<Bar> parse_bar(std::string_view text) {
  const std::size_t percent = text.find("%|");
  if (percent == std::string_view::npos || percent == 0 || !is_digit(text[percent - 1])) {
    return std::nullopt;
  }
  std::size_t label_end = percent;
  while (label_end > 0 && is_digit(text[label_end - 1])) --label_end;
  if (percent - label_end > 3) return std::nullopt;
  Bar bar;
  bar.label = trim(text.substr(0, label_end));
  if (bar.label.ends_with(':')) bar.label.remove_suffix(1);
  std::string_view rest = text.substr(percent + 2);
  const std::size_t bar_end = rest.find('|');
  if (bar_end == std::string_view::npos) return std::nullopt;
  rest.remove_prefix(bar_end + 1);
  skip_blanks(rest);
  const auto done = take_count(rest);
  if (!done || !rest.starts_with('/')) return std::nullopt;
  rest.remove_prefix(1);
  const auto total = take_count(rest);
  if (!total || *total == 0 || *total > kMaxTotal || *done > *total) return std::nullopt;
  bar.done = *done;
  bar.total = *total;
  const std::size_t comma = rest.find(", ");
  if (comma == std::string_view::npos) return bar;
  rest.remove_prefix(comma + 2);
  rest = rest.substr(0, std::min(rest.find(']'), rest.size()));
  bar.step_s = parse_rate(rest);
  const std::size_t postfix = rest.find(", ");
  if (postfix != std::string_view::npos) bar.postfix = rest.substr(postfix + 2);
  return bar;
}

void BarTracker::restart() {
  *this = BarTracker();
}

BarNews BarTracker::on_bar(const Bar& bar) {
  if (is_eval_label(bar.label)) return on_eval(bar);
  if (const auto epoch = epoch_of(bar.label)) return on_epoch(bar, *epoch);
  if (const auto record = parse_torchtune_label(bar.label)) {
    BarNews news = on_train(bar, record->step, std::nullopt);
    if (news.step) news.step->loss = record->loss;
    return news;
  }
  if (is_train_label(bar.label)) return on_unlabelled(bar);
  BarNews news;  // shards, files, samples: only the start of a run is of interest
  if (!last_step_ && (bar.done == 0 || bar.done == bar.total)) {
    news.first_event = ProgressKind::startup;
  }
  return news;
}

BarNews BarTracker::on_eval(const Bar& bar) {
  BarNews news;
  if (bar.done < bar.total) {
    if (!eval_open_) news.first_event = ProgressKind::eval_begin;
    eval_open_ = true;
  } else if (eval_open_) {
    news.first_event = ProgressKind::eval_end;
    eval_open_ = false;
  }
  return news;
}

BarNews BarTracker::on_epoch(const Bar& bar, std::int64_t epoch) {
  if (bar.done == 0 && epoch > 0) return {};
  const std::int64_t end = (epoch + 1) * bar.total;
  BarNews news = on_train(bar, epoch * bar.total + bar.done, end);
  if (bar.done == bar.total && ended_epoch_ != epoch) {
    ended_epoch_ = epoch;
    news.second_event = ProgressKind::epoch_end;
  }
  return news;
}

BarNews BarTracker::on_unlabelled(const Bar& bar) {
  const bool full = last_done_ && train_total_ && *last_done_ == *train_total_;
  if (train_total_ && bar.total != *train_total_) {
    if (confirmed_ || !full) return on_eval(bar);
    train_total_.reset();
    last_step_.reset();
  }
  train_total_ = bar.total;
  last_done_ = bar.done;
  return on_train(bar, bar.done, bar.total);
}

BarNews BarTracker::on_train(const Bar& bar, std::int64_t step,
                             std::optional<std::int64_t> target) {
  BarNews news;
  if (eval_open_) {
    news.first_event = ProgressKind::eval_end;
    eval_open_ = false;
  }
  if (bar.done == 0) {  // drawn before the first step
    if (!last_step_) news.first_event = ProgressKind::startup;
    return news;
  }
  if (last_step_ == step) return news;  // drawn again
  last_step_ = step;
  StepRecord record;
  record.step = step;
  record.target_step = target;
  record.step_s = bar.step_s;
  read_step_fields(bar.postfix, record);
  news.step = record;
  return news;
}

BarNews BarTracker::on_dict(std::string_view dict) {
  StepRecord record;
  std::optional<std::int64_t> step = last_step_;
  bool train = false, eval = false, end = false;
  BarNews news;
  while (const auto pair = take_pair(dict)) {
    if (pair->key == "loss") {
      train = true;
      record.loss = pair->value;
    } else if (pair->key == "grad_norm") {
      record.grad_norm = pair->value;
    } else if (pair->key == "learning_rate") {
      record.learning_rate = pair->value;
    } else if (pair->key == "step" && pair->value >= 0 && pair->value < 1e15) {
      step = static_cast<std::int64_t>(pair->value);
    } else if (pair->key == "eval_loss" || pair->key == "eval_runtime") {
      eval = true;
      if (pair->key == "eval_runtime" && pair->value >= 0 && pair->value < 1e8) {
        news.duration = seconds_to_duration(pair->value);
      }
    } else if (pair->key == "train_runtime") {
      end = true;
    }
  }
  if (end) {
    news.first_event = ProgressKind::finished;
  } else if (eval) {
    news.first_event = ProgressKind::eval_end;
    eval_open_ = false;
  } else if (train && step) {
    confirmed_ = true;
    record.step = *step;
    record.target_step = train_total_;
    news.step = record;
  }
  return news;
}

}  // namespace muster::progress
