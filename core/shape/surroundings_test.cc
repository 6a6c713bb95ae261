#include "core/shape/surroundings.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "base/limits.h"
#include "base/text.h"

namespace muster::shape {
namespace {

Surroundings read(std::string_view text, const std::string& source = "notes.txt") {
  Surroundings out;
  SurroundingsReader reader(out, source);
  std::uint64_t number = 0;
  for (const std::string_view line : split(text, '\n')) reader.line(line, ++number);
  return out;
}

TEST(Surroundings, LinesThatSayNothing) {
  for (const char* line : {"",
                           "=",
                           "==",
                           "a=",
                           "=b",
                           "hello world",
                           "key",
                           ":",
                           "::",
                           "\x1b[31m",
                           "NCCL INFO",
                           "NCCL INFO NET/IB : No device found.",
                           ": NCCL INFO Using network Socket",
                           "restart",
                           "restarted the coffee machine",
                           "affinity list:",
                           "affinity list: x-y",
                           "affinity list: 5-2",
                           "[rank]: x",
                           "rank : x",
                           "rank=: y",
                           "SLURM_CPUS_PER_TASK=abc",
                           "world_size=many",
                           "no data here",
                           "thermal paste ordered",
                           "compile seconds: min x max y"}) {
    const Surroundings got = read(line);
    EXPECT_TRUE(got.hosts.empty()) << line;
    EXPECT_TRUE(got.restart_steps.empty()) << line;
    EXPECT_FALSE(got.cores) << line;
    EXPECT_TRUE(got.ranks.empty()) << line;
    EXPECT_FALSE(got.world_size) << line;
    EXPECT_FALSE(got.throttled) << line;
    EXPECT_TRUE(got.data_path.empty()) << line;
    EXPECT_FALSE(got.compile_max_s) << line;
    EXPECT_EQ(got.interval_of("eval"), nullptr) << line;
  }
}

TEST(Surroundings, FormsOfSettings) {
  for (const char* line : {"eval_every=250", "evalEvery = 250", "  eval_interval: 250",
                           "\"eval_steps\": 250,", "python train.py --eval-every=250 --lr=1e-5",
                           "args: Namespace(eval_freq=250, lr=0.1)", "- eval_period: 250"}) {
    const Setting* setting = read(line).interval_of("eval");
    // The values live in a temporary: only whether there is one may be asked.
    EXPECT_NE(setting, nullptr) << line;
  }
  for (const char* line : {"eval_every=0", "eval_every=never", "eval_batches=200", "evaluate=True",
                           "eval_every", "step 480 eval loss 2.1"}) {
    EXPECT_EQ(read(line).interval_of("eval"), nullptr) << line;
  }
}

TEST(Surroundings, HostsOnTheirNetworks) {
  const Surroundings got = read(
      "a1:10:20 [0] NCCL INFO NET/IB : No device found.\n"
      "a1:10:20 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>\n"
      "[2026-08-01 10:00:00] a2:11:21 [3] NCCL INFO Using network IB\n"
      "[rank3]: a3:12:22 [0] NCCL INFO Channel 00/0 : 1[0] -> 2[0] [send] via NET/IB/0/GDRDMA\n"
      "a4:12:22 [0] NCCL INFO Channel 00/0 : 1[0] -> 2[0] [receive] via NET/IB/3\n"
      "a5:12:22 [0] NCCL INFO NCCL_IB_DISABLE set by environment to 1.\n");
  ASSERT_EQ(got.hosts.size(), 5u);
  EXPECT_TRUE(got.hosts.at("a1").no_device && got.hosts.at("a1").socket);
  EXPECT_TRUE(got.hosts.at("a2").infiniband);
  EXPECT_TRUE(got.hosts.at("a3").direct && !got.hosts.at("a3").staged);
  EXPECT_TRUE(got.hosts.at("a4").staged && !got.hosts.at("a4").direct);
  EXPECT_TRUE(got.hosts.at("a5").forced);
  EXPECT_EQ(got.hosts.at("a1").no_device->line, 1u);
}

TEST(Surroundings, CoresOfATask) {
  EXPECT_EQ(read("pid 7's current affinity list: 0-3,8").cores, 5);
  EXPECT_EQ(read("Cpus_allowed_list:\t12-13").cores, 2);
  EXPECT_EQ(read("SLURM_CPUS_PER_TASK=4").cores, 4);
  EXPECT_EQ(read("#SBATCH --cpus-per-task=2").cores, 2);
  EXPECT_EQ(read("pid 7's current affinity list: 0-63\nCpus_allowed_list: 5").cores, 1);
  EXPECT_TRUE(read("SLURM_CPUS_PER_TASK=").cpus_unset);
}

TEST(Surroundings, Notes) {
  const Surroundings got = read(
      "10:00 restarted at step 1200 after maintenance\n"
      "throttle reasons: none on all GPUs\n"
      "port counters clean\n"
      "train data in /mnt/lustre/tokens (shared)\n"
      "inductor compile seconds per rank: min 310 max 355\n");
  EXPECT_EQ(got.restart_steps, std::set<std::int64_t>{1200});
  EXPECT_TRUE(got.clocks_fine);
  EXPECT_TRUE(got.network_fine);
  EXPECT_FALSE(got.throttled);
  EXPECT_EQ(got.data_path, "/mnt/lustre/tokens");
  EXPECT_EQ(got.compile_max_s, 355);
  const Surroundings hot = read("host n7 gpu 3: HW thermal slowdown active");
  ASSERT_TRUE(hot.throttled);
  EXPECT_EQ(hot.throttled_host, "n7");
  EXPECT_EQ(hot.throttled_gpu, "3");
  EXPECT_FALSE(read("HW thermal slowdown: not active").throttled);
}

struct ClockRow {
  const char* line;
  const char* said;  // "hot", "fine" or nothing
};
constexpr ClockRow kClockRows[] = {
    {"Thermal Slowdown: Inactive", "fine"},
    {"host g3 HW thermal slowdown: inactive", "fine"},
    {"gpu 5 thermal slowdown activation at 92 C", ""},
    {"hw_thermal_slowdown_active=0", "fine"},
    {"host g3 gpu=1 thermal slowdown limit 92 C", ""},
    {"host g3 thermal slowdown temp=104", ""},
    {"power brake de-asserted on host g3", "fine"},
    {"abnormal clocks on host g3", ""},
    {"clocks as inflated as before", ""},
    {"clocks are not normal", ""},
    {"clocks normal", "fine"},
    {"clock event reasons 0x0", "fine"},
    {"clocks_event_reasons.active: 0x0000000000000000", "fine"},
    {"clocks_event_reasons.active: 0x0000000000000040", "hot"},
    {"throttle reasons 0x8 on host g3", "hot"},
    {"throttle reasons 0xc0 on host g3", "hot"},
    {"throttle reasons, thermal slowdown active: 0x01", ""},
    {"throttle reasons 0x04", ""},
    {"throttle reasons 0xzz", ""},
    {"throttle reasons supported 0x1ff", ""},
    {"HW thermal slowdown: Active", "hot"},
    {"hw_thermal_slowdown=1 host=g3", "hot"},
    {"power brake asserted", "hot"},
};

TEST(Surroundings, Clocks) {
  for (const ClockRow& row : kClockRows) {
    const Surroundings got = read(row.line);
    std::string said = got.throttled ? "hot" : "";
    if (got.clocks_fine) said += "fine";
    EXPECT_EQ(said, row.said) << row.line;
  }
}

TEST(Surroundings, NetworkThatIsFine) {
  for (const char* line :
       {"link 3: 10 errors", "ib port 1: 7,000 errors", "fabric 2.0 errors", "network is unhealthy",
        "network cleanup done", "link not clean", "report is clean", "library healthy"}) {
    EXPECT_FALSE(read(line).network_fine) << line;
  }
  for (const char* line : {"link 3: 0 errors", "IB port 1 healthy", "fabric: no errors"}) {
    EXPECT_TRUE(read(line).network_fine) << line;
  }
}

TEST(Surroundings, RestartStepsAreBoundedAndSaidOnce) {
  std::string text;
  for (int i = 0; i < 6000; ++i) text += fmt::format("resumed from step {}\n", i / 2);
  EXPECT_EQ(read(text).restart_steps.size(), 3000u);
  for (int i = 0; i < 9000; ++i) text += fmt::format("resumed from step {}\n", i);
  EXPECT_EQ(read(text).restart_steps.size(), limits::kCurveEvents);
}

// Minutes where each value was followed to its end.
TEST(Surroundings, ManySettingsInOneWordCostNoTime) {
  std::string text;
  for (int i = 0; i < 8192; ++i) text += "k=";
  Surroundings out;
  SurroundingsReader reader(out, "args.txt");
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 400; ++i) reader.line(text, 1);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  EXPECT_EQ(read("eval_every=2=3 save_every=40").interval_of("save")->value, "40");
}

TEST(Surroundings, RanksAndTheirEnvironment) {
  const Surroundings got =
      read("world_size=4\n[rank0]: joined\n[default1]:joined\nrank=2 host=n9 OMP_NUM_THREADS=1\n");
  EXPECT_EQ(got.world_size, 4);
  EXPECT_EQ(got.ranks.size(), 3u);
  EXPECT_EQ(got.rank_hosts.at(2), "n9");
  ASSERT_NE(got.find("omp", "threads"), nullptr);
  EXPECT_EQ(got.find("omp", "threads")->rank, 2);
  const Surroundings file = read("RANK=5\nOMP_NUM_THREADS=1\n");
  EXPECT_EQ(file.find("omp", "threads")->rank, 5);
}

}  // namespace
}  // namespace muster::shape
