#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "base/text.h"
#include "core/progress/step_table.h"

namespace muster {
namespace {

using Words = std::vector<std::string>;

// "train/stepTime (ms)" -> train step time ms; "tok/s" -> tok per s.
Words words_of(std::string_view name) {
  Words words;
  std::string word;
  const auto end = [&] {
    if (!word.empty()) words.push_back(to_lower(word));
    word.clear();
  };
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool upper = c >= 'A' && c <= 'Z', letter = upper || (c >= 'a' && c <= 'z');
    if (!letter && !(c >= '0' && c <= '9')) {
      end();
      if (c == '/' && i + 1 < name.size() &&
          (name.substr(i + 1, 3) == "sec" || (name[i + 1] == 's' && i + 2 >= name.size()))) {
        words.emplace_back("per");
      }
      continue;
    }
    if (upper && !word.empty() && word.back() >= 'a' && word.back() <= 'z') end();
    word += c;
  }
  end();
  return words;
}

bool has(const Words& words, std::span<const std::string_view> any) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::find(any.begin(), any.end(), word) != any.end();
  });
}

constexpr std::array<std::string_view, 11> kStep = {"step",      "steps",      "iter",   "iters",
                                                    "iteration", "iterations", "it",     "batch",
                                                    "update",    "globalstep", "updates"};
constexpr std::array<std::string_view, 8> kTime = {"time",    "duration", "dt",      "dur",
                                                   "latency", "seconds",  "elapsed", "took"};
constexpr std::array<std::string_view, 12> kLoading = {
    "load",  "loading", "loader",  "dataloader", "dataloading", "data",
    "input", "fetch",   "dataset", "batching",   "prefetch",    "reader"};
constexpr std::array<std::string_view, 3> kWait = {"wait", "waiting", "stall"};
constexpr std::array<std::string_view, 9> kWork = {
    "tok", "tokens", "token", "samples", "sample", "sequences", "seqs", "words", "images"};
constexpr std::array<std::string_view, 6> kRate = {"tps", "throughput", "wps",
                                                   "tgs", "tokps",      "sps"};
constexpr std::array<std::string_view, 7> kEvaluation = {"eval", "val",  "validation", "evaluation",
                                                         "test", "save", "checkpoint"};
constexpr std::array<std::string_view, 4> kTotal = {"total", "max", "target", "num"};
constexpr std::array<std::string_view, 5> kOffset = {"offset", "relative", "since", "uptime",
                                                     "elapsed"};
constexpr std::array<std::string_view, 6> kStamp = {"timestamp", "ts",   "time",
                                                    "datetime",  "date", "unix"};
constexpr std::array<std::string_view, 4> kMilli = {"ms", "msec", "millis", "milliseconds"};
constexpr std::array<std::string_view, 3> kMicro = {"us", "usec", "microseconds"};
// Parts of a step that say nothing of the whole.
constexpr std::array<std::string_view, 12> kParts = {
    "forward", "backward", "fwd",   "bwd",  "optimizer", "comm",
    "gpu",     "compute",  "optim", "sync", "allreduce", "gc"};

double scale_of(const Words& words) {
  if (has(words, kMilli)) return 1e-3;
  return has(words, kMicro) ? 1e-6 : 1;
}

bool per_second(const Words& words) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] != "per") continue;
    const std::string& unit = words[i + 1];
    if (unit == "s" || unit == "sec" || unit == "second") return true;
  }
  return false;
}

bool per_step(const Words& words) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == "per" && has({words[i + 1]}, kStep)) return true;
  }
  return false;
}

StepQuantity quantity_of(const Words& words) {
  if (words.empty() || has(words, kEvaluation)) return StepQuantity::none;
  if (has(words, std::array<std::string_view, 1>{"mfu"})) return StepQuantity::mfu;
  if (words.back() == "loss") return StepQuantity::loss;
  if (words.back() == "rank") return StepQuantity::rank;
  if (has(words, kRate) || (has(words, kWork) && per_second(words))) return StepQuantity::tokens;
  if (has(words, kWork)) return StepQuantity::none;  // a count
  const bool timed =
      has(words, kTime) || scale_of(words) != 1 || words.back() == "s" || words.back() == "sec";
  if (has(words, kLoading) && (timed || has(words, kWait))) return StepQuantity::loading;
  if (has(words, kWait) && timed && has(words, kLoading)) return StepQuantity::loading;
  if (has(words, kParts)) return StepQuantity::none;
  if (has(words, kOffset) && !has(words, kStep)) return StepQuantity::elapsed;
  if (has(words, kStep)) {
    if (per_second(words)) return StepQuantity::none;  // steps per second
    if (timed || per_step(words)) return StepQuantity::step_time;
    return has(words, kTotal) ? StepQuantity::total : StepQuantity::step;
  }
  if (words.front() == "dt" || words.front() == "duration" || words.front() == "latency") {
    return StepQuantity::step_time;
  }
  return has(words, kStamp) ? StepQuantity::time : StepQuantity::none;
}

}  // namespace

NamedQuantity step_quantity(std::string_view name) {
  constexpr std::size_t kLongest = 200;
  if (name.size() > kLongest) return {};
  const Words words = words_of(name);
  return {quantity_of(words), scale_of(words)};
}

void set_quantity(NamedQuantity what, double value, StepRecord& record) {
  constexpr double kMostSeconds = 1e7, kMostCount = 1e15;
  if (!std::isfinite(value) && what.quantity != StepQuantity::loss) return;
  const double seconds = value * what.scale;
  switch (what.quantity) {
    case StepQuantity::step_time:
      if (seconds > 0 && seconds < kMostSeconds) record.step_s = seconds;
      break;
    case StepQuantity::loading:
      if (seconds >= 0 && seconds < kMostSeconds) record.loading_s = seconds;
      break;
    case StepQuantity::tokens:
      if (value >= 0 && value < kMostCount) record.tokens_per_s = value;
      break;
    case StepQuantity::mfu: {
      const double ratio = value > 1 ? value / 100 : value;
      if (ratio >= 0 && ratio <= 1) record.mfu_ratio = ratio;
      break;
    }
    case StepQuantity::loss:
      record.loss = value;
      break;
    case StepQuantity::rank:
      if (value >= 0 && value < 1 << 24 && std::floor(value) == value) {
        record.rank = static_cast<int>(value);
      }
      break;
    case StepQuantity::total:
      if (value >= 0 && value < kMostCount) record.target_step = static_cast<std::int64_t>(value);
      break;
    case StepQuantity::elapsed:
      if (seconds >= 0 && seconds < 1e10) record.elapsed_s = seconds;
      break;
    case StepQuantity::time:
    case StepQuantity::step:
    case StepQuantity::none:
      break;
  }
}

}  // namespace muster
