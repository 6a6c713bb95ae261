#include "core/progress/transcript.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/timestamp.h"
#include "core/progress/progress_decoder.h"

namespace muster {
namespace {

const char* kind_name(ProgressKind kind) {
  static constexpr std::array<const char*, 12> kNames = {
      "save_begin", "save_end",  "save_known", "eval_begin", "eval_end", "compile",
      "startup",    "epoch_end", "finished",   "restarted",  "error",    "monitor_stuck"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace

void Transcript::step(const StepRecord& r) {
  std::string s = fmt::format("step {}", r.step);
  if (r.target_step) s += fmt::format("/{}", *r.target_step);
  if (r.loss) s += fmt::format(" loss={}", *r.loss);
  if (r.grad_norm) s += fmt::format(" norm={}", *r.grad_norm);
  if (r.learning_rate) s += fmt::format(" lr={}", *r.learning_rate);
  if (r.tokens_per_s) s += fmt::format(" tps={}", *r.tokens_per_s);
  if (r.step_s) s += fmt::format(" dt={:.6g}", *r.step_s);
  if (r.mfu_ratio) s += fmt::format(" mfu={:.6g}", *r.mfu_ratio);
  if (r.rank) s += fmt::format(" rank={}", *r.rank);
  add(std::move(s), r.at, r.at_has_zone, r.at_has_date, r.line);
}

void Transcript::event(const ProgressEvent& e) {
  std::string s = kind_name(e.kind);
  if (e.step) s += fmt::format(" step={}", *e.step);
  if (e.duration) s += fmt::format(" took={:.6g}", duration_to_seconds(*e.duration));
  add(std::move(s), e.at, e.at_has_zone, e.at_has_date, e.line);
}

std::string Transcript::text() const {
  return fmt::format("{}", fmt::join(lines_, "; "));
}

void Transcript::add(std::string said, std::optional<WallTime> at, bool zone, bool date,
                     std::uint64_t line) {
  if (with_time_) {
    said += fmt::format(" #{}", line);
    if (at) {
      said += fmt::format(" @{}{}{}", format_rfc3339(*at, true), zone ? "z" : "", date ? "" : "?");
    }
  }
  lines_.push_back(std::move(said));
}

std::string transcript(std::string_view log, std::size_t chunk, bool with_time) {
  Transcript out(with_time);
  ProgressDecoder decoder;
  if (chunk == 0) chunk = log.size() + 1;
  for (std::size_t i = 0; i < log.size(); i += chunk) decoder.feed(log.substr(i, chunk), out);
  decoder.finish(out);
  return out.text();
}

}  // namespace muster
