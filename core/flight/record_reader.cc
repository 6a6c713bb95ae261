#include "core/flight/record_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "core/model/flight_record.h"

namespace muster {
namespace {

constexpr std::int64_t kNumberMost = std::int64_t{1} << 62;
constexpr std::uint8_t kEnd = 7;  // the purpose "end"

template <typename T>
T at(std::string_view bytes, std::size_t place) {
  T value;
  std::memcpy(&value, bytes.data() + place, sizeof value);
  return value;
}

template <std::size_t N>
std::string text_of(const std::array<char, N>& chars) {
  return {chars.begin(), std::find(chars.begin(), chars.end(), '\0')};
}

std::string dtype_name(std::string_view op, std::uint8_t dtype) {
  static constexpr std::array<const char*, 3> kNames = {"Double", "Float", "BFloat16"};
  if (op == "all_gather") return "Byte";  // whatever it carries
  return dtype < kNames.size() ? kNames[dtype] : "Byte";
}

class RecordReading {
 public:
  RecordReading(const FlightRecordHeader& header, FlightDump& dump) : header_(header), dump_(dump) {
    dump_.stacks.emplace_back();
  }

  // `bytes`: all groups of the head.
  void read_groups(std::string_view bytes) {
    const std::size_t told = std::min<std::size_t>(header_.groups, kFlightRecordGroups);
    for (std::size_t i = 0; i < told; ++i) {
      if ((i + 1) * sizeof(FlightRecordGroup) > bytes.size()) return;
      const auto group = at<FlightRecordGroup>(bytes, i * sizeof(FlightRecordGroup));
      FlightGroup& out = dump_.groups.emplace_back();
      out.name = out.description = text_of(group.name);
      out.pg_id = static_cast<std::int64_t>(i);
      const std::uint64_t last =
          group.first + std::uint64_t{group.stride} * (group.count - std::uint64_t{1});
      if (group.count == 0 || last >= limits::kRanks || group.stride == 0) continue;
      auto& ranks = out.ranks.emplace();
      for (std::uint32_t k = 0; k < group.count; ++k) {
        ranks.push_back(static_cast<std::int32_t>(group.first + k * group.stride));
      }
    }
  }

  // `place` of the ring. A row without a number was never filled, or is being written.
  void read_row(const FlightRecordRow& row, std::uint64_t place) {
    if (row.number == 0) return;
    const auto time = [](std::int64_t ns) { return ns >= 0 && ns <= kNumberMost; };
    const bool sound = (row.number - 1) % header_.rows == place && row.number <= kMost &&
                       row.seq > 0 && row.seq <= kMost && row.group < dump_.groups.size() &&
                       time(row.posted_ns) && time(row.begun_ns) && time(row.ended_ns) &&
                       !flight_record_op(row.op).empty();
    if (!sound) {
      ++strangers_;
      return;
    }
    rows_.push_back(row);
  }

  void finish(std::size_t keep) {
    std::sort(rows_.begin(), rows_.end(),
              [](const auto& a, const auto& b) { return a.number < b.number; });
    if (rows_.size() > keep) {
      dump_.entries_let_go = rows_.size() - keep;
      rows_.erase(rows_.begin(), rows_.end() - static_cast<std::ptrdiff_t>(keep));
    }
    std::int64_t alive_ns = std::max(header_.step_ns, header_.failed_ns);
    alive_ns = std::max(alive_ns, header_.seen_ns);
    for (const FlightRecordRow& row : rows_) {
      dump_.entries.push_back(entry_of(row));
      alive_ns = std::max({alive_ns, row.posted_ns, row.begun_ns, row.ended_ns});
    }
    if (alive_ns > 0 && alive_ns <= kNumberMost) dump_.written_at = wall_from_ns(alive_ns);
    if (strangers_ > 0) dump_.notes.push_back(fmt::format("{} rows make no sense", strangers_));
  }

 private:
  static constexpr std::uint64_t kMost = kNumberMost;

  FlightEntry entry_of(const FlightRecordRow& row) {
    FlightEntry entry;
    entry.record_id = static_cast<std::int64_t>(row.number) - 1;
    entry.seq = static_cast<std::int64_t>(row.seq);
    if (row.posted_ns > 0) entry.created_ns = row.posted_ns;
    entry.group = row.group;
    entry.signature = signature_of(row);
    entry.stack = stack_of(row);
    entry.state = row.ended_ns > 0   ? FlightState::completed
                  : row.begun_ns > 0 ? FlightState::started
                                     : FlightState::scheduled;
    if (row.ended_ns > 0) entry.completed_seen_ns = row.ended_ns;
    if (row.begun_ns > 0 && row.ended_ns >= row.begun_ns) {
      entry.duration_ms = static_cast<float>(row.ended_ns - row.begun_ns) / 1e6F;
    }
    entry.retired = row.ended_ns > 0 || header_.failure != 0;
    return entry;
  }

