#include "app/pack_reader.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include "base/limits.h"
#include "core/records/jsonl_records.h"
#include "tests/support/faulty_files.h"
#include "tests/support/memory_files.h"

namespace muster {
namespace {

std::string gzip(const std::string& text) {
  z_stream z{};
  deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(text.size() + 100, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

struct Wanted {
  std::size_t chunk_bytes = 1 << 20;
  std::string split = "";
  std::size_t read_bytes = 0;
};

// Every piece as "INPUT:LINE text", every fault as "INPUT:LINE! name", in order; "|" where a chunk
// ends.
std::vector<std::string> read(MemoryFiles& memory, std::vector<std::string> paths, Wanted wanted) {
  FaultPlan plan;
  plan.read_bytes = wanted.read_bytes;
  FaultyFiles files(memory, plan);
  PackReaderOptions options;
  options.chunk_bytes = wanted.chunk_bytes;
  if (!wanted.split.empty()) options.split = *records::TextSplit::parse(wanted.split);
  PackReader reader(files, std::move(paths), options, {});
  std::vector<std::string> said;
  for (;;) {
    const auto chunk = reader.next();
    if (!chunk) {
      said.push_back(chunk.error().context);
      return said;
    }
    if (!*chunk) return said;
    EXPECT_EQ((*chunk)->bytes.size(), (*chunk)->text_bytes + records::kRecordPadding);
    for (const PackPiece& piece : (*chunk)->pieces) {
      said.push_back(fmt::format("{}:{} {}{}", piece.input, piece.first_line,
                                 piece.format == PackFormat::text ? "t " : "",
                                 (*chunk)->bytes.substr(piece.begin, piece.end - piece.begin)));
    }
    for (const PackFault& fault : (*chunk)->faults) {
      said.push_back(
          fmt::format("{}:{}! {}", fault.input, fault.line, records::fault_name(fault.fault)));
    }
    said.push_back("|");
  }
}
using Said = std::vector<std::string>;

TEST(PackFormat, StrangersAreRefusedWithTheWayOut) {
  struct Row {
    std::string head;
    const char* word;
  };
  for (const Row& row :
       {Row{"PK\x03\x04", "zip"}, Row{std::string(257, 'a') + "ustar", "tar"}, Row{"BZh9", "bzcat"},
        Row{"\xFD"
            "7zXZ",
            "xzcat"},
        Row{"\x93NUMPY", "numpy"}, Row{"\xFF\xFE{\0", "iconv"}, Row{"\xFE\xFF\0{", "iconv"},
        Row{"[\n {\"text\":1}]", "jq -c"}, Row{"{\n \"text\":1}", "jq -c ."}}) {
    const auto format = pack_format(row.head);
    ASSERT_FALSE(format) << row.word;
    EXPECT_NE(format.error().context.find(row.word), std::string::npos) << format.error().context;
  }
}

TEST(PackFormat, LinesAndText) {
  EXPECT_EQ(*pack_format("{\"text\":1}"), PackFormat::json_lines);
  EXPECT_EQ(*pack_format("\xEF\xBB\xBF\r\n {"), PackFormat::json_lines);
  EXPECT_EQ(*pack_format("[1] A text"), PackFormat::text);
  EXPECT_EQ(*pack_format(""), PackFormat::text);
}

TEST(PackReader, WhatIsMissingIsAnError) {
  MemoryFiles files;
  files.add("a", "x");
  EXPECT_FALSE(check_pack_inputs(files, {"a", "b"}, {}));
  EXPECT_TRUE(check_pack_inputs(files, {"a", "-"}, {}));
  EXPECT_TRUE(read(files, {"b"}, {})[0].find("b") != std::string::npos);
  files.add("p", "PAR1");
  const auto table = check_pack_inputs(files, {"p"}, {});
  ASSERT_FALSE(table);
  EXPECT_TRUE(table.error().context.starts_with("p: ")) << table.error().context;
  PackReaderOptions text;
  text.split = records::TextSplit{};
  EXPECT_TRUE(check_pack_inputs(files, {"p"}, text));
}

TEST(PackReader, StoppedItSaysSo) {
  MemoryFiles files;
  files.add("a", "x");
  std::stop_source stop;
  stop.request_stop();
  PackReader reader(files, {"a"}, {}, stop.get_token());
  EXPECT_EQ(reader.next().error().code, Errc::unavailable);
}

TEST(PackReader, ChunksEndBehindRecordsWhateverTheReads) {
  MemoryFiles files;
  files.add("a", "{1}\n{2}\n\n{33333}\n{4}");
  files.add("b", "{5}\n");
  for (const std::size_t reads : {0U, 1U, 2U, 3U, 7U}) {
    const auto with = [&](std::size_t chunk) {
      return read(files, {"a", "b"}, {.chunk_bytes = chunk, .read_bytes = reads});
    };
    EXPECT_EQ(with(1000), (Said{"0:1 {1}\n{2}\n\n{33333}\n{4}", "1:1 {5}\n", "|"}));
    EXPECT_EQ(with(1), (Said{"0:1 {1}\n", "|", "0:2 {2}\n", "|", "0:3 \n", "|", "0:4 {33333}\n",
                             "|", "0:5 {4}", "|", "1:1 {5}\n", "|"}));
    EXPECT_EQ(with(8),
              (Said{"0:1 {1}\n{2}\n", "|", "0:3 \n{33333}\n", "|", "0:5 {4}", "1:1 {5}\n", "|"}));
    EXPECT_EQ(with(9), (Said{"0:1 {1}\n{2}\n\n", "|", "0:4 {33333}\n{4}", "|", "1:1 {5}\n", "|"}));
  }
}

TEST(PackReader, PlainTextByFileLineAndSeparator) {
  MemoryFiles files;
  files.add("a", "one\ntwo--three--");
  files.add("empty", "");
  files.add("json", "{}");
  EXPECT_EQ(read(files, {"a", "empty", "json"}, {.chunk_bytes = 1}),
            (Said{"0:1 t one\ntwo--three--", "|", "1:1 t ", "2:1 {}", "|"}));
  EXPECT_EQ(read(files, {"a", "empty", "json"}, {.chunk_bytes = 1, .split = "line"}),
            (Said{"0:1 t one\n", "|", "0:2 t two--three--", "|", "2:1 t {}", "|"}));
  EXPECT_EQ(read(files, {"a"}, {.chunk_bytes = 3, .split = "--"}),
            (Said{"0:1 t one\ntwo--", "|", "0:2 t three--", "|"}));
}

TEST(PackReader, CompressedInPieces) {
  MemoryFiles files;
  files.add("a.gz", gzip("{1}\n{2") + gzip("}\n") + gzip("{3}\n"));
  files.add("b.zst", zstd("{1}\n{2") + zstd("}\n") + zstd("{3}\n"));
  const Said said = {"0:1 {1}\n{2}\n{3}\n", "1:1 {1}\n{2}\n{3}\n", "|"};
  EXPECT_EQ(read(files, {"a.gz", "b.zst"}, {}), said);
  EXPECT_EQ(read(files, {"a.gz", "b.zst"}, {.read_bytes = 1}), said);
}

TEST(PackReader, OfACutFileTheTornRecordGoes) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += fmt::format("{{{}}}\n", i * 7919 % 1000);
  for (const std::string& whole : {gzip(text), zstd(text)}) {
    MemoryFiles files;
    files.add("a", whole.substr(0, whole.size() - whole.size() / 3));
    const Said said = read(files, {"a"}, {});
    ASSERT_GE(said.size(), 2U);
    EXPECT_TRUE(said[said.size() - 2].ends_with("! cut")) << said[said.size() - 2];
    for (const std::string& piece : said) {
      if (!piece.starts_with("0:1 ")) continue;
      EXPECT_TRUE(piece.ends_with("}\n"));
      EXPECT_EQ("0:1 " + text.substr(0, piece.size() - 4), piece);
    }
    // A text of one file is lost whole.
    EXPECT_EQ(read(files, {"a"}, {.split = "file"}), (Said{"0:1! cut", "|"}));
  }
}

TEST(PackReader, AMarkAtTheStartGoes) {
  MemoryFiles files;
  files.add("a", "\xEF\xBB\xBF{1}\n\xEF\xBB\xBF");
  EXPECT_EQ(read(files, {"a"}, {}), (Said{"0:1 {1}\n\xEF\xBB\xBF", "0:1! byte_order_mark", "|"}));
}

TEST(PackReader, TooLongRecordsGoAlone) {
  MemoryFiles files;
  files.add("a", "{1}\n{" + std::string(limits::kRecordBytes + 100, 'x') + "}\n{2}\n");
  for (const std::size_t reads : {0U, 777'777U}) {
    EXPECT_EQ(read(files, {"a"}, {.chunk_bytes = 5, .read_bytes = reads}),
              (Said{"0:1 {1}\n", "0:3 {2}\n", "0:2! too_long", "|"}));
  }
  EXPECT_EQ(read(files, {"a"}, {.chunk_bytes = 5, .split = "file"}), (Said{"0:1! too_long", "|"}));
}

TEST(PackReader, InputsAreHashedAsTheyLie) {
  MemoryFiles files;
  files.add("a", "{1}\n");
  files.add("b", gzip("{1}\n"));
  PackReader reader(files, {"a", "b", "a"}, {}, {});
  while (*reader.next()) continue;
  ASSERT_EQ(reader.ended().size(), 3U);
  EXPECT_EQ(reader.ended()[0].bytes, 4U);
  EXPECT_EQ(reader.ended()[0].hash, reader.ended()[2].hash);
  EXPECT_NE(reader.ended()[0].hash, reader.ended()[1].hash);
}

}  // namespace
}  // namespace muster
