#pragma once

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/timestamp.h"
#include "core/progress/progress_decoder.h"

// For tests: what a decoder says, as one line of text that a table row can hold.

namespace muster {

inline const char* kind_name(ProgressKind kind) {
  static constexpr std::array<const char*, 12> kNames = {
      "save_begin", "save_end",  "save_known", "eval_begin", "eval_end", "compile",
      "startup",    "epoch_end", "finished",   "restarted",  "error",    "monitor_stuck"};
  return kNames[static_cast<std::size_t>(kind)];
}

// "step 480/4000 loss=1.8; save_begin step=480"; with times also "#LINE @TIME", "z" behind a time
// with a zone and "?" behind one without a date.
class Transcript : public ProgressSink {
 public:
  void step(const StepRecord& r) override {
    std::string s = fmt::format("step {}", r.step);
    if (r.target_step) s += fmt::format("/{}", *r.target_step);
    if (r.loss) s += fmt::format(" loss={}", *r.loss);
    if (r.grad_norm) s += fmt::format(" norm={}", *r.grad_norm);
    if (r.learning_rate) s += fmt::format(" lr={}", *r.learning_rate);
    if (r.tokens_per_s) s += fmt::format(" tps={}", *r.tokens_per_s);
    if (r.step_s) s += fmt::format(" dt={:.6g}", *r.step_s);
    if (r.mfu_ratio) s += fmt::format(" mfu={:.6g}", *r.mfu_ratio);
    if (r.rank) s += fmt::format(" rank={}", *r.rank);
    add(s, r.at, r.at_has_zone, r.at_has_date, r.line);
  }
  void event(const ProgressEvent& e) override {
    std::string s = kind_name(e.kind);
    if (e.step) s += fmt::format(" step={}", *e.step);
    if (e.duration) s += fmt::format(" took={:.6g}", duration_to_seconds(*e.duration));
    add(s, e.at, e.at_has_zone, e.at_has_date, e.line);
  }
  std::string text() const { return fmt::format("{}", fmt::join(lines, "; ")); }
  std::vector<std::string> lines;
  bool with_time = false;

 private:
  void add(std::string s, std::optional<WallTime> at, bool zone, bool date, std::uint64_t line) {
    if (with_time) {
      s += fmt::format(" #{}", line);
      if (at)
        s += fmt::format(" @{}{}{}", format_rfc3339(*at, true), zone ? "z" : "", date ? "" : "?");
    }
    lines.push_back(std::move(s));
  }
};

inline std::string transcript(std::string_view log, std::size_t chunk = 0, bool with_time = false) {
  Transcript out;
  out.with_time = with_time;
  ProgressDecoder decoder;
  if (chunk == 0) chunk = log.size() + 1;
  for (std::size_t i = 0; i < log.size(); i += chunk) decoder.feed(log.substr(i, chunk), out);
  decoder.finish(out);
  return out.text();
}

}  // namespace muster
