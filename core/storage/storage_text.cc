#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "core/storage/bound.h"
#include "core/storage/storage_answer.h"
#include "core/storage/wrapped_line.h"

namespace muster::storage {
namespace {

constexpr std::size_t kTitleColumns = 24;

std::string title_of(const RowResult& row, const StorageAnswer& answer) {
  switch (row.kind) {
    case RowKind::warm:
      return "warm page cache";
    case RowKind::streams:
      return fmt::format("O_DIRECT, {} stream{}", answer.streams, answer.streams == 1 ? "" : "s");
    case RowKind::queue:
      return "O_DIRECT, QD32 x 4";
    case RowKind::single:
      return "O_DIRECT, QD1";
    case RowKind::cold:
      return "cold, buffered";
  }
  return "";
}

std::string row_text(const RowResult& row, const StorageAnswer& answer) {
  const std::string title = title_of(row, answer);
  if (row.state != RowState::measured) {
    const char* word = row.state == RowState::unsupported ? "unsupported" : "not measured";
    return fmt::format("  {:<{}}{}: {}\n", title, kTitleColumns, word, escape_controls(row.reason));
  }
  const BoundAnswer bound = bound_of(row, answer.rows, answer.place.read_ahead_kb);
  std::string name(bound_name(bound.bound));
  std::replace(name.begin(), name.end(), '_', ' ');
  const double rate = row.rate.bytes_per_second;
  std::string out = fmt::format(
      "  {:<{}}{:>6.2f}  {:>6.1f}  {:>7.2f}  {:>7.2f}  {}\n", title, kTitleColumns, rate / 1e9,
      rate * 8 / 1e9, row.rate.latency_median_s * 1e3, row.rate.latency_p99_s * 1e3, name);
  out += fmt::format("  {:<{}}{}{}\n", "", kTitleColumns, bound.why,
                     row.engine == "pread" ? "" : "; by " + row.engine);
  return out;
}

std::string count_text(std::optional<std::uint64_t> bytes) {
  return bytes ? size_text(static_cast<double>(*bytes)) : "unknown";
}

std::string place_text(const StorageAnswer& answer) {
  const Place& place = answer.place;
  const auto word = [](const std::string& text) {
    return text.empty() ? std::string("unknown") : escape_controls(text);
  };
  std::string out = answer.own_file
                        ? fmt::format("{}: a file of its own, {}", escape_controls(place.path),
                                      size_text(static_cast<double>(answer.file_bytes)))
                        : fmt::format("{}: {} of it", escape_controls(place.path),
                                      size_text(static_cast<double>(answer.file_bytes)));
  out += ", read in blocks of 1 MiB\n";
  out += wrapped_line(
      "  on", fmt::format("{} at {} ({}), {}", word(place.file_system), word(place.mount_point),
                          word(place.source), word(place.options)));
  out += wrapped_line(
      "  machine",
      fmt::format("Linux {}, readahead {}, memory {}, of it {} for page cache", word(place.kernel),
                  place.read_ahead_kb ? fmt::format("{} KiB", *place.read_ahead_kb)
                                      : std::string("unknown"),
                  count_text(place.memory_bytes), count_text(place.available_bytes)));
  if (!place.remark.empty()) out += wrapped_line("  mind", escape_controls(place.remark));
  return out;
}

std::string fio_text(const StorageAnswer& answer) {
  if (answer.against.empty()) return "";
  std::string out = fmt::format("against {}, pairs in turn        fio    ours   ratio  spread\n",
                                escape_controls(answer.fio.value_or("fio")));
  for (const Comparison& c : answer.against) {
    const auto row = std::find_if(answer.rows.begin(), answer.rows.end(),
                                  [&](const RowResult& r) { return r.kind == c.kind; });
    const std::string title = row == answer.rows.end() ? "" : title_of(*row, answer);
    std::string verdict(agreement_name(c.agreement));
    std::replace(verdict.begin(), verdict.end(), '_', ' ');
    if (c.pairs == 0) {
      out += fmt::format("  {:<{}}not measured: no pair\n", title, kTitleColumns);
      continue;
    }
    out +=
        fmt::format("  {:<{}}{} pairs {:>6.2f}  {:>6.2f}  {:>6.3f}  {:>6.3f}  {} (1 +- {:.2f})\n",
                    title, kTitleColumns, c.pairs, c.fio_median / 1e9, c.our_median / 1e9, c.ratio,
                    c.spread, verdict, c.bar);
  }
  return out;
}

}  // namespace

std::string storage_text(const StorageAnswer& answer) {
  std::string out = place_text(answer);
  out += fmt::format("  {:<{}}{:>6}  {:>6}  {:>7}  {:>7}  {}\n", "row", kTitleColumns, "GB/s",
                     "Gbps", "ms", "99 % ms", "bound by");
  for (const RowResult& row : answer.rows) out += row_text(row, answer);
  out += fio_text(answer);
  const Supply supply = supply_of(answer);
  if (answer.demand) {
    out += wrapped_line("verdict", starvation_text(*answer.demand, supply));
    out += wrapped_line("", inversion_text(*answer.demand, supply));
  } else if (const std::string cache = cache_text(supply); !cache.empty()) {
    out += wrapped_line("verdict", cache);
  }
  for (const std::string& note : answer.notes) out += wrapped_line("  note", escape_controls(note));
  return out;
}

}  // namespace muster::storage
