#include "core/records/chat_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "core/model/json_reader.h"

namespace muster::records {
namespace {

constexpr std::string_view kStart = "<|im_start|>", kEnd = "<|im_end|>";
constexpr std::string_view kThink = "<think>", kThinkEnd = "</think>";
constexpr std::string_view kResponse = "<tool_response>", kResponseEnd = "</tool_response>";

// Forms of Qwen3's template that mean the same for text: that of April 2025, and the one that
// replaced it, which lets contents be no text.
constexpr std::array<std::string_view, 2> kQwen3Digests = {
    "e6f18fd874fdd554580e08aaaa23f91e6b6c9518c084cb8296918408081910ff",
    "c7adf171a47fba311f4342aab4a3198156e30cc4d05b1dbdd2408e648e79f518"};

// Added tokens that are not special: text that the model reads as structure whoever wrote it.
constexpr std::array<std::string_view, 6> kMarkup = {kThink,         kThinkEnd, "<tool_call>",
                                                     "</tool_call>", kResponse, kResponseEnd};

// A word that only templates of one family have; the first that is found names it.
struct Family {
  std::string_view word, name;
};
constexpr std::array<Family, 8> kFamilies = {{
    {"<|start_header_id|>", "Llama 3"},
    {"<|channel|>", "gpt-oss (harmony)"},
    {"<start_of_turn>", "Gemma"},
    {"<\xEF\xBD\x9CUser\xEF\xBD\x9C>", "DeepSeek"},
    {"[INST]", "Mistral or Llama 2"},
    {"<|user|>", "Phi, Zephyr or GLM"},
    {"last_query_index", "Qwen3, in a version that is not known here"},
    {"<|im_start|>", "ChatML"},
}};

std::string_view strip_left(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of('\n'), text.size()));
}
std::string_view strip_right(std::string_view text) {
  return text.substr(0, text.find_last_not_of('\n') + 1);  // npos + 1 is 0
}

// The document as it grows.
class Page {
 public:
  explicit Page(bool plain) : plain_(plain) {}

  Page& form(std::string_view text) {
    document.text += text;
    return *this;
  }
  // What somebody wrote.
  Page& written(std::string_view text) {
    while (plain_ && !text.empty()) {
      std::size_t at = text.size(), length = 0;
      for (std::size_t i = text.find('<'); i < text.size() && length == 0;
           i = text.find('<', i + 1)) {
        for (const std::string_view word : kMarkup) {
          if (text.substr(i).starts_with(word)) at = i, length = word.size();
        }
      }
      if (at > 0) document.plain.push_back({document.text.size(), document.text.size() + at});
      document.text += text.substr(0, at + length);
      text.remove_prefix(at + length);
    }
    document.text += text;
    return *this;
  }

  Document document;

 private:
  bool plain_;
};

struct Answer {
  std::string_view thoughts, content;
};

Answer parts_of(const Message& message) {
  const std::string_view content = message.content;
  if (message.reasoning) return {*message.reasoning, content};
  const std::size_t first = content.find(kThinkEnd);
  if (first == std::string_view::npos) return {"", content};
  std::string_view thoughts = strip_right(content.substr(0, first));
  if (const std::size_t open = thoughts.rfind(kThink); open != std::string_view::npos) {
    thoughts.remove_prefix(open + kThink.size());
  }
  const std::string_view rest = content.substr(content.rfind(kThinkEnd) + kThinkEnd.size());
  return {strip_left(thoughts), strip_left(rest)};
}

std::size_t last_question(std::span<const Message> messages) {
  for (std::size_t i = messages.size(); i-- > 0;) {
    const Message& message = messages[i];
    const bool response =
        message.content.starts_with(kResponse) && message.content.ends_with(kResponseEnd);
    if (message.role == "user" && !response) return i;
  }
  return messages.size() - 1;
}

