#include "core/flight/pickle_reader.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/limits.h"
#include "core/flight/pickle_test_kit.h"

namespace muster {
namespace {

using namespace std::string_literals;

// A value as text: {'a': [1, None]}. Deep ones end in "...".
std::string shown(const FlightValues& values, const FlightValue& value, int depth = 0) {
  if (depth > 6) return "...";
  std::string out;
  switch (value.kind) {
    case FlightKind::none:
      return "None";
    case FlightKind::boolean:
      return value.bits != 0 ? "True" : "False";
    case FlightKind::integer:
      return std::to_string(value.bits);
    case FlightKind::real:
      return fmt::format("{:.3f}", value.real());
    case FlightKind::string:
      return "'" + std::string(values.text(value)) + "'";
    case FlightKind::list:
      values.each(value, [&](const FlightValue& item) {
        out += (out.empty() ? "" : ", ") + shown(values, item, depth + 1);
      });
      return "[" + out + "]";
    case FlightKind::dict:
      values.each_pair(value, [&](const FlightValue& key, const FlightValue& item) {
        out += (out.empty() ? "" : ", ") + shown(values, key, depth + 1) + ": " +
               shown(values, item, depth + 1);
      });
      return "{" + out + "}";
  }
  return "?";
}

class Rows final : public FlightRowSink {
 public:
  explicit Rows(const FlightValues& values) : values_(values) {}
  Taken row(const FlightValue& value, std::uint64_t) override {
    rows.push_back(shown(values_, value));
    return rows.size() < most ? Taken::record : Taken::enough;
  }
  std::vector<std::string> rows;
  std::size_t most = SIZE_MAX;

