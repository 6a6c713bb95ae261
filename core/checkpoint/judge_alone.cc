#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "core/checkpoint/checkpoint_judge.h"

namespace muster::checkpoint {
namespace {

// Files that a finding tells of one by one are few; a damaged folder may lack thousands.
constexpr std::size_t kFlaws = 64;

std::string joined(std::string_view folder, std::string_view base) {
  return folder.empty() ? std::string(base) : std::string(folder) + "/" + std::string(base);
}

class Alone {
 public:
  explicit Alone(const Checkpoint& checkpoint) : checkpoint_(checkpoint) {
    for (const FileFacts& file : checkpoint.files) {
      names_.emplace(file.name, &file);
      folders_[std::string(folder_part(file.name))].push_back(&file);
    }
  }

  Judgement judge() {
    sum_up();
    each_file();
    manifest();
    indexes();
    shards();
    for (const auto& [folder, files] : folders_) {
      dcp(folder, files);
      deepspeed(folder, files);
    }
    megatron();
    out_.layout = layout();
    if (out_.layout == Layout::trainer) trainer();
    emptiness();
    conclude();
    return std::move(out_);
  }

 private:
  bool has(const std::string& name) const { return names_.contains(name); }
  bool any(FileKind kind) const {
    return std::any_of(checkpoint_.files.begin(), checkpoint_.files.end(),
                       [kind](const FileFacts& f) { return f.kind == kind; });
  }
  bool any_named(std::string_view word) const {
    return std::any_of(checkpoint_.files.begin(), checkpoint_.files.end(),
                       [word](const FileFacts& f) {
                         return last_part(f.name).find(word) != std::string_view::npos;
                       });
  }
  void flaw(Flaw::Kind kind, std::string file, std::string text) {
    const bool known = std::any_of(out_.flaws.begin(), out_.flaws.end(),
                                   [&](const Flaw& f) { return f.file == file && f.kind == kind; });
    if (!known && out_.flaws.size() < kFlaws) {
      out_.flaws.push_back({kind, std::move(file), std::move(text)});
    }
  }
  void missing(const std::string& file, std::string_view why) {
    flaw(Flaw::Kind::missing, file,
         fmt::format("{} is missing{}{}", file, why.empty() ? "" : ": ", why));
  }

  void sum_up();
  void each_file();
  void manifest();
  void indexes();
  void shards();
  void dcp(const std::string& folder, const std::vector<const FileFacts*>& files);
  void dcp_ends(const std::vector<const FileFacts*>& shards);
  void deepspeed(const std::string& folder, const std::vector<const FileFacts*>& files);
  void megatron();
  Layout layout() const;
  void trainer();
  void emptiness();
  void conclude();

