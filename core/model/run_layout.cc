#include "core/model/run_layout.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/check.h"
#include "base/text.h"

namespace muster {
namespace {

constexpr std::size_t kRunIdChars = 64;

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// One spelling for one number: "07" and "+7" are names of something else.
std::optional<std::int64_t> canonical_number(std::string_view text) {
  const auto number = parse_int(text);
  if (!number || *number < 0 || std::to_string(*number) != text) return std::nullopt;
  return number;
}

}  // namespace

Result<std::string> parse_run_id(std::string_view text) {
  const bool chars = std::all_of(text.begin(), text.end(), [](char c) {
    return is_alphanumeric(c) || c == '.' || c == '_' || c == '-';
  });
  if (text.empty() || text.size() > kRunIdChars || !chars || !is_alphanumeric(text.front())) {
    return make_error(Errc::invalid_input,
                      fmt::format("run id \"{}\": 1 to {} letters, digits, '.', '_' or '-', the "
                                  "first a letter or a digit",
                                  escape_controls(text, 80), kRunIdChars));
  }
  return std::string(text);
}

std::optional<std::int64_t> parse_rank_name(std::string_view name) {
  if (!name.starts_with("rank-")) return std::nullopt;
  return canonical_number(name.substr(5));
}

std::optional<std::int64_t> parse_attempt_name(std::string_view name) {
  const auto number = canonical_number(name);
  return number && *number >= 1 ? number : std::nullopt;
}

RunLayout::RunLayout(std::string folder) : folder_(std::move(folder)) {
  while (folder_.size() > 1 && folder_.ends_with('/')) folder_.pop_back();
}

Result<RunLayout> RunLayout::in_home(std::string_view home, std::string_view run_id) {
  const auto id = parse_run_id(run_id);
  if (!id) return id.error();
  return RunLayout(fmt::format("{}/runs/{}", home, *id));
}

std::string RunLayout::run_toml() const {
  return folder_ + "/run.toml";
}
std::string RunLayout::attempts() const {
  return folder_ + "/attempts";
}
std::string RunLayout::attempt(std::int64_t n) const {
  MUSTER_CHECK(n >= 1, "attempts count from 1");
  return fmt::format("{}/attempts/{}", folder_, n);
}
std::string RunLayout::gate_record(std::int64_t n) const {
  return attempt(n) + "/gate.json";
}
std::string RunLayout::heartbeats(std::int64_t n) const {
  return attempt(n) + "/heartbeat";
}
std::string RunLayout::heartbeat(std::int64_t n, std::int64_t rank) const {
  MUSTER_CHECK(rank >= 0, "ranks count from 0");
  return fmt::format("{}/rank-{}", heartbeats(n), rank);
}
std::string RunLayout::verdict(std::int64_t n) const {
  return attempt(n) + "/verdict.json";
}
std::string RunLayout::logs(std::int64_t n) const {
  return attempt(n) + "/log";
}
std::string RunLayout::flight(std::int64_t n) const {
  return attempt(n) + "/flight";
}
std::string RunLayout::evidence(std::int64_t n) const {
  return attempt(n) + "/evidence";
}
std::string RunLayout::incident_json(std::int64_t n) const {
  return attempt(n) + "/incident.json";
}
std::string RunLayout::incident_text(std::int64_t n) const {
  return attempt(n) + "/incident.md";
}

}  // namespace muster
