#include "core/tokens/tokenizer_json.h"

#include <fmt/core.h>
#include <simdjson.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/limits.h"
#include "base/text.h"
#include "core/tokens/cut_table.h"
#include "core/tokens/nfc.h"

namespace muster::tokens {
namespace {

namespace dom = simdjson::dom;

Error unsupported(std::string text) {
  return make_error(Errc::unsupported, std::move(text));
}
Error invalid(std::string text) {
  return make_error(Errc::invalid_input, std::move(text));
}

// The member, unless it is absent or null.
std::optional<dom::element> member(const dom::element& of, const char* key) {
  dom::element found;
  if (!of.is_object() || of.at_key(key).get(found) != simdjson::SUCCESS || found.is_null()) {
    return std::nullopt;
  }
  return found;
}

std::optional<std::string_view> text_of(const dom::element& of, const char* key) {
  const auto found = member(of, key);
  std::string_view text;
  if (!found || found->get(text) != simdjson::SUCCESS) return std::nullopt;
  return text;
}

bool is_true(const dom::element& of, const char* key) {
  const auto found = member(of, key);
  bool value = false;
  return found && found->get(value) == simdjson::SUCCESS && value;
}

std::string shown(std::string_view text) {
  return escape_controls(text, 120);
}

std::string type_of(const dom::element& of) {
  return shown(text_of(of, "type").value_or("without a type"));
}

// The steps of `of`: those of a Sequence under `key`, or itself.
std::vector<dom::element> steps_of(const dom::element& of, const char* key) {
  if (type_of(of) != "Sequence") return {of};
  std::vector<dom::element> steps;
  const auto list = member(of, key);
  dom::array array;
  if (list && list->get(array) == simdjson::SUCCESS) {
    for (const dom::element step : array) steps.push_back(step);
  }
  return steps;
}

Result<bool> read_normalizer(const dom::element& root) {
  const auto normalizer = member(root, "normalizer");
  bool nfc = false;
  if (!normalizer) return nfc;
  for (const dom::element& step : steps_of(*normalizer, "normalizers")) {
    if (type_of(step) != "NFC") {
      return unsupported(fmt::format("normalizer {}: only NFC is done here", type_of(step)));
    }
    nfc = true;
  }
  return nfc;
}

// Split steps keep every byte: "Isolated", or "Removed" of what does not match ("invert"), which is
// the same where the pattern covers all.
bool keeps_all(const dom::element& split) {
  const std::string_view behavior = text_of(split, "behavior").value_or("");
  return is_true(split, "invert") ? behavior == "Removed" : behavior == "Isolated";
}

Result<SplitFamily> read_pre_tokenizer(const dom::element& root) {
  const auto pre_tokenizer = member(root, "pre_tokenizer");
  if (!pre_tokenizer) return unsupported("no pre_tokenizer: only byte-level BPE is done here");
  std::vector<std::string> patterns;
  bool bytes = false;
  for (const dom::element& step : steps_of(*pre_tokenizer, "pretokenizers")) {
    const std::string type = type_of(step);
    if (bytes || (type != "Split" && type != "ByteLevel")) {
      return unsupported(
          fmt::format("pre_tokenizer {}: only Split steps, then ByteLevel, are done here", type));
    }
    if (type == "ByteLevel") {
      if (is_true(step, "add_prefix_space")) {
        return unsupported("ByteLevel with add_prefix_space is not done here");
      }
      const auto regex = member(step, "use_regex");
      if (!regex || is_true(step, "use_regex")) {
        return unsupported("ByteLevel with its own regex (use_regex, GPT-2) is not done here");
      }
      bytes = true;
      continue;
    }
    const auto pattern = member(step, "pattern");
    const auto regex = pattern ? text_of(*pattern, "Regex") : std::nullopt;
    if (!regex) return unsupported("Split by a pattern that is no Regex is not done here");
    if (!keeps_all(step)) {
      return unsupported(fmt::format("Split with behavior {} is not done here",
                                     shown(text_of(step, "behavior").value_or("none"))));
    }
    patterns.emplace_back(*regex);
  }
  if (!bytes) return unsupported("pre_tokenizer without ByteLevel: only byte-level BPE is done");
  const auto family = family_of(patterns);
  if (!family) {
    return unsupported(fmt::format(
        "the split {} is none of those known (Qwen2/Qwen3, Llama 3, GPT-4o/gpt-oss, DeepSeek V3)",
        patterns.empty() ? "without a Regex" : "by " + escape_controls(patterns.back(), 400)));
  }
  return *family;
}

Status check_ends(const dom::element& root) {
  if (const auto decoder = member(root, "decoder")) {
    for (const dom::element& step : steps_of(*decoder, "decoders")) {
      if (type_of(step) == "ByteLevel") continue;
      return unsupported(fmt::format("decoder {}: only ByteLevel is done here", type_of(step)));
    }
  }
  if (const auto post = member(root, "post_processor")) {
    for (const dom::element& step : steps_of(*post, "processors")) {
      if (type_of(step) == "ByteLevel" || type_of(step) == "TemplateProcessing") continue;
      return unsupported(fmt::format("post_processor {} is not known here", type_of(step)));
    }
  }
  return {};
}

Status check_model(const dom::element& model) {
  const std::string type = type_of(model);
  if (type != "BPE") return unsupported(fmt::format("model {}: only BPE is done here", type));
  if (is_true(model, "byte_fallback")) return unsupported("byte_fallback is not done here");
  if (is_true(model, "fuse_unk")) return unsupported("fuse_unk is not done here");
  if (member(model, "dropout")) return unsupported("dropout is not done here: ids would be chance");
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!text_of(model, key).value_or("").empty()) {
      return unsupported(fmt::format("{} is not done here", key));
    }
  }
  return {};
}

