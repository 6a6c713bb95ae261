#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/records/record.h"

namespace muster::records {

struct Message {
  std::string role, content;
  std::optional<std::string> reasoning = {};  // "reasoning_content"
};

// A chat template is a program in Jinja. None is run here: a template whose form is known is done
// by code of ours that gives the same bytes (held against Jinja itself by tests/jinja), any other
// is refused, with the family it seems to be of.
//
// Known is "qwen3", in the two forms in which it was published, for text: roles system, user,
// assistant and tool. What it does:
//   - each message becomes <|im_start|>ROLE, newline, content, <|im_end|>, newline;
//   - a tool's answer stands in <tool_response> lines of a user's turn, neighbours share one turn;
//   - the last question is the last message of a user that is no <tool_response>...</tool_response>
//     from end to end; where there is none, the last message;
//   - of an answer that holds </think>, the thoughts are what stands before the first of it and
//     behind the last <think>, the content what follows the last </think>, both without newlines
//     towards the tags; "reasoning_content" goes before that and leaves the content as it is;
//   - thoughts are written only behind the last question: for the last message always (empty ones
//     too), for others where there are some. Earlier answers lose them. So a conversation is
//     rendered once and whole: what it begins with, rendered alone, is no prefix of it.
//
// Trained are the answers: behind "<|im_start|>assistant" and its newline up to and with
// <|im_end|>; its thoughts and their tags belong to it. A token counts where its first byte does.
//
// What a template would pass over in silence or fail on is refused, by message: another role (it
// would vanish), no content, tools and calls of tools (they are printed as JSON, whose every blank
// would have to be Python's), an empty conversation.
class ChatTemplate {
 public:
  // Errc::unsupported for a template that is not known.
  static Result<ChatTemplate> from_jinja(std::string_view text);
  // The one that is known, where its text is not at hand.
  static ChatTemplate qwen3() { return {}; }

  std::string_view name() const { return "qwen3"; }
  std::string_view end_token() const { return "<|im_end|>"; }

  // With `plain`, what people wrote is ordinary text even where it reads like a control token; only
  // <think>, <tool_call>, <tool_response> and their ends stay what they are, as they do for Hugging
  // Face's split_special_tokens. Errc::unsupported: the conversation is one that is refused.
  Result<Document> render(std::span<const Message> messages, bool plain) const;

 private:
  ChatTemplate() = default;
};

// The template in a tokenizer_config.json: "chat_template", a text or a list of named ones, of
// which "default" counts. Nothing where it has none; Errc::corrupt where it is no JSON.
Result<std::optional<std::string>> template_of_config(std::string_view json);
// The text of a token that a tokenizer_config.json names under `key` ("eos_token", "pad_token"): a
// text, or an object with "content". Nothing where it has none.
Result<std::optional<std::string>> token_of_config(std::string_view json, std::string_view key);

// SHA-256, in hexadecimal, of the form of a template: its tags and texts in order, without the
// blanks that Jinja drops (beside a "-" and inside of tags, not in quotes). Two files that differ
// in indentation or line ends have the same.
std::string template_digest(std::string_view jinja);

}  // namespace muster::records
