#include "train/run/launch.h"

#include <gtest/gtest.h>

#include "tests/support/fake_environment.h"

namespace muster::train {
namespace {

using Values = std::map<std::string, std::string>;

Result<LaunchPlace> read(const Values& values) {
  return read_launch(FakeEnvironment(values));
}

struct BadRow {
  const char* name;
  Values values;
  const char* says;
};

TEST(Launch, Refuses) {
  const BadRow kRows[] = {
      {"no_world", {{"RANK", "1"}}, "RANK is set, WORLD_SIZE is not"},
      {"no_rank", {{"WORLD_SIZE", "2"}}, "WORLD_SIZE is set, RANK is not"},
      {"rank_beyond",
       {{"RANK", "2"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "n1"}, {"MASTER_PORT", "29500"}},
       "rank 2 of 2 ranks"},
      {"negative", {{"RANK", "-1"}, {"WORLD_SIZE", "2"}}, "RANK=-1: not a number from 0"},
      {"no_number", {{"RANK", "0x1"}, {"WORLD_SIZE", "2"}}, "RANK=0x1: not a number"},
      {"world_zero", {{"RANK", "0"}, {"WORLD_SIZE", "0"}}, "WORLD_SIZE=0: not a number from 1"},
      {"no_address",
       {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", "29500"}},
       "MASTER_ADDR is not"},
      {"no_port",
       {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "n1"}},
       "MASTER_PORT is not"},
      {"port_too_high",
       {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "n1"}, {"MASTER_PORT", "65535"}},
       "MASTER_PORT=65535"},
      {"local_beyond",
       {{"RANK", "0"},
        {"WORLD_SIZE", "2"},
        {"MASTER_ADDR", "n1"},
        {"MASTER_PORT", "29500"},
        {"LOCAL_RANK", "2"}},
       "local rank 2 of 2"},
      {"batch_script",
       {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_JOB_ID", "7"}},
       "start it with srun"},
      {"slurm_no_host",
       {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_STEP_ID", "0"}},
       "SLURM_STEP_NODELIST names no host"},
  };
  for (const BadRow& row : kRows) {
    const auto place = read(row.values);
    ASSERT_FALSE(place) << row.name;
    EXPECT_EQ(place.error().code, Errc::invalid_input) << row.name;
    EXPECT_NE(place.error().context.find(row.says), std::string::npos)
        << row.name << ": " << place.error().context;
  }
}

TEST(Launch, Alone) {
  for (const Values& values : {Values{}, Values{{"RANK", ""}, {"SLURM_JOB_ID", "7"}}}) {
    const auto place = read(values);
    ASSERT_TRUE(place);
    EXPECT_EQ(place->world, 1);
    EXPECT_TRUE(place->one_host);
    EXPECT_EQ(place->launcher, "");
  }
}

TEST(Launch, Torchrun) {
  Values values = {{"RANK", "9"},
                   {"WORLD_SIZE", "16"},
                   {"LOCAL_RANK", "1"},
                   {"MASTER_ADDR", "n1"},
                   {"MASTER_PORT", "29500"},
                   {"LOCAL_WORLD_SIZE", "8"},
                   {"TORCHELASTIC_RUN_ID", "abc"},
                   {"SLURM_PROCID", "1"},
                   {"SLURM_NTASKS", "2"}};
  const auto place = read(values);
  ASSERT_TRUE(place) << place.error().context;
  EXPECT_EQ(place->launcher, "torchrun");
  EXPECT_EQ(place->rank, 9);
  EXPECT_EQ(place->local_rank, 1);
  EXPECT_FALSE(place->one_host);
  EXPECT_EQ(place->master_address, "n1");
  EXPECT_EQ(place->master_port, 29501);
  values["RANK"] = "3";
  EXPECT_EQ(read(values)->token, place->token);
  values["TORCHELASTIC_RESTART_COUNT"] = "1";
  EXPECT_NE(read(values)->token, place->token);
  values["WORLD_SIZE"] = "8";
  EXPECT_TRUE(read(values)->one_host);
  values.erase("LOCAL_WORLD_SIZE");
  EXPECT_FALSE(read(values)->one_host);
}

TEST(Launch, Slurm) {
  Values values = {{"SLURM_PROCID", "5"},
                   {"SLURM_NTASKS", "16"},
                   {"SLURM_LOCALID", "5"},
                   {"SLURM_JOB_ID", "123456"},
                   {"SLURM_STEP_ID", "0"},
                   {"SLURM_STEP_NUM_NODES", "2"},
                   {"SLURM_STEP_NODELIST", "n[003-004]"}};
  const auto place = read(values);
  ASSERT_TRUE(place) << place.error().context;
  EXPECT_EQ(place->launcher, "Slurm");
  EXPECT_EQ(place->rank, 5);
  EXPECT_FALSE(place->one_host);
  EXPECT_EQ(place->master_address, "n003");
  EXPECT_EQ(place->master_port, 20'000 + 123456 % 20'000);
  values["SLURM_STEP_NUM_NODES"] = "1";
  EXPECT_TRUE(read(values)->one_host);
  values["MASTER_ADDR"] = "head";
  values["MASTER_PORT"] = "6000";
  EXPECT_EQ(read(values)->master_address, "head");
  EXPECT_EQ(read(values)->master_port, 6001);
}

TEST(Launch, FirstHost) {
  const std::pair<const char*, const char*> kRows[] = {
      {"n1", "n1"},
      {"n1,n2", "n1"},
      {"n[003-7,12],m1", "n003"},
      {"n[1,3]", "n1"},
      {"r1n[5]-ib", "r1n5-ib"},
      {"", ""},
      {"n[", ""},
      {"n[]", ""},
      {"n[1", ""},
      {"gpu-a[01-16].x,b", "gpu-a01.x"},
  };
  for (const auto& [list, host] : kRows) EXPECT_EQ(first_host(list), host) << list;
}

}  // namespace
}  // namespace muster::train
