#include "edge/net/exporter_source.h"

#include <gtest/gtest.h>

#include <vector>

#include "edge/net/raw_server.h"
#include "edge/os/clock.h"

namespace muster {
namespace {

class Collected final : public TelemetrySink {
 public:
  void row(const TelemetryRow& row) override {
    at.push_back(row.at.value_or(WallTime{}));
    for (const MetricReading& r : row.readings) {
      if (r.metric == Metric::power_w) power_w.push_back(r.reading.value_or(-1));
    }
  }
  void note(const TelemetryNote&) override { ++notes; }
  std::vector<WallTime> at;
  std::vector<double> power_w;
  int notes = 0;
};

Status read_from(RawServer& server, Collected& out) {
  auto source = make_exporter_source("n1", Url{"127.0.0.1", server.port(), "/metrics"});
  EXPECT_EQ(source->name(), "n1");
  return source->read(system_clock().mono() + std::chrono::seconds(20), out);
}

TEST(ExporterSource, RowsHaveTheTimeOfTheAnswer) {
  RawServer server(
      "HTTP/1.1 200 OK\r\n\r\n"
      "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"n1\"} 412.5\n");
  const WallTime before = system_clock().wall();
  Collected out;
  const Status status = read_from(server, out);
  ASSERT_TRUE(status.has_value()) << status.error().context;
  ASSERT_EQ(out.power_w, std::vector<double>{412.5});
  ASSERT_EQ(out.at.size(), 1u);
  EXPECT_GE(out.at[0], before);
  EXPECT_LE(out.at[0], system_clock().wall());
}

TEST(ExporterSource, AFailedFetchGivesNoRows) {
  RawServer server("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n");
  Collected out;
  const Status status = read_from(server, out);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, Errc::unavailable);
  EXPECT_TRUE(out.at.empty());
}

TEST(ExporterSource, APageWithoutAnyGpuIsNoSuccess) {
  for (const std::string body :
       {"", "go_gc_duration_seconds 1\nprocess_cpu_seconds_total 2\n",
        "<!DOCTYPE html><html><body><form>Log in</form></body></html>\n"}) {
    RawServer server("HTTP/1.1 200 OK\r\n\r\n" + body);
    Collected out;
    const Status status = read_from(server, out);
    ASSERT_FALSE(status.has_value()) << body;
    EXPECT_EQ(status.error().code, Errc::invalid_input);
    EXPECT_TRUE(out.at.empty());
  }
}

}  // namespace
}  // namespace muster
