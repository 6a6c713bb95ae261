#include "core/checkpoint/checkpoint_names.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/text.h"

namespace muster::checkpoint {
namespace {

// The digits from `at` on, where nothing of a word follows them.
std::optional<std::uint64_t> digits_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_digit(text[end])) ++end;
  if (end == at || end - at > 18 || (end < text.size() && is_letter(text[end])))
    return std::nullopt;
  return parse_uint(text.substr(at, end - at));
}

// The number behind `word`, as "step-500", "step_500", "step=500" or "step500".
std::optional<std::uint64_t> number_after(std::string_view low, std::string_view word) {
  for (std::size_t at = low.rfind(word); at != std::string_view::npos;
       at = at == 0 ? std::string_view::npos : low.rfind(word, at - 1)) {
    if (at > 0 && (is_letter(low[at - 1]) || is_digit(low[at - 1]))) continue;
    std::size_t from = at + word.size();
    if (from < low.size() && (low[from] == '-' || low[from] == '_' || low[from] == '=')) ++from;
    if (const auto number = digits_at(low, from)) return number;
  }
  return std::nullopt;
}

bool any_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_marker(std::string_view low) {
  return any_of(low, {"complete", ".complete", "completed", "_success", "success", "done", ".done",
                      ".ok", "commit_success.txt", "_committed", "_commit_success"});
}

bool is_tracker(std::string_view low) {
  return any_of(low, {"latest", "latest.txt", "latest_checkpointed_iteration.txt",
                      "latest_universal", "latest_checkpoint.txt"});
}

bool is_torch(std::string_view low) {
  if (low.ends_with(".pt") || low.ends_with(".pth") || low.ends_with(".ckpt")) return true;
  if (!low.ends_with(".bin")) return false;
  return low.find("model") != std::string_view::npos || low == "training_args.bin" ||
         low == "optimizer.bin" || low == "scheduler.bin" || low.starts_with("random_states");
}

}  // namespace

std::string_view last_part(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return path.substr(path.rfind('/') + 1);
}

std::string_view folder_part(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {};
  return slash == 0 ? path.substr(0, 1) : path.substr(0, slash);
}

bool is_temporary_name(std::string_view base) {
  const std::string low = to_lower(base);
  for (const std::string_view begin :
       {"tmp-", "tmp_", "tmp.", ".tmp", "_tmp", ".saving-", ".removed-", ".partial"}) {
    if (low.starts_with(begin)) return true;
  }
  for (const std::string_view end :
       {".tmp", ".temp", ".part", ".partial", ".incomplete", "_tmp", "-tmp", ".inprogress"}) {
    if (low.ends_with(end)) return true;
  }
  return low.find(".partial-") != std::string::npos || low.find("-tmp-") != std::string::npos ||
         low.find(".tmp.") != std::string::npos;
}

FileKind kind_of_file(std::string_view name) {
  const std::string_view base = last_part(name);
  const std::string low = to_lower(base);
  if (is_temporary_name(base)) return FileKind::temporary;
  if (low.ends_with(".safetensors")) return FileKind::safetensors;
  if (low.ends_with(".safetensors.index.json") || low.ends_with(".bin.index.json")) {
    return FileKind::index;
  }
  if (low.ends_with(".distcp")) return FileKind::dcp_shard;
  if (low == ".metadata") return FileKind::dcp_metadata;
  if (low == "trainer_state.json") return FileKind::trainer_state;
  if (low == "muster-checkpoint.json") return FileKind::manifest;
  if (any_of(low, {"config.json", "adapter_config.json", "metadata.json"})) return FileKind::json;
  if (is_marker(low)) return FileKind::marker;
  if (is_tracker(low)) return FileKind::tracker;
  return is_torch(low) ? FileKind::torch : FileKind::other;
}

std::optional<std::uint64_t> step_of_name(std::string_view base) {
  std::string low = to_lower(base);
  for (const std::string_view word : {"global_step", "step", "batch", "ba", "iteration", "iter",
                                      "checkpoint", "ckpt", "chkpt", "epoch", "ep"}) {
    if (const auto number = number_after(low, word)) return number;
  }
  return !low.empty() && std::all_of(low.begin(), low.end(), is_digit) ? digits_at(low, 0)
                                                                       : std::nullopt;
}

bool is_component_name(std::string_view base) {
  const std::string low = to_lower(base);
  for (const std::string_view begin :
       {"pytorch_model_fsdp_", "optimizer_", "mp_rank_", "fsdp_", "sharded_", "tp_rank_"}) {
    if (low.starts_with(begin) && low.size() > begin.size() && is_digit(low[begin.size()])) {
      return true;
    }
  }
  return any_of(low, {"state", "optimizer", "optim", "model", "checkpoint", "weights", "hf",
                      "dataloader", "distcp", "tokenizer", "train_state", "dist_optimizer"});
}

std::optional<std::uint64_t> rank_of_file(std::string_view name) {
  const std::string low = to_lower(last_part(name));
  if (low.starts_with("__") && low.ends_with(".distcp")) return digits_at(low, 2);
  for (const std::string_view word : {"pp_rank", "rng_state", "random_states", "rank"}) {
    if (const auto number = number_after(low, word)) return number;
  }
  return std::nullopt;
}

std::optional<ShardName> shard_of_file(std::string_view name) {
  const std::string_view base = last_part(name);
  const std::size_t of = base.rfind("-of-");
  if (of == std::string_view::npos) return std::nullopt;
  std::size_t begin = of;
  while (begin > 0 && is_digit(base[begin - 1])) --begin;
  std::size_t end = of + 4;
  while (end < base.size() && is_digit(base[end])) ++end;
  const auto part = parse_uint(base.substr(begin, of - begin));
  const auto parts = parse_uint(base.substr(of + 4, end - of - 4));
  if (!part || !parts) return std::nullopt;
  ShardName out;
  out.family = std::string(folder_part(name)) + "/" + std::string(base.substr(0, begin)) + "#" +
               std::string(base.substr(end));
  out.part = *part;
  out.parts = *parts;
  return out;
}

}  // namespace muster::checkpoint