// One entry of the vocabulary or of the added tokens.
Result<std::uint32_t> read_id(const dom::element& value, std::string_view of) {
  std::uint64_t id = 0;
  if (value.get(id) != simdjson::SUCCESS) {
    return invalid(fmt::format("the id of \"{}\" is no number", shown(of)));
  }
  if (id >= limits::kVocabularyIds) {
    return make_error(Errc::exhausted, fmt::format("\"{}\" has id {}; at most {} ids are read",
                                                   shown(of), id, limits::kVocabularyIds));
  }
  return static_cast<std::uint32_t>(id);
}

struct VocabularyPart {
  Vocabulary vocabulary;
  std::array<std::uint32_t, 256> byte_ids;
  std::size_t entries = 0;
  std::size_t spelled = 0;                                    // those that text can become
  std::unordered_map<std::string_view, std::uint32_t> names;  // as they stand in the file
};

// `added_ids`: as many ids as added tokens may need stay free at the end.
Result<VocabularyPart> read_vocabulary(const dom::element& model, std::size_t added_ids) {
  const auto found = member(model, "vocab");
  dom::object vocab;
  if (!found || found->get(vocab) != simdjson::SUCCESS) return invalid("the model has no vocab");
  std::uint32_t last = 0;
  std::size_t entries = 0;
  for (const dom::key_value_pair entry : vocab) {
    const auto id = read_id(entry.value, entry.key);
    if (!id) return id.error();
    last = std::max(last, *id);
    ++entries;
  }
  const std::size_t ids = std::max<std::size_t>(last + 1, entries + added_ids);
  if (ids > limits::kVocabularyIds) {
    return make_error(Errc::exhausted,
                      fmt::format("{} ids; at most {}", ids, limits::kVocabularyIds));
  }
  VocabularyPart part{Vocabulary(static_cast<std::uint32_t>(ids), entries), {}, entries, 0, {}};
  std::string bytes;
  for (const dom::key_value_pair entry : vocab) {
    const auto id = read_id(entry.value, entry.key);
    if (!id) return id.error();
    bytes.clear();
    const bool spelled = from_byte_alphabet(entry.key, bytes) && !bytes.empty();
    if (bytes.size() > limits::kTokenBytes || entry.key.size() > 2 * limits::kTokenBytes) {
      return make_error(Errc::exhausted,
                        fmt::format("token {} is longer than {} bytes", *id, limits::kTokenBytes));
    }
    const Status added =
        spelled ? part.vocabulary.add(*id, bytes) : part.vocabulary.add_name(*id, entry.key);
    if (!added) return within("vocab", added.error());
    part.spelled += spelled ? 1 : 0;
    part.names.emplace(entry.key, *id);
  }
  for (std::size_t byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    part.byte_ids[byte] = part.vocabulary.find({&c, 1});
    if (part.byte_ids[byte] == Vocabulary::kNone) {
      return unsupported(
          fmt::format("no entry for byte 0x{:02x}: not a byte-level vocabulary", byte));
    }
  }
  return part;
}

struct MergePart {
  MergeTable merges;
  std::vector<std::array<std::uint32_t, 2>> pairs;
};

