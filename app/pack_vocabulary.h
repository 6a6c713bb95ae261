#pragma once

#include <string>

#include "app/pack_build.h"
#include "base/result.h"
#include "edge/os/files.h"

namespace muster {

struct VocabularyChoice {
  std::string tokenizer;  // a tokenizer.json, or the folder that holds it
  // An id, the text of a token, or "none". Empty: <|endoftext|> where it is a control token here,
  // else the eos_token of tokenizer_config.json.
  std::string eos;
};

struct LoadedVocabulary {
  PackVocabulary vocabulary;
  std::string eos_text;  // "" without one
};

// Reads the tokenizer, and beside it tokenizer_config.json (eos_token, pad_token) and the chat
// template (chat_template.jinja, else that of tokenizer_config.json). A template that is not done
// here is no failure until a conversation comes: then each is told so (records::Fault::no_chat).
// Padding is pad_token, else the EOS.
Result<LoadedVocabulary> load_pack_vocabulary(const VocabularyChoice& choice, Files& files);

}  // namespace muster
