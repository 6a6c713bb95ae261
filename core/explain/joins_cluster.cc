#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/text.h"
#include "core/explain/joins.h"

namespace muster {
namespace {

// ---- Complaints of Kubernetes that a later line takes back -------------------------------------

// How much of a healing a line is.
enum class Heals : std::uint8_t {
  no,
  started,  // what had ended runs once more: for how long, nobody knows yet
  yes,
};

struct Complaint {
  std::string_view rule;
  bool restarts;  // a container that ended by itself and may again
};
constexpr Complaint kComplaints[] = {
    {"k8s_back_off", true},        {"k8s_crash_loop", true},         {"k8s_image", false},
    {"k8s_image_retried", false},  {"k8s_image_back_off", false},    {"k8s_mount_failed", false},
    {"k8s_sandbox_failed", false}, {"k8s_device_allocation", false}, {"k8s_node_not_ready", false},
};

Heals heals(const Complaint& complaint, std::string_view rule) {
  if (complaint.rule == "k8s_node_not_ready") {
    return rule == "k8s_node_ready" ? Heals::yes : Heals::no;
  }
  if (rule == "k8s_running") return Heals::yes;
  if (rule == "k8s_started") return complaint.restarts ? Heals::started : Heals::yes;
  const bool image = complaint.rule.starts_with("k8s_image");
  const bool other = (image && rule == "k8s_pulled") ||
                     (complaint.rule == "k8s_mount_failed" && rule == "k8s_mounted");
  return other ? Heals::yes : Heals::no;
}

// "90s", "5m12s", "3h": the columns in which kubectl tells how long ago it was.
std::optional<Duration> age_of(std::string_view text) {
  constexpr Duration kUnits[] = {std::chrono::seconds(1), std::chrono::minutes(1),
                                 std::chrono::hours(1), std::chrono::hours(24)};
  for (const std::string_view word : split(text.substr(0, 160), ' ')) {
    Duration age{};
    std::size_t digits = 0;
    std::int64_t value = 0;
    bool fine = word.size() >= 2 && word.size() <= 9;
    for (const char c : word) {
      if (is_digit(c)) {
        value = value * 10 + (c - '0');
        ++digits;
        continue;
      }
      fine = fine && digits > 0;
      digits = 0;
      const std::size_t unit = std::string_view("smhd").find(c);
      fine = fine && unit != std::string_view::npos;
      if (fine) age += kUnits[unit] * std::exchange(value, 0);
    }
    if (fine && digits == 0) return age;
  }
  return std::nullopt;
}

// The pod or node that a line is about; empty: it names none.
std::string object_of(const LogEvent& event) {
  for (const std::string_view word : {"pod", "host"}) {
    if (const std::string_view name = event.word(word); !name.empty()) return std::string(name);
  }
  for (const std::string_view mark : {"pod/", "in pod "}) {
    const std::size_t at = event.text.find(mark);
    if (at == std::string::npos) continue;
    const std::string_view rest = std::string_view(event.text).substr(at + mark.size());
    return std::string(rest.substr(0, rest.find_first_of(" _,()\"")));
  }
  return "";
}

bool later(const Scene& scene, std::size_t complaint, std::size_t line) {
  const LogEvent& a = scene.event(complaint);
  const LogEvent& b = scene.event(line);
  const bool bare = !a.time.at && !b.time.at && a.source == b.source;
  const auto first = bare ? age_of(a.text) : std::nullopt;
  const auto then = bare ? age_of(b.text) : std::nullopt;
  if (first && then && *first != *then) return *then < *first;
  return scene.clock().before(complaint, line);
}

Heals healed(const Scene& scene, const Complaint& complaint, std::size_t i,
             const std::vector<std::size_t>& context) {
  Heals best = Heals::no;
  const std::string object = object_of(scene.event(i));
  for (const std::size_t line : context) {
    const Heals by = heals(complaint, scene.event(line).rule);
    if (by <= best) continue;
    const std::string its = object_of(scene.event(line));
    if (!object.empty() && !its.empty() && object != its) continue;
    if (later(scene, i, line)) best = by;
  }
  return best;
}

void recovered(const Scene& scene, std::vector<Claim>& claims) {
  const auto context = scene.with_role(EventRole::context);
  // Pods that were moved away had their node lost, whether or not it came back.
  const bool moved = !scene.with_rule("k8s_taint_eviction").empty();
  for (Claim& claim : claims) {
    if (claim.events.empty() || claim.follows) continue;
    const std::string& rule = scene.event(claim.events.front()).rule;
    const auto* complaint = std::find_if(std::begin(kComplaints), std::end(kComplaints),
                                         [&](const Complaint& c) { return c.rule == rule; });
    if (complaint == std::end(kComplaints) || (moved && claim.cause == Cause::node_failure)) {
      continue;
    }
    std::vector<std::size_t> open;
    Heals least = Heals::yes;
    for (const std::size_t i : claim.events) {
      const Heals by = healed(scene, *complaint, i, context);
      if (by == Heals::no) open.push_back(i);
      least = std::min(least, by);
    }
    if (!open.empty()) {
      if (open.size() == claim.events.size()) continue;
      claim = claim_of(scene, claim.cause, std::move(open));
      continue;
    }
    const std::string what = claim.what;
    claim.become(Cause::undetermined, "recovered");
    claim.culprits.clear();
    claim.severity = least == Heals::yes ? Severity::info : Severity::warning;
    claim.confidence = least == Heals::yes ? Confidence::medium : Confidence::low;
    claim.what = what + (least == Heals::yes ? "; that was over later"
                                             : "; it was started once more behind that");
    claim.actions = {Action::watch};
    claim.next = least == Heals::yes ? "nothing now; look at it if it comes again"
                                     : "see whether it still runs (kubectl get pods); if not, "
                                       "look at the last lines of its previous run";
  }
}

constexpr Join kJoins[] = {
    {"recovered", "what Kubernetes could not do; a later line that it could",
     "it is over, or begun once more", recovered},
};

}  // namespace

std::span<const Join> cluster_joins() {
  return kJoins;
}

}  // namespace muster
