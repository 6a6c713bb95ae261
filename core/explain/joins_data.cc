#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "core/explain/joins.h"

namespace muster {
namespace {

// Records that a check of the data file refuses, beside a run that died of its data.
void bad_records(const Scene& scene, std::vector<Claim>& claims) {
  const auto records = all_facts<BadRecord>(scene);
  if (records.empty()) return;
  Claim* claim = find_claim(claims, Cause::bad_record);
  for (Claim& other : claims) {
    // The process that reads the data died: by its records, where they are bad.
    const bool reader =
        other.cause == Cause::loader_worker_crashed ||
        (other.cause == Cause::rank_exception && !other.events.empty() &&
         scene.says(other.events.front(), {"DecodeError", "Extra data", "KeyError"}));
    if (claim == nullptr && !other.follows && reader) {
      other.become(Cause::bad_record, "bad_records");
      claim = &other;
    }
  }
  if (claim == nullptr) {
    claims.emplace_back();
    claim = &claims.back();
    claim->cause = Cause::bad_record;
    claim->severity = Severity::warning;
  }
  claim->culprits.clear();
  claim->join = "bad_records";
  for (const FactRef& ref : records) {
    const auto& record = std::get<BadRecord>(ref.fact->value);
    claim->culprits.push_back(
        {CulpritKind::file, fmt::format("{}:{}", ref.fact->source, record.record_line)});
    claim->facts.push_back(ref.index);
  }
  const auto& first = std::get<BadRecord>(records.front().fact->value);
  claim->what = fmt::format("record {} of {} cannot be used: {}", first.record_line,
                            records.front().fact->source, first.reason);
  claim->actions = {Action::fix_data, Action::restart_from_checkpoint};
  claim->next = "split, repair or skip the record and check the whole data set once";
}

// ---- Token ids -------------------------------------------------------------------------------

struct TokenIds {
  std::optional<double> largest, known;
  std::string file;
  std::vector<std::size_t> facts;
};

TokenIds token_ids(const Scene& scene) {
  TokenIds out;
  for (const FactRef& ref : all_facts<Setting>(scene)) {
    const auto& setting = std::get<Setting>(ref.fact->value);
    const std::string name = to_lower(setting.name);
    const auto value = parse_double(trim(setting.value));
    if (!value) continue;
    const bool table = name.find("num_embeddings") != name.npos ||
                       name.find("vocab_size") != name.npos || name.find("vocabulary") != name.npos;
    const bool largest = name.find("token") != name.npos && name.find("max") != name.npos &&
                         name.find("id") != name.npos;
    if (table) out.known = std::max(out.known.value_or(0), *value);
    if (largest && *value > out.largest.value_or(-1)) {
      out.largest = value;
      const std::size_t in = name.find(" in ");
      out.file = in == name.npos ? "" : setting.name.substr(in + 4);
    }
    if (table || largest) out.facts.push_back(ref.index);
  }
  return out;
}

void token_table(const Scene& scene, std::vector<Claim>& claims) {
  const TokenIds ids = token_ids(scene);
  Claim* claim = find_claim(claims, Cause::token_id_out_of_range);
  if (!ids.largest || !ids.known) {
    // An index beyond some table: which table it was, the line does not say.
    if (claim != nullptr) claim->cap(Confidence::medium);
    return;
  }
  const bool beyond = *ids.largest >= *ids.known;
  if (!beyond && claim == nullptr) return;
  if (claim == nullptr) {
    claims.emplace_back();
    claim = &claims.back();
    claim->cause = Cause::token_id_out_of_range;
  }
  claim->facts = ids.facts;
  claim->join = "token_table";
  if (!beyond) {
    claim->become(Cause::rank_exception, "token_table");
    claim->cap(Confidence::medium);
    claim->what = "an index was beyond its table on the GPU, and the token ids are in range";
    claim->actions = {Action::fix_code, Action::collect_evidence};
    claim->next = "run once with CUDA_LAUNCH_BLOCKING=1 to see which table it is";
    return;
  }
  claim->confidence = Confidence::high;
  claim->what = fmt::format("token id {:.0f} with {:.0f} embeddings", *ids.largest, *ids.known);
  if (!ids.file.empty()) {
    claim->what += " in " + ids.file;
    claim->culprits = {{CulpritKind::file, ids.file}};
  }
  claim->actions = {Action::fix_data, Action::restart_from_checkpoint};
  claim->next = "tokenize again with the tokenizer of the model, or widen the table";
}

// ---- Folders of checkpoints ------------------------------------------------------------------

// A conflict names the folder or something in it; the culprit is the folder of the step.
const FolderEntry* entry_of(const Scene& scene, std::string_view path, std::size_t& index) {
  const FolderEntry* best = nullptr;
  for (const FactRef& ref : all_facts<FolderEntry>(scene)) {
    const auto& entry = std::get<FolderEntry>(ref.fact->value);
    if (entry.kind != 'd' || entry.path.empty() || !lies_in(path, entry.path)) continue;
    // A folder of a step has its number in its name; what lies above it is there by right.
    const std::string_view last = std::string_view(entry.path).substr(entry.path.rfind('/') + 1);
    const bool numbered =
        std::any_of(last.begin(), last.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (entry.path != path && !numbered) continue;
    if (best != nullptr && best->path.size() >= entry.path.size()) continue;
    best = &entry;
    index = ref.index;
  }
  return best;
}

void existing_folder(const Scene& scene, std::vector<Claim>& claims) {
  for (Claim& claim : claims) {
    if (claim.events.empty() || claim.follows) continue;
    const std::size_t i = claim.events.front();
    const bool exists =
        claim.cause == Cause::checkpoint_dir_conflict ||
        (claim.cause == Cause::rank_exception && scene.says(i, {"FileExistsError"}));
    const std::string path = path_of(scene.event(i));
    if (!exists || path.empty()) continue;
    if (claim.cause != Cause::checkpoint_dir_conflict) {
      claim.become(Cause::checkpoint_dir_conflict, "existing_folder");
    }
    claim.join = "existing_folder";
    std::size_t index = 0;
    const FolderEntry* entry = entry_of(scene, path, index);
    // Part of the folder that somebody makes right now: a race, and the ranks make it.
    const bool race = entry == nullptr;
    if (race && scene.rank(i)) {
      claim.culprits = {{CulpritKind::rank, std::to_string(*scene.rank(i))}};
      claim.what =
          fmt::format("rank {} found {} made already by another rank", *scene.rank(i), path);
      claim.actions = {Action::fix_code, Action::restart_from_checkpoint};
      claim.next = "make the folders on one rank only, and let the others wait for it";
      continue;
    }
    claim.culprits = {{CulpritKind::file, race ? path : entry->path}};
    if (race) continue;
    claim.facts.push_back(index);
    claim.what = fmt::format("{} was there already when it was to be saved", entry->path);
    claim.actions = {Action::quarantine_checkpoint, Action::restart_from_checkpoint};
    claim.next = "move it aside and restart from the newest complete checkpoint";
    for (const FactRef& ref : all_facts<FolderEntry>(scene)) {
      const auto& link = std::get<FolderEntry>(ref.fact->value);
      const bool newest =
          link.kind == 'l' && !link.target.empty() && entry->path.ends_with("/" + link.target);
      if (link.kind == 'l') claim.facts.push_back(ref.index);
      if (!newest) continue;
      claim.actions = {Action::fix_config, Action::restart_from_checkpoint};
      claim.next =
          fmt::format("{} names it as the newest: resume from it, not before it", link.path);
    }
  }
}

void shared_device(const Scene&, std::vector<Claim>& claims) {
  for (Claim& claim : claims) {
    if (claim.cause != Cause::duplicate_gpu) continue;
    claim.culprits = {{CulpritKind::config, "device_selection"}};
    claim.join = "shared_device";
  }
}

constexpr Join kJoins[] = {
    {"bad_records", "a check of data files; a reader of data that died", "the records that are bad",
     bad_records},
    {"token_table", "an index beyond its table; largest token id, size of the vocabulary",
     "a token id is too large, or another table is meant", token_table},
    {"existing_folder", "a save that found its folder; a listing of the checkpoints",
     "a left-over, or ranks that race", existing_folder},
    {"shared_device", "several ranks on one GPU", "the setting that chooses the device",
     shared_device},
};

}  // namespace

std::span<const Join> data_joins() {
  return kJoins;
}

}  // namespace muster
