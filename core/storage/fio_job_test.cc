#include "core/storage/fio_job.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace muster::storage {
namespace {

std::vector<std::string> arguments_of(RowKind kind, std::string_view path = "/d/f") {
  const auto plan = plan_rows({100 * kBlockBytes, 8, std::chrono::milliseconds(1500)});
  return fio_arguments((*plan)[static_cast<std::size_t>(kind)], path);
}
bool has(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

TEST(FioJob, Arguments) {
  struct Row {
    RowKind kind;
    std::vector<const char*> has, lacks;
  };
  const Row rows[] = {
      {RowKind::warm,
       {"--direct=0", "--ioengine=psync", "--numjobs=1", "--size=104857600", "--time_based",
        "--runtime=1500ms"},
       {"--direct=1"}},
      {RowKind::streams,
       {"--direct=1", "--ioengine=psync", "--numjobs=8", "--size=12582912",
        "--offset_increment=12582912", "--time_based"},
       {"--iodepth=32"}},
      {RowKind::queue,
       {"--direct=1", "--ioengine=libaio", "--iodepth=32", "--numjobs=4", "--size=26214400",
        "--offset_increment=26214400", "--time_based"},
       {"--ioengine=psync"}},
      {RowKind::single, {"--direct=1", "--ioengine=psync", "--numjobs=1", "--time_based"}, {}},
      {RowKind::cold, {"--direct=0", "--ioengine=psync", "--runtime=60000ms"}, {"--time_based"}},
  };
  for (const Row& row : rows) {
    const auto words = arguments_of(row.kind);
    for (const char* word : row.has) EXPECT_TRUE(has(words, word)) << row_name(row.kind) << word;
    for (const char* word : row.lacks) EXPECT_FALSE(has(words, word)) << row_name(row.kind) << word;
    // Of every row: nothing that harms the data, nothing that changes what the page cache does.
    for (const char* word :
         {"--readonly", "--rw=read", "--bs=1048576", "--invalidate=0", "--fadvise_hint=0",
          "--iomem_align=4096", "--allow_file_create=0", "--thread", "--group_reporting",
          "--output-format=json", "--filename=/d/f"}) {
      EXPECT_TRUE(has(words, word)) << row_name(row.kind) << word;
    }
  }
  EXPECT_TRUE(has(arguments_of(RowKind::warm, "/a:b\\c"), "--filename=/a\\:b\\\\c"));
}

constexpr const char* kAnswer = R"({"fio version":"fio-3.33","jobs":[{"jobname":"row","error":0,
"read":{"io_bytes":1073741824,"bw_bytes":2147483648,"bw":2097152,"runtime":500},
"write":{"io_bytes":0,"bw_bytes":0}}]})";

TEST(FioAnswer, Good) {
  for (const std::string before : {"", "note: both iodepth >= 1 and synchronous I/O engine\n"}) {
    const auto answer = parse_fio_answer(before + kAnswer);
    ASSERT_TRUE(answer) << answer.error().context;
    EXPECT_EQ(answer->version, "fio-3.33");
    EXPECT_EQ(answer->bytes, 1073741824U);
    EXPECT_DOUBLE_EQ(answer->bytes_per_second, 2147483648.0);
  }
}

TEST(FioAnswer, Bad) {
  struct Row {
    const char* name;
    std::string text;
    Errc code;
    std::string says;
  };
  const Row rows[] = {
      {"empty", "", Errc::corrupt, "without a JSON document"},
      {"words", "fio: job startup failed", Errc::corrupt, "without a JSON document"},
      {"cut", R"({"jobs":[{"error":0,)", Errc::corrupt, "answer of fio"},
      {"no job", R"({"jobs":[]})", Errc::corrupt, "0 groups"},
      {"not grouped", R"({"jobs":[{},{}]})", Errc::corrupt, "2 groups"},
      {"jobs are no array", R"({"jobs":7})", Errc::invalid_input, "jobs"},
      {"no read", R"({"jobs":[{"error":0}]})", Errc::invalid_input, "read"},
      {"an error", R"({"jobs":[{"error":22,"read":{}}]})", Errc::unavailable, "error 22"},
      {"nothing read", R"({"jobs":[{"error":0,"read":{"io_bytes":0,"bw_bytes":0}}]})",
       Errc::unavailable, "read nothing"},
      {"no rate", R"({"jobs":[{"error":0,"read":{"io_bytes":5}}]})", Errc::unavailable,
       "read nothing"},
      {"a rate in words", R"({"jobs":[{"error":0,"read":{"io_bytes":5,"bw_bytes":"9"}}]})",
       Errc::invalid_input, "bw_bytes"},
  };
  for (const Row& row : rows) {
    const auto answer = parse_fio_answer(row.text);
    ASSERT_FALSE(answer) << row.name;
    EXPECT_EQ(answer.error().code, row.code) << row.name << ": " << answer.error().context;
    EXPECT_NE(answer.error().context.find(row.says), std::string::npos)
        << row.name << ": " << answer.error().context;
  }
}

TEST(FioAnswer, CutAnywhere) {
  const std::string all = kAnswer;
  for (std::size_t cut = 0; cut < all.size(); ++cut) {
    EXPECT_FALSE(parse_fio_answer(std::string_view(all).substr(0, cut))) << cut;
  }
}

}  // namespace
}  // namespace muster::storage
