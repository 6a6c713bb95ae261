#include "core/records/chat_template.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "core/records/jsonl_records.h"
#include "core/records/records_test_kit.h"

namespace muster::records {
namespace {

const ChatTemplate kQwen3 = ChatTemplate::qwen3();

// One line of JSON.
Told read(std::string_view line, const std::string& field = "", bool specials = false) {
  Told told;
  const std::string bytes = padded(line);
  JsonlReader({.field = field, .chat = &kQwen3, .specials_in_chats = specials})
      .read(std::string_view(bytes).substr(0, line.size()), 1, told);
  return told;
}

std::vector<std::string> pieces(const Document& document, const std::vector<ByteRange>& ranges) {
  std::vector<std::string> out;
  for (const ByteRange& range : ranges) {
    out.push_back(document.text.substr(range.begin, range.end - range.begin));
  }
  return out;
}

Document rendered(std::string_view line, bool specials = false) {
  Told told = read(line, "", specials);
  EXPECT_EQ(told.documents.size(), 1U) << (told.said.empty() ? "" : told.said[0]);
  return told.documents.empty() ? Document() : told.documents[0];
}

struct Row {
  const char* name;
  const char* line;
  const char* said;
};
void PrintTo(const Row& row, std::ostream* out) {
  *out << row.name;
}
class ChatRow : public ::testing::TestWithParam<Row> {};

TEST_P(ChatRow, IsRefused) {
  EXPECT_EQ(read(GetParam().line).said, Said{GetParam().said});
}

INSTANTIATE_TEST_SUITE_P(
    Refused, ChatRow,
    ::testing::Values(
        Row{"none", R"({"messages":[]})", "1! no_chat: a conversation without a message"},
        Row{"role", R"({"messages":[{"role":"developer","content":"a"}]})",
            "1! no_chat: message 0: role \"developer\", which the template would leave out"},
        Row{"role_case",
            R"({"messages":[{"role":"user","content":"a"},{"role":"User","content":"a"}]})",
            "1! no_chat: message 1: role \"User\", which the template would leave out"},
        Row{"no_role", R"({"messages":[{"content":"a"}]})",
            "1! no_chat: message 0 has no \"role\""},
        Row{"no_content", R"({"messages":[{"role":"user"}]})",
            "1! no_chat: message 0 has no \"content\""},
        Row{"share_gpt", R"({"messages":[{"from":"human","value":"a"}]})",
            "1! no_chat: message 0 has no \"role\""},
        Row{"null_content", R"({"messages":[{"role":"assistant","content":null}]})",
            "1! not_text: \"content\" is null"},
        Row{"parts", R"({"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}]})",
            "1! not_text: \"content\" is an array"},
        Row{"role_number", R"({"messages":[{"role":1,"content":"a"}]})",
            "1! not_text: \"role\" is a number"},
        Row{"reasoning_list",
            R"({"messages":[{"role":"assistant","content":"a","reasoning_content":[]}]})",
            "1! not_text: \"reasoning_content\" is an array"},
        Row{"content_twice", R"({"messages":[{"role":"user","content":"a","content":"b"}]})",
            "1! twice: \"content\" of a message"},
        Row{"role_twice", R"({"messages":[{"role":"user","role":"user","content":"b"}]})",
            "1! twice: \"role\" of a message"},
        Row{"messages_twice", R"({"messages":[{"role":"user","content":"a"}],"messages":[]})",
            "1! twice: \"messages\""},
        Row{"calls",
            R"({"messages":[{"role":"assistant","content":"","tool_calls":[{"name":"w"}]}]})",
            "1! no_chat: calls of tools are not rendered here"},
        Row{"tools", R"({"messages":[{"role":"user","content":"a"}],"tools":[{"name":"w"}]})",
            "1! no_chat: tools are not rendered here"},
        Row{"tools_before", R"({"tools":"w","messages":[{"role":"user","content":"a"}]})",
            "1! no_chat: tools are not rendered here"},
        Row{"half_pair", R"({"messages":[{"role":"user","content":"\ud800"}]})",
            "1! lone_surrogate: in \"content\""},
        Row{"object", R"({"messages":{"role":"user","content":"a"}})",
            "1! not_text: \"messages\" is an object"}),
    ::testing::PrintToStringParamName());

TEST(ChatTemplate, NoToolsIsTheSameAsNone) {
  for (const char* tools : {"null", "[]"}) {
    const std::string line = R"({"messages":[{"role":"user","content":"a"}],"tools":)";
    EXPECT_EQ(read(line + tools + "}").said, (Said{"1: <|im_start|>user\na<|im_end|>\n"}));
  }
}

TEST(ChatTemplate, MessagesGoBeforeText) {
  const Said chat = {"1: <|im_start|>user\na<|im_end|>\n"};
  EXPECT_EQ(read(R"({"text":"t","messages":[{"role":"user","content":"a"}]})").said, chat);
  EXPECT_EQ(read(R"({"messages":[{"role":"user","content":"a"}],"text":"t"})").said, chat);
  EXPECT_EQ(read(R"({"text":7,"messages":[{"role":"user","content":"a"}]})").said, chat);
  EXPECT_EQ(read(R"({"text":"t","messages":[]})", "text").said, (Said{"1: t"}));
  EXPECT_EQ(read(R"({"text":"t","c":[{"role":"user","content":"a"}]})", "c").said, chat);
}

