#include "core/checkpoint/checkpoint_judge.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/ascii.h"
#include "base/limits.h"
#include "base/text.h"
#include "base/timestamp.h"

namespace muster::checkpoint {
namespace {

// Files smaller than this differ for many reasons; larger ones of one model have one size.
constexpr std::uint64_t kComparedBytes = 1 << 20;

// A name as other steps and ranks have it: "global_step#/rng_state_#.pth".
std::string family_of(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (!is_digit(name[i])) {
      out += name[i];
    } else if (i == 0 || !is_digit(name[i - 1])) {
      out += '#';
    }
  }
  return out;
}

// The name of a file with its rank, the folders above it without their step: "#/mp_rank_00.pt".
std::string name_of_step(std::string_view name, std::optional<std::uint64_t> step) {
  std::string out;
  const std::string_view folders = folder_part(name);
  for (const std::string_view folder : split(folders, '/')) {
    const auto told = step_of_name(folder);
    out += told && told == step ? "#" : std::string(folder);
    out += '/';
  }
  return out + std::string(last_part(name));
}

bool counts(const FileFacts& file) {
  return file.kind != FileKind::other && file.kind != FileKind::temporary &&
         file.kind != FileKind::tracker;
}

using Families = std::map<std::string, std::size_t>;

Families families_of(const Checkpoint& checkpoint) {
  Families out;
  for (const FileFacts& file : checkpoint.files) {
    if (counts(file)) ++out[family_of(file.name)];
  }
  return out;
}

std::string shown_name(const Checkpoint& checkpoint) {
  return std::string(last_part(checkpoint.path));
}

// Whether .metadata told which shards there must be.
bool knows_shards(const Checkpoint& checkpoint) {
  return std::any_of(checkpoint.files.begin(), checkpoint.files.end(), [](const FileFacts& f) {
    return f.kind == FileKind::dcp_metadata && f.state == FileState::sound;
  });
}

class Beside {
 public:
  Beside(const std::vector<Checkpoint>& all, const JudgeFacts& facts) : all_(all), facts_(facts) {}

  Judged judge() {
    for (const Checkpoint& checkpoint : all_) {
      out_.each.push_back(judge_alone(checkpoint));
      families_.push_back(families_of(checkpoint));
    }
    alone_ = out_.each;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      auto& steps = whole_[{all_[i].run, all_[i].single_file}];
      const bool whole = alone_[i].state == Completeness::complete && !all_[i].temporary;
      if (whole && all_[i].step) steps.emplace(*all_[i].step, i);
    }
    for (std::size_t i = 0; i < all_.size(); ++i) {
      failed_writes(i);
      worlds(i);
    }
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (const auto older = older_whole(i)) compare(i, *older);
    }
    for (const auto& [folder, tracker] : facts_.trackers) follow(folder, tracker);
    for (std::size_t i = 0; i < all_.size(); ++i) {
      out_.each[i].state = state_of(out_.each[i]);
      age(i);
    }
    return std::move(out_);
  }

 private:
  void add(std::size_t i, Flaw::Kind kind, std::string file, std::string text, bool sure) {
    Judgement& judgement = out_.each[i];
    const bool known =
        std::any_of(judgement.flaws.begin(), judgement.flaws.end(),
                    [&file, kind](const Flaw& f) { return f.kind == kind && f.file == file; });
    if (known && !file.empty()) return;
    // What was sure before stays so: this only says more of it.
    if (judgement.flaws.empty()) judgement.sure = sure;
    if (sure) judgement.sure = true;
    judgement.flaws.push_back({kind, std::move(file), std::move(text)});
  }

  void failed_writes(std::size_t i);
  void worlds(std::size_t i);
  std::optional<std::size_t> older_whole(std::size_t i) const;
  void compare(std::size_t i, std::size_t older);
  void compare_counts(std::size_t i, std::size_t older, const std::string& family,
                      std::size_t before);
  void compare_sizes(std::size_t i, std::size_t older);
  void follow(const std::string& folder, const FileFacts& tracker);
  void age(std::size_t i);

  const std::vector<Checkpoint>& all_;
  const JudgeFacts& facts_;
  std::vector<Families> families_;
  std::vector<Judgement> alone_;
  // The complete ones of each run by step, single files apart.
  std::map<std::pair<std::string, bool>, std::map<std::uint64_t, std::size_t>> whole_;
  Judged out_;
};

