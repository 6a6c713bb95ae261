#include "core/checkpoint/checkpoint_manifest.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/limits.h"
#include "base/text.h"
#include "core/model/json_reader.h"
#include "core/model/json_writer.h"

namespace muster::checkpoint {
namespace {

// Digests use all 64 bits: as text, since many readers of JSON take numbers for doubles.
std::string digest_text(std::uint64_t digest) {
  return fmt::format("{:016x}", digest);
}

std::uint64_t digest_field(JsonFields& fields, std::string_view key) {
  const std::string text = fields.require_text(key);
  const auto digest = text.size() == 16 ? parse_hex("0x" + text) : std::nullopt;
  if (!digest) fields.complain(key, "no digest");
  return digest.value_or(0);
}

std::uint64_t count(JsonFields& fields, std::string_view key) {
  fields.require(key);
  return fields.unsigned_integer(key).value_or(0);
}

bool is_hash(std::string_view text) {
  return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// A name below the folder, of plain parts.
bool stays_below(std::string_view name) {
  if (name.empty() || name.size() > 512 || name.find('\0') != std::string_view::npos) return false;
  for (const std::string_view part : split(name, '/')) {
    if (part.empty() || part == "." || part == "..") return false;
  }
  return true;
}

}  // namespace

std::string encode_checkpoint_manifest(const CheckpointManifest& m) {
  JsonWriter w;
  w.begin_object().key("schema").value("muster.checkpoint/1").key("step").value(m.step);
  w.key("tokens").value(m.tokens).key("seed").value(digest_text(m.seed));
  w.key("pack_digest").value(digest_text(m.pack_digest)).key("skipped").value(m.skipped);
  w.key("plan_digest").value(digest_text(m.plan_digest)).key("world").value(m.world);
  w.key("exact").value(m.exact).key("files").begin_array();
  for (const ManifestFile& file : m.files) {
    w.begin_object().key("name").value(file.name).key("bytes").value(file.bytes);
    w.key("hash").value(file.hash).end_object();
  }
  w.end_array().end_object();
  return w.take();
}

Result<CheckpointManifest> decode_checkpoint_manifest(std::string_view bytes) {
  const auto document = parse_json(bytes);
  if (!document) return document.error();
  if (Status known = check_schema(*document, "muster.checkpoint", 1); !known) return known.error();
  JsonFields fields(*document);
  CheckpointManifest out;
  out.step = count(fields, "step");
  out.tokens = count(fields, "tokens");
  out.seed = digest_field(fields, "seed");
  out.pack_digest = digest_field(fields, "pack_digest");
  out.skipped = count(fields, "skipped");
  out.plan_digest = digest_field(fields, "plan_digest");
  out.world = static_cast<std::uint64_t>(fields.require_integer("world", 1, limits::kRanks));
  fields.require("exact");
  out.exact = fields.boolean("exact").value_or(false);
  fields.require("files");
  std::set<std::string> names;
  for (const JsonNode& node : fields.array("files")) {
    JsonFields part(node, fmt::format("files[{}].", out.files.size()));
    ManifestFile file;
    file.name = part.require_text("name");
    file.bytes = count(part, "bytes");
    file.hash = part.require_text("hash");
    if (!stays_below(file.name)) part.complain("name", "no name of a file below the folder");
    if (!names.insert(file.name).second) part.complain("name", "stands twice");
    if (!is_hash(file.hash)) part.complain("hash", "no hash");
    fields.adopt(part.fault());
    out.files.push_back(std::move(file));
  }
  if (fields.fault()) return *fields.fault();
  return out;
}

}  // namespace muster::checkpoint
