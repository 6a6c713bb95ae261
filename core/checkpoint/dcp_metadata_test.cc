#include "core/checkpoint/dcp_metadata.h"

#include <gtest/gtest.h>

#include "core/checkpoint/zip_test_kit.h"

namespace muster::checkpoint {
namespace {

using Files = std::map<std::string, std::uint64_t>;

std::string text(const std::string& value) {
  return "\x8c" + std::string(1, static_cast<char>(value.size())) + value + "\x94";
}
std::string number(std::uint32_t value) {
  return "J" + number_bytes(value);
}
std::string recall(int place) {
  return "h" + std::string(1, static_cast<char>(place));
}

const std::string kHead = "\x80\x04\x95" + std::string(8, '\0');
// The first place in a file spells its keys; they are remembered as 0, 2 and 3.
const std::string kFirst = "}\x94(" + text("relative_path") + text("__0_0.distcp") +
                           text("offset") + number(0) + text("length") + number(100) + "ub";

TEST(DcpMetadata, PlacesInFiles) {
  const std::string again =
      "}\x94(" + recall(1) + recall(2) + recall(3) + number(4000) + recall(4) + number(50) + "ub";
  EXPECT_EQ(dcp_files(kHead + kFirst + again + "."), (Files{{"__0_0.distcp", 4050}}));
  const std::string large = "}\x94(" + recall(1) + text("__7_0.distcp") + recall(3) + "\x8a\x05" +
                            std::string("\0\0\0\0\x01", 5) + recall(4) + "M" +
                            std::string("\x10\x27", 2) + "ub";
  EXPECT_EQ(dcp_files(kHead + kFirst + large + "."),
            (Files{{"__0_0.distcp", 100}, {"__7_0.distcp", 4294977296u}}));
}

TEST(DcpMetadata, OtherOrdersTellNamesAlone) {
  struct Row {
    const char* name;
    std::string bytes;
  };
  const Row rows[] = {
      {"no length", text("relative_path") + text("__0_0.distcp") + text("offset") + number(5)},
      {"a text between", text("relative_path") + text("__0_0.distcp") + text("x") + text("offset") +
                             number(0) + text("length") + number(9)},
      {"a negative offset", text("relative_path") + text("__0_0.distcp") + text("offset") +
                                number(0xffffffffu) + text("length") + number(9)},
      {"an unknown instruction", "\xff" + kFirst},
      {"a length beyond the end", "B\xff\xff\xff\x7f" + kFirst},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(dcp_files(kHead + row.bytes), (Files{{"__0_0.distcp", 0}})) << row.name;
  }
  EXPECT_EQ(dcp_files(""), Files{});
  EXPECT_EQ(dcp_files(".distcp.distcp"), Files{});
}

TEST(DcpMetadata, CutAndFlippedAtEveryByte) {
  const std::string whole = kHead + kFirst + ".";
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_LE(dcp_files(whole.substr(0, i)).size(), 1u);
    for (const int bit : {0, 2, 7}) {
      std::string flipped = whole;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      EXPECT_LE(dcp_files(flipped).size(), 2u);
    }
  }
}

}  // namespace
}  // namespace muster::checkpoint
