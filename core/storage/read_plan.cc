#include "core/storage/read_plan.h"

#include <fmt/core.h>

#include <algorithm>

namespace muster::storage {
namespace {

constexpr std::uint32_t kQueueStreams = 4, kQueueDepth = 32;

std::vector<Segment> segments_of(std::uint64_t file_bytes, std::uint32_t streams) {
  const std::uint64_t each = file_bytes / kBlockBytes / streams * kBlockBytes;
  std::vector<Segment> out;
  for (std::uint64_t i = 0; i < streams; ++i) out.push_back({i * each, (i + 1) * each});
  return out;
}

RowPlan plan_of(RowKind kind, const PlanRequest& request) {
  RowPlan plan;
  plan.kind = kind;
  plan.direct = kind != RowKind::warm && kind != RowKind::cold;
  plan.once = kind == RowKind::cold;
  plan.depth = kind == RowKind::queue ? kQueueDepth : 1;
  plan.length = plan.once ? kColdLength : request.length;
  std::uint32_t streams = 1;
  if (kind == RowKind::streams) streams = request.streams;
  if (kind == RowKind::queue) streams = kQueueStreams;
  plan.segments = segments_of(request.file_bytes, streams);
  return plan;
}

}  // namespace

std::string_view row_name(RowKind kind) {
  constexpr std::string_view kNames[] = {"warm", "streams", "queue", "single", "cold"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::uint64_t planned_bytes(std::uint64_t file_bytes) {
  return file_bytes / kBlockBytes * kBlockBytes;
}

Result<std::vector<RowPlan>> plan_rows(const PlanRequest& request) {
  if (request.streams < 1 || request.streams > kMostStreams) {
    return make_error(Errc::invalid_input,
                      fmt::format("streams: a number from 1 to {}", kMostStreams));
  }
  if (request.length <= Duration{}) {
    return make_error(Errc::invalid_input, "seconds: more than 0");
  }
  const std::uint64_t least = std::max(request.streams, kQueueStreams) * kBlockBytes;
  if (request.file_bytes < least) {
    return make_error(Errc::invalid_input,
                      fmt::format("{} bytes are too few: the rows need {} (a MiB for each stream)",
                                  request.file_bytes, least));
  }
  std::vector<RowPlan> rows;
  for (const RowKind kind : kRows) rows.push_back(plan_of(kind, request));
  return rows;
}

}  // namespace muster::storage
