#include "edge/config/calibration_file.h"

#include <fmt/core.h>

#include "base/limits.h"
#include "edge/config/toml_document.h"

namespace muster {
namespace {

constexpr std::string_view kSchema = "muster.calibration/1";

std::string text_of(const TomlNode& table, std::string_view key, const std::string& otherwise) {
  const TomlNode* node = table.find(key);
  return node != nullptr && node->kind == TomlNode::Kind::text ? node->text : otherwise;
}

// Reads numbers of one table; the first complaint stays.
class Numbers {
 public:
  Numbers(const TomlNode& table, const std::string& name) : table_(table), name_(name) {}

  std::optional<double> optional(std::string_view key) {
    const TomlNode* node = table_.find(key);
    if (node == nullptr) return std::nullopt;
    const bool is_number =
        node->kind == TomlNode::Kind::number || node->kind == TomlNode::Kind::integer;
    // In this sense: not a number is refused as well.
    if (!is_number || !(node->number >= 0 && node->number <= 1e9)) {
      complain(fmt::format("{}: {} must be a number from 0 to 1e9", toml_place(name_, node->place),
                           key));
      return std::nullopt;
    }
    return node->number;
  }
  double required(std::string_view key) {
    if (table_.find(key) == nullptr) {
      complain(fmt::format("{}: {} is missing", toml_place(name_, table_.place), key));
      return 0;
    }
    return optional(key).value_or(0);
  }
  void complain(std::string text) {
    if (!error_) error_ = make_error(Errc::invalid_input, std::move(text));
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  const TomlNode& table_;
  const std::string& name_;
  std::optional<Error> error_;
};

Result<CalibratedBands> read_bands(const TomlNode& table, const std::string& name) {
  Numbers numbers(table, name);
  CalibratedBands b;
  b.model = text_of(table, "model", "");
  b.limit_w = numbers.optional("limit_w");
  b.idle_max_w = numbers.required("idle_max_w");
  b.wait_max_w = numbers.required("wait_max_w");
  b.compute_min_w = numbers.required("compute_min_w");
  b.compute_w = numbers.required("compute_w");
  b.spread_ratio = numbers.required("spread_ratio");
  b.samples = static_cast<std::uint64_t>(numbers.required("samples"));
  if (b.idle_max_w > b.wait_max_w || b.wait_max_w > b.compute_min_w || b.compute_w <= 0) {
    numbers.complain(
        fmt::format("{}: the bands must rise: idle, wait, compute", toml_place(name, table.place)));
  }
  if (numbers.error()) return *numbers.error();
  return b;
}

Result<Calibration> from_table(const TomlNode& table, const std::string& name) {
  if (text_of(table, "schema", "") != kSchema) {
    return make_error(Errc::invalid_input,
                      fmt::format("{}: no calibration: its schema is not \"{}\"", name, kSchema));
  }
  Numbers numbers(table, name);
  Calibration c;
  c.source = text_of(table, "source", name);
  if (const auto wait = numbers.optional("longest_wait_s")) {
    c.longest_wait = seconds_to_duration(*wait);
  }
  if (const auto quiet = numbers.optional("longest_quiet_s")) {
    c.longest_quiet = seconds_to_duration(*quiet);
  }
  c.step_s = numbers.optional("step_s");
  c.period_s = numbers.optional("period_s");
  if (const auto n = numbers.optional("series")) c.series = static_cast<std::int64_t>(*n);
  if (numbers.error()) return *numbers.error();
  if (const TomlNode* bands = table.find("bands")) {
    for (const TomlNode& one : bands->items) {
      if (one.kind != TomlNode::Kind::table) continue;
      auto read = read_bands(one, name);
      if (!read) return read.error();
      c.bands.push_back(std::move(*read));
    }
  }
  if (c.bands.empty()) {
    return make_error(Errc::invalid_input, name + ": no [[bands]] in it");
  }
  return c;
}

}  // namespace

Result<Calibration> parse_calibration(const std::string& text, const std::string& name) {
  const auto document = parse_toml(text, name);
  if (!document) return document.error();
  return from_table(*document, name);
}

Result<Calibration> read_calibration(Files& files, const std::string& path) {
  const auto text = read_whole(files, path, limits::kConfigBytes, limits::kConfigPatience);
  if (!text) return within("reading the calibration", text.error());
  return parse_calibration(*text, path);
}

}  // namespace muster
