#include "edge/columns/column_stream.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "base/text.h"
#include "tests/support/shell.h"

namespace muster {
namespace {

using testing_support::file_text;
using testing_support::TemporaryFolder;

TEST(Columns, AreKnownByTheirFirstBytes) {
  EXPECT_TRUE(looks_like_columns("PAR1...."));
  EXPECT_TRUE(looks_like_columns(std::string("ARROW1\0\0", 8)));
  EXPECT_TRUE(looks_like_columns("\xFF\xFF\xFF\xFF\x10"));
  EXPECT_FALSE(looks_like_columns("PAR2"));
  EXPECT_FALSE(looks_like_columns("{\"text\":1}"));
  EXPECT_FALSE(looks_like_columns(""));
}

TEST(Columns, WithoutTheirProgramTheMissingOptionIsNamed) {
  unsetenv("MUSTER_COLUMNS");
  const auto stream = open_columns(real_files(), "x.parquet", "");
  ASSERT_FALSE(stream);
  EXPECT_EQ(stream.error().code, Errc::unsupported);
  EXPECT_NE(stream.error().context.find("-DMUSTER_ARROW"), std::string::npos);
}

// Programs that are not what they should be, or die.
TEST(Columns, AReaderThatDiesIsDamage) {
  const TemporaryFolder place;
  const auto answer = [&place](const std::string& script) {
    const std::string program = place.write("reader", "#!/bin/sh\n" + script);
    testing_support::run_shell("chmod +x " + testing_support::shell_word(program));
    setenv("MUSTER_COLUMNS", program.c_str(), 1);
    auto stream = open_columns(real_files(), "x.parquet", "");
    std::string all = stream ? "" : std::string(errc_name(stream.error().code));
    std::string piece(100, '\0');
    while (stream) {
      const auto n = (*stream)->read(piece);
      if (!n) return all + std::string(errc_name(n.error().code));
      if (*n == 0) return all + "|";
      all += piece.substr(0, *n);
    }
    return all;
  };
  EXPECT_EQ(answer("exit 0"), "corrupt");
  EXPECT_EQ(answer("kill -9 $$"), "corrupt");
  EXPECT_EQ(answer("echo some other program"), "corrupt");
  EXPECT_EQ(answer("printf 'r\\1\\0\\0\\0x'"), "corrupt");
  EXPECT_EQ(answer("printf 'u\\3\\0\\0\\0why'"), "unsupported");
  EXPECT_EQ(answer("printf 'o\\0\\0\\0\\0r\\3\\0\\0\\0{}\\n'"), "{}\ncorrupt");
  EXPECT_EQ(answer("printf 'o\\0\\0\\0\\0r\\5\\0\\0\\0{}\\n'"), "corrupt");
  EXPECT_EQ(answer("printf 'o\\0\\0\\0\\0r\\3\\0\\0\\0{}\\ne\\0\\0\\0\\0'"), "{}\n|");
  setenv("MUSTER_COLUMNS", (place.path() + "/none").c_str(), 1);
  EXPECT_EQ(open_columns(real_files(), "x.parquet", "").error().code, Errc::unavailable);
  unsetenv("MUSTER_COLUMNS");
}

#ifdef MUSTER_HAS_ARROW

// Tables that pyarrow writes; MUSTER_PYARROW names a Python that has it.
class ColumnStreamOf : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* python = std::getenv("MUSTER_PYARROW");
    if (python == nullptr) GTEST_SKIP() << "MUSTER_PYARROW is not set: a Python that has pyarrow";
    const auto run = testing_support::run_shell(
        "PYTHONDONTWRITEBYTECODE=1 " + testing_support::shell_word(python) + " " +
        testing_support::shell_word(std::string(MUSTER_SOURCE_DIR) +
                                    "/edge/columns/write_tables.py") +
        " " + testing_support::shell_word(place_.path()));
    ASSERT_EQ(run.status, 0) << run.output;
    setenv("MUSTER_COLUMNS", MUSTER_BINARY_DIR "/cmd/muster-columns", 1);
  }
  // All lines, or the error.
  std::string read(const std::string& name, const std::string& field = "") {
    auto stream = open_columns(real_files(), place_.path() + "/" + name, field);
    if (!stream) return std::string(errc_name(stream.error().code)) + " " + stream.error().context;
    std::string all(1, '\0'), piece(7, '\0');
    all.clear();
    for (;;) {
      const auto n = (*stream)->read(piece);
      if (!n) return all + std::string(errc_name(n.error().code));
      if (*n == 0) return all;
      all += piece.substr(0, *n);
    }
  }
  TemporaryFolder place_;
};