  std::uint32_t signature_of(const FlightRecordRow& row) {
    const auto key = std::tuple(row.op, row.dtype, row.bytes, row.group);
    const auto [place, added] =
        signatures_.emplace(key, static_cast<std::uint32_t>(dump_.signatures.size()));
    if (!added) return place->second;
    const std::string_view op = flight_record_op(row.op);
    FlightSignature& out = dump_.signatures.emplace_back();
    out.name = fmt::format("muster:{}", op);
    const bool sized = op == "all_gather" || op == "reduce_scatter" || op == "all_reduce";
    if (!sized) return place->second;
    const std::uint64_t item = op == "all_gather" ? 1 : flight_record_item_bytes(row.dtype);
    const auto& ranks = dump_.groups[row.group].ranks;
    const std::uint64_t members = ranks ? ranks->size() : header_.world;
    std::int64_t own = 0, all = 0;
    if (__builtin_add_overflow(row.bytes / item, 0, &own) ||
        __builtin_mul_overflow(own, members, &all)) {
      return place->second;
    }
    out.input_sizes = {{op == "reduce_scatter" ? all : own}};
    out.output_sizes = {{op == "all_gather" ? all : own}};
    out.input_dtypes = out.output_dtypes = {dtype_name(op, row.dtype)};
    return place->second;
  }

  // What a stack is to a dump: why it was called.
  std::uint32_t stack_of(const FlightRecordRow& row) {
    const std::string_view purpose = flight_record_purpose(row.purpose);
    if (purpose.empty()) return 0;
    const bool unit = purpose == "weights" || purpose == "gradients" || purpose == "replicas";
    const auto key = std::pair(row.purpose, unit ? row.unit : 0);
    const auto [place, added] =
        stacks_.emplace(key, static_cast<std::uint32_t>(dump_.stacks.size()));
    if (!added) return place->second;
    dump_.stacks.push_back({static_cast<std::uint32_t>(dump_.frames.size())});
    FlightFrame& frame = dump_.frames.emplace_back();
    frame.function = row.purpose == kEnd ? "finish" : std::string(purpose);
    frame.file = unit ? "unit" : "muster-train";
    frame.line = unit ? row.unit : 0;
    return place->second;
  }

  const FlightRecordHeader& header_;
  FlightDump& dump_;
  std::vector<FlightRecordRow> rows_;
  std::map<std::tuple<std::uint8_t, std::uint8_t, std::uint64_t, std::uint8_t>, std::uint32_t>
      signatures_;
  std::map<std::pair<std::uint8_t, std::uint32_t>, std::uint32_t> stacks_;
  std::uint64_t strangers_ = 0;
};

// Why this cannot be read; empty: it can.
std::string why_not(const FlightRecordHeader& header) {
  if (header.version != kFlightRecordVersion) {
    return fmt::format("flight record of version {}: this program reads version {}", header.version,
                       kFlightRecordVersion);
  }
  constexpr std::size_t kHead =
      sizeof(FlightRecordHeader) + kFlightRecordGroups * sizeof(FlightRecordGroup);
  if (header.header_bytes < kHead || header.header_bytes > limits::kFlightRecordHeadBytes ||
      header.row_bytes < sizeof(FlightRecordRow) ||
      header.row_bytes > limits::kFlightRecordRowBytes || header.rows == 0 ||
      header.rows > limits::kFlightRecordRows) {
    return "flight record with sizes that cannot be";
  }
  return "";
}

}  // namespace

Result<FlightDump> read_flight_record(const FlightSource& source, FlightWindow& window) {
  FlightDump dump;
  dump.version = "muster 1";
  window.advance(0, sizeof(FlightRecordHeader));
  const bool head = window.bytes().size() >= sizeof(FlightRecordHeader);
  const auto header = head ? at<FlightRecordHeader>(window.bytes(), 0) : FlightRecordHeader{};
  if (head) {
    if (std::string why = why_not(header); !why.empty()) {
      return make_error(Errc::invalid_input, source.name + ": " + why);
    }
    if (header.world <= limits::kRanks && header.rank < header.world) {
      dump.rank = static_cast<std::int32_t>(header.rank);
    }
  }
  RecordReading reading(header, dump);
  window.advance(0, header.header_bytes);
  bool cut = !head || window.bytes().size() < header.header_bytes;
  if (head) reading.read_groups(window.bytes().substr(sizeof(FlightRecordHeader)));
  if (!cut) {
    window.advance(header.header_bytes, header.row_bytes);
    for (std::uint64_t place = 0; place < header.rows && !cut; ++place) {
      cut = window.bytes().size() < header.row_bytes;
      if (cut) break;
      reading.read_row(at<FlightRecordRow>(window.bytes(), 0), place);
      window.advance(header.row_bytes, header.row_bytes);
    }
  }
  reading.finish(source.keep);
  dump.bytes = window.end();
  if (cut) {
    dump.cut_at = window.end();
    dump.notes.push_back(fmt::format("the file is cut at byte {}", window.end()));
  } else if (!window.bytes().empty()) {
    dump.notes.push_back("more bytes stand after its end: not read");
  }
  return dump;
}

}  // namespace muster
