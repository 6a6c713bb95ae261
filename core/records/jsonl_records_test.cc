#include "core/records/jsonl_records.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <random>

#include "base/limits.h"
#include "core/records/records_test_kit.h"
#include "core/records/unescape.h"

namespace muster::records {
namespace {

Told read(std::string_view lines, const std::string& field = "") {
  Told told;
  JsonlReader reader({.field = field});
  const std::string bytes = padded(lines);
  reader.read(std::string_view(bytes).substr(0, lines.size()), 1, told);
  return told;
}

struct Row {
  const char* name;
  std::string line;
  Said said;
  std::string field = "";
};

// gtest prints a row by its name.
void PrintTo(const Row& row, std::ostream* out) {
  *out << row.name;
}

class JsonlRow : public ::testing::TestWithParam<Row> {};

TEST_P(JsonlRow, SaysThis) {
  EXPECT_EQ(read(GetParam().line, GetParam().field).said, GetParam().said);
}

const std::string kNulLine = std::string(R"({"text":"a)") + '\0' + R"("})";

INSTANTIATE_TEST_SUITE_P(
    Lost, JsonlRow,
    ::testing::Values(
        Row{"cut", R"({"text":"ab)", {"1! not_json: A string is opened, but never closed."}},
        Row{"half_object",
            R"({"text":"ab")",
            {"1! not_json: JSON document ended early in the middle of an object or array."}},
        Row{"word", "plain words", {"1! not_json: no object"}},
        Row{"array", R"(["text"])", {"1! not_json: no object"}},
        Row{"text_alone", R"("text")", {"1! not_json: no object"}},
        Row{"two",
            R"({"text":"a"}{"text":"b"})",
            {"1! not_json: something stands behind the object"}},
        Row{"comma",
            R"({"text":"a"},)",
            {"1! not_json: JSON document ended early in the middle of an object or array."}},
        Row{"no_value",
            R"({"text":})",
            {"1! not_json: The JSON document has an improper structure: missing or superfluous "
             "commas, braces, missing keys, etc."}},
        Row{"number", R"({"text":5})", {"1! not_text: \"text\" is a number"}},
        Row{"flag", R"({"text":true})", {"1! not_text: \"text\" is true or false"}},
        Row{"object", R"({"text":{"text":"a"}})", {"1! not_text: \"text\" is an object"}},
        Row{"list", R"({"text":["a"]})", {"1! not_text: an array, but not of messages"}},
        Row{"missing", R"({"a":1,"b":2})", {"1! no_field: no \"text\"; there are: a, b"}},
        Row{"nothing", "{}", {"1! no_field: no \"text\"; there are: none"}},
        Row{"null", R"({"text":null})", {"1! no_field: no \"text\"; there are: text"}},
        Row{"many_fields",
            R"({"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1})",
            {"1! no_field: no \"text\"; there are: a, b, c, d, e, f, g, h, ..."}},
        Row{"deeper", R"({"a":{"text":"b"}})", {"1! no_field: no \"text\"; there are: a"}},
        Row{"case", R"({"Text":"b"})", {"1! no_field: no \"text\"; there are: Text"}},
        Row{"named_null", R"({"q":null})", {"1! not_text: \"q\" is null"}, "q"},
        Row{"named_missing", R"({"text":"a"})", {"1! no_field: no \"q\"; there are: text"}, "q"},
        Row{"twice", R"({"text":"a","text":"a"})", {"1! twice: \"text\""}},
        Row{"twice_escaped", R"({"text":"a","te\u0078t":"b"})", {"1! twice: \"text\""}},
        Row{"high_half", R"({"text":"a\ud800"})", {"1! lone_surrogate: in \"text\""}},
        Row{"high_half_inside", R"({"text":"a\ud800b"})", {"1! lone_surrogate: in \"text\""}},
        Row{"high_twice", R"({"text":"\ud800\ud800"})", {"1! lone_surrogate: in \"text\""}},
        Row{"low_half", R"({"text":"\udc00"})", {"1! lone_surrogate: in \"text\""}},
        Row{"wrong_order", R"({"text":"\ude00\ud83d"})", {"1! lone_surrogate: in \"text\""}},
        Row{"escape", R"({"text":"\q"})", {"1! bad_escape: in \"text\""}},
        Row{"short_escape", R"({"text":"\u12"})", {"1! bad_escape: in \"text\""}},
        Row{"signed_escape", R"({"text":"\u-123"})", {"1! bad_escape: in \"text\""}},
        Row{"half_pair_escape", R"({"text":"\ud83d\u12"})", {"1! bad_escape: in \"text\""}},
        Row{"raw_tab",
            "{\"text\":\"a\tb\"}",
            {"1! not_json: Within strings, some characters must be escaped, we found unescaped "
             "characters"}},
        Row{"raw_nul",
            kNulLine,
            {"1! not_json: Within strings, some characters must be escaped, we found unescaped "
             "characters"}},
        Row{"bad_utf8", "{\"text\":\"a\xFF\"}", {"1! invalid_utf8: byte 10 of the line"}},
        Row{"bad_utf8_elsewhere",
            "{\"x\":\"\xC3\",\"text\":\"a\"}",
            {"1! invalid_utf8: byte 6 of the line"}},
        Row{"raw_surrogate",
            "{\"text\":\"\xED\xA0\x80\"}",
            {"1! invalid_utf8: byte 9 of the line"}},
        Row{"conversation",
            R"({"messages":[{"role":"user","content":"a"}]})",
            {"1! no_chat: no chat template is at hand"}},
        Row{"no_message", R"({"messages":["a"]})", {"1! not_text: an array, but not of messages"}}),
    ::testing::PrintToStringParamName());

INSTANTIATE_TEST_SUITE_P(
    Kept, JsonlRow,
    ::testing::Values(
        Row{"plain", R"({"text":"a"})", {"1: a"}}, Row{"newline", "{\"text\":\"a\"}\n", {"1: a"}},
        Row{"blank", "\n \t\n{\"text\":\"a\"}", {"1! blank", "2! blank", "3: a"}},
        Row{"windows", "{\"text\":\"a\"}\r\n\r\n", {"1! crlf", "1: a", "2! crlf", "2! blank"}},
        Row{"blanks", "  { \"text\" : \"a\" }  ", {"1: a"}},
        Row{"blanks_of_the_text", R"({"text":" a\n"})", {"1:  a\n"}},
        Row{"empty", R"({"text":""})", {"1! empty_text"}},
        Row{"last", R"({"a":1,"b":[{"text":"no"}],"text":"a"})", {"1: a"}},
        Row{"field", R"({"text":"no","q":"a"})", {"1: a"}, "q"},
        Row{"field_of_another_script", "{\"\\ubcf8\\ubb38\":\"a\"}", {"1: a"}, "본문"},
        Row{"escaped_key", R"({"te\u0078t":"a"})", {"1: a"}},
        Row{"others_twice", R"({"x":1,"x":2,"text":"a"})", {"1: a"}},
        Row{"escapes", R"({"text":"\"\\\/\b\f\n\r\t"})", {"1: \"\\/\b\f\n\r\t"}},
        Row{"unicode",
            R"({"text":"\u00e9\ud55c\ud83d\ude00\u007f\uffff"})",
            {"1: é한😀\x7F\xEF\xBF\xBF"}},
        Row{"capital_digits", R"({"text":"\uD55C"})", {"1: 한"}},
        Row{"raw_unicode", R"({"text":"é한😀"})", {"1: é한😀"}},
        Row{"mark_inside", "{\"text\":\"\xEF\xBB\xBF\"}", {"1: \xEF\xBB\xBF"}},
        Row{"escaped_nul", R"({"text":"a\u0000b"})", {"1! escaped_nul", std::string("1: a\0b", 6)}},
        Row{"null_messages", R"({"messages":null,"text":"a"})", {"1: a"}},
        Row{"large_number", R"({"n":123456789012345678901234567890,"text":"a"})", {"1: a"}},
        Row{"one_costs_no_other",
            "{\"text\":5}\n{\"text\":\"a\n{\"text\":\"b\"}",
            {"1! not_text: \"text\" is a number",
             "2! not_json: A string is opened, but never closed.", "3: b"}}),
    ::testing::PrintToStringParamName());