const std::string kTexts =
    "{\"text\":\"a\"}\n{}\n{\"text\":\"\"}\n{\"text\":\"\\\"\\\\\\n\\u0009\\u0000\\u001f\"}\n"
    "{\"text\":\"한 é 😀\"}\n{\"text\":\"last\"}\n";

TEST_F(ColumnStreamOf, WhatCannotBeReadIsRefused) {
  EXPECT_TRUE(read("indices.arrow").starts_with("unsupported a table of indices"));
  EXPECT_TRUE(read("chosen/data.arrow").starts_with("unsupported state.json"));
  EXPECT_NE(read("numbers.arrow").find("text (int64)"), std::string::npos);
  EXPECT_NE(read("snappy.parquet", "no").find("no column \"no\""), std::string::npos);
  EXPECT_NE(read("snappy.parquet", "id").find("id (int64), text (string)"), std::string::npos);
}

TEST_F(ColumnStreamOf, DamagedTablesAreToldSo) {
  const std::string list = file_text(place_.path() + "/cut.list");
  for (const std::string_view name : split(trim(list), '\n')) {
    EXPECT_TRUE(read(std::string(name)).starts_with("corrupt")) << name;
  }
  const std::string all = file_text(place_.path() + "/stream.arrow");
  place_.write("no_end.arrow", all.substr(0, all.size() - 8));
  EXPECT_EQ(read("no_end.arrow"), kTexts + "corrupt");
  // A stream that is cut or flipped somewhere: an error or other rows, no crash.
  const std::string whole = file_text(place_.path() + "/stream.arrow");
  for (std::size_t i = 0; i < whole.size(); i += 19) {
    place_.write("cut.arrow", whole.substr(0, i));
    read("cut.arrow");
    std::string flipped = whole;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x41);
    place_.write("flipped.arrow", flipped);
    read("flipped.arrow");
  }
}

TEST_F(ColumnStreamOf, TextsOfAllForms) {
  for (const char* name : {"snappy.parquet", "gzip.parquet", "zstd.parquet", "none.parquet",
                           "v2.parquet", "file.arrow", "stream.arrow", "lz4.arrow", "large.arrow",
                           "view.arrow", "dictionary.arrow"}) {
    EXPECT_EQ(read(name), kTexts) << name;
    EXPECT_EQ(read(name, "text"), kTexts) << name;
  }
}

TEST_F(ColumnStreamOf, ConversationsOfAllForms) {
  const std::string chats =
      "{\"messages\":[{\"role\":\"user\",\"content\":\"q\\n\",\"n\":1},"
      "{\"role\":\"assistant\",\"content\":\"a\"}],\"text\":\"x\"}\n"
      "{\"messages\":[],\"tools\":[],\"text\":\"y\"}\n{\"text\":\"z\"}\n";
  EXPECT_EQ(read("chats.parquet"), chats);
  EXPECT_EQ(read("chats.arrow"), chats);
}

TEST_F(ColumnStreamOf, RowsOfManyBatchesInOrder) {
  std::string all;
  for (int i = 0; i < 5000; ++i) all += "{\"text\":\"row " + std::to_string(i) + "\"}\n";
  EXPECT_EQ(read("many.parquet"), all);
  EXPECT_EQ(read("many.arrow"), all);
}

#endif

}  // namespace
}  // namespace muster
