#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "core/model/json_writer.h"
#include "core/records/chat_template.h"
#include "core/records/jsonl_records.h"
#include "tests/support/shell.h"

// Conversations rendered by Jinja itself, with the template of Qwen3 as it was published, and by
// us: the same bytes. MUSTER_QWEN3_CONFIG names the tokenizer_config.json.

namespace muster::records {
namespace {

using testing_support::file_text;
using testing_support::run_shell;
using testing_support::shell_word;
using testing_support::TemporaryFolder;

std::string config_path() {
  const char* path = std::getenv("MUSTER_QWEN3_CONFIG");
  return path == nullptr ? "" : path;
}

std::string reason() {
  if (config_path().empty())
    return "MUSTER_QWEN3_CONFIG is not set: a tokenizer_config.json of Qwen3";
  const auto run = run_shell("python3 -c 'import jinja2'");
  return run.status == 0 ? "" : "python3 has no jinja2 (python3-jinja2)";
}

// What Jinja makes of a file of conversations.
std::string rendered(const TemporaryFolder& folder, const std::string& chats) {
  const std::string out = folder.path() + "/out.jsonl";
  const auto run =
      run_shell("PYTHONDONTWRITEBYTECODE=1 python3 " +
                shell_word(std::string(MUSTER_SOURCE_DIR) + "/tests/jinja/render_chats.py") + " " +
                shell_word(config_path()) + " " + shell_word(chats) + " > " + shell_word(out));
  EXPECT_EQ(run.status, 0) << run.output;
  return file_text(out);
}

class Texts final : public RecordSink {
 public:
  void document(Document&& document, std::uint64_t) override {
    texts.push_back(std::move(document.text));
  }
  void fault(Fault fault, std::uint64_t line, const std::string& detail) override {
    if (loses_record(fault)) ADD_FAILURE() << line << ": " << fault_name(fault) << " " << detail;
  }
  std::vector<std::string> texts;
};

std::vector<std::string> texts_of(std::string lines, const std::string& field) {
  const auto config = template_of_config(file_text(config_path()));
  EXPECT_TRUE(config && *config);
  const auto chat = ChatTemplate::from_jinja(**config);
  EXPECT_TRUE(chat) << chat.error().context;
  Texts sink;
  const std::size_t size = lines.size();
  lines.append(kRecordPadding, '\0');
  JsonlReader({.field = field, .chat = &*chat})
      .read(std::string_view(lines).substr(0, size), 1, sink);
  return sink.texts;
}

TEST(ChatRender, TheGoldenConversationsAreMadeAgain) {
  if (const std::string why = reason(); !why.empty()) GTEST_SKIP() << why;
  const TemporaryFolder folder;
  const std::string golden = std::string(MUSTER_SOURCE_DIR) + "/testdata/chat/qwen3.jsonl";
  EXPECT_EQ(rendered(folder, golden), file_text(golden));
}

TEST(ChatRender, RandomConversations) {
  if (const std::string why = reason(); !why.empty()) GTEST_SKIP() << why;
  static constexpr std::array<std::string_view, 16> kWords = {"<think>",
                                                              "</think>",
                                                              "\n",
                                                              "\n\n",
                                                              " ",
                                                              "a",
                                                              "한",
                                                              "<tool_response>",
                                                              "</tool_response>",
                                                              "<|im_end|>",
                                                              "{{x}}",
                                                              "</think>\n",
                                                              "<think>\n",
                                                              "\t",
                                                              "b c",
                                                              "😀"};
  static constexpr std::array<std::string_view, 4> kRoles = {"user", "assistant", "tool", "system"};
  std::mt19937 random(3);
  const auto words = [&random] {
    std::string text;
    for (auto n = random() % 7; n > 0; --n) text += kWords[random() % kWords.size()];
    return text;
  };
  std::string lines;
  for (int i = 0; i < 20000; ++i) {
    JsonWriter w;
    w.begin_object().key("messages").begin_array();
    for (auto n = 1 + random() % 6; n > 0; --n) {
      w.begin_object().key("role").value(kRoles[random() % kRoles.size()]);
      w.key("content").value(words());
      if (random() % 5 == 0) w.key("reasoning_content").value(words());
      w.end_object();
    }
    lines += w.end_array().end_object().take() + "\n";
  }
  const TemporaryFolder folder;
  const auto theirs = texts_of(rendered(folder, folder.write("chats.jsonl", lines)), "text");
  const auto ours = texts_of(lines, "");
  // A conversation of empty texts alone may be an empty text.
  ASSERT_EQ(ours.size(), 20000U);
  EXPECT_EQ(ours, theirs);
}

}  // namespace
}  // namespace muster::records
