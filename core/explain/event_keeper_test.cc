#include "core/explain/event_keeper.h"

#include <gtest/gtest.h>

#include "base/limits.h"

namespace muster {
namespace {

LogEvent event(std::string rule, std::uint64_t line, EventRole role = EventRole::root) {
  LogEvent out;
  out.rule = std::move(rule);
  out.role = role;
  out.line = line;
  out.last.at = wall_from_ns(static_cast<std::int64_t>(line));
  return out;
}

TEST(EventKeeper, RepeatsAreCountedInTheLast) {
  EventKeeper keeper;
  for (std::uint64_t line = 1; line <= 100; ++line) keeper.add(event("a", line));
  LogEvent folded = event("a", 101);
  folded.repeats = 5;
  keeper.add(folded);
  const auto events = keeper.take();
  ASSERT_EQ(events.size(), limits::kLogEventsOfRule);
  EXPECT_EQ(events.back().line, limits::kLogEventsOfRule);
  EXPECT_EQ(events.back().repeats, 100 - limits::kLogEventsOfRule + 6);
  EXPECT_EQ(events.back().last.at, wall_from_ns(101));
  EXPECT_EQ(events.front().repeats, 0u);
}

TEST(EventKeeper, EachRankHostProcessAndSubjectIsItsOwn) {
  EventKeeper keeper;
  for (std::uint64_t line = 1; line <= 100; ++line) {
    LogEvent one = event("a", line);
    if (line % 5 == 0) one.rank = 0;
    if (line % 5 == 1) one.host = "n1";
    if (line % 5 == 2) one.pid = 7;
    if (line % 5 == 3) one.subject = {CulpritKind::gpu, "0"};
    keeper.add(one);
  }
  const auto events = keeper.take();
  EXPECT_EQ(events.size(), 5 * limits::kLogEventsOfRule);
  for (std::size_t i = 1; i < events.size(); ++i) EXPECT_LT(events[i - 1].line, events[i].line);
}

TEST(EventKeeper, OfContextTheFirstAndTheNewestStay) {
  EventKeeper keeper;
  constexpr std::uint64_t kLines = 1000;
  for (std::uint64_t line = 1; line <= kLines; ++line) {
    keeper.add(event("a", line, EventRole::context));
  }
  const auto events = keeper.take();
  ASSERT_EQ(events.size(), limits::kLogEventsOfContext);
  EXPECT_EQ(events[limits::kLogEventsOfRule - 1].line, limits::kLogEventsOfRule);
  EXPECT_EQ(events.back().line, kLines);
  EXPECT_EQ(events[limits::kLogEventsOfRule].line,
            kLines - (limits::kLogEventsOfContext - limits::kLogEventsOfRule) + 1);
}

TEST(EventKeeper, IsBounded) {
  EventKeeper keeper;
  for (std::uint64_t line = 1; line <= limits::kLogEvents + 3; ++line) {
    LogEvent one = event("a", line);
    one.pid = static_cast<std::int64_t>(line);
    keeper.add(std::move(one));
  }
  EXPECT_EQ(keeper.not_kept(), 3u);
  EXPECT_EQ(keeper.take().size(), limits::kLogEvents);
}

}  // namespace
}  // namespace muster