 private:
  const FlightValues& values_;
};

struct Answer {
  std::string root, error;
  std::vector<std::string> rows;
  FlightDocument document;
};

Answer read(std::string_view bytes, std::size_t most = SIZE_MAX) {
  FlightValues values;
  Rows rows(values);
  rows.most = most;
  PickleReader reader;
  FlightWindow window;
  window.open(bytes, nullptr);
  const auto document = reader.read(window, values, rows);
  if (!document) return {"", document.error().context, {}, {}};
  return {shown(values, document->root), "", rows.rows, *document};
}

std::string proto(const std::string& rest) {
  return "\x80\x02"s + rest;
}

struct BadRow {
  const char* name;
  std::string bytes;
  std::string error;  // a piece of it
};

std::vector<BadRow> code_rows() {
  const std::pair<std::string, const char*> opcodes[] = {
      {"cos\nsystem\n", "GLOBAL"},
      {"\x93", "STACK_GLOBAL"},
      {"R", "REDUCE"},
      {"b", "BUILD"},
      {"\x81", "NEWOBJ"},
      {"\x92", "NEWOBJ_EX"},
      {"ios\nsystem\n", "INST"},
      {"o", "OBJ"},
      {"Pid\n", "PERSID"},
      {"Q", "BINPERSID"},
      {"\x82\x01", "EXT1"},
      {"\x83\x01\x01", "EXT2"},
      {"\x84....", "EXT4"},
      {"\x97", "NEXT_BUFFER"},
      {"\x98", "READONLY_BUFFER"},
  };
  std::vector<BadRow> rows;
  for (const auto& [opcode, name] : opcodes) {
    rows.push_back({name, proto("K\x01K\x02" + opcode),
                    fmt::format("wants to run code: opcode {} at byte 6", name)});
  }
  return rows;
}

std::vector<BadRow> bad_rows() {
  return {
      {"empty", "", "no pickle"},
      {"text", "hello", "no pickle"},
      {"protocol_0", "(dp0\n.", "no pickle"},
      {"protocol_1", proto("").replace(1, 1, "\x01"), "unknown protocol"},
      {"protocol_6", "\x80\x06N.", "unknown protocol"},
      {"zeros", proto("\0\0"s), "byte 2: an opcode"},
      {"pop", proto("N0."), "byte 3: an opcode"},
      {"dup", proto("N2."), "byte 3: an opcode"},
      {"text_integer", proto("I1\n."), "byte 2: an opcode"},
      {"bytes", proto("C\x01x."), "byte 2: an opcode"},
      {"get_of_nothing", proto("h\x00."s), "never put"},
      {"long_get_of_nothing", proto("j\xff\xff\xff\xff."), "never put"},
      {"put_of_nothing", proto("q\x00."s), "not there"},
      {"put_out_of_order", proto("Nq\x01."), "out of order"},
      {"memoize_nothing", proto("\x94."), "not there"},
      {"items_without_mark", proto("}u."), "without their mark"},
      {"appends_without_mark", proto("]e."), "without their mark"},
      {"mark_without_container", proto("(u."), "without their mark"},
      {"items_for_a_list", proto("](K\x01K\x02u."), "takes none"},
      {"appends_for_a_dict",
       proto("}(K\x01"
             "e."),
       "takes none"},
      {"appends_for_a_number",
       proto("K\x01(K\x01"
             "e."),
       "takes none"},
      {"key_without_value", proto("}(K\x01u."), "without a value"},
      {"setitem_of_one", proto("}K\x01s."), "without its container"},
      {"append_to_nothing",
       proto("K\x01"
             "a."),
       "without its container"},
      {"append_below_a_mark",
       proto("](K\x01"
             "a."),
       "without its container"},
      {"tuple_of_too_few", proto("K\x01\x86."), "than there are"},
      {"tuple_over_a_mark", proto("K\x01(K\x01\x86."), "than there are"},
      {"tuple_without_mark", proto("t."), "without its mark"},
      {"stop_on_nothing", proto("."), "in the middle"},
      {"stop_on_two", proto("NN."), "in the middle"},
      {"stop_in_a_mark", proto("N(."), "in the middle"},
      {"long_of_nine",
       proto("\x8a\x09"
             "123456789."),
       "more than 64 bits"},
      {"long4_of_nine",
       proto("\x8b\x09\0\0\0"s
             "123456789."),
       "more than 64 bits"},
      {"long_string", proto("X\x01\0\x10\0"s), "longer than 1 MiB"},
      {"endless_string", proto("\x8d\xff\xff\xff\xff\xff\xff\xff\xff"), "longer than 1 MiB"},
      {"deep", proto(std::string(limits::kFlightDepth + 1, '(')), "too deep"},
  };
}

TEST(PickleReader, RefusesWhatWantsToRunCode) {
  for (const BadRow& row : code_rows()) {
    EXPECT_NE(read(row.bytes).error.find(row.error), std::string::npos) << row.name;
  }
}

TEST(PickleReader, RefusesCodeBehindGoodRowsToo) {
  const std::string rows = PickleText().dict().text("entries").list().dict().pair("a", 1).open();
  EXPECT_EQ(read(rows + "uR").error, "this pickle wants to run code: opcode REDUCE at byte 33");
}

TEST(PickleReader, RefusesWhatIsDamaged) {
  for (const BadRow& row : bad_rows()) {
    const Answer answer = read(row.bytes);
    EXPECT_NE(answer.error.find(row.error), std::string::npos) << row.name << ": " << answer.error;
  }
}

struct GoodRow {
  const char* name;
  std::string bytes, value;
};

std::vector<GoodRow> good_rows() {
  return {
      {"none", proto("N."), "None"},
      {"true", proto("\x88."), "True"},
      {"false", proto("\x89."), "False"},
      {"byte", proto("K\xff."), "255"},
      {"word", proto("M\xff\xff."), "65535"},
      {"minus_one", proto("J\xff\xff\xff\xff."), "-1"},
      {"long_of_0", proto("\x8a\x00."s), "0"},
      {"long_of_1", proto("\x8a\x01\xff."), "-1"},
      {"long_of_2", proto("\x8a\x02\xff\x00."s), "255"},
      {"long_of_8", proto("\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f."), "9223372036854775807"},
      {"lowest", proto("\x8a\x08\0\0\0\0\0\0\0\x80."s), "-9223372036854775808"},
      {"time", proto("\x8a\x08\x01\x00\xb8\x7f\x2e\x56\xb3\x18."s), "1779861035452727297"},
      {"long4", proto("\x8b\x02\0\0\0\x01\x01."s), "257"},
      {"real", proto("G\x3f\xf8\0\0\0\0\0\0."s), "1.500"},
      {"string", proto("X\x02\0\0\0ab."s), "'ab'"},
      {"short_string",
       proto("\x8c\x02"
             "ab."),
       "'ab'"},
      {"string_of_8", proto("\x8d\x02\0\0\0\0\0\0\0ab."s), "'ab'"},
      {"old_string",
       proto("U\x02"
             "ab."),
       "'ab'"},
      {"empty_string", proto("X\0\0\0\0."s), "''"},
      {"empty_dict", proto("}."), "{}"},
      {"empty_dict_with_mark", proto("}(u."), "{}"},
      {"setitem", proto("}K\x01K\x02s."), "{1: 2}"},
      {"setitems_twice", proto("}(K\x01K\x02u(K\x03K\x04u."), "{1: 2, 3: 4}"},
      {"list_in_dict",
       proto("}K\x01](K\x02K\x03"
             "es."),
       "{1: [2, 3]}"},
      {"append_one_by_one",
       proto("}K\x01]K\x02"
             "aK\x03"
             "as."),
       "{1: [2, 3]}"},
      {"tuples", proto("})K\x01\x85\x85s."), "{[]: [[1]]}"},
      {"tuple2", proto("K\x01K\x02\x86."), "[1, 2]"},
      {"tuple3", proto("K\x01K\x02K\x03\x87."), "[1, 2, 3]"},
      {"tuple_of_4", proto("(K\x01K\x02K\x03K\x04t."), "[1, 2, 3, 4]"},
      {"put_and_get", proto("}X\x01\0\0\0aq\0h\0s."s), "{'a': 'a'}"},
      {"long_put_and_get", proto("}X\x01\0\0\0ar\0\0\0\0j\0\0\0\0s."s), "{'a': 'a'}"},
      {"memoize_and_frame",
       "\x80\x04\x95\x07\0\0\0\0\0\0\0}\x94\x8c\x01"s
       "a\x94h\x01s.",
       "{'a': 'a'}"},
      {"shared_dict", proto("}(K\x01}K\x02Ns\x94K\x03h\0u."s), "{1: {2: None}, 3: {2: None}}"},
  };
}

TEST(PickleReader, ReadsPlainValues) {
  for (const GoodRow& row : good_rows()) {
    const Answer answer = read(row.bytes);
    EXPECT_EQ(answer.error, "") << row.name;
    EXPECT_EQ(answer.root, row.value) << row.name;
    EXPECT_FALSE(answer.document.cut_at) << row.name;
  }
}

// Three rows the way PyTorch writes them: the frame is put after it was filled, and got later.
std::string three_rows() {
  PickleText text;
  text.dict().pair("version", "2.10").text("pg_config").dict().text("0").dict();
  text.pair("name", "zero").end_dict().end_dict().text("entries").list();
  std::uint32_t frame = 0;
  for (int i = 0; i < 3; ++i) {
    text.dict().text("frames").list();
    if (i == 0) {
      text.dict().pair("line", 70000).end_dict();
      frame = text.put();
    } else {
      text.get(frame);
    }
    text.end_list().pair("id", i).text("sizes").list().list().integer(i).end_list().end_list();
    text.end_dict();
  }
  return text.end_list().pair("last", 1).end_dict().stop();
}

const std::vector<std::string> kThree = {"{'frames': [{'line': 70000}], 'id': 0, 'sizes': [[0]]}",
                                         "{'frames': [{'line': 70000}], 'id': 1, 'sizes': [[1]]}",
                                         "{'frames': [{'line': 70000}], 'id': 2, 'sizes': [[2]]}"};

TEST(PickleReader, DeliversRowsAndForgetsThem) {
  const Answer answer = read(three_rows());
  EXPECT_EQ(answer.rows, kThree);
  EXPECT_EQ(answer.root,
            "{'version': '2.10', 'pg_config': {'0': {'name': 'zero'}}, 'entries': [], 'last': 1}");
}

struct RowsRow {
  const char* name;
  std::string bytes;
  std::vector<std::string> rows;
};

std::vector<RowsRow> rows_rows() {
  const std::string entries = "X\x07\0\0\0entries"s;
  return {
      {"no_rows", proto("}" + entries + "]s."), {}},
      {"bare_list", proto("](}(K\x01K\x02u}(K\x03K\x04ue."), {"{1: 2}", "{3: 4}"}},
      {"appends_twice", proto("](}(K\x01K\x02ue(}(K\x03K\x04ue."), {"{1: 2}", "{3: 4}"}},
      {"append", proto("}" + entries + "]}(K\x01K\x02uas."), {"{1: 2}"}},
      {"small_rows", proto("](}K\x01K\x02s}K\x03K\x04se."), {"{1: 2}", "{3: 4}"}},
      {"list_in_a_small_row", proto("](}K\x01]}ase."), {"{1: [{}]}"}},
      {"one_row_twice", proto("](}(K\x01K\x02u\x94h\0e."s), {"{1: 2}", "{1: 2}"}},
      {"no_dicts",
       proto("](K\x01]K\x02"
             "aNe."),
       {"1", "[2]", "None"}},
      {"row_of_rows",
       proto("](](}K\x01K\x02seN"
             "e."),
       {"[{1: 2}]", "None"}},
      {"entries_deeper_down", proto("}(K\x01}(" + entries + "]Nauu."), {}},
      {"entries_as_value", proto("}(K\x01" + entries + "u."), {}},
      // A list from before the rows, filled by one row and read by the next.
      {"older_list_changes",
       proto("](]\x94}(K\x01h\0(K\x07"
             "eu}(K\x02h\0ue."s),
       {"[7]", "{1: [7]}", "{2: [7]}"}},
  };
}

TEST(PickleReader, RowsTable) {
  for (const RowsRow& row : rows_rows()) {
    const Answer answer = read(row.bytes);
    EXPECT_EQ(answer.error, "") << row.name;
    EXPECT_EQ(answer.rows, row.rows) << row.name;
  }
}

TEST(PickleReader, AContainerInItselfIsNoTrap) {
  const Answer answer = read(proto("}\x94(K\x01h\0u."s));
  EXPECT_EQ(answer.root, "{1: {1: {1: {1: {1: {1: {...: ...}}}}}}}");
}

TEST(PickleReader, StopsWhereTheSinkHasEnough) {
  const Answer answer = read(three_rows(), 2);
  EXPECT_EQ(answer.rows.size(), 2U);
  EXPECT_TRUE(answer.document.cut_at);
  EXPECT_EQ(answer.document.damage, "more than is read of one dump");
}

TEST(PickleReader, TellsOfTrailingBytes) {
  EXPECT_TRUE(read(three_rows() + "more").document.trailing);
  EXPECT_FALSE(read(three_rows()).document.trailing);
}

TEST(PickleReader, CutAtEveryByteKeepsFinishedRows) {
  const std::string whole = three_rows();
  std::size_t most = 0;
  for (std::size_t cut = 1; cut < whole.size(); ++cut) {
    const Answer answer = read(whole.substr(0, cut));
    EXPECT_EQ(answer.error, "") << cut;
    EXPECT_EQ(answer.document.cut_at, cut);
    EXPECT_EQ(answer.document.damage, "") << cut;
    ASSERT_LE(answer.rows.size(), kThree.size()) << cut;
    EXPECT_GE(answer.rows.size(), most) << cut;
    most = answer.rows.size();
    for (std::size_t i = 0; i < most; ++i) EXPECT_EQ(answer.rows[i], kThree[i]) << cut;
  }
  EXPECT_EQ(most, kThree.size());
  // Just behind the last row, its list still open.
  const std::size_t rows_end = whole.find("e" + std::string("X\x04\0\0\0last", 9));
  ASSERT_NE(rows_end, std::string::npos);
  const Answer last = read(whole.substr(0, rows_end));
  EXPECT_EQ(last.rows, kThree);
  EXPECT_EQ(last.root, "{'version': '2.10', 'pg_config': {'0': {'name': 'zero'}}, 'entries': []}");
}

TEST(PickleReader, FlippedAtEveryByteNeverFails) {
  const std::string whole = three_rows();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
      const Answer answer = read(bytes);
      EXPECT_LE(answer.rows.size(), 4U) << at;
    }
  }
}

TEST(PickleReader, IsUsedAgain) {
  FlightValues values;
  PickleReader reader;
  for (const std::string& bytes : {three_rows(), three_rows().substr(0, 60), proto("h\0"s)}) {
    Rows rows(values);
    FlightWindow window;
    window.open(bytes, nullptr);
    const auto first = reader.read(window, values, rows);
    EXPECT_EQ(static_cast<bool>(first), read(bytes).error.empty());
    EXPECT_EQ(rows.rows, read(bytes).rows);
  }
}

}  // namespace
}  // namespace muster
