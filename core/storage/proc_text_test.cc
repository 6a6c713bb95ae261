#include "core/storage/proc_text.h"

#include <gtest/gtest.h>

namespace muster::storage {
namespace {

constexpr const char* kMounts =
    "21 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw,errors=remount-ro\n"
    "22 21 0:20 / /proc rw - proc proc rw\n"
    "40 21 0:51 / /data rw,noatime shared:9 master:2 - nfs4 nas:/export/data "
    "rw,vers=4.2,rsize=1048576\n"
    "41 40 259:5 / /data/local\\040disk rw - xfs /dev/nvme1n1 rw,attr2\n"
    "42 21 0:60 / /tmp rw - ext4 /dev/covered rw\n"
    "43 21 0:61 / /tmp rw - tmpfs tmpfs rw,size=8g\n"
    "44 21 0:62 / /short rw -\n"
    "45 21 0:63 / /nosource rw - xfs\n"
    "46 21 0:64 / /noopt rw - xfs /dev/x\n"
    "junk\n"
    "\n";

TEST(Mounts, Table) {
  struct Row {
    const char* path;
    const char* point;
    const char* type;
    const char* device;
    const char* options;
  };
  const Row rows[] = {
      {"/data/x", "/data", "nfs4", "0:51", "rw,noatime,rw,vers=4.2,rsize=1048576"},
      {"/data", "/data", "nfs4", "0:51", "rw,noatime,rw,vers=4.2,rsize=1048576"},
      {"/database", "/", "ext4", "259:2", "rw,relatime,rw,errors=remount-ro"},
      {"/data/local disk/y", "/data/local disk", "xfs", "259:5", "rw,rw,attr2"},
      {"/tmp/x", "/tmp", "tmpfs", "0:61", "rw,rw,size=8g"},
      {"/short/x", "/", "ext4", "259:2", "rw,relatime,rw,errors=remount-ro"},
      {"/nosource/x", "/", "ext4", "259:2", "rw,relatime,rw,errors=remount-ro"},
      {"/noopt/x", "/noopt", "xfs", "0:64", "rw"},
  };
  for (const Row& row : rows) {
    const auto mount = find_mount(kMounts, row.path);
    ASSERT_TRUE(mount) << row.path;
    EXPECT_EQ(mount->point, row.point) << row.path;
    EXPECT_EQ(mount->type, row.type) << row.path;
    EXPECT_EQ(mount->device, row.device) << row.path;
    EXPECT_EQ(mount->options, row.options) << row.path;
  }
  EXPECT_EQ(find_mount(kMounts, "/data/x")->source, "nas:/export/data");
}

TEST(Mounts, None) {
  for (const char* path : {"", "data", "./data"}) EXPECT_FALSE(find_mount(kMounts, path)) << path;
  for (const char* text : {"", "\n", "21 1 259:2 / /", "- - - - - - -", "1 2 3 4 /x\\0 6 - - -"}) {
    EXPECT_FALSE(find_mount(text, "/data")) << text;
  }
}

// Cut at every byte it never names a mount that the path does not lie on.
TEST(Mounts, CutAnywhere) {
  const std::string all = kMounts;
  for (std::size_t cut = 0; cut <= all.size(); ++cut) {
    const auto mount = find_mount(std::string_view(all).substr(0, cut), "/data/local disk/y");
    if (!mount) continue;
    EXPECT_TRUE(mount->point == "/" || mount->point == "/data" ||
                mount->point == "/data/local disk")
        << mount->point;
  }
}

TEST(Meminfo, Table) {
  struct Row {
    const char* name;
    const char* text;
    std::optional<std::uint64_t> bytes;
  };
  const Row rows[] = {
      {"empty", "", {}},
      {"another line", "MemTotal: 5 kB\n", {}},
      {"a longer name", "MemAvailableToo: 5 kB\n", {}},
      {"no unit", "MemAvailable: 5\n", {}},
      {"another unit", "MemAvailable: 5 MB\n", {}},
      {"no number", "MemAvailable: x kB\n", {}},
      {"below zero", "MemAvailable: -5 kB\n", {}},
      {"beyond 64 bits", "MemAvailable: 18446744073709551615 kB\n", {}},
      {"as the kernel writes", "MemTotal:  24684236 kB\nMemAvailable:   23602816 kB\n",
       23602816ULL * 1024},
      {"no line end", "MemAvailable: 5 kB", 5120},
  };
  for (const Row& row : rows)
    EXPECT_EQ(meminfo_bytes(row.text, "MemAvailable"), row.bytes) << row.name;
}

TEST(Cgroups, Table) {
  EXPECT_EQ(cgroup_limit("max\n"), std::nullopt);
  EXPECT_EQ(cgroup_limit(""), std::nullopt);
  EXPECT_EQ(cgroup_limit("8589934592\n"), 8589934592ULL);
  EXPECT_EQ(cgroup_path(""), std::nullopt);
  EXPECT_EQ(cgroup_path("4:memory:/old\n"), std::nullopt);
  EXPECT_EQ(cgroup_path("0::/../../x\n"), std::nullopt);
  EXPECT_EQ(cgroup_path("4:memory:/old\n0::/user.slice/a\n"), "/user.slice/a");
  EXPECT_EQ(cgroup_path("0::/\n"), "/");
}

TEST(FileSystems, Table) {
  EXPECT_TRUE(habit_of("tmpfs").in_memory);
  EXPECT_TRUE(habit_of("zfs").own_cache);
  EXPECT_TRUE(habit_of("fuse.sshfs").own_cache);
  EXPECT_TRUE(habit_of("nfs4").network);
  EXPECT_FALSE(habit_of("nfs4").remark.empty());
  for (const char* plain : {"ext4", "xfs", "btrfs", "overlay", "", "fusectl"}) {
    const FileSystemHabit habit = habit_of(plain);
    EXPECT_FALSE(habit.in_memory || habit.own_cache || habit.network) << plain;
    EXPECT_EQ(habit.remark, "") << plain;
  }
}

}  // namespace
}  // namespace muster::storage
