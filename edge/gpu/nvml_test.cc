#include "edge/gpu/nvml.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <optional>
#include <system_error>

#include "edge/os/clock.h"

namespace muster {
namespace {

struct Kept final : TelemetrySink {
  std::map<int, std::map<Metric, Reading>> rows;
  std::map<int, std::string> uuids, pcis;
  std::vector<NoteKind> notes;
  void row(const TelemetryRow& row) override {
    uuids[*row.key.index] = row.key.uuid;
    pcis[*row.key.index] = row.key.pci;
    for (const auto& r : row.readings) rows[*row.key.index][r.metric] = r.reading;
  }
  void note(const TelemetryNote& note) override { notes.push_back(note.kind); }
};

class Nvml : public testing::Test {
 protected:
  // Once, and never changed: a reader that a test left behind still looks at it.
  static void SetUpTestSuite() { setenv("MUSTER_FAKE_NVML", path().c_str(), 1); }
  static const std::string& path() {
    static const std::string& kPath =
        *new std::string(testing::TempDir() + "muster_nvml_" + std::to_string(getpid()));
    return kPath;
  }
  void TearDown() override { std::remove(path().c_str()); }
  // Eight GPUs; GPU 3 has `odd` behind its line.
  static void scenario(const std::string& odd, const std::string& head = "init 0", int count = 8) {
    std::string text = head + "\n";
    for (int i = 0; i < count; ++i) {
      const std::string n = std::to_string(i);
      text += "gpu uuid=GPU-" + n + " pci=00000000:1" + n + ":00.0 name=H100 power=60" + n +
              " limit=700 reasons=4 util=100 memory=1024 clock=1980 " + (i == 3 ? odd : "") + "\n";
    }
    write(text);
  }
  static void write(const std::string& text) {
    std::ofstream(path() + ".new") << text;
    std::rename((path() + ".new").c_str(), path().c_str());
  }
  static std::unique_ptr<TelemetrySource> open() { return *open_nvml({.library = FAKE_NVML}); }
  static Status read(TelemetrySource& s, Kept& kept, int ms = 5000) {
    kept = {};
    return s.read(system_clock().mono() + std::chrono::milliseconds(ms), kept);
  }
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
  write("gpu uuid=GPU-7 power=607\n");
  ASSERT_TRUE(read(*source, kept));
  EXPECT_EQ(kept.rows.size(), 1U);
  EXPECT_EQ(kept.uuids[0], "GPU-7");
}

// A lost GPU that no longer says who it is keeps the name of its index, unless that has moved.
TEST_F(Nvml, LossIsTheRightBoards) {
  const struct {
    const char *odd, *uuid, *pci;
    std::size_t notes;
  } kRows[] = {{"handle=15", "GPU-3", "0000:13:00.0", 1},
               {"handle=999", "GPU-3", "0000:13:00.0", 1},
               {"handle=16", "GPU-3", "0000:13:00.0", 0},
               {"fail=15", "GPU-3", "0000:13:00.0", 1},
               {"handle=15 MOVED", "", "", 1}};
  for (const auto& row : kRows) {
    SCOPED_TRACE(row.odd);
    scenario("");
    const auto source = open();
    Kept kept;
    ASSERT_TRUE(read(*source, kept));
    scenario(row.odd);
    if (std::string_view(row.odd).ends_with("MOVED")) {
      write("gpu uuid=GPU-3 power=603\ngpu\ngpu\ngpu handle=15\n");
    }
    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE(read(*source, kept));
      EXPECT_EQ(kept.uuids[3], row.uuid);
      EXPECT_EQ(kept.pcis[3], row.pci);
      EXPECT_EQ(kept.notes, std::vector(row.notes, NoteKind::gpu_lost));
    }
  }
}

TEST_F(Nvml, StuckReaderIsNeverDoubled) {
  scenario("");
  std::atomic<int> threads = 0;
  const auto source = *open_nvml({.library = FAKE_NVML, .start_thread = [&](auto run) {
                                    ++threads;
                                    return std::thread(run);
                                  }});
  Kept kept;
  ASSERT_TRUE(read(*source, kept));
  EXPECT_EQ(threads, 9);
  scenario("hang=power");
  ASSERT_TRUE(read(*source, kept, 100));
  for (int i = 0; i < 3; ++i) {
    scenario("", "init 0", 3);
    ASSERT_TRUE(read(*source, kept, 100));
    EXPECT_EQ(kept.rows.size(), 3U);
    scenario("hang=power");
    ASSERT_TRUE(read(*source, kept, 100));
    EXPECT_EQ(kept.rows[3][Metric::power_w].absence(), Absence::timeout);
  }
  EXPECT_EQ(threads, 9);
  scenario("");
}

TEST_F(Nvml, ThreadThatCannotStartIsAnAbsence) {
  scenario("");
  std::atomic<int> left = 4;  // the session and GPUs 0 to 2
  const auto source = *open_nvml({.library = FAKE_NVML, .start_thread = [&](auto run) {
                                    if (left == 0)
                                      throw std::system_error(EAGAIN, std::generic_category());
                                    --left;
                                    return std::thread(run);
                                  }});
  Kept kept;
  ASSERT_TRUE(read(*source, kept));
  EXPECT_TRUE(kept.rows[2][Metric::power_w].has_value());
  EXPECT_EQ(kept.rows[3][Metric::power_w].absence(), Absence::read_error);
  EXPECT_EQ(kept.notes, std::vector(5, NoteKind::source_error));
  left = 5;
  ASSERT_TRUE(read(*source, kept));
  EXPECT_TRUE(kept.rows[7][Metric::power_w].has_value());
  EXPECT_TRUE(kept.notes.empty());
}

TEST_F(Nvml, NoThreadAtAll) {
  const auto source =
      *open_nvml({.library = FAKE_NVML, .start_thread = [](const auto&) -> std::thread {
                    throw std::system_error(EAGAIN, std::generic_category());
                  }});
  Kept kept;
  EXPECT_EQ(read(*source, kept).error().code, Errc::unavailable);
  EXPECT_EQ(kept.notes, std::vector{NoteKind::source_error});
}

// A newer driver's calls are taken before the older ones, which have other values here.
TEST_F(Nvml, DriverOldAndNew) {
  const std::string words =
      "average=500.5 instant=900 recovery=2 memory_v2=512 events=8 temperature_v=61 temperature=60 "
      "default_limit=650 energy=12 pstate=2 pcie_gen=4 pcie_gen_max=5 pcie_width=8 "
      "pcie_width_max=16 replays=7 ecc_corrected=5 ecc_uncorrected=6 remapped=9 ";
  using enum Metric;
  const struct {
    Metric metric;
    double fresh;
    std::optional<double> old;
  } kRows[] = {{power_w, 500.5, 603},     {power_instant_w, 900, {}},
               {recovery_action, 2, {}},  {mem_used_bytes, 512, 1024},
               {throttle_mask, 8, 4},     {temperature_c, 61, 60},
               {power_limit_w, 700, 700}, {power_default_limit_w, 650, {}},
               {energy_j, 12, {}},        {pstate, 2, {}},
               {pcie_gen, 4, {}},         {pcie_gen_max, 5, {}},
               {pcie_width, 8, {}},       {pcie_width_max, 16, {}},
               {pcie_replays, 7, {}},     {ecc_corrected, 5, {}},
               {ecc_uncorrected, 6, {}},  {remapped_uncorrected, 9, {}}};
  for (const bool fresh : {true, false}) {
    scenario(words, fresh ? "driver new" : "driver old");
    Kept kept;
    ASSERT_TRUE(read(*open(), kept));
    EXPECT_EQ(kept.pcis[3], fresh ? "00000000:13:00.0" : "0000:13:00.0");
    for (const auto& row : kRows) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(row.metric) << " new " << fresh);
      const Reading got = kept.rows[3][row.metric];
      const std::optional<double> want = fresh ? row.fresh : row.old;
      ASSERT_EQ(got.has_value(), want.has_value());
      if (want) {
        EXPECT_DOUBLE_EQ(got.value(), *want);
      } else {
        EXPECT_EQ(got.absence(), Absence::unsupported);
      }
    }
    EXPECT_FALSE(kept.rows[3].contains(power_smoothing));
  }
}

// 25 is a version of a struct that the library does not know; 2 a field that it does not know.
TEST_F(Nvml, FallsBackFromWhatTheLibraryDoesNotKnow) {
  scenario("memory_v2.fail=25 temperature_v.fail=25 temperature=60 average.fail=2", "driver new");
  Kept kept;
  ASSERT_TRUE(read(*open(), kept));
  EXPECT_DOUBLE_EQ(kept.rows[3][Metric::mem_used_bytes].value(), 1024);
  EXPECT_DOUBLE_EQ(kept.rows[3][Metric::temperature_c].value(), 60);
  EXPECT_DOUBLE_EQ(kept.rows[3][Metric::power_w].value(), 603);
}

TEST_F(Nvml, FirstSpellings) {
  scenario("");
  Kept kept;
  ASSERT_TRUE(read(**open_nvml({.library = FAKE_NVML_FIRST}), kept));
  EXPECT_EQ(kept.rows.size(), 8U);
  EXPECT_EQ(kept.pcis[5], "0000:15:00.0");
  EXPECT_DOUBLE_EQ(kept.rows[5][Metric::power_w].value(), 605);
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
