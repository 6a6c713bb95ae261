#include "core/blocks/pack_manifest.h"

#include <fmt/core.h>

#include "base/limits.h"
#include "core/blocks/block_hash.h"
#include "core/model/json_reader.h"
#include "core/model/json_writer.h"

namespace muster::blocks {
namespace {

constexpr std::string_view kModes[] = {"concat", "best_fit", "best_fit_split"};
constexpr std::string_view kPolicies[] = {"every", "unless_ended", "none"};

// a + b, or nothing where 64 bits do not hold it.
std::optional<std::uint64_t> sum(std::optional<std::uint64_t> a, std::uint64_t b) {
  if (!a || *a + b < b) return std::nullopt;
  return *a + b;
}

std::uint64_t count(JsonFields& fields, std::string_view key) {
  fields.require(key);
  return fields.unsigned_integer(key).value_or(0);
}

std::optional<std::int32_t> token(JsonFields& fields, std::string_view key) {
  const auto id = fields.integer(key, 0, INT32_MAX);
  return id ? std::optional(static_cast<std::int32_t>(*id)) : std::nullopt;
}

std::string hash_field(JsonFields& fields, std::string_view key) {
  std::string text = fields.require_text(key);
  if (!parse_hash(text)) fields.complain(key, "no hash");
  return text;
}

PackInput read_input(JsonFields& fields) {
  PackInput input;
  input.path = fields.require_text("path");
  input.bytes = count(fields, "bytes");
  input.records = count(fields, "records");
  input.documents = count(fields, "documents");
  input.errors = count(fields, "errors");
  input.hash = fields.text("hash").value_or("");
  if (!input.hash.empty() && !parse_hash(input.hash)) fields.complain("hash", "no hash");
  return input;
}

void check_ids(const PackManifest& m, JsonFields& fields) {
  const auto inside = [&](std::string_view key, const std::optional<std::int32_t>& id) {
    if (id && m.vocabulary_count && static_cast<std::uint64_t>(*id) >= *m.vocabulary_count) {
      fields.complain(key, "not below vocabulary_count");
    }
  };
  inside("eos", m.eos);
  inside("pad", m.pad);
  if (m.eos_policy != EosPolicy::none && !m.eos) fields.complain("eos", "missing");
  const std::uint64_t documents = m.documents.value_or(0);
  if (m.eos_policy == EosPolicy::every && m.eos_added != documents) {
    fields.complain("eos_added", "not one for each document");
  }
  if (m.eos_added > documents) fields.complain("eos_added", "more than documents");
}

// Every token that came in is in a block, or counted as left out.
void check_account(const PackManifest& m, JsonFields& fields) {
  const auto placed = sum(sum(m.document_tokens, m.pad_tokens), 0);
  const auto known = sum(sum(sum(m.tokens(), m.tail_tokens), m.truncated_tokens), 0);
  if (!placed || !known || *placed != *known) {
    fields.complain("document_tokens", "the account of tokens does not add up");
  }
  if (m.mode == PackMode::concat) {
    if (m.pad_tokens != 0) fields.complain("pad_tokens", "concat has no padding");
    if (m.tail_tokens >= m.block_tokens) fields.complain("tail_tokens", "a whole block or more");
  } else if (m.tail_tokens != 0) {
    fields.complain("tail_tokens", "only concat has a tail");
  }
  if (m.mode != PackMode::best_fit && (m.truncated_tokens | m.truncated_documents) != 0) {
    fields.complain("truncated_tokens", "only best_fit cuts documents");
  }
  const std::uint64_t documents = m.documents.value_or(0);
  if (m.truncated_documents > documents) fields.complain("truncated_documents", "too many");
  if (m.pad_tokens > m.tokens()) fields.complain("pad_tokens", "more than tokens");
  if (m.pieces > 0 && (!m.documents || m.mode != PackMode::best_fit_split) &&
      m.pieces > documents) {
    fields.complain("pieces", "more than documents");
  }
  if (m.pieces > m.tokens()) fields.complain("pieces", "more than tokens");
  if (m.trained_tokens > m.tokens() - m.pad_tokens) {
    fields.complain("trained_tokens", "more than tokens");
  }
  std::optional<std::uint64_t> from_inputs = 0;
  for (const PackInput& input : m.inputs) from_inputs = sum(from_inputs, input.documents);
  if (m.tokenizer && from_inputs != documents) {
    fields.complain("documents", "not those of the inputs together");
  }
}

void check_hashes(const PackManifest& m, JsonFields& fields) {
  if (m.groups.size() != groups_of(m.blocks)) {
    fields.complain("groups", fmt::format("{} of {}", m.groups.size(), groups_of(m.blocks)));
    return;
  }
  std::vector<Hash128> groups;
  for (const std::string& text : m.groups) {
    const auto hash = parse_hash(text);
    if (!hash) return fields.complain("groups", "no hash");
    groups.push_back(*hash);
  }
  if (hash_text(hash_root(groups)) != m.root) fields.complain("root", "not that of the groups");
}

void read_sizes(PackManifest& m, JsonFields& fields) {
  m.block_tokens = static_cast<std::uint32_t>(
      fields.require_integer("block_tokens", 8, limits::kPackBlockTokens));
  if (m.block_tokens % 8 != 0) fields.complain("block_tokens", "no multiple of 8");
  m.blocks = static_cast<std::uint64_t>(
      fields.require_integer("blocks", 0, static_cast<std::int64_t>(limits::kPackBlocks)));
  m.mode = static_cast<PackMode>(fields.require_word("mode", kModes));
}

void read_source(PackManifest& m, JsonFields& fields) {
  m.tokenizer = fields.text("tokenizer");
  if (m.tokenizer && !parse_hash(*m.tokenizer)) fields.complain("tokenizer", "no hash");
  m.vocabulary_count = fields.unsigned_integer("vocabulary_count");
  m.eos = token(fields, "eos");
  m.eos_policy = static_cast<EosPolicy>(fields.require_word("eos_policy", kPolicies));
  m.pad = token(fields, "pad");
  m.chat_template = fields.text("chat_template");
  m.field = fields.text("field");
  m.split = fields.text("split");
  m.specials = fields.text("specials");
  for (const JsonNode& node : fields.array("inputs")) {
    JsonFields part(node, fmt::format("inputs[{}].", m.inputs.size()));
    m.inputs.push_back(read_input(part));
    fields.adopt(part.fault());
  }
}

void read_account(PackManifest& m, JsonFields& fields) {
  m.documents = fields.unsigned_integer("documents");
  m.document_tokens = count(fields, "document_tokens");
  m.eos_added = count(fields, "eos_added");
  m.pieces = count(fields, "pieces");
  m.pad_tokens = count(fields, "pad_tokens");
  m.tail_tokens = count(fields, "tail_tokens");
  m.truncated_tokens = count(fields, "truncated_tokens");
  m.truncated_documents = count(fields, "truncated_documents");
  m.trained_tokens = count(fields, "trained_tokens");
  m.global_batch = fields.unsigned_integer("global_batch");
  if (m.global_batch && (*m.global_batch == 0 || *m.global_batch > limits::kPackGlobalBatch)) {
    fields.complain("global_batch", "out of range");
  }
  m.remainder = static_cast<Remainder>(fields.word("remainder", kRemainderNames).value_or(0));
}

template <typename T>
void write_known(JsonWriter& w, std::string_view key, const std::optional<T>& value) {
  if (!value) return;
  w.key(key);
  if constexpr (std::is_same_v<T, std::int32_t>) {
    w.value(std::int64_t{*value});
  } else {
    w.value(*value);
  }
}

void write_input(JsonWriter& w, const PackInput& input) {
  w.begin_object().key("path").value(input.path).key("bytes").value(input.bytes);
  w.key("records").value(input.records).key("documents").value(input.documents);
  w.key("errors").value(input.errors);
  if (!input.hash.empty()) w.key("hash").value(input.hash);
  w.end_object();
}

}  // namespace

std::string_view pack_mode_name(PackMode mode) {
  return kModes[static_cast<int>(mode)];
}
std::string_view eos_policy_name(EosPolicy policy) {
  return kPolicies[static_cast<int>(policy)];
}

std::string encode_manifest(const PackManifest& m) {
  JsonWriter w;
  w.begin_object().key("schema").value("muster.pack/1");
  w.key("block_tokens").value(std::uint64_t{m.block_tokens}).key("blocks").value(m.blocks);
  w.key("mode").value(pack_mode_name(m.mode));
  write_known(w, "tokenizer", m.tokenizer);
  write_known(w, "vocabulary_count", m.vocabulary_count);
  write_known(w, "eos", m.eos);
  w.key("eos_policy").value(eos_policy_name(m.eos_policy));
  write_known(w, "pad", m.pad);
  write_known(w, "chat_template", m.chat_template);
  write_known(w, "field", m.field);
  write_known(w, "split", m.split);
  write_known(w, "specials", m.specials);
  w.key("inputs").begin_array();
  for (const PackInput& input : m.inputs) write_input(w, input);
  w.end_array();
  write_known(w, "documents", m.documents);
  w.key("document_tokens").value(m.document_tokens).key("eos_added").value(m.eos_added);
  w.key("pieces").value(m.pieces).key("pad_tokens").value(m.pad_tokens);
  w.key("tail_tokens").value(m.tail_tokens).key("truncated_tokens").value(m.truncated_tokens);
  w.key("truncated_documents").value(m.truncated_documents);
  w.key("trained_tokens").value(m.trained_tokens);
  write_known(w, "global_batch", m.global_batch);
  if (m.global_batch) w.key("remainder").value(kRemainderNames[static_cast<int>(m.remainder)]);
  w.key("root").value(m.root).key("doc_ends_hash").value(m.doc_ends_hash);
  w.key("loss_bits_hash").value(m.loss_bits_hash).key("groups").begin_array();
  for (const std::string& group : m.groups) w.value(group);
  w.end_array().end_object();
  return w.take();
}

Result<PackManifest> decode_manifest(std::string_view bytes) {
  const auto document = parse_json(bytes);
  if (!document) return document.error();
  if (Status known = check_schema(*document, "muster.pack", 1); !known) return known.error();
  JsonFields fields(*document);
  PackManifest out;
  read_sizes(out, fields);
  read_source(out, fields);
  read_account(out, fields);
  out.root = hash_field(fields, "root");
  out.doc_ends_hash = hash_field(fields, "doc_ends_hash");
  out.loss_bits_hash = hash_field(fields, "loss_bits_hash");
  out.groups = fields.texts("groups");
  if (fields.fault()) return *fields.fault();  // what follows is arithmetic on sound numbers
  check_ids(out, fields);
  check_account(out, fields);
  check_hashes(out, fields);
  if (fields.fault()) return *fields.fault();
  return out;
}

std::string manifest_identity(const PackManifest& m) {
  const std::string text = fmt::format("muster.pack/1 {} {} {} {} {}", m.block_tokens, m.blocks,
                                       m.root, m.doc_ends_hash, m.loss_bits_hash);
  return hash_text(hash_bytes(text));
}

}  // namespace muster::blocks