TEST(JsonlRecords, AllOfATextIsTrainedAndNothingOfItIsPlain) {
  const Told told = read(R"({"text":"abc"})");
  ASSERT_EQ(told.documents.size(), 1U);
  EXPECT_EQ(told.documents[0], (Document{"abc", {}, {{0, 3}}, false}));
}

TEST(JsonlRecords, ALineBeyondTheBoundIsToldAndTheNextIsRead) {
  const std::string line =
      R"({"text":")" + std::string(limits::kRecordBytes, 'a') + "\"}\n{\"text\":\"b\"}";
  EXPECT_EQ(read(line).said, (Said{"1! too_long", "2: b"}));
}

TEST(JsonlRecords, LinesAreCountedFromTheFirst) {
  Told told;
  const std::string bytes = padded("{\"text\":\"a\"}\n{}\n");
  JsonlReader({}).read(std::string_view(bytes).substr(0, bytes.size() - 64), 1001, told);
  EXPECT_EQ(told.said, (Said{"1001: a", "1002! no_field: no \"text\"; there are: none"}));
}

// Of a line that is cut anywhere nothing is read but its whole, and the next line is.
TEST(JsonlRecords, CutAtEveryByte) {
  const std::string line = R"({"a":[1,{"b":"c"}],"text":"x\u00e9\ud83d\ude00\n","z":null})";
  for (std::size_t i = 1; i < line.size(); ++i) {
    const Told told = read(line.substr(0, i) + "\n{\"text\":\"next\"}");
    ASSERT_EQ(told.said.size(), 2U) << i;
    EXPECT_TRUE(told.said[0].starts_with("1! not_json")) << i << told.said[0];
    EXPECT_EQ(told.said[1], "2: next") << i;
  }
}

