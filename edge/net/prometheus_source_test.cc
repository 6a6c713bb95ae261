#include "edge/net/prometheus_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "edge/net/raw_server.h"
#include "edge/os/clock.h"
#include "tests/support/shell.h"

namespace muster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class Collected final : public TelemetrySink {
 public:
  void row(const TelemetryRow& row) override {
    at.push_back(row.at.value_or(WallTime{}));
    for (const MetricReading& r : row.readings) {
      newest[r.metric] = r.reading.value_or(-1);
    }
  }
  void note(const TelemetryNote&) override { ++notes; }
  std::vector<WallTime> at;
  std::map<Metric, double> newest;
  int notes = 0;
};

MonoTime in(Duration patience) {
  return system_clock().mono() + patience;
}

std::string http(int status, std::string_view body) {
  return fmt::format("HTTP/1.1 {} X\r\nContent-Length: {}\r\n\r\n{}", status, body.size(), body);
}

Status read_once(const Url& base, TelemetrySink& out, Duration patience = seconds(20)) {
  return make_prometheus_source("p", base)->read(in(patience), out);
}

constexpr std::string_view kEmpty =
    R"({"status":"success","data":{"resultType":"vector","result":[]}})";

TEST(PrometheusSource, BadAnswersAreNamedErrors) {
  struct Row {
    std::string_view name;
    std::string bytes;
    Errc code;
    std::string_view words;
  };
  const std::string bad_data =
      R"({"status":"error","errorType":"bad_data","error":"invalid \u001b[31mparameter"})";
  const Row rows[] = {
      {"400", http(400, bad_data), Errc::invalid_input,
       "Prometheus refused (status 400): bad_data: invalid \\x1b[31mparameter"},
      {"422", http(422, R"({"status":"error","errorType":"execution","error":"too many samples"})"),
       Errc::invalid_input, "execution: too many samples"},
      {"503", http(503, R"({"status":"error","errorType":"timeout","error":"query timed out"})"),
       Errc::unavailable, "timeout: query timed out"},
      {"a gateway", http(502, "<h1>bad gateway</h1>"), Errc::unavailable, "status 502: <h1>bad"},
      {"an exporter", http(404, "404 page not found"), Errc::not_found, "no Prometheus server"},
      {"a wall", http(401, ""), Errc::permission, "status 401"},
      {"an error of status 200", http(200, bad_data), Errc::unavailable, "Prometheus: bad_data"},
      {"a page of HTML", http(200, "<html></html>"), Errc::unsupported, "not that of Prometheus"},
      {"nothing", http(200, ""), Errc::unsupported, "not that of Prometheus"},
      {"broken off", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", Errc::unavailable,
       "broke off"},
  };
  for (const Row& row : rows) {
    RawServer server(row.bytes);
    Collected out;
    const Status status = read_once(Url{"127.0.0.1", server.port(), "/"}, out);
    ASSERT_FALSE(status.has_value()) << row.name;
    EXPECT_EQ(status.error().code, row.code) << row.name << ": " << status.error().context;
    EXPECT_NE(status.error().context.find(row.words), std::string::npos)
        << row.name << ": " << status.error().context;
    EXPECT_LT(status.error().context.size(), 400u) << row.name;
    EXPECT_TRUE(out.at.empty()) << row.name;
  }
}

TEST(PrometheusSource, RefusedAndLateAreToldApart) {
  std::uint16_t port = 0;
  {
    port = RawServer("").port();
  }
  Collected out;
  const Status refused = read_once(Url{"127.0.0.1", port, "/"}, out);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().context.find("refused"), std::string::npos) << refused.error().context;
  EXPECT_LT(refused.error().context.size(), 200u) << refused.error().context;
  RawServer slow(http(200, kEmpty), milliseconds(100));
  const Status late = read_once(Url{"127.0.0.1", slow.port(), "/"}, out, milliseconds(300));
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().code, Errc::timeout) << late.error().context;
}

TEST(PrometheusSource, AnEmptyAnswerIsNoFailure) {
  RawServer server(http(200, kEmpty));
  Collected out;
  const Status status = read_once(Url{"127.0.0.1", server.port(), "/prometheus/"}, out);
  EXPECT_TRUE(status.has_value()) << status.error().context;
  EXPECT_TRUE(out.at.empty());
  EXPECT_EQ(out.notes, 0);
}

TEST(PrometheusSource, DamageInsideAnAnswerIsANote) {
  RawServer server(http(200, kEmpty.substr(0, kEmpty.size() - 3)));
  Collected out;
  EXPECT_TRUE(read_once(Url{"127.0.0.1", server.port(), "/"}, out).has_value());
  EXPECT_EQ(out.notes, 1);
}

