#include "train/comm/call_signature.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/check.h"
#include "base/number_runs.h"
#include "core/model/flight_record.h"

namespace muster::train {
namespace {

constexpr std::size_t kRunsNamed = 8;
constexpr std::size_t kSidesNamed = 4;

std::string_view fold_name(Fold fold) {
  switch (fold) {
    case Fold::none:
      return "";
    case Fold::sum:
      return " sum";
    case Fold::min:
      return " min";
    case Fold::max:
      return " max";
  }
  return "";
}

std::string_view dtype_name(Dtype dtype) {
  switch (dtype) {
    case Dtype::f64:
      return "f64";
    case Dtype::f32:
      return "f32";
    case Dtype::bf16:
      return "bf16";
  }
  return "";
}

bool has_unit(Purpose purpose) {
  return purpose == Purpose::weights || purpose == Purpose::gradients ||
         purpose == Purpose::replicas;
}

struct Side {
  const CallSignature* call;
  std::vector<int> ranks;
};

std::vector<Side> sides_of(std::span<const int> ranks, std::span<const CallSignature> calls) {
  std::vector<Side> sides;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto same = std::find_if(sides.begin(), sides.end(),
                                   [&](const Side& side) { return *side.call == calls[i]; });
    if (same == sides.end()) {
      sides.push_back({&calls[i], {ranks[i]}});
    } else {
      same->ranks.push_back(ranks[i]);
    }
  }
  std::stable_sort(sides.begin(), sides.end(),
                   [](const Side& a, const Side& b) { return a.ranks.size() > b.ranks.size(); });
  return sides;
}

std::string say(const Side& side) {
  return fmt::format("{} {} {}", describe_ranks(side.ranks),
                     side.ranks.size() == 1 ? "calls" : "call", describe_call(*side.call));
}

}  // namespace

std::string describe_call(const CallSignature& call) {
  const auto purpose = flight_record_purpose(static_cast<std::uint8_t>(call.purpose));
  std::string text = fmt::format("{}{} ({}", flight_record_op(static_cast<std::uint8_t>(call.op)),
                                 fold_name(call.fold), purpose);
  if (has_unit(call.purpose)) text += fmt::format(", unit {}", call.unit);
  const bool sized = call.op != CollectiveOp::barrier && call.op != CollectiveOp::gather_texts;
  if (sized) text += fmt::format(", {} bytes", call.bytes);
  const bool summed =
      call.op == CollectiveOp::reduce_scatter || call.op == CollectiveOp::all_reduce;
  if (summed && call.fold != Fold::min && call.fold != Fold::max) {
    text += fmt::format(" {}", dtype_name(call.dtype));
  }
  return text + ")";
}

std::string describe_ranks(std::span<const int> ranks) {
  std::vector<std::string> runs;
  std::size_t told = 0;
  for (const auto& run : runs_of(ranks)) {
    // Two in a row are said as two.
    const bool joined = run.last - run.first > 1;
    for (int rank = run.first; rank <= run.last && runs.size() < kRunsNamed; ++rank) {
      runs.push_back(joined ? fmt::format("{}-{}", rank, run.last) : std::to_string(rank));
      told += joined ? static_cast<std::size_t>(run.last - rank) + 1 : 1;
      if (joined) break;
    }
  }
  if (told < ranks.size()) runs.push_back(fmt::format("{} more", ranks.size() - told));
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i > 0) text += i + 1 == runs.size() ? " and " : ", ";
    text += runs[i];
  }
  return text;
}

std::optional<CollectiveFailure> judge_signatures(std::span<const int> ranks,
                                                  std::span<const CallSignature> calls) {
  MUSTER_CHECK(ranks.size() == calls.size() && !ranks.empty(), "one call for each rank");
  const bool same =
      std::all_of(calls.begin(), calls.end(), [&](const auto& call) { return call == calls[0]; });
  if (same) return std::nullopt;
  const std::vector<Side> sides = sides_of(ranks, calls);
  CollectiveFailure failure;
  failure.kind = CollectiveFailure::Kind::desync;
  const bool majority = sides[0].ranks.size() * 2 > ranks.size();
  // The odd ones first: they are the news.
  for (std::size_t i = 1; i < sides.size() && i <= kSidesNamed; ++i) {
    failure.text += (i > 1 ? ", " : "") + say(sides[i]);
  }
  if (sides.size() > kSidesNamed + 1) failure.text += ", others other things";
  failure.text += fmt::format(" where {} at call {} of the group", say(sides[0]), calls[0].seq);
  if (!majority) failure.text += "; no majority: who is wrong cannot be told";
  for (std::size_t i = 1; majority && i < sides.size(); ++i) {
    failure.odd_ranks.insert(failure.odd_ranks.end(), sides[i].ranks.begin(), sides[i].ranks.end());
  }
  std::sort(failure.odd_ranks.begin(), failure.odd_ranks.end());
  return failure;
}

CollectiveFailure missed_deadline(std::span<const int> missing, const CallSignature& call,
                                  Duration waited) {
  CollectiveFailure failure;
  failure.kind = CollectiveFailure::Kind::deadline;
  failure.odd_ranks.assign(missing.begin(), missing.end());
  if (missing.empty()) {
    failure.text = fmt::format("ranks waited for one another in different calls for {:.1f} s",
                               duration_to_seconds(waited));
    return failure;
  }
  failure.text = fmt::format("{} did not come to {}, call {} of the group, within {:.1f} s",
                             describe_ranks(missing), describe_call(call), call.seq,
                             duration_to_seconds(waited));
  return failure;
}

CollectiveFailure rank_gone(int rank, std::string_view how) {
  return {CollectiveFailure::Kind::gone, {rank}, fmt::format("rank {} {}", rank, how)};
}

}  // namespace muster::train
