#include "app/log_name.h"

#include <gtest/gtest.h>

#include "core/site/file_host.h"

namespace muster {
namespace {

TEST(LogName, Hosts) {
  struct Row {
    const char *path, *host;
  };
  const Row rows[] = {
      {"", ""},
      {"dmesg.txt", ""},
      {"dmesg_T.txt", ""},
      {"dmesg_human.txt", ""},
      {"dmesg_week3.txt", ""},
      {"incident12_dmesg.txt", ""},
      {"kern.log.1", ""},
      {"dmesg.2026-08-01.txt", ""},
      {"nccl_2.18.log", ""},
      {"job_77108.log", ""},
      {"train-run7.log", ""},
      {"run7_dmesg.txt", ""},
      {"rank3_env.txt", ""},
      {"n1_n2_dmesg.txt", ""},
      {"n012.log", ""},
      {"node.log", ""},
      {"node_log.txt", ""},
      {"logs/n012.dmesg", "n012"},
      {"n012_dmesg.txt", "n012"},
      {"dmesg-n012.txt", "n012"},
      {"gpu-07-dmesg.log.gz", "gpu-07"},
      {"all.tar.gz:tmp/node_tr-x-3_dmesg_T.txt", "tr-x-3"},
      {"env_tr-u06.txt", "tr-u06"},
      {"nvidia-smi_n4.txt", "n4"},
      {"node_b.log", "node_b"},
      {"host_K9.log", "K9"},
  };
  for (const Row& row : rows) EXPECT_EQ(host_of_file_name(row.path), row.host) << row.path;
}

TEST(LogName, FoldersOfHosts) {
  EXPECT_TRUE(hosts_of_folders({"n1/dmesg.txt"}).empty());
  EXPECT_TRUE(hosts_of_folders({"run1/dmesg.txt", "run2/dmesg.txt"}).empty());
  EXPECT_TRUE(hosts_of_folders({"n1/train.log", "n2/train.log"}).empty());
  EXPECT_TRUE(hosts_of_folders({"n1/dmesg.txt", "n2/kern.log"}).empty());
  EXPECT_TRUE(hosts_of_folders({"x/n1/dmesg.txt", "y/n2/dmesg.txt"}).empty());
  const auto hosts =
      hosts_of_folders({"n1/dmesg.txt", "n2/dmesg.txt", "n2/kern.log", "old/dmesg.txt"});
  EXPECT_EQ(hosts.size(), 2u);
  EXPECT_EQ(hosts.at("n1/dmesg.txt"), "n1");
  EXPECT_EQ(hosts.at("n2/dmesg.txt"), "n2");
}

TEST(LogName, RotatedFilesStandFromOldToNew) {
  const std::vector<std::string> paths = {
      "a/x.log",   "b.log",         "a/x.log.1", "a/x.log.10.gz",
      "a/x.log.2", "y-20260801.gz", "y",         "y-20260731"};
  const std::vector<std::size_t> order = rotated_order(paths);
  std::vector<std::string> sorted;
  for (const std::size_t i : order) sorted.push_back(paths[i]);
  const std::vector<std::string> wanted = {"a/x.log.10.gz", "b.log",   "a/x.log.2",
                                           "a/x.log.1",     "a/x.log", "y-20260731",
                                           "y-20260801.gz", "y"};
  EXPECT_EQ(sorted, wanted);
}

}  // namespace
}  // namespace muster
