#include "core/comms/host_map.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

std::string show(std::string_view bytes) {
  const HostMap map = parse_host_map(bytes);
  std::string out;
  for (const auto& [rank, host] : map.hosts) out += fmt::format("{}={} ", rank, host);
  for (const std::string& complaint : map.complaints) out += "! " + complaint + " ";
  if (!out.empty()) out.pop_back();
  return out;
}

TEST(HostMap, Rows) {
  const char* kNeither = "neither \"rank host\" nor \"ranks: host\" nor \"host: ranks\"";
  const struct {
    const char* name;
    std::string_view bytes;
    std::string expected;
  } rows[] = {
      {"empty", "", ""},
      {"comments alone", "# ranks\n\n", ""},
      {"a word", "hello", fmt::format("! line 1: {}", kNeither)},
      {"two numbers", "3 4", fmt::format("! line 1: {}", kNeither)},
      {"number and range", "3: 0-7", fmt::format("! line 1: {}", kNeither)},
      {"no ranks", "n01:", fmt::format("! line 1: {}", kNeither)},
      {"backwards", "n01: 7-0", fmt::format("! line 1: {}", kNeither)},
      {"torn range", "n01: 0-", fmt::format("! line 1: {}", kNeither)},
      {"half a list puts nothing", "n01: 0,x", fmt::format("! line 1: {}", kNeither)},
      {"negative", "-3 n01", fmt::format("! line 1: {}", kNeither)},
      {"too large", "99999999999 n01", fmt::format("! line 1: {}", kNeither)},
      {"a range without end", "n01: 0-16000000", fmt::format("! line 1: {}", kNeither)},
      {"controls in a host", "3 n\x1b[1m", fmt::format("! line 1: {}", kNeither)},
      {"a path", "3 /etc/passwd", fmt::format("! line 1: {}", kNeither)},
      {"twice, different", "3 n01\n3 n02", "3=n01 ! line 2: rank 3 is on n01 and on n02"},
      {"twice, same", "3 n01\n3 n01", "3=n01"},
      {"torn JSON", "{\"0\":\"n1\"", "! JSON: *"},
      {"JSON of another shape", "{\"n1\":[0,1]}", "! JSON: \"n1\" is no rank with a host"},
      {"rank host", "0 n01\n1\tn02\n2,n03\r\n", "0=n01 1=n02 2=n03"},
      {"srun", " 0: n01\n10: n02\n", "0=n01 10=n02"},
      {"torn Slurm list", "n[1-4: 0-3", fmt::format("! line 1: {}", kNeither)},
      {"uneven Slurm list", "n[1-2]: 0-2", fmt::format("! line 1: {}", kNeither)},
      {"empty Slurm list", "n[]: 0-2", fmt::format("! line 1: {}", kNeither)},
      {"Slurm list of numbers alone", "[1-2]: 0-1", fmt::format("! line 1: {}", kNeither)},
      {"endless Slurm list", "n[0-16000000]: 0", fmt::format("! line 1: {}", kNeither)},
      {"ranges that add up", "n1: 0-65000,0-65000", fmt::format("! line 1: {}", kNeither)},
      {"ranks first", "0-1: n1\n2,4,6-7: n2\n", "0=n1 1=n1 2=n2 4=n2 6=n2 7=n2"},
      {"ranks first, address", "0-1: fe80::1", "0=fe80::1 1=fe80::1"},
      {"Slurm list", "n[1-2]: 0-3\ngpu[09-10].x:4-5", "0=n1 1=n1 2=n2 3=n2 4=gpu09.x 5=gpu10.x"},
      {"ranges", "n01: 0-2,8\nn02:3", "0=n01 1=n01 2=n01 3=n02 8=n01"},
      {"addresses", "10.0.0.1: 0-1\n2 fe80::1\n", "0=10.0.0.1 1=10.0.0.1 2=fe80::1"},
      {"JSON", "{\"0\":\"n1\",\"7\":\"n2\"}", "0=n1 7=n2"},
      {"byte order mark",
       "\xEF\xBB\xBF"
       "0 n1",
       "0=n1"},
  };
  for (const auto& row : rows) {
    std::string shown = show(row.bytes);
    if (row.expected.ends_with('*')) shown = shown.substr(0, row.expected.size() - 1) + "*";
    EXPECT_EQ(shown, row.expected) << row.name;
  }
}

TEST(HostMap, OnlyAWholeMapLooksLikeOne) {
  EXPECT_TRUE(looks_like_host_map("# job 7\nn01: 0-7\n"));
  EXPECT_FALSE(looks_like_host_map(""));
  EXPECT_FALSE(looks_like_host_map("0: n01\nstep 1 loss 2\n"));
}

TEST(HostMap, ComplaintsAndRanksAreBounded) {
  std::string bytes;
  for (int i = 0; i < 100; ++i) bytes += "?\n";
  EXPECT_EQ(parse_host_map(bytes).complaints.size(), 16u);
  const HostMap map = parse_host_map("a1: 0-65535\nb1: 65536-70000\n");
  EXPECT_EQ(map.hosts.size(), 65536u);
  EXPECT_FALSE(map.complaints.empty());
}

TEST(HostMap, DamagedAtEveryByte) {
  for (const std::string good : {"n01: 0-2,8\n3: n02\n4 n03\n", "{\"0\":\"n1\",\"7\":\"n2\"}"}) {
    for (std::size_t i = 0; i < good.size(); ++i) {
      show(good.substr(0, i));
      for (int c = 0; c < 256; ++c) {
        std::string damaged = good;
        damaged[i] = static_cast<char>(c);
        show(damaged);
      }
    }
  }
}

}  // namespace
}  // namespace muster
