#include "edge/store/history.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <set>

#include "tests/support/shell.h"

namespace muster {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using testing_support::TemporaryFolder;

const WallTime kStart = wall_from_ns(1'785'592'925'000'000'000);

struct Kept {
  std::int64_t at_ns;
  std::string host;
  int gpu;
  std::size_t readings;
  double power;
};

class Collect final : public TelemetrySink {
 public:
  void row(const TelemetryRow& r) override {
    rows.push_back({wall_to_ns(*r.at), std::string(r.key.host), r.key.index.value_or(-1),
                    r.readings.size(), r.readings.empty() ? -1 : r.readings[0].reading.value()});
  }
  void note(const TelemetryNote&) override { ++notes; }
  std::vector<Kept> rows;
  int notes = 0;
};

void add(History& history, int second, int gpu, double power) {
  const MetricReading readings[] = {
      {Metric::power_w, Reading::of(power)},
      {Metric::util_gpu_percent, Reading::absent(Absence::unsupported)}};
  TelemetryRow row;
  row.key.host = "n1";
  const std::string uuid = "GPU-" + std::to_string(gpu);
  row.key.uuid = uuid;
  row.key.index = gpu;
  row.readings = readings;
  history.add(row, kStart + seconds(second));
}

std::unique_ptr<History> open(const std::string& path, std::uint64_t max_bytes = 1 << 30) {
  auto history = History::open({path, hours(1), max_bytes});
  EXPECT_TRUE(history.has_value()) << (history ? "" : history.error().context);
  return history ? std::move(*history) : nullptr;
}

std::vector<Kept> all(History& history) {
  Collect out;
  EXPECT_TRUE(history.read(kStart - hours(1000), kStart + hours(1000), out).has_value());
  return out.rows;
}

TEST(History, ComesBackAfterReopening) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/h.db";
  for (int round = 0; round < 2; ++round) {
    const auto history = open(path);
    EXPECT_TRUE(history->notes().empty());
    for (int gpu = 0; gpu < 8; ++gpu) add(*history, round, gpu, 100 + gpu + 0.25);
    ASSERT_TRUE(history->commit(kStart).has_value());
  }
  const auto history = open(path);
  const auto rows = all(*history);
  ASSERT_EQ(rows.size(), 16U);
  EXPECT_EQ(rows[9].at_ns, wall_to_ns(kStart + seconds(1)));
  EXPECT_EQ(rows[9].gpu, 1);
  EXPECT_EQ(rows[9].host, "n1");
  EXPECT_EQ(rows[9].power, 101.25);
  EXPECT_EQ(rows[9].readings, 2U);
  Collect part;
  ASSERT_TRUE(history->read(kStart, kStart + seconds(1), part).has_value());
  EXPECT_EQ(part.rows.size(), 8U);
  struct stat info{};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
}

TEST(History, RetentionByAge) {
  const TemporaryFolder folder;
  const auto history = open(folder.path() + "/h.db");
  for (int s = 0; s < 7200; s += 600) add(*history, s, 0, 1);
  ASSERT_TRUE(history->commit(kStart + seconds(7200)).has_value());
  ASSERT_TRUE(history->commit(kStart + seconds(7200)).has_value());
  const auto rows = all(*history);
  ASSERT_EQ(rows.size(), 6U);
  EXPECT_EQ(rows[0].at_ns, wall_to_ns(kStart + seconds(3600)));
}

TEST(History, RetentionBySize) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/h.db";
  constexpr std::uint64_t kMax = 256 * 1024;
  const auto history = open(path, kMax);
  for (int s = 0; s < 3000; ++s) {
    for (int gpu = 0; gpu < 8; ++gpu) add(*history, s, gpu, 300.1 + s);
    if (s % 100 == 99) {
      ASSERT_TRUE(history->commit(kStart + seconds(s)).has_value());
    }
  }
  const auto rows = all(*history);
  ASSERT_GT(rows.size(), 1000U);
  EXPECT_LT(rows.size(), 12000U);
  EXPECT_EQ(rows.back().at_ns, wall_to_ns(kStart + seconds(2999)));
  struct stat info{};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_LT(info.st_size, static_cast<off_t>(2 * kMax));
}

