#include "app/pack_check.h"

#include <fmt/core.h>

#include <map>
#include <utility>

#include "app/path_walk.h"
#include "app/rank_file.h"
#include "core/blocks/plan_judge.h"
#include "core/blocks/plan_values.h"
#include "core/blocks/rank_steps.h"

namespace muster {
namespace {

blocks::PlanSetting setting(blocks::PlanRole role, std::string name, std::uint64_t value) {
  std::string text = fmt::format("{}={}", name, value);
  return {role, std::move(name), value, {"options", 0, std::move(text)}};
}

void add_notes(const PackCheckRequest& request, const PackCheck& check, Report& report) {
  using blocks::counted;
  using blocks::grouped;
  report.notes.push_back(
      fmt::format("{}: {} to {} of {} tokens, spread {}, {} in all", counted(check.ranks, "rank"),
                  grouped(check.least_blocks), counted(check.most_blocks, "block"),
                  grouped(request.block_tokens), grouped(check.most_blocks - check.least_blocks),
                  grouped(check.total_blocks)));
  report.notes.push_back(fmt::format("micro batches of {}, {} to a step: {} to {}",
                                     grouped(request.micro_batch), grouped(request.accumulation),
                                     grouped(check.least_steps),
                                     counted(check.most_steps, "step")));
  report.notes.push_back(
      fmt::format("stopping every rank after {} leaves {} unread; one list for all ranks (muster "
                  "pack convert) would leave {}",
                  counted(check.least_steps, "step"), counted(check.left_blocks, "block"),
                  grouped(check.left_of_one_list)));
  if (check.torn_bytes > 0) {
    report.notes.push_back(fmt::format("{} behind the last whole block of their files are no block",
                                       counted(check.torn_bytes, "byte")));
  }
}

}  // namespace

Result<PackCheck> check_rank_files(const PackCheckRequest& request, Files& files) {
  PathWalk walk(files);
  for (const std::string& path : request.paths) walk.path(path);
  walk.finish();
  std::map<std::uint64_t, RankFile> ranks;
  for (const PathWalk::Item& item : walk.items) {
    auto file = rank_file(item.path, files);
    if (!file) continue;
    const auto [known, fresh] = ranks.emplace(file->rank, *file);
    if (!fresh) {
      return make_error(Errc::invalid_input,
                        fmt::format("{} and {} are both of rank {}: name the files of one packing",
                                    known->second.path, file->path, file->rank));
    }
  }
  if (ranks.empty()) {
    if (walk.failure) return *walk.failure;
    return make_error(Errc::not_found, "no file of ids of a rank (NAME.i32) is there");
  }
  PackCheck out;
  blocks::PlanFacts facts;
  std::vector<std::uint64_t> units;
  const std::uint64_t block_bytes = request.block_tokens * 4;
  for (const auto& [rank, file] : ranks) {
    units.push_back(file.bytes / block_bytes);
    out.total_blocks += units.back();
    out.torn_bytes += file.bytes % block_bytes;
    blocks::RankRow row;
    row.rank = rank;
    row.file = file.path;
    row.blocks = units.back();
    row.seen = {file.path, 0, fmt::format("{} bytes", file.bytes)};
    facts.rows.push_back(std::move(row));
  }
  facts.settings = {setting(blocks::PlanRole::micro_batch, "micro", request.micro_batch),
                    setting(blocks::PlanRole::accumulation, "accumulate", request.accumulation)};
  const blocks::StepRule rule{request.micro_batch, request.accumulation, true};
  const blocks::StepSpread spread = blocks::spread_of(units, rule);
  out.ranks = ranks.size();
  out.least_blocks = spread.least_units;
  out.most_blocks = spread.most_units;
  out.least_steps = spread.least_steps;
  out.most_steps = spread.most_steps;
  out.left_blocks = out.total_blocks -
                    spread.least_steps * request.micro_batch * request.accumulation * out.ranks;
  out.left_of_one_list =
      out.total_blocks % (request.micro_batch * request.accumulation * out.ranks);
  out.report.verb = "pack check";
  out.report.blind = std::move(walk.blind);
  out.report.notes = std::move(walk.notes);
  blocks::judge_plan(facts, out.report);
  add_notes(request, out, out.report);
  return out;
}

}  // namespace muster
