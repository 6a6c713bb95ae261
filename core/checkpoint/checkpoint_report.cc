#include "core/checkpoint/checkpoint_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

#include "base/limits.h"
#include "base/text.h"
#include "core/model/json_writer.h"
#include "core/model/report_json.h"

namespace muster::checkpoint {
namespace {

constexpr std::size_t kTold = 8;  // checkpoints of which a note tells

std::string base_of(const Checkpoint& checkpoint) {
  const std::string_view base = last_part(checkpoint.path);
  return std::string(base.empty() || base == "." ? std::string_view(checkpoint.path) : base);
}

std::string_view state_text(Completeness state) {
  constexpr std::string_view kTexts[] = {"complete", "cannot tell", "not complete", "torn",
                                         "marked complete, and is not"};
  return kTexts[static_cast<std::size_t>(state)];
}

class Answer {
 public:
  Answer(const std::vector<Checkpoint>& all, const Judged& judged,
         const std::vector<std::string>& suspects)
      : all_(all), judged_(judged), suspects_(suspects), order_(all.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    // The newest first.
    std::stable_sort(order_.begin(), order_.end(),
                     [this](std::size_t a, std::size_t b) { return age(a) > age(b); });
  }

  CheckpointAnswer answer() {
    out_.report.verb = "checkpoint";
    choose();
    for (const std::size_t i : order_) finding(i);
    for (const LostTarget& lost : judged_.lost) lost_target(lost);
    sort_findings(out_.report.findings);
    if (out_.report.findings.size() > limits::kFindingsNamed) {
      out_.report.findings.resize(limits::kFindingsNamed);
    }
    if (out_.report.findings.empty()) nothing_wrong();
    notes();
    return std::move(out_);
  }

 private:
  using Age = std::tuple<bool, std::uint64_t, WallTime>;
  Age age(std::size_t i) const {
    return {all_[i].step.has_value(), all_[i].step.value_or(0),
            judged_.each[i].modified.value_or(WallTime{})};
  }
  bool given(const Checkpoint& checkpoint) const {
    return std::any_of(suspects_.begin(), suspects_.end(), [&](const std::string& suspect) {
      const auto step = parse_uint(suspect);
      return suspect == checkpoint.path || last_part(suspect) == base_of(checkpoint) ||
             (step && checkpoint.step && *step == *checkpoint.step);
    });
  }
  bool fit(std::size_t i) const {
    return judged_.each[i].state == Completeness::complete && !all_[i].temporary &&
           !judged_.each[i].loss.suspect() && !given(all_[i]);
  }

  void choose();
  void finding(std::size_t i);
  void suspect(std::size_t i);
  void damaged(std::size_t i);
  void lost_target(const LostTarget& lost);
  void nothing_wrong();
  void notes();
  std::string way_out() const;