TEST(JsonlRecords, FlippedAtEveryBit) {
  const std::string line = R"({"a":[1,{"b":"c"}],"text":"x\u00e9\ud83d\ude00\n","z":null})";
  for (std::size_t i = 0; i < line.size() * 8; ++i) {
    std::string flipped = line;
    flipped[i / 8] = static_cast<char>(flipped[i / 8] ^ (1 << i % 8));
    const Told told = read(flipped + "\n{\"text\":\"next\"}");
    ASSERT_GE(told.said.size(), 2U) << i;
    EXPECT_TRUE(told.said.back().ends_with(": next")) << i;
    for (const Document& document : told.documents) {
      EXPECT_TRUE(simdjson::validate_utf8(document.text)) << i;
    }
  }
}

// What the library reads, in its own way, is what is read here.
TEST(JsonlRecords, StringsAreThoseOfTheLibrary) {
  std::mt19937 random(7);
  constexpr std::array<std::string_view, 14> kPieces = {
      "a", "한",  "\\n",     "\\\"", "\\\\", "\\u00e9", "\\ud55c", "\\ud83d\\ude00",
      "/", "\\/", "\\u0041", "😀",   " ",    "\\u0000"};
  simdjson::dom::parser parser;
  for (int i = 0; i < 20000; ++i) {
    std::string quoted = "\"";
    for (auto n = random() % 12; n > 0; --n) quoted += kPieces[random() % kPieces.size()];
    quoted += '"';
    std::string mine;
    bool nul = false;
    EXPECT_FALSE(unescape(quoted, mine, nul)) << quoted;
    std::string_view theirs;
    ASSERT_EQ(parser.parse(quoted).get_string().get(theirs), simdjson::SUCCESS);
    EXPECT_EQ(mine, theirs) << quoted;
    EXPECT_EQ(nul, mine.find('\0') != std::string::npos);
  }
}

}  // namespace
}  // namespace muster::records