// The same as Jinja with the template of Qwen3: tests/jinja made them.
TEST(ChatTemplate, GoldenConversations) {
  std::ifstream in(std::string(MUSTER_SOURCE_DIR) + "/testdata/chat/qwen3.jsonl");
  int count = 0;
  for (std::string line; std::getline(in, line); ++count) {
    const std::string name = read(line, "name").documents.at(0).text;
    const Told golden = read(line, "text");
    ASSERT_EQ(golden.documents.size(), 1U) << name;
    for (const bool specials : {false, true}) {
      const Document document = rendered(line, specials);
      EXPECT_EQ(document.text, golden.documents[0].text) << name;
      EXPECT_TRUE(document.ends_itself);
      EXPECT_TRUE(!specials || document.plain.empty()) << name;
      std::uint64_t end = 0;
      for (const ByteRange& range : document.plain) {
        EXPECT_TRUE(range.begin >= end && range.begin < range.end) << name;
        end = range.end;
      }
      EXPECT_LE(end, document.text.size());
    }
  }
  EXPECT_EQ(count, 37);
}

TEST(ChatTemplate, AnswersAreTrainedWithTheirEnd) {
  const Document document = rendered(
      R"({"messages":[{"role":"system","content":"s"},{"role":"user","content":"a"},)"
      R"({"role":"assistant","content":"<think>x</think>b"},{"role":"user","content":"c"},)"
      R"({"role":"assistant","content":"d"}]})");
  EXPECT_EQ(pieces(document, document.trained),
            (Said{"b<|im_end|>", "<think>\n\n</think>\n\nd<|im_end|>"}));
  EXPECT_TRUE(document.text.ends_with("<|im_end|>\n"));
}

TEST(ChatTemplate, WhatPeopleWroteIsPlain) {
  constexpr std::string_view kLine =
      R"({"messages":[{"role":"user","content":"<|im_end|> <think> <b"},)"
      R"({"role":"assistant","content":"<tool_call><|im_end|>","reasoning_content":"hm"}]})";
  const Document document = rendered(kLine);
  EXPECT_EQ(pieces(document, document.plain), (Said{"<|im_end|> ", " <b", "hm", "<|im_end|>"}));
  EXPECT_TRUE(rendered(kLine, true).plain.empty());
}

TEST(ChatTemplate, OthersAreRefusedByName) {
  struct Other {
    const char *text, *name;
  };
  for (const Other& other : {
           Other{"", "not known here"},
           Other{"{{ bos_token }}<|start_header_id|>", "Llama 3"},
           Other{"<|start|>{{ role }}<|channel|>final", "gpt-oss"},
           Other{"<start_of_turn>", "Gemma"},
           Other{"[INST] {{ m }} [/INST]", "Mistral"},
           Other{"{% set ns = namespace(last_query_index=1) %}<|im_start|>", "Qwen3, in a version"},
           Other{"{% for m in messages %}<|im_start|>{{ m.role }}{% endfor %}", "ChatML"},
       }) {
    const auto made = ChatTemplate::from_jinja(other.text);
    ASSERT_FALSE(made) << other.name;
    EXPECT_EQ(made.error().code, Errc::unsupported);
    EXPECT_NE(made.error().context.find(other.name), std::string::npos) << made.error().context;
  }
}

TEST(TemplateDigest, BlanksThatJinjaDropsDoNotCount) {
  const std::string digest = template_digest("{%- if a  == 'x y' %}\n  {{- b }}\n{%- endif %}");
  EXPECT_EQ(digest.size(), 64U);
  EXPECT_EQ(digest, template_digest("{%- if a == 'x y' %}{{- b }}{%- endif %}\n"));
  EXPECT_EQ(digest, template_digest("{%- if a\r\n== 'x y' %}\r\n{{- b }}\r\n{%- endif %}\r\n"));
  for (const char* other :
       {"{%- if a == 'x  y' %}{{- b }}{%- endif %}", "{%- if a == 'x y' %}{{- c }}{%- endif %}",
        "{%- if a == 'x y' %} {{ b }}{%- endif %}", "{%- if a == 'x y' %}{{- b }}{%- endif %}.",
        "{%- if a == 'x y' %}{{- b }}", "{%- if a == 'x y' %}{{- b }}{% endif %}"}) {
    EXPECT_NE(digest, template_digest(other)) << other;
  }
}

TEST(TemplateDigest, AnyBytesHaveOne) {
  const std::string text = "a{%- x '}}\\'' %}{{ \"%}\" -}} b {# it's #}{";
  for (std::size_t i = 0; i <= text.size(); ++i) {
    EXPECT_EQ(template_digest(text.substr(0, i)).size(), 64U);
  }
}

TEST(TokenizerConfig, Templates) {
  EXPECT_FALSE(template_of_config("{"));
  EXPECT_EQ(*template_of_config("{}"), std::nullopt);
  EXPECT_EQ(*template_of_config(R"({"chat_template":7})"), std::nullopt);
  EXPECT_EQ(*template_of_config(R"({"chat_template":"x"})"), "x");
  EXPECT_EQ(*template_of_config(R"({"chat_template":[{"name":"rag","template":"r"},)"
                                R"({"name":"default","template":"x"}]})"),
            "x");
  EXPECT_EQ(*template_of_config(R"({"chat_template":[{"name":"rag","template":"r"},7]})"),
            std::nullopt);
}

TEST(TokenizerConfig, EndTokens) {
  EXPECT_FALSE(token_of_config("nonsense", "eos_token"));
  EXPECT_EQ(*token_of_config("{}", "eos_token"), std::nullopt);
  EXPECT_EQ(*token_of_config(R"({"eos_token":null})", "eos_token"), std::nullopt);
  EXPECT_EQ(*token_of_config(R"({"eos_token":"<e>"})", "eos_token"), "<e>");
  EXPECT_EQ(*token_of_config(R"({"pad_token":{"content":"<p>","x":0}})", "pad_token"), "<p>");
}

}  // namespace
}  // namespace muster::records
