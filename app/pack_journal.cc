#include "app/pack_journal.h"

#include <fmt/format.h>

#include <span>

#include "base/limits.h"
#include "core/model/json_reader.h"
#include "core/model/json_writer.h"

namespace muster {
namespace {

constexpr std::size_t kHashChars = 32;
constexpr std::size_t kReadBytes = 256 * 1024;

std::string line_of(std::string_view json) {
  return fmt::format("{} {}\n", blocks::hash_text(blocks::hash_bytes(json)), json);
}

void write_count(JsonWriter& w, std::size_t input, const PackCount& count) {
  w.begin_object().key("input").value(std::uint64_t{input});
  w.key("documents").value(count.documents);
  for (std::size_t i = 0; i < records::kFaultCount; ++i) {
    if (count.faults[i] == 0) continue;
    w.key(records::fault_name(static_cast<records::Fault>(i))).value(count.faults[i]);
  }
  w.end_object();
}

// Runs of equal bits, beginning with the untrained: 3,5 is 00011111.
void write_bits(JsonWriter& w, const blocks::LossBits& bits) {
  w.begin_array();
  bool value = false;
  std::uint64_t run = 0;
  for (std::uint64_t i = 0; i < bits.size(); ++i, ++run) {
    if (bits.at(i) == value) continue;
    w.value(run);
    run = 0;
    value = !value;
  }
  w.value(run).end_array();
}

template <typename T>
std::vector<T> numbers(JsonFields& fields, std::string_view key) {
  std::vector<T> out;
  for (const JsonNode& node : fields.array(key)) {
    const auto* number = node.get<std::int64_t>();
    if (number == nullptr || *number < 0) fields.complain(key, "is a list of numbers");
    out.push_back(number == nullptr ? T{} : static_cast<T>(*number));
  }
  return out;
}

std::uint64_t count_of(JsonFields& fields, std::string_view key) {
  return static_cast<std::uint64_t>(fields.require_integer(key));
}

std::pair<std::size_t, PackCount> read_count(const JsonNode& node, JsonFields& above) {
  JsonFields fields(node, "counts.");
  std::pair<std::size_t, PackCount> made;
  made.first = count_of(fields, "input");
  made.second.documents = count_of(fields, "documents");
  for (std::size_t i = 0; i < records::kFaultCount; ++i) {
    const auto name = records::fault_name(static_cast<records::Fault>(i));
    made.second.faults[i] = fields.unsigned_integer(name).value_or(0);
  }
  above.adopt(fields.fault());
  return made;
}

Result<PackMark> read_mark(std::string_view json) {
  const auto document = parse_json(json);
  if (!document) return document.error();
  JsonFields fields(*document);
  PackMark mark;
  mark.chunks = count_of(fields, "chunks");
  mark.chain = fields.require_text("chain");
  mark.complete = fields.boolean("complete").value_or(false);
  const JsonNode::Array& files = fields.array("files");
  if (files.size() != mark.files.size()) fields.complain("files", "is not of this program");
  for (std::size_t i = 0; i < files.size() && i < mark.files.size(); ++i) {
    JsonFields file(files[i], "files.");
    const auto hash = blocks::parse_hash(file.require_text("hash"));
    if (!hash) fields.complain("files", "has no hash");
    mark.files[i] = {count_of(file, "bytes"), hash ? *hash : blocks::Hash128{}};
    fields.adopt(file.fault());
  }
  mark.next_block = count_of(fields, "next_block");
  mark.trained_tokens = count_of(fields, "trained_tokens");
  mark.eos_added = count_of(fields, "eos_added");
  mark.document_tokens = count_of(fields, "document_tokens");
  mark.pending.ids = numbers<std::int32_t>(fields, "ids");
  mark.pending.ends = numbers<std::uint64_t>(fields, "ends");
  bool value = false;
  for (const auto run : numbers<std::uint64_t>(fields, "trained")) {
    if (run > mark.pending.ids.size()) fields.complain("trained", "is longer than the ids");
    if (run <= mark.pending.ids.size()) mark.pending.trained.append(run, value);
    value = !value;
  }
  if (mark.pending.trained.size() != mark.pending.ids.size()) {
    fields.complain("trained", "is as long as the ids");
  }
  for (const JsonNode& node : fields.array("counts")) {
    mark.counts.push_back(read_count(node, fields));
  }
  for (const JsonNode& node : fields.array("inputs")) {
    JsonFields input(node, "inputs.");
    mark.inputs.push_back({count_of(input, "bytes"), input.require_text("hash")});
    fields.adopt(input.fault());
  }
  if (fields.fault()) return *fields.fault();
  return mark;
}

}  // namespace

std::uint64_t PackCount::errors() const {
  std::uint64_t sum = faults[static_cast<std::size_t>(records::Fault::empty_text)];
  for (std::size_t i = 0; i < faults.size(); ++i) {
    if (records::loses_record(static_cast<records::Fault>(i))) sum += faults[i];
  }
  return sum;
}

void PackCount::add(const PackCount& more) {
  documents += more.documents;
  for (std::size_t i = 0; i < faults.size(); ++i) faults[i] += more.faults[i];
}

std::string encode_plan(std::string_view plan_json) {
  return line_of(plan_json);
}

std::string encode_mark(const PackMark& mark) {
  JsonWriter w;
  w.begin_object().key("chunks").value(mark.chunks).key("chain").value(mark.chain);
  w.key("complete").value(mark.complete).key("files").begin_array();
  for (const PackFileState& file : mark.files) {
    w.begin_object().key("bytes").value(file.bytes).key("hash");
    w.value(blocks::hash_text(file.hash)).end_object();
  }
  w.end_array().key("next_block").value(mark.next_block);
  w.key("trained_tokens").value(mark.trained_tokens).key("eos_added").value(mark.eos_added);
  w.key("document_tokens").value(mark.document_tokens).key("ids").begin_array();
  for (const std::int32_t id : mark.pending.ids) w.value(std::int64_t{id});
  w.end_array().key("ends").begin_array();
  for (const std::uint64_t end : mark.pending.ends) w.value(end);
  w.end_array().key("trained");
  write_bits(w, mark.pending.trained);
  w.key("counts").begin_array();
  for (const auto& [input, count] : mark.counts) write_count(w, input, count);
  w.end_array().key("inputs").begin_array();
  for (const PackReader::Input& input : mark.inputs) {
    w.begin_object().key("bytes").value(input.bytes).key("hash").value(input.hash).end_object();
  }
  return line_of(w.end_array().end_object().take());
}

// The JSON of the next line, where it is whole.
Result<std::optional<std::string>> JournalReader::line() {
  std::size_t seen = 0, end = held_.find('\n');
  while (end == std::string::npos && held_.size() <= limits::kJournalLineBytes) {
    seen = held_.size();
    held_.resize(seen + kReadBytes);
    const auto n = file_.read(read_, std::span(held_).subspan(seen));
    held_.resize(seen + (n ? *n : 0));
    if (!n) return n.error();
    if (*n == 0) break;
    read_ += *n;
    end = held_.find('\n', seen);
  }
  const std::string_view text = std::string_view(held_).substr(0, end);
  if (end == std::string::npos || end <= kHashChars || text[kHashChars] != ' ') {
    return std::optional<std::string>();
  }
  std::string json(text.substr(kHashChars + 1));
  if (blocks::hash_text(blocks::hash_bytes(json)) != text.substr(0, kHashChars)) {
    return std::optional<std::string>();
  }
  at_ += end + 1;
  held_.erase(0, end + 1);
  return std::optional(std::move(json));
}

Result<std::string> JournalReader::plan() {
  auto json = line();
  if (!json) return json.error();
  if (*json) return std::move(**json);
  return make_error(Errc::corrupt, "the journal of the build has not even its first line");
}

Result<std::optional<PackMark>> JournalReader::next() {
  const auto json = line();
  if (!json) return json.error();
  if (!*json) return std::optional<PackMark>();
  auto mark = read_mark(**json);
  if (!mark) return within("a mark of the journal", mark.error());
  return std::optional(std::move(*mark));
}

}  // namespace muster
