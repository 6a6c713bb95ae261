#include "core/storage/data_path.h"

#include <algorithm>
#include <array>

#include "base/median.h"
#include "core/model/json_writer.h"

namespace muster::storage {
namespace {

constexpr double kRepeats = 0.1;  // two runs of one arm differ by so much
constexpr std::array kPaths = {DataPath::text, DataPath::packed};

const DataArm* arm_in(const DataAnswer& answer, DataPath path, bool cold) {
  for (const DataArm& arm : answer.arms) {
    const bool same = arm.path == path && arm.cold == cold;
    if (same && arm.state == RowState::measured) return &arm;
  }
  return nullptr;
}

void write_arm(JsonWriter& w, const DataArm& arm) {
  w.begin_object().key("path").value(data_path_name(arm.path)).key("cold").value(arm.cold);
  const bool measured = arm.state == RowState::measured;
  w.key("state").value(measured ? "measured" : "not_measured").key("tokens_per_second");
  if (!measured) {
    w.null().key("reason").value(arm.reason).end_object();
    return;
  }
  w.value(arm.tokens_per_second).key("bytes_per_second").value(arm.bytes_per_second);
  w.key("steps").value(arm.steps).key("first_step_s").value(arm.first_step_s);
  w.key("median_step_s").value(arm.median_step_s).end_object();
}

void write_verdict(JsonWriter& w, DataPath path, const DataAnswer& answer) {
  const PathVerdict verdict = verdict_of(path, answer);
  w.begin_object().key("path").value(data_path_name(path));
  w.key("limit").value(limit_name(verdict.limit)).key("cold_headroom");
  verdict.cold_headroom ? w.value(*verdict.cold_headroom) : w.null();
  w.key("warm_headroom");
  verdict.warm_headroom ? w.value(*verdict.warm_headroom) : w.null();
  w.key("inverts").value(inversion_name(verdict.inversion.kind));
  const bool sizes = verdict.inversion.kind == Inversion::Kind::beyond;
  w.key("in_order_bytes");
  sizes ? w.value(verdict.inversion.in_order_bytes) : w.null();
  w.key("shuffled_bytes");
  sizes ? w.value(verdict.inversion.shuffled_bytes) : w.null();
  w.end_object();
}

}  // namespace

std::string_view data_path_name(DataPath path) {
  return path == DataPath::text ? "text" : "packed";
}

std::string_view limit_name(Limit limit) {
  constexpr std::string_view kNames[] = {"none", "storage", "tokenizing", "reading", "unknown"};
  return kNames[static_cast<std::size_t>(limit)];
}

DataArm arm_not_measured(DataPath path, bool cold, std::string reason) {
  DataArm arm;
  arm.path = path;
  arm.cold = cold;
  arm.reason = std::move(reason);
  return arm;
}

DataArm arm_of(DataPath path, bool cold, const ArmRun& run) {
  if (run.step_ends_s.empty() || !(run.seconds > 0)) {
    return arm_not_measured(path, cold, "the data are too few for one step");
  }
  DataArm arm = arm_not_measured(path, cold, "");
  arm.state = RowState::measured;
  arm.steps = run.step_ends_s.size();
  arm.tokens_per_second = static_cast<double>(run.tokens) / run.seconds;
  arm.bytes_per_second = static_cast<double>(run.bytes) / run.seconds;
  arm.first_step_s = run.step_ends_s.front();
  std::vector<double> steps;
  double last = 0;
  for (const double end : run.step_ends_s) {
    steps.push_back(end - last);
    last = end;
  }
  arm.median_step_s = median_of(steps);
  return arm;
}

PathVerdict verdict_of(DataPath path, const DataAnswer& answer) {
  PathVerdict out;
  if (!answer.step_seconds || answer.step_tokens == 0) return out;
  const double need = static_cast<double>(answer.step_tokens) / *answer.step_seconds;
  const DataArm* const cold = arm_in(answer, path, true);
  const DataArm* const warm = arm_in(answer, path, false);
  if (cold != nullptr) out.cold_headroom = cold->tokens_per_second / need;
  if (warm != nullptr) out.warm_headroom = warm->tokens_per_second / need;
  const auto feeds = [](std::optional<double> headroom) {
    return headroom && *headroom >= 1 + kRepeats;
  };
  const auto waits = [](std::optional<double> headroom) {
    return headroom && *headroom <= 1 - kRepeats;
  };
  if (waits(out.warm_headroom)) {
    out.limit = path == DataPath::text ? Limit::tokenizing : Limit::reading;
  } else if (feeds(out.cold_headroom)) {
    out.limit = Limit::none;
  } else if (feeds(out.warm_headroom) && waits(out.cold_headroom)) {
    out.limit = Limit::storage;
  }
  // The same question in bytes of this path's files.
  const DataArm* const either = warm != nullptr ? warm : cold;
  if (either == nullptr) return out;
  const double bytes_per_token = either->bytes_per_second / either->tokens_per_second;
  const Demand demand{*answer.step_seconds,
                      bytes_per_token * static_cast<double>(answer.step_tokens)};
  Supply supply;
  supply.cache_bytes = answer.cache_bytes;
  if (cold != nullptr) supply.cold = cold->tokens_per_second * bytes_per_token;
  if (warm != nullptr) supply.warm = warm->tokens_per_second * bytes_per_token;
  out.inversion = inversion_of(demand, supply);
  return out;
}

ExitStatus exit_status_of(const DataAnswer& answer) {
  const bool any = std::any_of(answer.arms.begin(), answer.arms.end(),
                               [](const DataArm& arm) { return arm.state == RowState::measured; });
  if (!any) return ExitStatus::cannot_tell;
  if (!answer.step_seconds) return ExitStatus::ok;
  bool unknown = false;
  for (const DataPath path : kPaths) {
    const Limit limit = verdict_of(path, answer).limit;
    if (limit != Limit::none && limit != Limit::unknown) return ExitStatus::warning;
    unknown = unknown || limit == Limit::unknown;
  }
  return unknown ? ExitStatus::cannot_tell : ExitStatus::ok;
}

std::string data_json(const DataAnswer& answer) {
  JsonWriter w;
  w.begin_object().key("schema").value("muster.data_path/1");
  w.key("step_tokens").value(answer.step_tokens);
  w.key("threads").value(static_cast<std::uint64_t>(answer.threads)).key("cache_bytes");
  answer.cache_bytes ? w.value(*answer.cache_bytes) : w.null();
  w.key("text_bytes").value(answer.text_bytes).key("packed_bytes").value(answer.packed_bytes);
  w.key("arms").begin_array();
  for (const DataArm& arm : answer.arms) write_arm(w, arm);
  w.end_array().key("step_seconds");
  answer.step_seconds ? w.value(*answer.step_seconds) : w.null();
  w.key("verdicts").begin_array();
  for (const DataPath path : kPaths) {
    if (answer.step_seconds) write_verdict(w, path, answer);
  }
  w.end_array().key("notes").begin_array();
  for (const std::string& note : answer.notes) w.value(note);
  w.end_array().end_object();
  return w.take();
}

}  // namespace muster::storage
