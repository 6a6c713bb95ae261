// Any bytes as a log of `explain`, in pieces of two sizes: never a crash, the same events, in the
// order of their lines and within the bounds; and an answer over them that holds to the tables.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "app/log_scan.h"
#include "base/check.h"
#include "base/limits.h"
#include "core/explain/explain.h"

namespace {

using muster::LogAnchors;
using muster::LogEvent;
using muster::RuleMatcher;

const LogAnchors& anchors() {
  static const RuleMatcher kRules = [] {
    const auto rules = muster::builtin_rules();
    auto made = RuleMatcher::make({rules.begin(), rules.end()});
    MUSTER_CHECK(made.has_value(), "the built-in rules can be used");
    return std::move(*made);
  }();
  static const LogAnchors kAnchors(kRules);
  return kAnchors;
}

muster::ScannedLog scan(std::string_view log, std::size_t chunk) {
  muster::LogScan scan(anchors(), {.name = "log",
                                   .host = "",
                                   .rank = 5,
                                   .written = muster::wall_from_ns(1'780'000'000'000'000'000)});
  // The order of bytes shows in the first ones, which come together.
  constexpr std::size_t kHead = 64 * 1024;
  scan.feed(log.substr(0, kHead));
  for (std::size_t at = kHead; at < log.size(); at += chunk) scan.feed(log.substr(at, chunk));
  muster::ScannedLog out = scan.finish();
  std::uint64_t last = 0;
  for (const LogEvent& event : out.events) {
    MUSTER_CHECK(event.line && *event.line >= last, "in the order of the lines");
    MUSTER_CHECK(event.text.size() <= muster::limits::kEvidenceChars, "bounded");
    MUSTER_CHECK(!event.rank || *event.rank >= 0, "a rank is not negative");
    last = *event.line;
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view log(reinterpret_cast<const char*>(data), size);
  muster::ScannedLog one = scan(log, 1000);
  const muster::ScannedLog whole = scan(log, SIZE_MAX);
  MUSTER_CHECK(one.events.size() == whole.events.size(), "pieces make no difference");
  muster::ExplainInput input;
  input.sources.push_back(std::move(one.source));
  input.events = std::move(one.events);
  for (const muster::Finding& finding : muster::explain(input).findings) {
    MUSTER_CHECK(muster::cause_row(finding.cause).allows(finding.severity), "as its cause allows");
    MUSTER_CHECK(finding.evidence.size() <= muster::limits::kEvidenceLines, "bounded");
  }
  return 0;
}
