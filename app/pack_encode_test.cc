#include "app/pack_encode.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/shell.h"

namespace muster {
namespace {

using testing_support::file_text;
using testing_support::TemporaryFolder;

const std::string kTokenizer = std::string(MUSTER_SOURCE_DIR) + "/testdata/tokenizers/qwen2.json";
const std::string kLines =
    "{\"text\": \"the step\"}\n{\"text\": \"\"}\nno json\n\n{\"other\": 1}\n"
    "{\"text\": \"<|im_end|>\"}";

class PackEncode : public testing::Test {
 protected:
  std::string input(const std::string& text) { return folder.write("in.jsonl", text); }
  EncodeSinks sinks() {
    return {[this](std::uint64_t line, std::span<const std::int32_t> ids) -> Status {
              lines.push_back(line);
              counts.push_back(ids.size());
              return {};
            },
            [this](const std::string& text) { complaints.push_back(text); }};
  }

  TemporaryFolder folder;
  std::vector<std::uint64_t> lines;
  std::vector<std::size_t> counts;
  std::vector<std::string> complaints;
};

TEST_F(PackEncode, GivesTheIdsOfEachRecordAndNamesWhatIsLost) {
  const std::string path = input(kLines);
  const auto total = encode_records({kTokenizer, path, ""}, sinks(), real_files());
  ASSERT_TRUE(total) << total.error().context;
  EXPECT_EQ(lines, (std::vector<std::uint64_t>{1, 2, 6}));
  EXPECT_EQ(counts[1], 0U);
  EXPECT_EQ(counts[2], 1U);
  EXPECT_EQ(total->records, 3U);
  EXPECT_EQ(total->lost, 2U);
  ASSERT_EQ(complaints.size(), 2U);
  EXPECT_TRUE(complaints[0].starts_with(path + ": line 3: ")) << complaints[0];
  EXPECT_TRUE(complaints[1].starts_with(path + ": line 5: ")) << complaints[1];
}

TEST_F(PackEncode, ReadsTheFieldThatIsAskedFor) {
  const auto total = encode_records({kTokenizer, input("{\"body\": \"x\", \"text\": 7}\n"), "body"},
                                    sinks(), real_files());
  ASSERT_TRUE(total);
  EXPECT_EQ(total->records, 1U);
}

TEST_F(PackEncode, WritesIdsAndCountsAndReplacesNothing) {
  const std::string out = folder.path() + "/ids.i32";
  const EncodeRequest request{kTokenizer, input(kLines), ""};
  const auto complain = [](const std::string&) {};
  const auto total = encode_into(request, out, complain, real_files());
  ASSERT_TRUE(total) << total.error().context;
  EXPECT_EQ(file_text(out).size(), 4 * total->ids);
  const std::string counts_text = file_text(out + ".len");
  ASSERT_EQ(counts_text.size(), 4 * total->records);
  EXPECT_EQ(counts_text.substr(4, 4), std::string(4, '\0'));
  const auto again = encode_into(request, out, complain, real_files());
  ASSERT_FALSE(again);
  EXPECT_EQ(file_text(out).size(), 4 * total->ids);
}

TEST_F(PackEncode, LeavesNothingWhereItFails) {
  const std::string out = folder.path() + "/ids.i32";
  const auto complain = [](const std::string&) {};
  EXPECT_FALSE(encode_into({kTokenizer, folder.path() + "/none", ""}, out, complain, real_files()));
  EXPECT_FALSE(encode_into({input("{}"), input("{}"), ""}, out, complain, real_files()));
  EXPECT_EQ(real_files().list(folder.path()).value(), (std::vector<std::string>{"in.jsonl"}));
}

TEST_F(PackEncode, StopsWhereItsReaderDoes) {
  const EncodeSinks stopping{[this](std::uint64_t line, std::span<const std::int32_t>) -> Status {
                               lines.push_back(line);
                               return make_error(Errc::unavailable, "enough");
                             },
                             [](const std::string&) {}};
  const auto total = encode_records({kTokenizer, input(kLines), ""}, stopping, real_files());
  ASSERT_FALSE(total);
  EXPECT_EQ(lines.size(), 1U);
}

}  // namespace
}  // namespace muster
