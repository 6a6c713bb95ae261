#include "core/storage/storage_answer.h"

#include <algorithm>

#include "core/model/json_writer.h"
#include "core/storage/bound.h"

namespace muster::storage {
namespace {

void write_text_or_null(JsonWriter& w, std::string_view key, std::string_view text) {
  w.key(key);
  text.empty() ? w.null() : w.value(text);
}

void write_count(JsonWriter& w, std::string_view key, std::optional<std::uint64_t> count) {
  w.key(key);
  count ? w.value(*count) : w.null();
}

void write_place(JsonWriter& w, const Place& place) {
  w.key("place").begin_object().key("path").value(place.path);
  write_text_or_null(w, "file_system", place.file_system);
  write_text_or_null(w, "mount_point", place.mount_point);
  write_text_or_null(w, "source", place.source);
  write_text_or_null(w, "options", place.options);
  write_text_or_null(w, "kernel", place.kernel);
  write_count(w, "read_ahead_kb", place.read_ahead_kb);
  write_count(w, "memory_bytes", place.memory_bytes);
  write_count(w, "available_bytes", place.available_bytes);
  write_count(w, "free_bytes", place.free_bytes);
  w.end_object();
}

void write_row(JsonWriter& w, const RowResult& row, const StorageAnswer& answer) {
  constexpr std::string_view kStates[] = {"measured", "unsupported", "not_measured"};
  w.begin_object().key("row").value(row_name(row.kind));
  w.key("state").value(kStates[static_cast<std::size_t>(row.state)]);
  if (row.state != RowState::measured) {
    w.key("bytes_per_second").null().key("reason").value(row.reason).end_object();
    return;
  }
  const BoundAnswer bound = bound_of(row, answer.rows, answer.place.read_ahead_kb);
  w.key("bytes_per_second").value(row.rate.bytes_per_second);
  w.key("bytes").value(row.rate.bytes).key("seconds").value(row.rate.seconds);
  w.key("latency_median_s").value(row.rate.latency_median_s);
  w.key("latency_p99_s").value(row.rate.latency_p99_s);
  w.key("short_reads").value(row.rate.short_reads);
  w.key("engine").value(row.engine);
  w.key("bound").value(bound_name(bound.bound)).key("why").value(bound.why).end_object();
}

void write_demand(JsonWriter& w, const StorageAnswer& answer) {
  w.key("step");
  if (!answer.demand) {
    w.null();
    return;
  }
  const Supply supply = supply_of(answer);
  const Starvation verdict = starvation_of(*answer.demand, supply);
  const Inversion inversion = inversion_of(*answer.demand, supply);
  w.begin_object().key("seconds").value(answer.demand->step_seconds);
  w.key("bytes").value(answer.demand->step_bytes);
  w.key("storage_starves").value(starves_name(verdict.starves)).key("cold_headroom");
  verdict.cold_headroom ? w.value(*verdict.cold_headroom) : w.null();
  w.key("inverts").value(inversion_name(inversion.kind));
  const bool sizes = inversion.kind == Inversion::Kind::beyond;
  w.key("in_order_bytes");
  sizes ? w.value(inversion.in_order_bytes) : w.null();
  w.key("shuffled_bytes");
  sizes ? w.value(inversion.shuffled_bytes) : w.null();
  w.end_object();
}

void write_comparison(JsonWriter& w, const Comparison& c) {
  w.begin_object().key("row").value(row_name(c.kind));
  w.key("agreement").value(agreement_name(c.agreement));
  w.key("pairs").value(static_cast<std::uint64_t>(c.pairs)).key("bar").value(c.bar);
  if (c.pairs > 0) {
    w.key("ratio").value(c.ratio).key("spread").value(c.spread);
    w.key("least").value(c.least).key("most").value(c.most);
    w.key("fio_bytes_per_second").value(c.fio_median);
    w.key("our_bytes_per_second").value(c.our_median);
  }
  w.end_object();
}

}  // namespace

Supply supply_of(const StorageAnswer& answer) {
  Supply supply;
  supply.warm = rate_in(answer.rows, RowKind::warm);
  supply.cold = rate_in(answer.rows, RowKind::cold);
  if (answer.place.available_bytes) {
    supply.cache_bytes = static_cast<double>(*answer.place.available_bytes);
  }
  return supply;
}

ExitStatus exit_status_of(const StorageAnswer& answer) {
  const auto measured = [](const RowResult& row) { return row.state == RowState::measured; };
  if (std::none_of(answer.rows.begin(), answer.rows.end(), measured)) {
    return ExitStatus::cannot_tell;
  }
  if (answer.demand) {
    const Starves starves = starvation_of(*answer.demand, supply_of(answer)).starves;
    if (starves == Starves::yes) return ExitStatus::warning;
    if (starves == Starves::unknown) return ExitStatus::cannot_tell;
  }
  const auto agrees = [](const Comparison& c) { return c.agreement == Agreement::agrees; };
  const bool fine = std::all_of(answer.against.begin(), answer.against.end(), agrees);
  return fine ? ExitStatus::ok : ExitStatus::cannot_tell;
}

std::string storage_json(const StorageAnswer& answer) {
  JsonWriter w;
  w.begin_object().key("schema").value("muster.storage/1");
  write_place(w, answer.place);
  w.key("file_bytes").value(answer.file_bytes).key("own_file").value(answer.own_file);
  w.key("block_bytes").value(kBlockBytes).key("rows").begin_array();
  for (const RowResult& row : answer.rows) write_row(w, row, answer);
  w.end_array();
  write_demand(w, answer);
  w.key("fio");
  answer.fio ? w.value(*answer.fio) : w.null();
  w.key("against_fio").begin_array();
  for (const Comparison& comparison : answer.against) write_comparison(w, comparison);
  w.end_array().key("notes").begin_array();
  for (const std::string& note : answer.notes) w.value(note);
  w.end_array().end_object();
  return w.take();
}

}  // namespace muster::storage