// A log says that a file could not be written, and it is not there.
void Beside::failed_writes(std::size_t i) {
  const std::string inside = "/" + shown_name(all_[i]) + "/";
  for (const SaveLine& line : facts_.lines) {
    const std::size_t at = line.path.find(inside);
    if (at == std::string::npos || shown_name(all_[i]).empty()) continue;
    const std::string name = line.path.substr(at + inside.size());
    const bool here = std::any_of(all_[i].files.begin(), all_[i].files.end(),
                                  [&name](const FileFacts& f) { return f.name == name; });
    if (name.empty() || here) continue;
    const std::string who = line.rank ? fmt::format("rank {}", *line.rank) : "a rank";
    add(i, Flaw::Kind::missing, name,
        fmt::format("{} is missing: {} could not write it ({})", name, who, line.why), true);
  }
}

// A log says how many ranks saved, and fewer shards are there. Ranks that have nothing of their own
// to save write none: where .metadata was read it knows better.
void Beside::worlds(std::size_t i) {
  if (knows_shards(all_[i])) return;
  std::set<std::uint64_t> ranks;
  for (const FileFacts& file : all_[i].files) {
    const auto rank = file.kind == FileKind::dcp_shard ? rank_of_file(file.name) : std::nullopt;
    if (rank) ranks.insert(*rank);
  }
  if (ranks.empty()) return;
  for (const SaveLine& line : facts_.lines) {
    if (!line.world || line.text.find(shown_name(all_[i])) == std::string::npos) continue;
    if (ranks.size() >= *line.world) continue;
    add(i, Flaw::Kind::missing, "",
        fmt::format("shards of {} ranks are there, {} saved by the log", ranks.size(), *line.world),
        false);
    return;
  }
}

std::optional<std::size_t> Beside::older_whole(std::size_t i) const {
  if (!all_[i].step) return std::nullopt;
  const auto& steps = whole_.at({all_[i].run, all_[i].single_file});
  const auto behind = steps.lower_bound(*all_[i].step);
  return behind == steps.begin() ? std::nullopt : std::optional(std::prev(behind)->second);
}

void Beside::compare(std::size_t i, std::size_t older) {
  const bool layouts =
      alone_[i].layout == alone_[older].layout || alone_[i].state != Completeness::complete;
  if (!layouts || all_[i].single_file) return compare_sizes(i, older);
  for (const auto& [family, before] : families_[older]) compare_counts(i, older, family, before);
  compare_sizes(i, older);
}

void Beside::compare_counts(std::size_t i, std::size_t older, const std::string& family,
                            std::size_t before) {
  const auto it = families_[i].find(family);
  const std::size_t now = it == families_[i].end() ? 0 : it->second;
  if (now >= before) return;
  const std::string where = shown_name(all_[older]);
  if (now == 0) {
    const bool numbered = family.find('#') != std::string::npos;
    add(i, Flaw::Kind::missing, numbered ? "" : family,
        numbered ? fmt::format("no {} is there; {} has {}", family, where, before)
                 : fmt::format("{} is missing; {} has it", family, where),
        true);
    return;
  }
  if (shard_of_file(family) || family.find("-of-") != std::string::npos) return;
  if (family.ends_with(".distcp") && knows_shards(all_[i])) return;
  // A run that goes on with fewer ranks has fewer files from then on.
  for (const auto& [step, j] : whole_.at({all_[i].run, false})) {
    const auto other = families_[j].find(family);
    if (j != i && other != families_[j].end() && other->second == now) return;
  }
  add(i, Flaw::Kind::missing, "",
      fmt::format("{} files {} are there; {} has {}", now, family, where, before), false);
}