  const std::vector<Checkpoint>& all_;
  const Judged& judged_;
  const std::vector<std::string>& suspects_;
  std::vector<std::size_t> order_;
  std::optional<std::size_t> chosen_;
  std::size_t older_bad_ = 0;
  std::string older_names_;
  CheckpointAnswer out_;
};

void Answer::choose() {
  const auto newer_run = [this](std::size_t a, std::size_t b) {
    const auto key = [this](std::size_t i) {  // what tells no step is an export beside them
      return std::pair(all_[i].step.has_value(), judged_.each[i].modified.value_or(WallTime{}));
    };
    return key(a) > key(b);
  };
  std::set<std::string> runs;
  for (const std::size_t i : order_) {
    if (!fit(i) || !runs.insert(all_[i].run).second) continue;  // the newest of its run
    if (!chosen_ || newer_run(i, *chosen_)) chosen_ = i;
  }
  if (!chosen_) return;
  out_.resume_from = all_[*chosen_].path;
  if (runs.size() > 1) {
    out_.report.notes.push_back(fmt::format(
        "checkpoints lie in {} folders; the one to resume from is of that which was written last",
        runs.size()));
  }
}

std::string Answer::way_out() const {
  return chosen_ ? fmt::format("resume from {}", all_[*chosen_].path)
                 : "no other complete one was found here: look for a copy elsewhere";
}

void Answer::finding(std::size_t i) {
  const Judgement& judgement = judged_.each[i];
  if (all_[i].temporary) return;
  const bool older = chosen_ && all_[i].run == all_[*chosen_].run && age(i) < age(*chosen_);
  if (older && judgement.state != Completeness::complete) {
    if (++older_bad_ <= kTold) {
      older_names_ += (older_names_.empty() ? "" : ", ") + base_of(all_[i]);
    }
    return;
  }
  if (judgement.state == Completeness::complete) {
    if (judgement.loss.suspect() && !older) suspect(i);
    return;
  }
  if (judgement.state != Completeness::cannot_tell) return damaged(i);
  const std::string why = judgement.flaws.empty() ? "" : judgement.flaws.front().text;
  out_.report.blind.push_back({all_[i].path, why, true});
}

void Answer::suspect(std::size_t i) {
  const LossHealth& loss = judged_.each[i].loss;
  const bool jumped = loss.kind == LossHealth::Kind::jumped;
  Finding finding;
  finding.severity = Severity::warning;
  finding.confidence = jumped ? Confidence::low : Confidence::medium;
  finding.cause = Cause::undetermined;
  finding.culprits = {{CulpritKind::file, all_[i].path}};
  finding.summary = fmt::format(
      "{} is whole, and its weights are suspect: {} since step {}", base_of(all_[i]),
      jumped
          ? fmt::format("the loss stands at {:.3g}, {:.3g} at most before", loss.last, loss.usual)
          : std::string("the loss or the norm of the gradients is no number"),
      loss.since_step);
  finding.evidence.push_back(
      {all_[i].path + "/trainer_state.json", std::nullopt, "log_history tells the losses"});
  finding.actions = {Action::step_back_checkpoint, Action::fix_code};
  finding.next = way_out() + "; look at data and rate of learning before that step";
  out_.report.findings.push_back(std::move(finding));
}

void Answer::damaged(std::size_t i) {
  const Judgement& judgement = judged_.each[i];
  const bool torn = judgement.state == Completeness::torn;
  const bool marked = judgement.state == Completeness::false_complete;
  Finding finding;
  finding.cause = torn     ? Cause::checkpoint_torn
                  : marked ? Cause::checkpoint_false_complete
                           : Cause::checkpoint_incomplete;
  finding.severity = cause_row(finding.cause).severity;
  finding.confidence = judgement.sure ? Confidence::high : Confidence::low;
  std::size_t missing = 0, bad = 0;
  bool room = false;
  for (const Flaw& flaw : judgement.flaws) {
    missing += flaw.kind == Flaw::Kind::missing ? 1 : 0;
    room = room || flaw.text.find("No space") != std::string::npos ||
           flaw.text.find("quota") != std::string::npos;
    if (flaw.kind == Flaw::Kind::torn && !flaw.file.empty() && ++bad <= limits::kCulpritsNamed) {
      const std::string file = all_[i].single_file ? all_[i].path : all_[i].path + "/" + flaw.file;
      if (torn) finding.culprits.push_back({CulpritKind::file, file});
    }
    if (finding.evidence.size() < limits::kEvidenceLines) {
      finding.evidence.push_back({all_[i].path, std::nullopt, flaw.text});
    }
  }
  if (finding.culprits.empty()) finding.culprits = {{CulpritKind::file, all_[i].path}};
  finding.summary =
      fmt::format("{} {}: {}", base_of(all_[i]),
                  torn     ? "is damaged"
                  : marked ? "is marked complete, and parts are missing"
                           : "was not saved to its end",
                  judgement.flaws.empty() ? std::string() : judgement.flaws.front().text);
  if (judgement.flaws.size() > 1) {
    finding.summary += fmt::format(", and {} more", judgement.flaws.size() - 1);
  }
  finding.actions = {Action::step_back_checkpoint, Action::quarantine_checkpoint};
  if (room) finding.actions.push_back(Action::free_disk);
  if (!torn && missing > 0) finding.actions.push_back(Action::collect_evidence);
  finding.next =
      fmt::format("{}; rename {} so that nothing resumes from it", way_out(), base_of(all_[i]));
  out_.report.findings.push_back(std::move(finding));
}

void Answer::lost_target(const LostTarget& lost) {
  Finding finding;
  finding.cause = Cause::checkpoint_false_complete;
  finding.severity = cause_row(finding.cause).severity;
  finding.confidence = Confidence::medium;
  finding.culprits = {{CulpritKind::file, lost.tracker}};
  finding.summary = fmt::format("{} names {}, which is not there", lost.tracker, lost.target);
  finding.evidence = {{lost.tracker, std::nullopt, lost.target}};
  finding.actions = {Action::step_back_checkpoint};
  finding.next = way_out();
  out_.report.findings.push_back(std::move(finding));
}

void Answer::nothing_wrong() {
  if (!out_.report.blind.empty() && !chosen_) return;
  Finding finding;
  finding.confidence = Confidence::high;
  if (chosen_) {
    const Judgement& judgement = judged_.each[*chosen_];
    finding.severity = Severity::ok;
    finding.cause = Cause::healthy;
    finding.summary = fmt::format("{} is complete ({}, {}, {} files)", base_of(all_[*chosen_]),
                                  layout_name(judgement.layout), size_text(judgement.bytes),
                                  all_[*chosen_].files.size());
    finding.actions = {Action::none};
    finding.next = way_out();
  } else {
    finding.severity = Severity::info;
    finding.cause = Cause::evidence_missing;
    finding.summary = all_.empty() ? "no checkpoint was found"
                                   : "no complete checkpoint was found, only saves under way";
    finding.next = "name the folder that the run saves into";
  }
  out_.report.findings.push_back(std::move(finding));
}

void Answer::notes() {
  std::vector<std::string>& notes = out_.report.notes;
  std::size_t told = 0, temporary = 0;
  std::string names;
  for (const std::size_t i : order_) {
    if (all_[i].temporary) {
      if (++temporary <= kTold) names += (names.empty() ? "" : ", ") + base_of(all_[i]);
      continue;
    }
    if (++told > kTold) continue;
    const Judgement& judgement = judged_.each[i];
    notes.push_back(fmt::format("{}: {}, {}, {}{}", base_of(all_[i]), state_text(judgement.state),
                                layout_name(judgement.layout), size_text(judgement.bytes),
                                given(all_[i]) ? ", passed over as it is suspect" : ""));
  }
  if (told > kTold) notes.push_back(fmt::format("and {} older ones", told - kTold));
  if (older_bad_ > 0) {
    notes.push_back(fmt::format("{} older than the one to resume from {} not complete: {}",
                                older_bad_, older_bad_ == 1 ? "is" : "are", older_names_));
  }
  if (temporary > 0) {
    notes.push_back(fmt::format("{} under the name of a save that goes on, or was killed: {}",
                                temporary, names));
  }
  if (chosen_ && judged_.each[*chosen_].weights_only) {
    notes.push_back(
        fmt::format("{} holds weights alone: a resume begins optimizer, schedule and data anew",
                    base_of(all_[*chosen_])));
  }
  notes.insert(notes.end(), judged_.notes.begin(), judged_.notes.end());
}

}  // namespace

CheckpointAnswer answer_checkpoints(const std::vector<Checkpoint>& all, const Judged& judged,
                                    const std::vector<std::string>& suspects) {
  return Answer(all, judged, suspects).answer();
}

std::string encode_answer(const CheckpointAnswer& answer) {
  JsonWriter w;
  w.begin_object();
  write_report_fields(w, answer.report);
  w.key("resume_from");
  answer.resume_from ? w.value(*answer.resume_from) : w.null();
  return w.end_object().take();
}

}  // namespace muster::checkpoint
