#include "app/pack_plan.h"

#include <fmt/core.h>

#include <array>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "app/input_stream.h"
#include "app/pack_verify.h"
#include "app/path_walk.h"
#include "app/rank_file.h"
#include "app/stranger.h"
#include "base/limits.h"
#include "core/blocks/pack_manifest.h"
#include "core/blocks/plan_judge.h"
#include "core/blocks/plan_reader.h"
#include "edge/os/clock.h"

namespace muster {
namespace {

class PlanInput {
 public:
  explicit PlanInput(Files& files) : files_(files) {}

  // `named`: by whoever asked; other texts in a folder are none of a plan's business.
  void read(const std::string& path, bool named) {
    if (const auto ids = rank_file(path, files_)) {
      blocks::RankRow row;
      row.rank = ids->rank;
      row.file = path;
      row.bytes = ids->bytes;
      row.seen = {path, 0, fmt::format("{} bytes", ids->bytes)};
      facts_.rows.push_back(std::move(row));
      ++read_;
      return;
    }
    const auto text = whole_text(path);
    if (!text) return fail(path, text.error(), true);
    if (blocks::read_plan(path, *text, facts_)) {
      ++read_;
      return;
    }
    const std::string other = other_verb(std::string_view(*text).substr(0, limits::kSniffBytes));
    fail(path,
         make_error(
             Errc::invalid_input,
             path + ": " +
                 (other.empty() ? "neither settings of a run nor a table of its ranks" : other)),
         named && other.empty());
  }

  // Nothing where not one file was a plan.
  std::optional<blocks::PlanFacts> facts() {
    return read_ > 0 ? std::optional(std::move(facts_)) : std::nullopt;
  }
  std::vector<Blind> blind;
  std::optional<Error> failure;

 private:
  Result<std::string> whole_text(const std::string& path) {
    auto file = files_.open(path);
    if (!file) return file.error();
    auto stream = text_of(std::move(*file), path, [] { return false; });
    if (!stream) return stream.error();
    std::string out;
    std::array<char, 65536> buffer;
    for (;;) {
      const auto n = (*stream)->read(buffer);
      if (!n) return n.error();
      if (*n == 0) return out;
      out.append(buffer.data(), *n);
      if (out.size() > limits::kContractBytes) {
        return make_error(Errc::exhausted, path + ": too long for a plan");
      }
    }
  }

  void fail(const std::string& path, const Error& error, bool hides_critical) {
    if (!failure) failure = error;
    blind.push_back({path, error.context, hides_critical});
  }

  Files& files_;
  blocks::PlanFacts facts_;
  std::size_t read_ = 0;
};

Status look_at_pack(const std::string& folder, Report& report) {
  PackVerifyRequest request;
  request.folder = folder;
  request.quick = true;
  request.sample = static_cast<std::uint64_t>(wall_to_ns(system_clock().wall()));
  auto verdict = verify_pack(request);
  if (!verdict) return verdict.error();
  for (Finding& finding : verdict->report.findings) report.findings.push_back(std::move(finding));
  return {};
}

}  // namespace

Result<Report> judge_pack_inputs(const std::vector<std::string>& paths, Files& files) {
  Report report;
  report.verb = "pack";
  PathWalk walk(files);
  bool packs = false;
  for (const std::string& path : paths) {
    if (!files.stat(path + "/" + std::string(blocks::kManifestName))) {
      walk.path(path);
      continue;
    }
    packs = true;
    if (Status looked = look_at_pack(path, report); !looked) return looked.error();
  }
  walk.finish();
  if (packs && walk.items.empty() && !walk.failure) return report;
  PlanInput input(files);
  const std::set<std::string> named(paths.begin(), paths.end());
  for (const PathWalk::Item& item : walk.items) input.read(item.path, named.contains(item.path));
  report.notes.insert(report.notes.end(), walk.notes.begin(), walk.notes.end());
  const auto facts = input.facts();
  if (!facts) {
    if (input.failure) return *input.failure;
    if (walk.failure) return *walk.failure;
    return make_error(Errc::invalid_input, "no file in what was named");
  }
  blocks::judge_plan(*facts, report);
  for (std::vector<Blind>* blind : {&walk.blind, &input.blind}) {
    for (Blind& one : *blind) report.blind.push_back(std::move(one));
  }
  sort_findings(report.findings);
  return report;
}

}  // namespace muster
