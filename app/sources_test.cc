#include "app/sources.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <thread>

#include "app/live_set.h"
#include "tests/support/fake_clock.h"
#include "tests/support/memory_files.h"
#include "tests/support/shell.h"

namespace muster {
namespace {

using testing_support::TemporaryFolder;

class Collect final : public RowTarget, private ProgressSink {
 public:
  void row(const TelemetryRow& row, WallTime at, std::string_view source,
           std::string_view host) override {
    rows.push_back(fmt::format("{}:{}", source, row.line));
    ordered = ordered && at >= newest;
    newest = at;
    hosts.emplace(row.key.host.empty() ? host : row.key.host);
  }
  void note(const TelemetryNote&, std::string_view, std::string_view) override {}
  void begin_log(std::string_view source) override { logs.emplace(source); }
  ProgressSink& log() override { return *this; }

  std::vector<std::string> rows;
  std::set<std::string> hosts, logs;
  bool ordered = true;
  WallTime newest{};

 private:
  void step(const StepRecord&) override {}
  void event(const ProgressEvent&) override {}
};

std::string csv(int first_second, int seconds, int step = 1) {
  std::string out = "timestamp, index, power.draw [W]\n";
  for (int s = first_second; s < first_second + seconds; s += step) {
    out += fmt::format("2026/11/30 06:{:02}:{:02}.000, 0, 500.00 W\n", s / 60, s % 60);
  }
  return out;
}

std::string as_utf16(std::string_view text, bool big) {
  std::string out = big ? "\xfe\xff" : "\xff\xfe";
  for (const char c : text) {
    if (big) out += '\0';
    out += c;
    if (!big) out += '\0';
  }
  return out;
}

std::string make_pipe(const TemporaryFolder& folder) {
  std::string path = folder.path() + "/pipe";
  EXPECT_EQ(testing_support::run_shell("mkfifo " + testing_support::shell_word(path)).status, 0);
  return path;
}

Result<SourceSummary> read(const std::vector<std::string>& sources, Files& files, Collect& out,
                           std::stop_token stop = {}) {
  SourceOptions options;
  options.stop = std::move(stop);
  FakeClock clock;
  return read_sources(sources, options, files, clock, out);
}

TEST(Sources, AreMergedByTimeAndOfOneMomentInTheirOrder) {
  MemoryFiles files;
  files.add("a.csv", csv(1, 3));
  files.add("b.csv", csv(0, 4, 2));
  files.add("c.csv", csv(2, 1));
  Collect out;
  ASSERT_TRUE(read({"a.csv", "b.csv", "c.csv"}, files, out));
  const std::vector<std::string> expected = {"b.csv:2", "a.csv:2", "a.csv:3",
                                             "b.csv:3", "c.csv:2", "a.csv:4"};
  EXPECT_EQ(out.rows, expected);
}

// Two hosts of one zone show the hour twice, each in its own file.
TEST(Sources, GoOnWhereSummerTimeEnds) {
  const auto twice = csv(0, 3600, 10) + csv(0, 3600, 10).substr(csv(0, 0).size());
  MemoryFiles files;
  files.add("a.csv", twice);
  files.add("b.csv", twice);
  Collect out;
  const auto summary = read({"a.csv", "b.csv"}, files, out);
  ASSERT_TRUE(summary);
  EXPECT_TRUE(out.ordered);
  ASSERT_EQ(out.rows.size(), 1440u);
  EXPECT_EQ(out.rows[1438], "a.csv:721");
  EXPECT_EQ(out.rows[1439], "b.csv:721");
  EXPECT_NE(summary->notes[2].find("an hour twice"), std::string::npos) << summary->notes[2];
}

TEST(Sources, MayBeManyMoreThanAProcessMayHoldAtFirst) {
  const TemporaryFolder folder;
  for (int i = 0; i < 1100; ++i) folder.write(fmt::format("n{}.csv", i), csv(i % 7, 40));
  Collect out;
  const auto summary = read({folder.path()}, real_files(), out);
  ASSERT_TRUE(summary);
  EXPECT_TRUE(summary->blind.empty());
  EXPECT_EQ(summary->telemetry, 1100u);
  EXPECT_EQ(out.rows.size(), 1100u * 40);
  EXPECT_EQ(out.hosts.size(), 1100u);
  EXPECT_TRUE(out.ordered);
}

TEST(Sources, OfWindowsAreRead) {
  MemoryFiles files;
  for (const bool big : {false, true}) {
    files.add("a.csv", as_utf16(csv(0, 300), big));
    Collect out;
    ASSERT_TRUE(read({"a.csv"}, files, out));
    EXPECT_EQ(out.rows.size(), 300u);
    files.add("a.csv", as_utf16(csv(0, 300), big).substr(0, 7001));
    Collect cut;
    ASSERT_TRUE(read({"a.csv"}, files, cut));
    EXPECT_GT(cut.rows.size(), 50u);
  }
}

// Without a writer the opening of a pipe would wait for ever.
TEST(Sources, EndAtAStopAlsoInAPipeWithoutAWriter) {
  const TemporaryFolder folder;
  const std::string pipe = make_pipe(folder);
  std::stop_source stop;
  std::jthread later([&stop] { stop.request_stop(); });
  Collect out;
  const auto summary = read({pipe}, real_files(), out, stop.get_token());
  ASSERT_FALSE(summary);
  EXPECT_NE(summary.error().context.find("stopped before it was read"), std::string::npos);
}

TEST(Sources, OfAPipeAreReadToItsLastWriter) {
  const TemporaryFolder folder;
  const std::string pipe = make_pipe(folder);
  std::jthread writer([&] { folder.write("pipe", csv(0, 50)); });
  Collect out;
  ASSERT_TRUE(read({pipe}, real_files(), out));
  EXPECT_EQ(out.rows.size(), 50u);
}

struct Followed {
  Collect out;
  std::vector<Blind> blind;
};

Followed follow(const std::vector<std::string>& sources, Files& files, int rounds = 1,
                const std::function<void(int)>& between = {}) {
  Followed result;
  SourceOptions options;
  FakeClock clock;
  LiveSet set(sources, options, true, files, clock, result.out);
  EXPECT_TRUE(set.open());
  for (int i = 0; i < rounds; ++i) {
    set.poll(clock.mono());
    if (between) between(i);
  }
  result.blind = set.blind();
  return result;
}

// As files that are read once: alike and without a host they are told apart by their names.
TEST(LiveSet, NamesHostsByFiles) {
  MemoryFiles files;
  files.add("d/n1.csv", csv(0, 3));
  files.add("d/n2.csv", csv(0, 3));
  files.add("train.log", "step 1/100 loss 2.5\nstep 2/100 loss 2.4\n");
  using Names = std::set<std::string>;
  struct Row {
    const char* name;
    std::vector<std::string> sources;
    Names hosts;
  };
  const Row rows[] = {
      {"one", {"d/n1.csv"}, {""}},
      {"one beside a log", {"d/n1.csv", "train.log"}, {""}},
      {"two", {"d/n1.csv", "d/n2.csv"}, {"n1", "n2"}},
      {"two beside a log", {"d/n1.csv", "train.log", "d/n2.csv"}, {"n1", "n2"}},
      {"one is named", {"n7=d/n1.csv", "d/n2.csv"}, {"n7", ""}},
      {"one is not there yet", {"d/n1.csv", "later.csv"}, {"n1"}},
  };
  for (const Row& row : rows)
    EXPECT_EQ(follow(row.sources, files).out.hosts, row.hosts) << row.name;
  EXPECT_EQ(follow({"d/n1.csv", "train.log"}, files).out.logs, Names{"train.log"});
}

TEST(LiveSet, NeverWaitsForAPipe) {
  const TemporaryFolder folder;
  const std::string pipe = make_pipe(folder);
  EXPECT_TRUE(follow({pipe}, real_files(), 3).out.rows.empty());
  // The reader is there, so a writer does not wait either.
  const auto write = [&](int round) {
    if (round == 0 || round == 2) folder.write("pipe", csv(0, 5));
  };
  EXPECT_EQ(follow({pipe}, real_files(), 5, write).out.rows.size(), 10u);
}

TEST(LiveSet, FollowsFilesOfWindows) {
  MemoryFiles files;
  const std::string text = as_utf16(csv(0, 300), false);
  files.add("a.csv", text);
  EXPECT_EQ(follow({"a.csv"}, files).out.rows.size(), 300u);
}

}  // namespace
}  // namespace muster
