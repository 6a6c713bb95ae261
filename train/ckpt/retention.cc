#include "train/ckpt/retention.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "base/limits.h"
#include "base/text.h"
#include "train/ckpt/save_job.h"

namespace muster::train {
namespace {

constexpr std::string_view kStep = "step-", kSaving = ".saving-step-", kRemoved = ".removed-step-";

// The number behind `prefix`, as we write it.
std::optional<std::uint64_t> step_behind(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  const std::string_view digits = name.substr(prefix.size());
  const auto step = parse_uint(digits);
  return step && std::to_string(*step) == digits ? step : std::nullopt;
}

bool looks_whole(SaveDisk& disk, const std::string& path) {
  const auto manifest = read_manifest(disk, path);
  return manifest && std::all_of(manifest->files.begin(), manifest->files.end(),
                                 [&](const checkpoint::ManifestFile& wanted) {
                                   const auto file = disk.open(path + "/" + wanted.name);
                                   return file && (*file)->bytes() == wanted.bytes;
                                 });
}

Status prune(SaveDisk& disk, const std::string& folder, std::uint64_t keep, std::uint64_t saved,
             const std::set<std::uint64_t>& unsound) {
  const auto steps = saved_steps(disk, folder);
  if (!steps) return steps.error();
  std::uint64_t whole = 1;  // the one just saved
  for (const std::uint64_t step : *steps) {
    const std::string path = folder + "/" + step_folder(step);
    // What lies ahead is of another attempt, or another run.
    if (step >= saved || unsound.contains(step) || !looks_whole(disk, path)) continue;
    if (++whole <= keep) continue;
    // First another name: a removal that is killed leaves no checkpoint with holes.
    const std::string aside = fmt::format("{}/{}{}", folder, kRemoved, step);
    if (Status gone = disk.remove(aside); !gone) return gone;
    if (Status moved = disk.rename(path, aside); !moved) return moved;
    if (Status gone = disk.remove(aside); !gone) return gone;
  }
  return {};
}

// A save was killed between the two renames: the older one is aside, and nothing has the name.
bool lost_its_name(const std::vector<std::string>& names, std::uint64_t step) {
  const auto has = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  return !has(step_folder(step)) && has(before_folder(step_folder(step), 1));
}

}  // namespace

Result<std::vector<std::uint64_t>> saved_steps(SaveDisk& disk, const std::string& folder) {
  const auto names = disk.list(folder);
  if (!names && names.error().code == Errc::not_found) return std::vector<std::uint64_t>();
  if (!names) return names.error();
  std::vector<std::uint64_t> out;
  for (const std::string& name : *names) {
    if (const auto step = step_behind(name, kStep)) out.push_back(*step);
  }
  std::sort(out.rbegin(), out.rend());
  return out;
}

Result<checkpoint::CheckpointManifest> read_manifest(SaveDisk& disk, const std::string& path) {
  const std::string name = path + "/" + std::string(checkpoint::kManifestName);
  const auto text = read_small(disk, name, limits::kContractBytes);
  if (!text) return text.error();
  auto manifest = checkpoint::decode_checkpoint_manifest(*text);
  if (!manifest) return within("reading " + name, manifest.error());
  return manifest;
}

Status remove_leftovers(SaveDisk& disk, const std::string& folder) {
  const auto names = disk.list(folder);
  if (!names) return names.error().code == Errc::not_found ? Status() : names.error();
  for (const std::string& name : *names) {
    const auto saving = step_behind(name, kSaving);
    if (!saving && !step_behind(name, kRemoved)) continue;
    if (saving && lost_its_name(*names, *saving) && read_manifest(disk, folder + "/" + name)) {
      const std::string place = folder + "/" + step_folder(*saving);
      if (Status moved = disk.rename(folder + "/" + name, place); !moved) return moved;
      continue;
    }
    if (Status gone = disk.remove(folder + "/" + name); !gone) return gone;
  }
  return {};
}

void after_commit(SaveDisk& disk, const CheckpointOptions& options, std::uint64_t step,
                  const std::set<std::uint64_t>& unsound, std::vector<std::string>& warnings) {
  const Status named = disk.write_whole(options.folder + "/latest", step_folder(step) + "\n");
  if (!named) warnings.push_back(named.error().context);
  if (options.keep == 0) return;
  const Status pruned = prune(disk, options.folder, options.keep, step, unsound);
  if (!pruned) warnings.push_back("removing older checkpoints: " + pruned.error().context);
}

}  // namespace muster::train
