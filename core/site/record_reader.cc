#include "core/site/record_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "base/limits.h"
#include "base/text.h"
#include "core/model/json_reader.h"

namespace muster {
namespace {

// Behind the first value of the line, which begins with a '{'; npos: it does not end.
std::size_t end_of_object(std::string_view line) {
  std::size_t depth = 0;
  bool text = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (text) {
      if (c == '\\') ++i;
      if (c == '"') text = false;
    } else if (c == '"') {
      text = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

struct Records {
  std::vector<std::size_t> lines;
  std::vector<bool> good;
  std::map<std::string, std::size_t> fields;  // and how many records have them
  std::size_t objects = 0;
};

bool is_log(const JsonNode& record) {
  constexpr std::array<std::string_view, 14> kOfLogs = {
      "log", "level", "levelname", "severity", "msg",  "timestamp",     "asctime",
      "ts",  "loss",  "step",      "event",    "time", "current_steps", "global_step"};
  return std::any_of(kOfLogs.begin(), kOfLogs.end(),
                     [&](auto key) { return record.find(key) != nullptr; });
}

std::string reason_of(std::string_view line, bool last) {
  const std::size_t end = end_of_object(line);
  if (end == std::string_view::npos) {
    return last ? "the file ends inside of this record" : "the record has no end: no JSON";
  }
  if (!trim(line.substr(end)).empty()) {
    return fmt::format("more data behind the record, from column {}", end + 1);
  }
  return "no JSON";
}

// A record, or nothing where it is bad. What our own bound cut, or what nests deeper than we read,
// is not for us to judge: it has no fields.
std::optional<JsonNode> read_record(std::string_view whole) {
  const std::string_view line = trim(whole);
  if (!line.starts_with('{')) return std::nullopt;
  auto parsed = parse_json(line);
  if (parsed) return std::move(*parsed);
  if (whole.size() >= limits::kLineBytes || parsed.error().code == Errc::exhausted) {
    return JsonNode();
  }
  return std::nullopt;
}

// Nothing where too few lines are objects, or they are those of a log.
std::optional<Records> read_lines(const SiteText& text) {
  Records out;
  std::size_t good = 0, braces = 0;
  for (std::size_t i = 0; i < text.lines().size(); ++i) {
    const std::string_view line = trim(text.line(i));
    if (line.empty()) continue;
    if (text.claimed(i)) return std::nullopt;
    if (line.front() == '{') ++braces;
    const auto record = read_record(text.line(i));
    if (record && is_log(*record)) return std::nullopt;
    good += record ? 1 : 0;
    out.lines.push_back(i);
    out.good.push_back(record.has_value());
    // Text, not data: told early, so that a log costs nothing.
    if (out.lines.size() == 64 && braces < 32) return std::nullopt;
    const auto* object = record ? record->get<JsonNode::Object>() : nullptr;
    if (object == nullptr) continue;
    ++out.objects;
    for (const auto& [key, value] : *object) {
      if (out.fields.size() < 1024 || out.fields.contains(key)) ++out.fields[key];
    }
  }
  const std::size_t all = out.lines.size();
  if (all < 2 || braces * 10 < all * 8 || good * 2 < all) return std::nullopt;
  return out;
}

// Fields that all records have but this one, where there are enough to say so.
void missing_fields(const SiteText& text, const Records& records,
                    std::vector<std::pair<std::size_t, std::string>>& bad) {
  constexpr std::size_t kEnough = 5;
  std::vector<std::string_view> wanted;
  for (const auto& [key, count] : records.fields) {
    const std::size_t missing = records.objects - std::min(count, records.objects);
    if (missing > 0 && missing <= std::max<std::size_t>(1, records.objects / 1000)) {
      wanted.push_back(key);
    }
  }
  if (records.objects < kEnough || wanted.empty()) return;
  for (std::size_t i = 0; i < records.lines.size(); ++i) {
    const auto record = read_record(text.line(records.lines[i]));
    const auto* object = record ? record->get<JsonNode::Object>() : nullptr;
    if (object == nullptr) continue;
    for (const std::string_view key : wanted) {
      const bool has = std::any_of(object->begin(), object->end(),
                                   [&](const auto& member) { return member.first == key; });
      if (has || bad.size() >= limits::kSiteBadRecords * 2) continue;
      bad.emplace_back(records.lines[i], fmt::format("no field \"{}\", which all the others have",
                                                     escape_controls(key, 64)));
    }
  }
}

}  // namespace

void read_records(SiteText& text) {
  const auto records = read_lines(text);
  if (!records) return;
  std::vector<std::pair<std::size_t, std::string>> bad;
  for (std::size_t i = 0; i < records->lines.size(); ++i) {
    if (records->good[i] || bad.size() >= limits::kSiteBadRecords) continue;
    const std::size_t line = records->lines[i];
    bad.emplace_back(line, reason_of(trim(text.line(line)), i + 1 == records->lines.size()));
  }
  missing_fields(text, *records, bad);
  if (bad.empty()) return;
  std::stable_sort(bad.begin(), bad.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  if (bad.size() > limits::kSiteBadRecords) bad.resize(limits::kSiteBadRecords);
  for (std::size_t i = 0; i < text.lines().size(); ++i) text.claim(i);
  for (auto& [line, reason] : bad) text.add(line, BadRecord{line + 1, std::move(reason)});
}

}  // namespace muster
