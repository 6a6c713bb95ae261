#include "core/explain/joins.h"

#include <gtest/gtest.h>

#include <set>

#include "core/explain/explain_test_kit.h"

namespace muster {
namespace {

constexpr double kGb = 1e9;

TEST(Joins, EachHasANameOfItsOwnAndSaysWhatItDoes) {
  std::set<std::string_view> names;
  for (const Join& join : join_table()) {
    EXPECT_TRUE(names.insert(join.name).second) << join.name;
    EXPECT_FALSE(join.needs.empty());
    EXPECT_FALSE(join.concludes.empty());
  }
}

DiskSpace disk(std::string mount, double size, double avail, bool inodes = false) {
  DiskSpace out;
  out.mount = std::move(mount);
  out.size = size;
  out.used = size - avail;
  out.avail = avail;
  out.inodes = inodes;
  return out;
}

ResourceLimit limit(std::string name, std::optional<double> soft, std::string unit) {
  ResourceLimit out;
  out.name = std::move(name);
  out.soft = soft;
  out.soft_unlimited = !soft;
  out.unit = std::move(unit);
  return out;
}

void cannot_register(Pile& p) {
  p.root(limit_too_low, "Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory")
      .host("n1")
      .on(CulpritKind::config, "memlock");
}

TEST(Joins, LimitsOfProcesses) {
  run({
      {"no limit told", [](Pile& p) { cannot_register(p); }, "limit_too_low", "config:memlock",
       kCritical, kMedium, kMedium},
      {"unlimited",
       [](Pile& p) {
         cannot_register(p);
         p.fact(limit("memlock", {}, "bytes"), "n1");
       },
       "undetermined", "", kCritical, kLow, kLow},
      {"of another host",
       [](Pile& p) {
         cannot_register(p);
         p.fact(limit("memlock", 65536, "bytes"), "n2");
       },
       "limit_too_low", "config:memlock", kCritical, kMedium, kMedium},
      {"low",
       [](Pile& p) {
         cannot_register(p);
         p.fact(limit("max locked memory", 65536, "bytes"), "n1");
       },
       "limit_too_low", "config:memlock", kCritical, kHigh, kHigh},
      {"another limit is low",
       [](Pile& p) {
         cannot_register(p);
         p.fact(limit("nofile", 1024, "files"), "n1");
       },
       "limit_too_low", "config:memlock", kCritical, kMedium, kMedium},
      {"files",
       [](Pile& p) {
         p.root(rank_exception, "OSError: Too many open files").rank(2);
         p.fact(limit("nofile", 1024, "files"));
       },
       "limit_too_low", "config:nofile", kCritical, kHigh, kHigh},
      {"files enough",
       [](Pile& p) {
         p.root(limit_too_low, "OSError: Too many open files").rank(2);
         p.fact(limit("Max open files", 1048576, "files"));
       },
       "undetermined", "", kCritical, kLow, kLow},
  });
}

void no_space(Pile& p, std::string path = "/scratch/cache/a.npy") {
  p.root(disk_full, "OSError: [Errno 28] No space left on device").word("path", std::move(path));
}

TEST(Joins, RoomOnDisks) {
  run({
      {"nothing told", [](Pile& p) { no_space(p); }, "disk_full", "file:/scratch/cache/a.npy",
       kCritical, kMedium, kMedium},
      {"room of another mount",
       [](Pile& p) {
         no_space(p);
         p.fact(disk("/data", 9e12, 0));
       },
       "disk_full", "file:/scratch/cache/a.npy", kCritical, kMedium, kMedium},
      {"a mount whose name only begins alike",
       [](Pile& p) {
         no_space(p);
         p.fact(disk("/scratch/ca", 9e12, 0));
       },
       "disk_full", "file:/scratch/cache/a.npy", kCritical, kMedium, kMedium},
      {"full",
       [](Pile& p) {
         no_space(p);
         p.fact(disk("/scratch", 9e12, 0));
         p.fact(disk("/", 9e9, 9e9));
       },
       "disk_full", "file:/scratch"},
      {"no inodes",
       [](Pile& p) {
         no_space(p);
         p.fact(disk("/scratch", 9e12, 4e12));
         p.fact(disk("/scratch", 1e6, 0, true));
       },
       "inodes_exhausted", "file:/scratch"},
      {"inodes of another host",
       [](Pile& p) {
         p.root(disk_full, "No space left").word("path", "/scratch/a").host("n1");
         p.fact(disk("/scratch", 1e6, 0, true), "n2");
       },
       "disk_full", "file:/scratch/a", kCritical, kMedium, kMedium},
      {"room enough",
       [](Pile& p) {
         no_space(p);
         p.fact(disk("/scratch", 9e12, 4e12));
         p.fact(disk("/scratch", 1e6, 5e5, true));
       },
       "storage_write_error", "file:/scratch/cache/a.npy", kWarning, kMedium, kMedium},
  });
}

TEST(Joins, SharedMemory) {
  const auto bus = [](Pile& p) {
    p.root(shm_full, "worker (pid 77) is killed by signal: Bus error").rank(1);
  };
  run({
      {"room",
       [=](Pile& p) {
         bus(p);
         p.fact(disk("/dev/shm", 64 * kGb, 60 * kGb));
       },
       "undetermined", "", kCritical, kLow, kLow},
      {"no df", [=](Pile& p) { bus(p); }, "shm_full", "file:/dev/shm"},
      {"a bus error of PCIe",
       [](Pile& p) {
         p.root(undetermined, "PCIe Bus Error: severity=Uncorrectable (Fatal)");
         p.fact(disk("/dev/shm", 67108864, 67108864));
       },
       "undetermined", "", Severity::info, kLow, kMedium},
      {"an exit code",
       [](Pile& p) {
         p.root(rank_exception, "exited").rank(1).word("code", "7");
         p.fact(disk("/dev/shm", 67108864, 67108864));
       },
       "rank_exception", "rank:1"},
      {"tiny, of another host",
       [](Pile& p) {
         p.root(loader_worker_crashed, "killed by signal: Bus error").rank(2).host("a1");
         p.cascade().host("a2");
         p.fact(disk("/dev/shm", 67108864, 67108864));
       },
       "loader_worker_crashed", "rank:2"},
      {"full",
       [=](Pile& p) {
         bus(p);
         p.fact(disk("/dev/shm", 8 * kGb, 0));
       },
       "shm_full", "file:/dev/shm", kCritical, kHigh},
      {"tiny",
       [](Pile& p) {
         p.root(loader_worker_crashed, "killed by signal: Bus error");
         p.fact(disk("/dev/shm", 67108864, 67108864));
       },
       "shm_full", "file:/dev/shm", kCritical, kHigh},
  });
}

TEST(Joins, RoomThatAPlanWants) {
  const auto plan = [](Pile& p, std::string headroom) {
    p.fact(Setting{"checkpoint_dir", "/ckpt/r1"});
    p.fact(Setting{"min_headroom_gb", std::move(headroom)});
  };
  run({
      {"enough",
       [=](Pile& p) {
         plan(p, "100");
         p.fact(disk("/ckpt", 9e12, 150 * kGb));
       },
       "", ""},
      {"another mount",
       [=](Pile& p) {
         plan(p, "100");
         p.fact(disk("/local", 9e12, 1 * kGb));
       },
       "", ""},
      {"no number",
       [=](Pile& p) {
         plan(p, "plenty");
         p.fact(disk("/ckpt", 9e12, 1 * kGb));
       },
       "", ""},
      {"no unit",
       [](Pile& p) {
         p.fact(Setting{"checkpoint_dir", "/ckpt"});
         p.fact(Setting{"min_headroom", "100"});
         p.fact(disk("/ckpt", 9e12, 1 * kGb));
       },
       "", ""},
      {"too little",
       [=](Pile& p) {
         plan(p, "100");
         p.fact(disk("/ckpt", 9e12, 50 * kGb));
       },
       "disk_headroom_low", "file:/ckpt", kCritical, kHigh},
      {"by size of a save",
       [](Pile& p) {
         p.fact(Setting{"ckpt_path", "/ckpt/x"});
         p.fact(Setting{"ckpt_size", "80GB"});
         p.fact(disk("/ckpt", 9e12, 50 * kGb));
       },
       "disk_headroom_low", "file:/ckpt", kCritical, kHigh},
  });
}

}  // namespace
}  // namespace muster