TEST(History, AKilledWriterLosesOnlyWhatItHadNotCommitted) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/h.db";
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    auto history = History::open({path, hours(1000)});
    for (int s = 0; history && s < 1'000'000; ++s) {
      for (int gpu = 0; gpu < 8; ++gpu) add(**history, s, gpu, s);
      if (!(*history)->commit(kStart).has_value()) _exit(1);
      if (write(pipe_ends[1], &s, sizeof s) != sizeof s) _exit(1);
    }
    _exit(2);
  }
  int committed = 0;
  while (committed < 50) {
    ASSERT_EQ(read(pipe_ends[0], &committed, sizeof committed),
              static_cast<ssize_t>(sizeof committed));
  }
  kill(child, SIGKILL);  // in the middle of whatever it writes now
  int how = 0;
  waitpid(child, &how, 0);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
  ASSERT_TRUE(WIFSIGNALED(how));
  const auto history = open(path);
  const auto rows = all(*history);
  EXPECT_EQ(rows.size() % 8, 0U);  // whole transactions
  EXPECT_GE(rows.size(), 8U * 51);
  add(*history, 2'000'000, 0, 1);
  EXPECT_TRUE(history->commit(kStart).has_value());
}

TEST(History, AFullDiskIsAnErrorAndLaterItGoesOn) {
  const TemporaryFolder folder;
  const auto history = open(folder.path() + "/h.db");
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 64 * 1024;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  bool failed = false;
  int s = 0;
  for (; s < 1000 && !failed; ++s) {
    for (int gpu = 0; gpu < 8; ++gpu) add(*history, s, gpu, s);
    const Status status = history->commit(kStart);
    failed = !status.has_value();
    if (failed) {
      EXPECT_TRUE(status.error().code == Errc::exhausted ||
                  status.error().code == Errc::unavailable);
      EXPECT_NE(status.error().context.find("h.db"), std::string::npos);
    }
  }
  EXPECT_FALSE(history->commit(kStart).has_value());
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  ASSERT_TRUE(failed);
  const Status later = history->commit(kStart);
  EXPECT_TRUE(later.has_value()) << later.error().context;
  EXPECT_EQ(all(*history).size(), static_cast<std::size_t>(8 * s));
  EXPECT_EQ(history->dropped(), 0U);
}

TEST(History, FilesThatAreNoHistory) {
  const TemporaryFolder folder;
  const std::string good = folder.path() + "/good.db";
  open(good).reset();
  const std::string text = testing_support::file_text(good);
  std::string newer = text, other = text;
  newer[63] = 99;  // user_version, big endian at 60
  other[68] = 1;   // application_id at 68
  std::string torn = text;
  for (std::size_t i = 100; i < torn.size(); ++i) torn[i] = '\x5a';
  struct Row {
    const char* name;
    std::string path;
    Errc code;
  };
  const Row rows[] = {
      {"text", folder.write("t.db", std::string(5000, 'x')), Errc::corrupt},
      {"newer", folder.write("n.db", newer), Errc::unsupported},
      {"other", folder.write("o.db", other), Errc::invalid_input},
      {"torn", folder.write("z.db", torn), Errc::corrupt},
      {"no folder", folder.path() + "/none/h.db", Errc::not_found},
  };
  for (const Row& row : rows) {
    const auto history = History::open({row.path});
    ASSERT_FALSE(history.has_value()) << row.name;
    EXPECT_EQ(history.error().code, row.code) << row.name << ": " << history.error().context;
  }
}

TEST(History, NetworkFileSystemsHaveNoSharedMemory) {
  EXPECT_TRUE(has_shared_memory(0xef53));       // ext4
  EXPECT_TRUE(has_shared_memory(0x01021994));   // tmpfs
  EXPECT_FALSE(has_shared_memory(0x6969));      // NFS
  EXPECT_FALSE(has_shared_memory(0xff534d42));  // CIFS
  EXPECT_FALSE(has_shared_memory(0xfe534d42));  // SMB2
}

}  // namespace
}  // namespace muster