TEST(PrometheusSource, WhatNamesAPage) {
  const std::pair<std::string_view, bool> rows[] = {
      {"http://p", false},
      {"http://p:9090", false},
      {"http://p:9090/", false},
      {"http://gw/prometheus/", false},
      {"http://n1:9400/metrics", true},
      {"http://n1:9400/metrics?x=/", true},
      {"http://n1:9400/?format=prometheus", true},
      {"http://p:9090/federate?match[]=up", true},
  };
  for (const auto& [text, page] : rows) {
    EXPECT_EQ(names_a_page(parse_url(text).value()), page) << text;
  }
}

TEST(PrometheusRange, BadRangesAskNobody) {
  struct Row {
    std::string_view name;
    std::int64_t from_ns, to_ns;
    Duration step;
    Errc code;
  };
  const std::int64_t s = 1'000'000'000;
  const Row rows[] = {
      {"no step", s, 2 * s, Duration(0), Errc::invalid_input},
      {"a step back", s, 2 * s, -seconds(1), Errc::invalid_input},
      {"a step too fine", s, 2 * s, Duration(999'999), Errc::invalid_input},
      {"ends before it begins", 2 * s, s, seconds(1), Errc::invalid_input},
      {"before 1970", -s, s, seconds(1), Errc::invalid_input},
      {"too long", 0, 11'000'000 * s, seconds(1), Errc::exhausted},
  };
  Collected out;
  for (const Row& row : rows) {
    const Status status =
        read_prometheus_range(Url{"127.0.0.1", 1, "/"}, wall_from_ns(row.from_ns),
                              wall_from_ns(row.to_ns), row.step, in(seconds(20)), out);
    ASSERT_FALSE(status.has_value()) << row.name;
    EXPECT_EQ(status.error().code, row.code) << row.name << ": " << status.error().context;
  }
}

// A server of the machine on a free port of loopback; killed and waited for at the end.
class RealPrometheus {
 public:
  explicit RealPrometheus(std::uint16_t scraped) {
    const std::string config = folder_.write(
        "p.yml", fmt::format("global: {{scrape_interval: 1s}}\nscrape_configs:\n"
                             "- job_name: n1\n  static_configs: [{{targets: ['127.0.0.1:{}']}}]\n",
                             scraped));
    {
      base_ = Url{"127.0.0.1", RawServer("").port(), "/"};
    }
    const std::string words[] = {"prometheus", "--config.file=" + config,
                                 "--storage.tsdb.path=" + folder_.path() + "/data",
                                 fmt::format("--web.listen-address=127.0.0.1:{}", base_.port)};
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    const std::string log = log_path();
    pid_ = fork();
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int out = open(log.c_str(), O_CREAT | O_WRONLY, 0600);
    dup2(out, 1);
    dup2(out, 2);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  ~RealPrometheus() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  RealPrometheus(const RealPrometheus&) = delete;
  RealPrometheus& operator=(const RealPrometheus&) = delete;
  const Url& base() const { return base_; }
  std::string log() const { return testing_support::file_text(log_path()); }

 private:
  std::string log_path() const { return folder_.path() + "/log"; }
  testing_support::TemporaryFolder folder_;
  Url base_;
  pid_t pid_ = -1;
};

TEST(PrometheusSource, ReadsARealServer) {
  const std::string reason = testing_support::reason_to_skip("prometheus");
  if (!reason.empty()) GTEST_SKIP() << reason;
  RawServer page(http(200,
                      "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"n1\"} 412.5\n"
                      "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"n1\"} 97\n"
                      "unknown_to_us{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"n1\"} 1\n"));
  const WallTime before = system_clock().wall();
  RealPrometheus prometheus(page.port());
  const MonoTime patience = in(seconds(30));
  Collected out;
  while (out.at.empty() && system_clock().mono() < patience) {
    (void)read_once(prometheus.base(), out, seconds(5));
    system_clock().sleep_until(in(milliseconds(100)), {});
  }
  ASSERT_EQ(out.at.size(), 1u) << prometheus.log();
  const std::map<Metric, double> expected = {{Metric::power_w, 412.5},
                                             {Metric::util_gpu_percent, 97}};
  EXPECT_EQ(out.newest, expected);
  EXPECT_GE(out.at[0], before - seconds(1));
  EXPECT_EQ(out.notes, 0);

  // 22,001 points of one millisecond are three chunks. The value stands from its first scrape on.
  Collected past;
  const WallTime to = out.at[0] + milliseconds(10000);
  const WallTime from = to - milliseconds(22000);
  const Status status =
      read_prometheus_range(prometheus.base(), from, to, milliseconds(1), in(seconds(30)), past);
  ASSERT_TRUE(status.has_value()) << status.error().context;
  EXPECT_EQ(past.newest, expected);
  ASSERT_FALSE(past.at.empty());
  EXPECT_EQ(past.at.back(), wall_from_ns(wall_to_ns(to) / 1'000'000 * 1'000'000));
  for (std::size_t i = 1; i < past.at.size(); ++i) {
    ASSERT_EQ(past.at[i] - past.at[i - 1], milliseconds(1)) << "no point twice, none lost";
  }
  EXPECT_GT(past.at.size(), 10000u);
}

}  // namespace
}  // namespace muster