void write_answer(const Message& message, bool with_thoughts, bool last, Page& page) {
  const Answer answer = parts_of(message);
  page.form(kStart).form("assistant\n");
  const std::uint64_t begin = page.document.text.size();
  if (with_thoughts && (last || !answer.thoughts.empty())) {
    page.form("<think>\n").written(strip_left(strip_right(answer.thoughts)));
    page.form("\n</think>\n\n").written(strip_left(answer.content));
  } else {
    page.written(answer.content);
  }
  page.form(kEnd);
  page.document.trained.push_back({begin, page.document.text.size()});
  page.form("\n");
}

void write_response(std::span<const Message> messages, std::size_t i, Page& page) {
  if (i == 0 || messages[i - 1].role != "tool") page.form(kStart).form("user");
  page.form("\n<tool_response>\n").written(messages[i].content).form("\n</tool_response>");
  const bool last = i + 1 == messages.size() || messages[i + 1].role != "tool";
  if (last) page.form(kEnd).form("\n");
}

}  // namespace

Result<ChatTemplate> ChatTemplate::from_jinja(std::string_view text) {
  const std::string digest = template_digest(text);
  if (std::find(kQwen3Digests.begin(), kQwen3Digests.end(), digest) != kQwen3Digests.end()) {
    return qwen3();
  }
  std::string_view family = "one that is not known here";
  for (const Family& one : kFamilies) {
    if (text.find(one.word) == std::string_view::npos) continue;
    family = one.name;
    break;
  }
  return make_error(Errc::unsupported,
                    fmt::format("this chat template seems to be {} (form {}); rendered here is "
                                "that of Qwen3 alone: render the others to a text field before",
                                family, digest.substr(0, 12)));
}

Result<Document> ChatTemplate::render(std::span<const Message> messages, bool plain) const {
  if (messages.empty()) return make_error(Errc::unsupported, "a conversation without a message");
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::string& role = messages[i].role;
    if (role == "user" || role == "assistant" || role == "system" || role == "tool") continue;
    return make_error(Errc::unsupported,
                      fmt::format("message {}: role \"{}\", which the template would leave out", i,
                                  escape_controls(role, 40)));
  }
  Page page(plain);
  const std::size_t question = last_question(messages);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Message& message = messages[i];
    if (message.role == "assistant") {
      write_answer(message, i > question, i + 1 == messages.size(), page);
    } else if (message.role == "tool") {
      write_response(messages, i, page);
    } else {
      page.form(kStart).form(message.role).form("\n").written(message.content);
      page.form(kEnd).form("\n");
    }
  }
  page.document.ends_itself = true;
  return std::move(page.document);
}

Result<std::optional<std::string>> template_of_config(std::string_view json) {
  const auto document = parse_json(json);
  if (!document) return document.error();
  const JsonNode* node = document->find("chat_template");
  if (node == nullptr) return std::optional<std::string>();
  if (const auto* text = node->get<std::string>()) return std::optional(*text);
  const auto* list = node->get<JsonNode::Array>();
  for (const JsonNode& one : list == nullptr ? JsonNode::Array() : *list) {
    const JsonNode* name = one.find("name");
    const JsonNode* text = one.find("template");
    const std::string* word = name == nullptr ? nullptr : name->get<std::string>();
    const std::string* body = text == nullptr ? nullptr : text->get<std::string>();
    if (word != nullptr && *word == "default" && body != nullptr) return std::optional(*body);
  }
  return std::optional<std::string>();
}

Result<std::optional<std::string>> token_of_config(std::string_view json, std::string_view key) {
  const auto document = parse_json(json);
  if (!document) return document.error();
  const JsonNode* node = document->find(key);
  if (node != nullptr && node->find("content") != nullptr) node = node->find("content");
  const std::string* text = node == nullptr ? nullptr : node->get<std::string>();
  return text == nullptr ? std::optional<std::string>() : std::optional(*text);
}

}  // namespace muster::records