  const Checkpoint& checkpoint_;
  std::map<std::string, const FileFacts*> names_;
  std::map<std::string, std::vector<const FileFacts*>> folders_;
  bool dcp_ = false, deepspeed_ = false, megatron_ = false;
  Judgement out_;
};

void Alone::sum_up() {
  for (const FileFacts& file : checkpoint_.files) {
    out_.bytes += file.bytes.value_or(0);
    if (file.modified && (!out_.modified || *file.modified > *out_.modified)) {
      out_.modified = file.modified;
    }
    if (file.kind == FileKind::marker) out_.marked = true;
    if (file.kind == FileKind::trainer_state) out_.loss = file.loss;
  }
}

void Alone::each_file() {
  for (const FileFacts& file : checkpoint_.files) {
    if (file.state == FileState::torn) {
      flaw(Flaw::Kind::torn, file.name, fmt::format("{}: {}", file.name, file.fault));
    } else if (file.state == FileState::unread && !file.fault.empty()) {
      flaw(Flaw::Kind::unread, file.name, fmt::format("{}: {}", file.name, file.fault));
    } else if (file.kind == FileKind::tracker && !file.text.empty() &&
               file.text.find('/') == std::string::npos) {
      const std::string target = joined(folder_part(file.name), file.text);
      const bool here = std::any_of(names_.begin(), names_.end(), [&target](const auto& entry) {
        return entry.first == target || entry.first.starts_with(target + "/");
      });
      if (!here) missing(target, fmt::format("{} names it", file.name));
    }
  }
}

void Alone::manifest() {
  const auto it = names_.find(std::string(kManifestName));
  if (it == names_.end()) {
    if (any_named("rank-") && has("config.json") && folders_.contains("state")) {
      missing(std::string(kManifestName), "it is written last");
    }
    return;
  }
  if (!it->second->manifest) return;
  out_.marked = true;
  for (const ManifestFile& file : it->second->manifest->files) {
    const auto found = names_.find(file.name);
    if (found == names_.end()) {
      missing(file.name, "the manifest names it");
    } else if (found->second->bytes && *found->second->bytes != file.bytes) {
      flaw(Flaw::Kind::torn, file.name,
           fmt::format("{} has {} bytes, {} by the manifest", file.name, *found->second->bytes,
                       file.bytes));
    }
  }
}

void Alone::indexes() {
  for (const FileFacts& file : checkpoint_.files) {
    if (file.kind != FileKind::index) continue;
    const std::string folder(folder_part(file.name));
    for (const auto& [base, tensors] : file.names) {
      const std::string name = joined(folder, base);
      const auto found = names_.find(name);
      if (found == names_.end()) {
        missing(name, fmt::format("{} names it", last_part(file.name)));
      } else if (found->second->tensors && *found->second->tensors < tensors) {
        flaw(Flaw::Kind::torn, name,
             fmt::format("{} holds {} tensors, {} by {}", name, *found->second->tensors, tensors,
                         last_part(file.name)));
      }
    }
  }
}

// "model-00001-of-00004.safetensors" tells of three more.
void Alone::shards() {
  struct Family {
    std::uint64_t parts = 0;
    std::set<std::uint64_t> seen;
    std::string one;
  };
  if (checkpoint_.single_file) return;
  std::map<std::string, Family> families;
  for (const FileFacts& file : checkpoint_.files) {
    if (file.kind != FileKind::safetensors && file.kind != FileKind::torch) continue;
    const auto shard = shard_of_file(file.name);
    if (!shard) continue;
    Family& family = families[shard->family];
    family.parts = std::max(family.parts, shard->parts);
    family.seen.insert(shard->part);
    family.one = file.name;
  }
  for (const auto& [name, family] : families) {
    if (family.seen.size() < family.parts) {
      flaw(Flaw::Kind::missing, "",
           fmt::format("{} of the {} parts that {} tells of are missing",
                       family.parts - family.seen.size(), family.parts, family.one));
    }
    const std::string_view base = last_part(family.one);
    const bool weights = base.starts_with("model-") || base.starts_with("pytorch_model-");
    const std::string_view end = base.ends_with(".bin") ? ".bin" : ".safetensors";
    const std::string index =
        joined(folder_part(family.one),
               fmt::format("{}{}.index.json", base.substr(0, base.find('-')), end));
    if (weights && family.parts > 1 && !has(index)) missing(index, "without it no part is found");
  }
}

// ---- torch.distributed.checkpoint -------------------------------------------------------------

void Alone::dcp(const std::string& folder, const std::vector<const FileFacts*>& files) {
  std::vector<const FileFacts*> shards;
  const FileFacts* metadata = nullptr;
  std::set<std::uint64_t> ranks;
  for (const FileFacts* file : files) {
    if (file->kind == FileKind::dcp_metadata) metadata = file;
    if (file->kind != FileKind::dcp_shard) continue;
    shards.push_back(file);
    if (const auto rank = rank_of_file(file->name)) ranks.insert(*rank);
  }
  if (metadata == nullptr && shards.empty()) return;
  dcp_ = true;
  if (metadata != nullptr) {
    out_.marked = true;  // it is written when all shards are there
    for (const auto& [base, least] : metadata->names) {
      const std::string name = joined(folder, base);
      const auto found = names_.find(name);
      if (found == names_.end()) {
        missing(name, ".metadata names it");
      } else if (found->second->bytes && *found->second->bytes < least) {
        flaw(Flaw::Kind::torn, name,
             fmt::format("{} has {} bytes, {} at least by .metadata", name, *found->second->bytes,
                         least));
      }
    }
    if (shards.empty()) missing(joined(folder, "__0_0.distcp"), "no shard is there");
  } else {
    missing(joined(folder, ".metadata"), "it is written last, when every rank has saved");
    for (std::uint64_t r = 0; !ranks.empty() && r < *ranks.rbegin(); ++r) {
      if (out_.flaws.size() >= kFlaws) break;
      if (ranks.contains(r)) continue;
      missing(joined(folder, fmt::format("__{}_0.distcp", r)),
              fmt::format("the shard of rank {}", r));
    }
  }
  dcp_ends(shards);
}

// Each shard ends with what torch.save wrote last, where they are made by it.
void Alone::dcp_ends(const std::vector<const FileFacts*>& shards) {
  const auto whole = std::count_if(shards.begin(), shards.end(),
                                   [](const FileFacts* f) { return f->ends_like_zip; });
  for (const FileFacts* shard : shards) {
    if (whole == 0 || shard->ends_like_zip || shard->state != FileState::unchecked) continue;
    flaw(Flaw::Kind::torn, shard->name,
         fmt::format("{} has no end record, and {} of {} shards have one", shard->name, whole,
                     shards.size()));
  }
}

// ---- grids of ranks ---------------------------------------------------------------------------

// zero_pp_rank_D_mp_rank_MM_optim_states.pt and mp_rank_MM_model_states.pt: each D with each M.
void Alone::deepspeed(const std::string& folder, const std::vector<const FileFacts*>& files) {
  std::map<std::string, std::set<std::uint64_t>> data_ranks;  // of each model rank
  std::set<std::string> models;
  std::string form;
  for (const FileFacts* file : files) {
    const std::string base(last_part(file->name));
    const bool optim = base.ends_with("optim_states.pt");
    if (!optim && !base.ends_with("model_states.pt")) continue;
    deepspeed_ = true;
    const std::size_t at = base.find("mp_rank_");
    if (at == std::string::npos) continue;
    const std::string model = base.substr(at + 8, base.find('_', at + 8) - at - 8);
    if (!optim) {
      models.insert(model);
      continue;
    }
    const auto rank = rank_of_file(base);
    if (rank && *rank < 65536) data_ranks[model].insert(*rank);
    form = base.substr(0, base.find("zero_pp_rank_"));
  }
  std::uint64_t most = 0;
  for (const auto& [model, ranks] : data_ranks) most = std::max(most, *ranks.rbegin() + 1);
  for (const auto& [model, ranks] : data_ranks) {
    for (std::uint64_t r = 0; r < most && out_.flaws.size() < kFlaws; ++r) {
      if (ranks.contains(r)) continue;
      missing(joined(folder,
                     fmt::format("{}zero_pp_rank_{}_mp_rank_{}_optim_states.pt", form, r, model)),
              fmt::format("the part of rank {}", r));
    }
    if (!models.contains(model) && most > 0) {
      missing(joined(folder, fmt::format("mp_rank_{}_model_states.pt", model)),
              "its moments are there");
    }
  }
}

// mp_rank_TT or mp_rank_TT_PPP: the same files in each, no number left out.
void Alone::megatron() {
  std::map<std::string, std::set<std::string>> bases;  // of each rank folder
  std::set<std::string> all;
  std::map<std::string, std::uint64_t> tensors;  // of each pipeline stage, the highest
  for (const auto& [folder, files] : folders_) {
    const std::string_view base = last_part(folder);
    if (!base.starts_with("mp_rank_")) continue;
    const auto parts = split(base.substr(8), '_');
    const auto tensor = parse_uint(parts[0]);
    if (!tensor || *tensor > 65535) continue;
    const std::string stage = parts.size() > 1 ? std::string(parts[1]) : "";
    tensors[stage] = std::max(tensors[stage], *tensor);
    for (const FileFacts* file : files) {
      bases[std::string(base)].insert(std::string(last_part(file->name)));
      all.insert(std::string(last_part(file->name)));
    }
  }
  if (bases.empty()) return;
  megatron_ = true;
  std::uint64_t most = 0;
  for (const auto& [stage, highest] : tensors) most = std::max(most, highest);
  for (const auto& [stage, highest] : tensors) {
    for (std::uint64_t t = 0; t <= most && out_.flaws.size() < kFlaws; ++t) {
      const std::string folder = stage.empty() ? fmt::format("mp_rank_{:02}", t)
                                               : fmt::format("mp_rank_{:02}_{}", t, stage);
      for (const std::string& base : all) {
        if (!bases[folder].contains(base)) missing(joined(folder, base), "other ranks have it");
      }
    }
  }
}

// ---- layouts ----------------------------------------------------------------------------------

Layout Alone::layout() const {
  if (checkpoint_.single_file) {
    const bool tensors = any(FileKind::safetensors);
    return tensors ? Layout::weights : Layout::file;
  }
  if (any(FileKind::manifest) || folders_.contains("state")) return Layout::muster;
  const bool weights =
      any(FileKind::safetensors) || any(FileKind::index) || any_named("pytorch_model");
  // The last export of a run lies beside its checkpoints, with some of their files.
  const bool stepped = step_of_name(last_part(checkpoint_.path)).has_value();
  const bool trainer = any(FileKind::trainer_state) ||
                       (stepped && (has("training_args.bin") || any_named("rng_state") ||
                                    (weights && has("optimizer.pt"))));
  if (trainer) return Layout::trainer;
  if (megatron_ || (dcp_ && (has("common.pt") || has("metadata.json")))) return Layout::megatron;
  if (deepspeed_) return Layout::deepspeed;
  if (dcp_) return Layout::dcp;
  if (weights) return Layout::weights;
  return any(FileKind::torch) ? Layout::file : Layout::unknown;
}

void Alone::trainer() {
  const auto state = names_.find("trainer_state.json");
  if (state == names_.end()) {
    missing("trainer_state.json", "it is among the last that are written");
  } else if (checkpoint_.step && state->second->step && *state->second->step != *checkpoint_.step) {
    flaw(Flaw::Kind::missing, "trainer_state.json",
         fmt::format("trainer_state.json is of step {}, its folder of {}", *state->second->step,
                     *checkpoint_.step));
  }
  const bool weights = any(FileKind::safetensors) || any(FileKind::index) || dcp_ || deepspeed_ ||
                       any_named("pytorch_model") || any_named("adapter_model");
  if (!weights) missing("model.safetensors", "no weights are there");
}

void Alone::emptiness() {
  if (!out_.flaws.empty()) return;
  const bool holds =
      std::any_of(checkpoint_.files.begin(), checkpoint_.files.end(), [](const FileFacts& f) {
        return f.kind == FileKind::safetensors || f.kind == FileKind::torch ||
               f.kind == FileKind::dcp_shard;
      });
  if (!holds && checkpoint_.files.empty()) {
    flaw(Flaw::Kind::missing, "", "nothing is in it");
  } else if (!holds) {
    flaw(Flaw::Kind::missing, "", "no file of weights is in it");
  }
}

void Alone::conclude() {
  out_.state = state_of(out_);
  const bool exact =
      out_.layout == Layout::muster
          ? folders_.contains("state")
          : dcp_ || deepspeed_ || megatron_ || any_named("optim") || out_.layout == Layout::file;
  out_.weights_only = !exact;
}

}  // namespace

Completeness state_of(const Judgement& judgement) {
  const auto any = [&judgement](Flaw::Kind kind) {
    return std::any_of(judgement.flaws.begin(), judgement.flaws.end(),
                       [kind](const Flaw& f) { return f.kind == kind; });
  };
  if (any(Flaw::Kind::torn)) return Completeness::torn;
  if (any(Flaw::Kind::missing) || any(Flaw::Kind::short_of_others)) {
    return judgement.marked ? Completeness::false_complete : Completeness::incomplete;
  }
  return any(Flaw::Kind::unread) ? Completeness::cannot_tell : Completeness::complete;
}

std::string_view layout_name(Layout layout) {
  constexpr std::string_view kNames[] = {
      "unknown layout", "Hugging Face Trainer", "weights", "DCP", "DeepSpeed",
      "Megatron",       "torch.save",           "muster"};
  return kNames[static_cast<std::size_t>(layout)];
}

Judgement judge_alone(const Checkpoint& checkpoint) {
  return Alone(checkpoint).judge();
}

}  // namespace muster::checkpoint