void Beside::compare_sizes(std::size_t i, std::size_t older) {
  std::map<std::string, std::uint64_t> sizes;
  for (const FileFacts& file : all_[older].files) {
    if (counts(file) && file.bytes) sizes[name_of_step(file.name, all_[older].step)] = *file.bytes;
  }
  for (const FileFacts& file : all_[i].files) {
    const bool told = file.state == FileState::sound || file.state == FileState::torn;
    if (told || !counts(file) || !file.bytes) continue;
    const auto it = sizes.find(name_of_step(file.name, all_[i].step));
    if (it == sizes.end() || it->second < kComparedBytes) continue;
    if (*file.bytes >= it->second - it->second / 100) continue;
    if (families_[i] != families_[older] && rank_of_file(file.name)) continue;
    add(i, Flaw::Kind::short_of_others, file.name,
        fmt::format("{} has {}, {} in {}", file.name, size_text(*file.bytes), size_text(it->second),
                    shown_name(all_[older])),
        families_[i] == families_[older] && *file.bytes < it->second - it->second / 10);
  }
}

// What `latest` and its kind name was complete for whoever wrote it; what is newer, not yet.
void Beside::follow(const std::string& folder, const FileFacts& tracker) {
  const std::string path = folder + "/" + tracker.name;
  if (tracker.state != FileState::sound) {
    if (tracker.bytes == std::uint64_t{0}) {
      out_.notes.push_back(fmt::format("{} is empty: somebody may be writing it", path));
    }
    return;
  }
  const auto number = parse_uint(tracker.text);
  std::optional<std::size_t> named;
  bool any = false;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (all_[i].run != folder) continue;
    any = true;
    const bool same = shown_name(all_[i]) == last_part(tracker.text) ||
                      (number && all_[i].step && *all_[i].step == *number);
    if (same) named = i;
  }
  if (!any || tracker.text == "release" || tracker.text.empty()) return;
  if (!named) {
    out_.lost.push_back({path, tracker.text});
    return;
  }
  out_.each[*named].marked = true;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const bool newer = all_[i].run == folder && all_[i].step && all_[*named].step &&
                       *all_[i].step > *all_[*named].step && !all_[i].temporary;
    // What has a mark of its own is complete before `latest` is written.
    if (!newer || out_.each[i].marked) continue;
    if (state_of(out_.each[i]) != Completeness::complete) continue;
    add(i, Flaw::Kind::unread, "",
        fmt::format("{} still names {}: its save may not have ended", tracker.name, tracker.text),
        true);
  }
}

// A save that goes on looks like one that was interrupted.
void Beside::age(std::size_t i) {
  Judgement& judgement = out_.each[i];
  if (!facts_.now || !judgement.modified || judgement.marked) return;
  const bool open =
      judgement.state == Completeness::incomplete || judgement.state == Completeness::torn;
  const Duration passed = *facts_.now - *judgement.modified;
  // A clock of the file server that runs ahead by more says nothing of the age.
  if (!open || passed >= limits::kSaveQuiet || passed < -limits::kClockSkew) return;
  judgement.state = Completeness::cannot_tell;
  judgement.flaws.insert(judgement.flaws.begin(),
                         {Flaw::Kind::unread, "",
                          fmt::format("written {} ago: it may still be saved",
                                      format_duration(std::max(passed, Duration{})))});
}

}  // namespace

std::string size_text(std::uint64_t bytes) {
  const double value = static_cast<double>(bytes);
  if (bytes >= 1'000'000'000'000) return fmt::format("{:.2f} TB", value / 1e12);
  if (bytes >= 1'000'000'000) return fmt::format("{:.2f} GB", value / 1e9);
  if (bytes >= 1'000'000) return fmt::format("{:.2f} MB", value / 1e6);
  if (bytes >= 10'000) return fmt::format("{:.1f} kB", value / 1e3);
  return fmt::format("{} bytes", bytes);
}

Judged judge_checkpoints(const std::vector<Checkpoint>& all, const JudgeFacts& facts) {
  return Beside(all, facts).judge();
}

}  // namespace muster::checkpoint
