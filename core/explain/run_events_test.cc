#include "core/explain/run_events.h"

#include <gtest/gtest.h>

#include "core/explain/explain_test_kit.h"

namespace muster {
namespace {

std::string texts(const std::vector<LogEvent>& events) {
  std::string out;
  for (const LogEvent& event : events) out += event.text;
  return out;
}

TEST(RunEvents, TheGravestAndTheEarliestStayInTheirOrder) {
  const auto pile = [] {
    Pile p;
    p.line("x", harmless_message, EventRole::benign, "a").at(1);
    p.root(gpu_oom, "b").at(50);
    p.cascade("c").at(20);
    p.root(gpu_oom, "d").at(9);
    p.cascade("e").at(3);
    p.root(gpu_oom, "f");
    p.root(one_rank_long_work, "g").at(2);
    return p.input.events;
  };
  struct Row {
    std::size_t most;
    const char* left;
    bool grave;
  };
  for (const Row& row :
       {Row{9, "abcdefg", false}, Row{7, "abcdefg", false}, Row{6, "bcdefg", false},
        Row{5, "bdefg", false}, Row{4, "bdfg", false}, Row{3, "bdf", true}, Row{2, "bd", true},
        Row{1, "d", true}, Row{0, "", true}}) {
    auto events = pile(), more = std::vector<LogEvent>(events.begin() + 4, events.end());
    events.resize(4);
    const LeftOut out = keep_gravest({&events, &more}, row.most);
    EXPECT_EQ(texts(events) + texts(more), row.left) << row.most;
    EXPECT_EQ(out.events, 7 - events.size() - more.size()) << row.most;
    EXPECT_EQ(out.grave, row.grave) << row.most;
  }
}

}  // namespace
}  // namespace muster