// The names of the two sides of a merge: ["a", "b"], or "a b" in older files.
std::optional<std::pair<std::string_view, std::string_view>> sides_of(const dom::element& merge) {
  std::string_view text;
  if (merge.get(text) == simdjson::SUCCESS) {
    const std::size_t blank = text.find(' ');
    if (blank == std::string_view::npos || text.find(' ', blank + 1) != std::string_view::npos) {
      return std::nullopt;
    }
    return std::pair{text.substr(0, blank), text.substr(blank + 1)};
  }
  dom::array pair;
  if (merge.get(pair) != simdjson::SUCCESS || pair.size() != 2) return std::nullopt;
  std::string_view left, right;
  if (pair.at(0).get(left) != simdjson::SUCCESS || pair.at(1).get(right) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  return std::pair{left, right};
}

Result<MergePart> read_merges(const dom::element& model, const Vocabulary& vocabulary,
                              MemoryAdvice advice) {
  const auto found = member(model, "merges");
  dom::array list;
  if (!found || found->get(list) != simdjson::SUCCESS) return invalid("the model has no merges");
  std::size_t count = 0;  // size() of a long array is not exact
  for ([[maybe_unused]] const dom::element merge : list) ++count;
  if (count > limits::kMerges) {
    return make_error(Errc::exhausted,
                      fmt::format("{} merges; at most {} are read", count, limits::kMerges));
  }
  MergePart part{MergeTable(count, advice), {}};
  part.pairs.reserve(count);
  std::string bytes;
  for (const dom::element merge : list) {
    const auto sides = sides_of(merge);
    if (!sides) return invalid(fmt::format("merge {} is no pair", part.pairs.size()));
    bytes.clear();
    bool spelled = from_byte_alphabet(sides->first, bytes);
    const std::size_t cut = bytes.size();
    spelled = spelled && from_byte_alphabet(sides->second, bytes);
    const std::string_view whole(bytes);
    const std::uint32_t left = vocabulary.find(whole.substr(0, cut));
    const std::uint32_t right = vocabulary.find(whole.substr(cut));
    const std::uint32_t product = vocabulary.find(whole);
    if (!spelled || left == Vocabulary::kNone || right == Vocabulary::kNone ||
        product == Vocabulary::kNone) {
      return invalid(
          fmt::format("merge {} of \"{}\" and \"{}\": both and what they make must be in "
                      "the vocabulary",
                      part.pairs.size(), shown(sides->first), shown(sides->second)));
    }
    if (Status added = part.merges.add(left, right, product); !added) return added.error();
    part.pairs.push_back({left, right});
  }
  return part;
}

Result<AddedToken> read_added_token(const dom::element& value) {
  const auto content = text_of(value, "content");
  if (!content || content->empty()) return invalid("an added token without content");
  for (const char* flag : {"single_word", "lstrip", "rstrip"}) {
    if (is_true(value, flag)) {
      return unsupported(
          fmt::format("added token \"{}\" with {} is not done here", shown(*content), flag));
    }
  }
  if (content->size() > limits::kTokenBytes) {
    return make_error(Errc::exhausted,
                      fmt::format("an added token of more than {} bytes", limits::kTokenBytes));
  }
  const auto id = member(value, "id");
  if (!id) return invalid(fmt::format("added token \"{}\" without an id", shown(*content)));
  const auto number = read_id(*id, *content);
  if (!number) return number.error();
  return AddedToken{std::string(*content), *number, is_true(value, "special"),
                    is_true(value, "normalized")};
}

Result<std::vector<AddedToken>> read_added_tokens(const dom::element& root) {
  std::vector<AddedToken> added;
  const auto found = member(root, "added_tokens");
  if (!found) return added;
  dom::array list;
  if (found->get(list) != simdjson::SUCCESS) return invalid("added_tokens is no list");
  for (const dom::element value : list) {
    if (added.size() == limits::kAddedTokens) {
      return make_error(Errc::exhausted,
                        fmt::format("more than {} added tokens", limits::kAddedTokens));
    }
    auto token = read_added_token(value);
    if (!token) return token.error();
    added.push_back(std::move(*token));
  }
  return added;
}

// The library gives an added token the id of the vocabulary's entry of that name, else the next one
// behind all entries and behind the added tokens so far, whatever number stands in the file.
Status place_added_tokens(const VocabularyPart& part, Model& model) {
  std::uint32_t next = static_cast<std::uint32_t>(part.entries);
  std::unordered_set<std::string_view> seen;
  for (const AddedToken& token : model.added) {
    const auto entry = part.names.find(token.content);
    const bool known = entry != part.names.end();
    const std::uint32_t id = known ? entry->second : next;
    if (id != token.id) {
      return invalid(fmt::format("added token \"{}\" has id {}, and {} by the order of the file",
                                 shown(token.content), token.id, id));
    }
    if (!seen.insert(token.content).second) {
      return invalid(fmt::format("added token \"{}\" comes twice", shown(token.content)));
    }
    next = std::max(next, token.id + 1);
    if (!known) {
      if (Status added = model.vocabulary.add_name(token.id, token.content); !added) return added;
    }
    model.special[token.id] = token.special;
    std::vector<ChangedRun> changed;
    const bool normalize = token.normalized && model.nfc;
    const std::string content = normalize ? to_nfc(token.content, changed) : token.content;
    (token.normalized ? model.normalized : model.raw).add(content, token.id);
  }
  return {};
}

// Which merges come before one that makes a side of them. Files that list each pair of tokens whose
// bytes are a token have many.
std::vector<bool> late_merges(const MergePart& part, std::uint32_t ids) {
  std::vector<std::uint32_t> made(ids);  // behind the last merge that makes it
  for (std::uint32_t rank = 0; rank < part.pairs.size(); ++rank) {
    made[part.merges.product(rank)] = rank + 1;
  }
  std::vector<bool> late(part.pairs.size());
  for (std::uint32_t rank = 0; rank < part.pairs.size(); ++rank) {
    late[rank] = made[part.pairs[rank][0]] > rank || made[part.pairs[rank][1]] > rank;
  }
  return late;
}

// The table of the merges that are in order, where the others never take place: the first that did
// would join two sides that the merges in order had brought together. They are then left out.
std::optional<CutTable> make_cuts(const VocabularyPart& vocabulary, MergePart& part,
                                  MemoryAdvice advice) {
  const auto late = late_merges(part, vocabulary.vocabulary.ids());
  const auto ordered = static_cast<std::size_t>(std::count(late.begin(), late.end(), false));
  MergePart rest{MergeTable(ordered, advice), {}};
  for (std::uint32_t rank = 0; rank < late.size(); ++rank) {
    if (late[rank]) continue;
    const auto [left, right] = part.pairs[rank];
    if (!rest.merges.add(left, right, part.merges.product(rank))) return std::nullopt;
    rest.pairs.push_back({left, right});
  }
  auto cuts =
      CutTable::make(vocabulary.vocabulary, rest.merges, rest.pairs, vocabulary.byte_ids, advice);
  for (std::uint32_t rank = 0; cuts && rank < late.size(); ++rank) {
    const auto [left, right] = part.pairs[rank];
    if (late[rank] && cuts->meet(left, right, rest.merges)) return std::nullopt;
  }
  if (cuts) part = std::move(rest);
  return cuts;
}

Result<std::unique_ptr<const Model>> read_root(const dom::element& root, MemoryAdvice advice) {
  if (!root.is_object()) return invalid("a tokenizer.json is an object");
  const auto json = member(root, "model");
  if (!json) return invalid("it has no model");
  if (Status fine = check_model(*json); !fine) return fine.error();
  const auto nfc = read_normalizer(root);
  if (!nfc) return nfc.error();
  const auto family = read_pre_tokenizer(root);
  if (!family) return family.error();
  if (Status fine = check_ends(root); !fine) return fine.error();
  auto added = read_added_tokens(root);
  if (!added) return added.error();
  auto vocabulary = read_vocabulary(*json, added->size());
  if (!vocabulary) return vocabulary.error();
  auto merges = read_merges(*json, vocabulary->vocabulary, advice);
  if (!merges) return within("merges", merges.error());
  auto cuts = make_cuts(*vocabulary, *merges, advice);
  const bool all_merged = cuts && cuts->reachable() == vocabulary->spelled;
  const std::uint32_t ids = vocabulary->vocabulary.ids();
  auto model = std::make_unique<Model>(Model{*family,
                                             *nfc,
                                             std::move(vocabulary->vocabulary),
                                             std::move(merges->merges),
                                             vocabulary->byte_ids,
                                             std::move(cuts),
                                             is_true(*json, "ignore_merges") && !all_merged,
                                             std::move(*added),
                                             std::vector<bool>(ids),
                                             {},
                                             {},
                                             advice});
  if (Status fine = place_added_tokens(*vocabulary, *model); !fine) return fine.error();
  return std::unique_ptr<const Model>(std::move(model));
}

}  // namespace

Result<std::unique_ptr<const Model>> read_tokenizer_json(std::string_view bytes,
                                                         MemoryAdvice advice) {
  if (bytes.size() > limits::kTokenizerBytes) {
    return make_error(Errc::exhausted, fmt::format("a tokenizer.json of {} bytes; at most {}",
                                                   bytes.size(), limits::kTokenizerBytes));
  }
  dom::parser parser(limits::kTokenizerBytes);
  if (parser.allocate(bytes.size() + 1, limits::kTokenizerDepth) != simdjson::SUCCESS) {
    return make_error(Errc::exhausted, "no memory to read a tokenizer.json");
  }
  const auto document = parser.parse(simdjson::padded_string(bytes));
  if (document.error() == simdjson::DEPTH_ERROR) {
    return make_error(Errc::exhausted,
                      fmt::format("nested deeper than {} levels", limits::kTokenizerDepth));
  }
  if (document.error() != simdjson::SUCCESS) {
    return make_error(Errc::corrupt, fmt::format("no JSON document: {}",
                                                 simdjson::error_message(document.error())));
  }
  return read_root(document.value_unsafe(), advice);
}

}  // namespace muster::tokens
