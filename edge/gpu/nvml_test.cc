#include "edge/gpu/nvml.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>

#include "edge/os/clock.h"

namespace muster {
namespace {

struct Kept final : TelemetrySink {
  std::map<int, std::map<Metric, Reading>> rows;
  std::map<int, std::string> uuids;
  std::vector<NoteKind> notes;
  void row(const TelemetryRow& row) override {
    uuids[*row.key.index] = row.key.uuid;
    for (const auto& r : row.readings) rows[*row.key.index][r.metric] = r.reading;
  }
  void note(const TelemetryNote& note) override { notes.push_back(note.kind); }
};

class Nvml : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "muster_nvml_" +
            testing::UnitTest::GetInstance()->current_test_info()->name();
    setenv("MUSTER_FAKE_NVML", path_.c_str(), 1);
  }
  void TearDown() override { std::remove(path_.c_str()); }
  // Eight GPUs; GPU 3 has `odd` behind its line.
  void scenario(const std::string& odd, const std::string& head = "init 0") {
    std::ofstream out(path_ + ".new");
    out << head << "\n";
    for (int i = 0; i < 8; ++i) {
      out << "gpu uuid=GPU-" << i << " pci=00000000:1" << i << ":00.0 name=H100 power=" << 600 + i
          << " limit=700 reasons=4 util=100 memory=1024 clock=1980 " << (i == 3 ? odd : "") << "\n";
    }
    out.close();
    std::rename((path_ + ".new").c_str(), path_.c_str());
  }
  static std::unique_ptr<TelemetrySource> open() { return *open_nvml({.library = FAKE_NVML}); }
  static Status read(TelemetrySource& s, Kept& kept, int ms = 5000) {
    kept = {};
    return s.read(system_clock().mono() + std::chrono::milliseconds(ms), kept);
  }
  std::string path_;
};

TEST_F(Nvml, EightHealthy) {
  scenario("");
  const auto source = open();
  Kept kept;
  ASSERT_TRUE(read(*source, kept));
  ASSERT_EQ(kept.rows.size(), 8U);
  EXPECT_TRUE(kept.notes.empty());
  EXPECT_EQ(kept.uuids[5], "GPU-5");
  EXPECT_DOUBLE_EQ(kept.rows[5][Metric::power_w].value(), 605);
  EXPECT_DOUBLE_EQ(kept.rows[5][Metric::throttle_mask].value(), 4);
  EXPECT_EQ(kept.rows[5][Metric::recovery_action].absence(), Absence::unsupported);
}

TEST_F(Nvml, FaultOfOneLeavesTheOthers) {
  const struct {
    const char* odd;
    Absence why;
    std::size_t notes;
  } kRows[] = {
      {"fail=15@1", Absence::lost, 1},           {"handle=15@1", Absence::lost, 1},
      {"handle=999@1", Absence::read_error, 1},  {"fail=16@1", Absence::needs_reset, 0},
      {"handle=16@1", Absence::needs_reset, 0},  {"util.fail=999@1", Absence::read_error, 0},
      {"util.fail=4@1", Absence::permission, 0}, {"util.fail=3@1", Absence::unsupported, 0},
      {"mig=1 util.fail=3@1", Absence::mig, 0}};
  for (const auto& row : kRows) {
    SCOPED_TRACE(row.odd);
    scenario(row.odd);
    const auto source = open();
    Kept kept;
    ASSERT_TRUE(read(*source, kept));
    EXPECT_TRUE(kept.rows[3][Metric::util_gpu_percent].has_value());
    ASSERT_TRUE(read(*source, kept));
    EXPECT_EQ(kept.rows[3][Metric::util_gpu_percent].absence(), row.why);
    EXPECT_EQ(kept.notes.size(), row.notes);
    EXPECT_DOUBLE_EQ(kept.rows[7][Metric::power_w].value(), 607);
  }
}

TEST_F(Nvml, HangKeepsTheDeadlineAndRecovers) {
  scenario("");
  const auto source = open();
  Kept kept;
  ASSERT_TRUE(read(*source, kept));
  scenario("hang=power");
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(read(*source, kept, 200));
    EXPECT_EQ(kept.rows[3][Metric::power_w].absence(), Absence::timeout);
    EXPECT_EQ(kept.uuids[3], "GPU-3");
    EXPECT_EQ(kept.notes, std::vector{NoteKind::reader_stuck});
    EXPECT_TRUE(kept.rows[7][Metric::power_w].has_value());
  }
  scenario("");
  for (int i = 0; i < 50 && !kept.notes.empty(); ++i) ASSERT_TRUE(read(*source, kept, 200));
  EXPECT_DOUBLE_EQ(kept.rows[3][Metric::power_w].value(), 603);
}

TEST_F(Nvml, DestructionDoesNotWaitForAStuckReader) {
  scenario("hang=power");
  Kept kept;
  EXPECT_TRUE(read(*open(), kept, 100));
  scenario("");
}

TEST_F(Nvml, MismatchThenReopened) {
  scenario("", "init 18");
  const auto source = open();
  Kept kept;
  EXPECT_EQ(read(*source, kept).error().code, Errc::unavailable);
  EXPECT_EQ(kept.notes, std::vector{NoteKind::driver_mismatch});
  scenario("");
  EXPECT_TRUE(read(*source, kept));
  EXPECT_EQ(kept.rows.size(), 8U);
}

TEST_F(Nvml, RenumberedGpusKeepTheirUuid) {
  scenario("");
  const auto source = open();
  Kept kept;
  ASSERT_TRUE(read(*source, kept));
  std::ofstream(path_) << "gpu uuid=GPU-7 power=607\n";
  ASSERT_TRUE(read(*source, kept));
  EXPECT_EQ(kept.rows.size(), 1U);
  EXPECT_EQ(kept.uuids[0], "GPU-7");
}

TEST_F(Nvml, StartRefused) {
  const std::pair<const char*, NoteKind> kRows[] = {{"init 9", NoteKind::driver_missing},
                                                    {"init 4", NoteKind::device_access},
                                                    {"init 999", NoteKind::device_access},
                                                    {"init 17", NoteKind::source_error}};
  for (const auto& [head, note] : kRows) {
    SCOPED_TRACE(head);
    scenario("", head);
    Kept kept;
    EXPECT_EQ(read(*open(), kept).error().code, Errc::unavailable);
    EXPECT_EQ(kept.notes, std::vector{note});
  }
}

TEST_F(Nvml, MissingLibrary) {
  EXPECT_EQ(open_nvml({.library = "libno-such-nvml.so.1"}).error().code, Errc::unsupported);
}

TEST_F(Nvml, CostOfOneRead) {
  scenario("");
  const auto source = open();
  Kept kept;
  const std::clock_t before = std::clock();
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(read(*source, kept));
  RecordProperty("cpu_us",
                 std::to_string((std::clock() - before) * 1000000 / CLOCKS_PER_SEC / 1000));
  std::printf("cpu us per read: %ld\n", (std::clock() - before) / 1000);
}

}  // namespace
}  // namespace muster
