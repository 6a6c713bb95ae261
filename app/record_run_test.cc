#include "app/record_run.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <atomic>

#include "app/live_run.h"
#include "core/model/exit_status.h"
#include "core/model/report_json.h"
#include "edge/net/http_server.h"
#include "edge/os/clock.h"
#include "tests/support/fake_clock.h"
#include "tests/support/shell.h"

namespace muster {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using testing_support::file_text;
using testing_support::TemporaryFolder;

constexpr std::int64_t kStartMs = 1'780'000'000'000;

// An exporter with a story, one page a request, two seconds between them: two GPUs compute for a
// minute, then GPU 1 leaves and the other spins. Every value has its time.
class Exporter {
 public:
  Exporter() {
    auto started = HttpServer::start({}, [this](std::string_view) {
      return HttpReply{200, "text/plain; version=0.0.4", page(requests_++)};
    });
    EXPECT_TRUE(started);
    server_ = std::move(*started);
  }
  std::string url() const { return fmt::format("http://127.0.0.1:{}/metrics", server_->port()); }
  void begin_again() { requests_ = 0; }

 private:
  static std::string page(int k) {
    std::string out;
    for (const int gpu : {0, 1}) {
      const std::string key =
          fmt::format("{{gpu=\"{0}\",UUID=\"GPU-{0}\",modelName=\"NVIDIA B300 SXM6 AC\"}}", gpu);
      const std::int64_t at = kStartMs + 2000 * k;
      const bool works = k < 30;
      out += fmt::format("DCGM_FI_DEV_POWER_USAGE{} {:.2f} {}\n", key,
                         works ? 985.25 + k : 193.5 + gpu + 0.25 * (k % 7), at);
      out += fmt::format("DCGM_FI_DEV_GPU_UTIL{} {} {}\n", key, works || gpu == 0 ? 100 : 0, at);
    }
    return out;
  }
  std::atomic<int> requests_ = 0;
  std::unique_ptr<HttpServer> server_;
};

// Far ahead of the machine's clock: what waits for a real answer has its time.
FakeClock story_clock() {
  return FakeClock(wall_from_ns(kStartMs * 1'000'000), system_clock().mono() + hours(24));
}

std::string findings_of(const Report& report) {
  Report only;
  only.verb = report.verb;
  only.findings = report.findings;
  return encode_report(only);
}

RecordOptions options_for(const std::string& path) {
  RecordOptions out;
  out.path = path;
  out.interval = seconds(2);
  return out;
}

TEST(RecordRun, OfLiveSourcesHasTheFindingsOfTheSources) {
  const TemporaryFolder folder;
  Exporter exporter;
  const std::string log = folder.write(
      "train.log",
      "2026-05-28 20:26:40 step 1/4000 loss 0.7\n2026-05-28 20:27:30 step 2/4000 loss 0.6\n");
  TriageRequest request;
  request.sources = {"n1=" + exporter.url(), log};
  LiveOptions live;
  live.interval = seconds(2);
  live.length = seconds(600);
  live.follow = true;
  FakeClock clock = story_clock();
  const auto direct =
      triage_live(request, live, real_files(), clock, {}, [](const auto&) { return true; });
  ASSERT_TRUE(direct);
  ASSERT_FALSE(direct->report.findings.empty());
  EXPECT_EQ(direct->report.findings[0].cause, Cause::collective_hang);

  exporter.begin_again();
  FakeClock again = story_clock();
  RecordOptions options = options_for(folder.path() + "/run.zst");
  options.live = true;
  options.length = seconds(600);
  std::uint64_t shown = 0;
  options.progress = [&](const RecordProgress& p) { shown = p.rows; };
  const auto recorded = record_sources(request, options, real_files(), again);
  ASSERT_TRUE(recorded) << recorded.error().context;
  EXPECT_EQ(recorded->total.rows, 602u);
  EXPECT_EQ(shown, 602u);
  TriageRequest replay;
  replay.sources = {options.path};
  const auto replayed = triage_once(replay, real_files(), again);
  ASSERT_TRUE(replayed) << replayed.error().context;
  EXPECT_EQ(findings_of(replayed->report), findings_of(direct->report));
  for (const Blind& b : replayed->report.blind) ADD_FAILURE() << b.source << ": " << b.reason;
}

// A page without a GPU is blind beside others, and no input where it is alone.
TEST(LiveRun, APageWithoutAnyGpu) {
  Exporter good;
  const auto other = HttpServer::start({}, [](std::string_view path) {
    const bool page = path == "/metrics";
    return HttpReply{200, page ? "text/html" : "application/json",
                     page ? "<html><form>Log in</form></html>\n"
                          : R"({"status":"success","data":{"resultType":"vector","result":[]}})"};
  });
  ASSERT_TRUE(other.has_value());
  const std::string address = fmt::format("http://127.0.0.1:{}/", (*other)->port());
  for (const std::string& bad : {address + "metrics", address}) {
    LiveOptions options;
    options.length = seconds(1);
    FakeClock clock = story_clock();
    const auto go = [&](const std::vector<std::string>& sources) {
      TriageRequest request;
      request.sources = sources;
      return triage_live(request, options, real_files(), clock, {},
                         [](const auto&) { return true; });
    };
    const auto alone = go({bad});
    ASSERT_FALSE(alone.has_value()) << bad;
    EXPECT_EQ(exit_status_of(alone.error()), ExitStatus::no_input);
    const auto beside = go({"n1=" + good.url(), bad});
    ASSERT_TRUE(beside.has_value()) << beside.error().context;
    ASSERT_EQ(beside->report.blind.size(), 1u);
    EXPECT_EQ(beside->report.blind[0].source, bad);
    EXPECT_EQ(exit_status_of(beside->report), ExitStatus::cannot_tell);
  }
}

TEST(LiveRun, ADocumentIsToldAgainOnlyWhereItChanges) {
  TriageAnswer a, b;
  a.view.phase = Phase::compute;
  b.view.phase = Phase::waiting;
  EXPECT_EQ(answer_digest(a, false), answer_digest(b, false));
  EXPECT_NE(answer_digest(a, true), answer_digest(b, true));
  b.report.findings.emplace_back();
  EXPECT_NE(answer_digest(a, false), answer_digest(b, false));
}

TEST(RecordRun, OfFilesHasTheFindingsOfTheFiles) {
  const TemporaryFolder folder;
  const std::string demo = std::string(MUSTER_SOURCE_DIR) + "/testdata/demo/";
  for (const std::vector<std::string>& sources :
       {std::vector<std::string>{demo + "gpus.csv"},
        std::vector<std::string>{demo + "gpus.csv", demo + "train.log"}}) {
    TriageRequest request;
    request.sources = sources;
    FakeClock clock;
    RecordOptions options = options_for(folder.path() + "/run.zst");
    options.force = true;
    ASSERT_TRUE(record_sources(request, options, real_files(), clock));
    const auto direct = triage_once(request, real_files(), clock);
    // A recording of a recording is as good as the first.
    TriageRequest replay;
    replay.sources = {options.path};
    options.path = folder.path() + "/again.zst";
    ASSERT_TRUE(record_sources(replay, options, real_files(), clock));
    replay.sources = {options.path};
    const auto replayed = triage_once(replay, real_files(), clock);
    ASSERT_TRUE(direct && replayed);
    EXPECT_FALSE(direct->report.findings.empty());
    EXPECT_EQ(findings_of(replayed->report), findings_of(direct->report));
  }
}

// A note about a host stays one about that host.
TEST(RecordRun, NotesKeepTheirHost) {
  const TemporaryFolder folder;
  const std::string lost =
      "timestamp, index, power.draw [W]\n2026/11/30 06:00:00.000, 0, 500.00 W\n"
      "Unable to determine the device handle for GPU 0000:1B:00.0: Unknown Error\n";
  TriageRequest request;
  request.sources = {"n7=" + folder.write("a.csv", lost), "n8=" + folder.write("b.csv", lost)};
  FakeClock clock;
  const RecordOptions options = options_for(folder.path() + "/run.zst");
  ASSERT_TRUE(record_sources(request, options, real_files(), clock));
  const auto direct = triage_once(request, real_files(), clock);
  request.sources = {options.path};
  const auto replayed = triage_once(request, real_files(), clock);
  ASSERT_TRUE(direct && replayed);
  const std::string found = findings_of(direct->report);
  EXPECT_NE(found.find("n7"), std::string::npos) << found;
  EXPECT_NE(found.find("n8"), std::string::npos) << found;
  EXPECT_EQ(findings_of(replayed->report), found);
}

TEST(RecordRun, NothingIsLostWhereNothingCame) {
  struct Row {
    const char* name;
    std::vector<std::string> sources;
    bool live;
    const char* words;
  };
  const TemporaryFolder folder;
  const std::string old = folder.write("run.zst", "precious");
  const Row rows[] = {
      {"no file", {folder.path() + "/gone.csv"}, false, "gone.csv: No such file"},
      {"empty", {folder.write("empty.csv", "")}, false, "empty.csv: empty"},
      {"junk", {folder.write("junk", "junk\n")}, false, "neither GPU telemetry"},
      {"dead exporter", {"http://127.0.0.1:1/metrics"}, true, "127.0.0.1:1"},
      {"no such file yet", {folder.path() + "/gone.csv"}, true, "gone.csv: No such file"},
      {"bad url", {"http://"}, true, ""},
  };
  for (const Row& row : rows) {
    for (const std::string& path : {old, folder.path() + "/new.zst"}) {
      RecordOptions options = options_for(path);
      options.force = true;
      options.live = row.live;
      options.length = seconds(4);
      FakeClock clock = story_clock();
      const auto answer = record_sources({row.sources, {}, {}}, options, real_files(), clock);
      ASSERT_FALSE(answer) << row.name;
      EXPECT_NE(answer.error().context.find(row.words), std::string::npos)
          << row.name << ": " << answer.error().context;
      EXPECT_EQ(file_text(old), "precious") << row.name;
      EXPECT_FALSE(real_files().stat(folder.path() + "/new.zst")) << row.name;
      EXPECT_FALSE(real_files().stat(path + ".part")) << row.name;
    }
  }
}

// A source that dies is told once, and told again when it is back; what it said stays.
TEST(RecordRun, TellsOfSourcesThatGoBlind) {
  const TemporaryFolder folder;
  const std::string growing = folder.path() + "/later.csv";
  Exporter exporter;
  RecordOptions options = options_for(folder.path() + "/run.zst");
  options.live = true;
  options.length = seconds(10);
  std::vector<std::string> said;
  options.report = [&](std::string_view text) { said.emplace_back(text); };
  int rounds = 0;
  options.progress = [&](const RecordProgress& p) {
    EXPECT_EQ(p.blind, rounds < 2 ? 1u : 0u);
    if (++rounds == 2) {
      folder.write("later.csv", "time,host,index,power_w\n2026-05-28T20:26:40Z,n2,0,500\n");
    }
  };
  FakeClock clock = story_clock();
  const auto answer =
      record_sources({{exporter.url(), growing}, {}, {}}, options, real_files(), clock);
  ASSERT_TRUE(answer) << answer.error().context;
  EXPECT_TRUE(answer->summary.blind.empty());
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[0].find("not read: " + growing), 0u) << said[0];
  EXPECT_EQ(said[1], "read again: " + growing);
}

}  // namespace
}  // namespace muster
