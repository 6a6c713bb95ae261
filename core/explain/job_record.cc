#include "core/explain/job_record.h"

#include <algorithm>

#include "base/text.h"
#include "core/explain/joins.h"

namespace muster {
namespace {

// Records and logs end together, but for what is written late.
constexpr Duration kNear = std::chrono::hours(1);

std::string_view whole_id(std::string_view id) {
  return id.substr(0, id.find_first_of("._+"));
}

// `id` stands in `text` by itself: "77" in "job_77.out", not in "job_1770.out".
bool holds_id(std::string_view text, std::string_view id) {
  const auto digit = [&](std::size_t i) {
    return i < text.size() && text[i] >= '0' && text[i] <= '9';
  };
  for (std::size_t at = text.find(id); at != text.npos; at = text.find(id, at + 1)) {
    if ((at == 0 || !digit(at - 1)) && !digit(at + id.size())) return true;
  }
  return false;
}

// Jobs whose ids the names or the lines of the logs hold. Short ids are no names.
bool named_in_logs(const Scene& scene, std::string_view id) {
  if (id.size() < 3) return false;
  const auto& input = scene.input();
  return std::any_of(input.sources.begin(), input.sources.end(),
                     [&](const LogSource& source) { return holds_id(source.name, id); }) ||
         std::any_of(input.events.begin(), input.events.end(), [&](const LogEvent& e) {
           return whole_id(e.word("job")) == id || holds_id(e.source, id);
         });
}

bool of_run(const Scene& scene, std::size_t i) {
  const LogEvent& e = scene.event(i);
  return e.rank || e.rule == "exception" || e.rule.starts_with("progress:") ||
         e.cause == Cause::external_stop;
}

// By times: something of the run lies within those of the record.
Belongs by_time(const Scene& scene, const JobRecord& job) {
  if (!job.start && !job.end) return Belongs::unknown;
  Belongs best = Belongs::no;
  bool stamped = false;
  for (const std::size_t i : scene.sorted()) {
    const EventTime& time = scene.event(i).time;
    if (!of_run(scene, i) || !time.at || !time.has_date) continue;
    stamped = true;
    const bool early = job.start && *time.at + kNear < *job.start;
    const bool late = job.end && *time.at > *job.end + kNear;
    const bool far = !job.start && *time.at + kNear < *job.end;
    if (!early && !late && !far) return Belongs::yes;
    // Records have the time of the site, stamps may have another.
    const Duration zone = time.has_zone ? HostClock::kZoneDoubt : Duration::zero();
    const bool maybe = (!job.start || *time.at + zone + kNear >= *job.start) &&
                       (!job.end || *time.at <= *job.end + zone + kNear) &&
                       (job.start || *time.at + zone + kNear >= *job.end);
    if (time.has_zone && maybe) best = Belongs::unknown;
  }
  return stamped ? best : Belongs::unknown;
}

}  // namespace

std::string state_word(const JobRecord& job) {
  const std::string_view text = trim(job.state);
  return to_lower(text.substr(0, text.find_first_of(" +*~#$@")));
}

Belongs belongs(const Scene& scene, const JobRecord& job) {
  if (scene.input().events.empty()) return Belongs::yes;  // nobody asks of another
  if (named_in_logs(scene, whole_id(job.id))) return Belongs::yes;
  for (const FactRef& ref : all_facts<JobRecord>(scene)) {
    const std::string& other = std::get<JobRecord>(ref.fact->value).id;
    if (whole_id(other) != whole_id(job.id) && named_in_logs(scene, whole_id(other)))
      return Belongs::no;
  }
  return by_time(scene, job);
}

}  // namespace muster
