#include "edge/config/calibration_file.h"

#include <fmt/core.h>

#include <toml++/toml.h>
#include <cmath>

namespace muster {
namespace {

constexpr std::size_t kCalibrationBytes = 1 << 20;
constexpr std::string_view kSchema = "muster.calibration/1";

std::string place(const std::string& name, const toml::source_region& where) {
  return fmt::format("{}:{}:{}", name, where.begin.line, where.begin.column);
}

// Reads numbers of one table; the first complaint stays.
class Numbers {
 public:
  Numbers(const toml::table& table, const std::string& name) : table_(table), name_(name) {}

  std::optional<double> optional(std::string_view key) {
    const toml::node* node = table_.get(key);
    if (node == nullptr) return std::nullopt;
    const auto value = node->value<double>();
    if (!value || !std::isfinite(*value) || *value < 0 || *value > 1e9) {
      complain(
          fmt::format("{}: {} must be a number from 0 to 1e9", place(name_, node->source()), key));
      return std::nullopt;
    }
    return *value;
  }
  double required(std::string_view key) {
    if (table_.get(key) == nullptr) {
      complain(fmt::format("{}: {} is missing", place(name_, table_.source()), key));
      return 0;
    }
    return optional(key).value_or(0);
  }
  void complain(std::string text) {
    if (!error_) error_ = make_error(Errc::invalid_input, std::move(text));
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  const toml::table& table_;
  const std::string& name_;
  std::optional<Error> error_;
};

Result<CalibratedBands> read_bands(const toml::table& table, const std::string& name) {
  Numbers numbers(table, name);
  CalibratedBands b;
  b.model = table["model"].value_or(std::string());
  b.limit_w = numbers.optional("limit_w");
  b.idle_max_w = numbers.required("idle_max_w");
  b.wait_max_w = numbers.required("wait_max_w");
  b.compute_min_w = numbers.required("compute_min_w");
  b.compute_w = numbers.required("compute_w");
  b.spread_ratio = numbers.required("spread_ratio");
  b.samples = static_cast<std::uint64_t>(numbers.required("samples"));
  if (b.idle_max_w > b.wait_max_w || b.wait_max_w > b.compute_min_w || b.compute_w <= 0) {
    numbers.complain(
        fmt::format("{}: the bands must rise: idle, wait, compute", place(name, table.source())));
  }
  if (numbers.error()) return *numbers.error();
  return b;
}

Result<Calibration> from_table(const toml::table& table, const std::string& name) {
  if (table["schema"].value_or(std::string()) != kSchema) {
    return make_error(Errc::invalid_input,
                      fmt::format("{}: no calibration: its schema is not \"{}\"", name, kSchema));
  }
  Numbers numbers(table, name);
  Calibration c;
  c.source = table["source"].value_or(name);
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
  const toml::array* bands = table["bands"].as_array();
  for (std::size_t i = 0; bands != nullptr && i < bands->size(); ++i) {
    const toml::table* one = bands->get(i)->as_table();
    if (one == nullptr) continue;
    auto read = read_bands(*one, name);
    if (!read) return read.error();
    c.bands.push_back(std::move(*read));
  }
  if (c.bands.empty()) {
    return make_error(Errc::invalid_input, name + ": no [[bands]] in it");
  }
  return c;
}

}  // namespace

Result<Calibration> parse_calibration(const std::string& text, const std::string& name) {
  try {
    return from_table(toml::parse(text, name), name);
  } catch (const toml::parse_error& e) {
    return make_error(Errc::invalid_input,
                      fmt::format("{}: {}", place(name, e.source()), e.description()));
  }
}

Result<Calibration> read_calibration(Files& files, const std::string& path) {
  const auto text = read_whole(files, path, kCalibrationBytes);
  if (!text) return within("reading the calibration", text.error());
  return parse_calibration(*text, path);
}

}  // namespace muster
