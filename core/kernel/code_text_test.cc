#include "core/kernel/code_text.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "core/kernel/nvlink5_table.h"
#include "core/kernel/sxid_table.h"
#include "core/kernel/xid_table.h"

namespace muster {
namespace {

TEST(CodeText, WhatNoTableHasIsEmpty) {
  EXPECT_TRUE(code_rows(CodeTable::xid, -1, {}).empty());
  EXPECT_TRUE(code_rows(CodeTable::xid, 100'000, {}).empty());
  EXPECT_TRUE(code_rows(CodeTable::sxid, 79, {}).empty());
  EXPECT_TRUE(code_rows(CodeTable::nvlink, 79, {}).empty());
  EXPECT_TRUE(code_rows(CodeTable::nvlink, 149, NvlinkWords{"NO_UNIT", 0, 0}).empty());
  EXPECT_EQ(code_text({}, 80), "");
}

TEST(CodeText, OneCodeInFull) {
  const std::string text = code_text(code_rows(CodeTable::xid, 79, {}), 80);
  EXPECT_TRUE(text.starts_with("Xid 79\n  means   ")) << text;
  for (const char* word : {"gpu_fell_off_bus", "critical", "drain_host: ", "power_cycle_host: "}) {
    EXPECT_NE(text.find(word), std::string::npos) << text;
  }
  const std::string harmless = code_text(code_rows(CodeTable::xid, 14, {}), 80);
  EXPECT_NE(harmless.find("  do      none: "), std::string::npos) << harmless;
  const std::string words = code_text(code_rows(CodeTable::xid, 149, {}), 80);
  EXPECT_NE(words.find("muster explain nvlink 149"), std::string::npos) << words;
}

TEST(CodeText, AllRowsOfEachTable) {
  EXPECT_EQ(code_rows(CodeTable::xid, {}, {}).size(), xid_table().size());
  EXPECT_EQ(code_rows(CodeTable::sxid, {}, {}).size(), sxid_table().size());
  EXPECT_EQ(code_rows(CodeTable::nvlink, {}, {}).size(), nvlink5_table().size());
  for (const CodeTable table : {CodeTable::xid, CodeTable::sxid, CodeTable::nvlink}) {
    for (const CodeRow& row : code_rows(table, {}, {})) {
      EXPECT_FALSE(row.judgement.meaning.empty()) << row.code;
      EXPECT_TRUE(cause_row(row.judgement.cause).allows(row.judgement.severity)) << row.code;
      for (const std::string_view line : split(code_text({row}, 80), '\n')) {
        EXPECT_LE(line.size(), 80u) << line;
      }
    }
    for (const std::string_view line : split(code_text(code_rows(table, {}, {}), 80), '\n')) {
      EXPECT_LE(line.size(), 80u) << line;
    }
  }
}

TEST(CodeText, AsADocument) {
  const std::string json = code_json(code_rows(CodeTable::xid, 79, {}));
  EXPECT_TRUE(json.starts_with(R"({"schema":"muster.code/1","codes":[{"table":"xid","code":79,)"))
      << json;
  EXPECT_NE(json.find(R"("actions":["drain_host","power_cycle_host"])"), std::string::npos) << json;
  EXPECT_EQ(code_json({}), R"({"schema":"muster.code/1","codes":[]})");
}

}  // namespace
}  // namespace muster
