#include "core/explain/host_clock.h"

#include <gtest/gtest.h>

#include "base/limits.h"
#include "core/explain/explain_test_kit.h"
#include "core/explain/scene.h"

namespace muster {
namespace {

constexpr double kHour = 3600;

// Two lines: whether the first of them is certainly before the second.
struct OrderRow {
  std::string name;
  std::function<void(Pile&)> build;  // events 0 and 1 are compared
  Order order;
};

Line line(Pile& p, std::string source) {
  p.source = std::move(source);
  return p.line("x", Cause::undetermined, EventRole::root);
}

const std::vector<OrderRow>& unsure_rows() {
  static const std::vector<OrderRow> kRows = {
      {"no stamps, two files",
       [](Pile& p) {
         line(p, "a");
         line(p, "b");
       },
       Order::unknown},
      {"two hosts, within their doubt",
       [](Pile& p) {
         line(p, "a").host("n1").at(0);
         line(p, "b").host("n2").at(290);
       },
       Order::unknown},
      {"one with a zone, one without",
       [](Pile& p) {
         line(p, "a").at(0).zone();
         line(p, "b").at(13 * kHour);
       },
       Order::unknown},
      {"boots of two hosts",
       [](Pile& p) {
         line(p, "a").host("n1").boot(1);
         line(p, "b").host("n2").boot(9000);
       },
       Order::unknown},
      {"one file, two hosts, one second",
       [](Pile& p) {
         line(p, "a").host("n1").at(5);
         line(p, "a").host("n2").at(5.5);
       },
       Order::unknown},
      {"put together of two: stamps go back",
       [](Pile& p) {
         line(p, "a").rank(1).at(5000);
         line(p, "a").rank(2).at(5010);
         line(p, "a").rank(2).at(1);
       },
       Order::unknown},
  };
  return kRows;
}

const std::vector<OrderRow>& sure_rows() {
  static const std::vector<OrderRow> kRows = {
      {"one file, no stamps",
       [](Pile& p) {
         line(p, "a");
         line(p, "a");
       },
       Order::before},
      {"one file, one of them without",
       [](Pile& p) {
         line(p, "a").at(5);
         line(p, "a");
       },
       Order::before},
      {"two hosts, beyond their doubt",
       [](Pile& p) {
         line(p, "a").host("n1").at(0);
         line(p, "b").host("n2").at(310);
       },
       Order::before},
      {"the same, the other way",
       [](Pile& p) {
         line(p, "a").host("n1").at(310);
         line(p, "b").host("n2").at(0);
       },
       Order::after},
      {"one host, two files",
       [](Pile& p) {
         line(p, "a").host("n1").at(0);
         line(p, "b").host("N1").at(2);
       },
       Order::before},
      {"put together, stamps far apart",
       [](Pile& p) {
         line(p, "a").rank(1).at(5000);
         line(p, "a").rank(2).at(1);
         line(p, "a").at(2);
       },
       Order::after},
      {"a rank late by seconds",
       [](Pile& p) {
         line(p, "a").rank(1).at(8).host("n1");
         line(p, "a").rank(1).at(1).host("n1");
       },
       Order::before},
  };
  return kRows;
}

const std::vector<OrderRow>& calendar_rows() {
  static const std::vector<OrderRow> kRows = {
      {"another year that was guessed",
       [](Pile& p) {
         line(p, "a").at(0);
         line(p, "b").at(366 * 24 * kHour + 600);
       },
       Order::before},
      {"a clock of the same day",
       [](Pile& p) {
         line(p, "a").clock(2 * kHour);
         line(p, "a").at(2.5 * kHour);
       },
       Order::before},
      {"a clock of another file",
       [](Pile& p) {
         line(p, "a").clock(2 * kHour);
         line(p, "b").at(3 * kHour);
       },
       Order::before},
      {"clocks over midnight",
       [](Pile& p) {
         line(p, "a").clock(23.9 * kHour);
         line(p, "b").at(24.5 * kHour);
       },
       Order::before},
      {"a boot that another line dates",
       [](Pile& p) {
         line(p, "a").host("n1").boot(100);
         line(p, "b").host("n1").at(500);
         line(p, "c").host("n1").boot(50).at(60);
       },
       Order::before},
  };
  return kRows;
}

void compare(const std::vector<OrderRow>& rows) {
  for (const OrderRow& row : rows) {
    SCOPED_TRACE(row.name);
    Pile pile;
    row.build(pile);
    const Scene scene(pile.input);
    EXPECT_EQ(scene.clock().order(0, 1), row.order);
    EXPECT_EQ(scene.clock().before(0, 1), scene.clock().order(1, 0) == Order::after);
  }
}

TEST(HostClock, OrderOfTwoLines) {
  compare(unsure_rows());
  compare(sure_rows());
  compare(calendar_rows());
}

TEST(HostClock, TheHourThatComesTwice) {
  Pile p;
  for (const double at : {1.5, 1.9, 1.1, 1.2, 1.6, 2.5}) {
    p.line("x", Cause::undetermined, EventRole::root).at(at * kHour).host("n1");
  }
  p.source = "other";
  p.line("x", Cause::undetermined, EventRole::root).at(2.4 * kHour).host("n2");
  p.source = "doubled";
  p.line("x", Cause::undetermined, EventRole::root).at(1.3 * kHour).host("n3");
  const Scene scene(p.input);
  EXPECT_TRUE(scene.clock().before(1, 2));
  EXPECT_TRUE(scene.clock().before(4, 5));
  EXPECT_EQ(*scene.clock().gap(1, 2), seconds_to_duration(0.2 * kHour));
  // The other host is past the change as well: 2.4 is 0.1 h before 2.5, after 1.6 of the second
  // run.
  EXPECT_TRUE(scene.clock().before(4, 6));
  EXPECT_TRUE(scene.clock().before(6, 5));
  // Within the doubled hour it is not known which of the two.
  EXPECT_EQ(scene.clock().order(1, 7), Order::unknown);
}

// Whatever the reader of the zone made of the hour that comes twice.
TEST(HostClock, TheHourThatComesTwiceInAToldZone) {
  struct Row {
    const char* name;
    double summer_until;  // stamps from then on were read as of winter
    bool sure;            // which hour it is in UTC
  };
  for (const Row& row :
       {Row{"all as of winter", -kHour, false}, Row{"all as of summer", 99 * kHour, false},
        Row{"summer until the hour", 2 * kHour, true},
        Row{"summer to its end", 3 * kHour - 1, true}}) {
    Pile p;
    p.source = "a";
    const double stamps[] = {1.5, 2.2, 2.9, 2.1, 2.8, 3.5};  // hours; the clock is set back once
    for (const double stamp : stamps) p.root(Cause::gpu_oom).host("n1").at(stamp * kHour);
    p.source = "b";
    p.root(Cause::gpu_oom).host("n2").at(0.4 * kHour).zone();   // 2.4 of summer
    p.root(Cause::gpu_oom).host("n2").at(1.45 * kHour).zone();  // 2.45 of winter
    const WallTime day = WallTime(std::chrono::hours(24 * 20'000));
    if (row.summer_until > 0) p.input.zones.push_back({"n1", std::chrono::hours(2), day, true});
    const WallTime from = day + seconds_to_duration(std::max(0.0, row.summer_until));
    if (row.summer_until < 4 * kHour)
      p.input.zones.push_back({"n1", std::chrono::hours(1), from, true});
    const Scene scene(p.input);
    for (std::size_t i = 0; i + 1 < std::size(stamps); ++i) {
      EXPECT_EQ(scene.clock().order(i, i + 1), Order::before) << row.name << i;
    }
    EXPECT_EQ(scene.clock().order(1, 6), row.sure ? Order::before : Order::unknown) << row.name;
    EXPECT_EQ(scene.clock().order(6, 2), row.sure ? Order::before : Order::unknown) << row.name;
    EXPECT_EQ(scene.clock().order(3, 7), row.sure ? Order::before : Order::unknown) << row.name;
    EXPECT_EQ(scene.clock().order(7, 4), row.sure ? Order::before : Order::unknown) << row.name;
  }
}

TEST(HostClock, OneLateLineIsNoChangeOfTheClock) {
  Pile p;
  for (const double at : {1.5, 1.9, 1.0, 1.95, 2.0}) {
    p.line("x", Cause::undetermined, EventRole::root).at(at * kHour).host("n1");
  }
  const Scene scene(p.input);
  EXPECT_EQ(*scene.clock().at(4) - *scene.clock().at(0), seconds_to_duration(0.5 * kHour));
}

TEST(HostClock, CollectivesTellTheOffsetOfTwoHosts) {
  Pile p;
  p.source = "a";
  p.timeout(0, 1000).host("n1");
  p.timeout(0, 1100, 701).host("n1");
  p.root(Cause::gpu_oom).rank(0).host("n1").at(400);
  p.source = "b";  // 200 s ahead
  p.timeout(8, 1200).host("n2");
  p.timeout(8, 1300, 701).host("n2");
  p.root(Cause::gpu_oom).rank(8).host("n2").at(500);
  const Scene scene(p.input);
  EXPECT_EQ(scene.clock().order(5, 2), Order::before);
}

// The job hung again at the same call, hours later, and the other host has only that log. Where
// nothing shows the two attempts, it may as well be the clock.
TEST(HostClock, AnotherAttemptTellsNoOffset) {
  for (const bool both : {false, true}) {
    Pile p;
    p.source = "a";
    p.timeout(0, 1000).host("n1");
    if (both) p.timeout(0, 1000 + 5 * kHour).host("n1");
    p.root(Cause::gpu_oom).rank(0).host("n1").at(900);
    p.source = "b";
    p.timeout(8, 1000 + 5 * kHour).host("n2");
    p.root(Cause::gpu_oom).rank(8).host("n2").at(300 + 5 * kHour);
    const Scene scene(p.input);
    const std::size_t first = both ? 2 : 1;
    EXPECT_EQ(scene.clock().order(first, first + 2), both ? Order::before : Order::unknown) << both;
  }
}

// Hosts that began one call, or ended one step, hours apart by their stamps: one of the clocks is
// wrong, and what no such moment confirms may be as wrong.
TEST(HostClock, ClocksThatWereSeenToBeWrongDecideNothing) {
  struct Row {
    const char* name;
    bool step, third;  // told by a step; compared with a host that nothing confirms
    double ahead;
    Order order;
  };
  for (const Row& row : {Row{"a call", false, false, 3 * kHour, Order::unknown},
                         Row{"a step", true, false, 3 * kHour, Order::unknown},
                         Row{"behind", true, false, -3 * kHour, Order::unknown},
                         Row{"another host", true, true, 3 * kHour, Order::unknown},
                         Row{"right by a step", true, false, 60, Order::before},
                         Row{"right, another host", true, true, 60, Order::before}}) {
    Pile p;
    for (int i = 0; i < 3; ++i) {
      p.source = "log" + std::to_string(i);
      const double at = 1000 + (i == 2 ? row.ahead : 0);
      const std::string host = "n" + std::to_string(i);
      if (row.step) {
        p.context("last_step").host(host).rank(i).at(at).word("step", "80");
      } else {
        p.timeout(i, at).host(host);
      }
    }
    p.source = "a";
    p.root(Cause::gpu_oom).host("n0").at(2000);
    p.source = "b";
    p.root(Cause::gpu_oom).host(row.third ? "n9" : "n2").at(2000 + 4 * kHour);
    const Scene scene(p.input);
    EXPECT_EQ(scene.clock().order(3, 4), row.order) << row.name;
  }
}

TEST(HostClock, AGuessedZoneDecidesNothing) {
  for (const bool told : {false, true}) {
    Pile p;
    line(p, "a").host("n1").at(0).zone();
    line(p, "b").host("n2").at(2 * kHour);
    p.input.zones.push_back({"", Duration::zero(), {}, told});
    EXPECT_EQ(Scene(p.input).clock().order(0, 1), told ? Order::before : Order::unknown);
  }
}

TEST(HostClock, AnOffsetHoldsFromItsTimeOn) {
  const WallTime day(std::chrono::hours(24 * 20'000));
  Pile p;
  line(p, "a").host("n1").at(10 * kHour);
  line(p, "b").host("n2").at(8.6 * kHour).zone();
  line(p, "b").host("n2").at(7.4 * kHour).zone();
  p.input.zones = {{"", std::chrono::hours(2), day, true},
                   {"", std::chrono::hours(1), day + std::chrono::hours(3), true}};
  const Scene scene(p.input);  // 10 h is 9 h of UTC
  EXPECT_EQ(scene.clock().order(1, 0), Order::before);
  EXPECT_EQ(*scene.clock().gap(1, 0), seconds_to_duration(0.4 * kHour) - limits::kClockSkew);
}

TEST(HostClock, TheOrderOfSourcesIsNothing) {
  Pile p;
  p.source = "b";
  p.root(Cause::gpu_oom).at(5);
  p.source = "a";
  p.root(Cause::gpu_oom).at(5);
  Pile turned;
  turned.input.events = {p.input.events[1], p.input.events[0]};
  const Scene one(p.input), two(turned.input);
  EXPECT_EQ(one.event(one.sorted()[0]).source, two.event(two.sorted()[0]).source);
}

}  // namespace
}  // namespace muster
