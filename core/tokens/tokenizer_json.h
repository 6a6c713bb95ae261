#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "core/tokens/model.h"

namespace muster::tokens {

// Reads a tokenizer.json (the form of Hugging Face's `tokenizers`, version 1.0).
//
//   normalizer      none, or NFC, alone or in a Sequence
//   pre_tokenizer   Split steps of a known family (splitter.h), then ByteLevel without its own
//   regex model           BPE over bytes, with or without ignore_merges; merges as pairs or as "a
//   b" added_tokens    without single_word, lstrip and rstrip decoder         ByteLevel;
//   post_processor: ByteLevel or a template, which is not applied
//
// Everything else is Errc::unsupported with its name. The ids of added tokens must be those that
// the library gives them when it loads the file, which are not always those that stand in it.
// `truncation` and `padding` are passed over. The limits stand in base/limits.h.
Result<std::unique_ptr<const Model>> read_tokenizer_json(std::string_view bytes,
                                                         MemoryAdvice advice);

}  // namespace muster::tokens
