#include "core/shape/surroundings.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/ascii.h"
#include "base/colours.h"
#include "base/limits.h"
#include "base/text.h"

namespace muster::shape {
namespace {

bool in_key(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '.';
}

template <std::size_t N>
bool any_of(const std::vector<std::string>& words, const std::array<std::string_view, N>& wanted) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::find(wanted.begin(), wanted.end(), word) != wanted.end();
  });
}

// Settings that a cause may rest on; the environment (upper case) is kept whole.
constexpr std::array<std::string_view, 25> kKept = {
    "workers",    "prefetch",   "eval",    "evaluation", "val",   "validation", "save",
    "checkpoint", "ckpt",       "log",     "logging",    "gc",    "expected",   "baseline",
    "reference",  "timeout",    "compile", "cpus",       "world", "data",       "dataset",
    "limit",      "dataloader", "threads", "collect"};
constexpr std::array<std::string_view, 8> kInterval = {"every",  "interval", "steps",     "freq",
                                                       "period", "step",     "frequency", "iters"};

// Of a value without quotes. The commas of "53,000" belong to it, those of "0,1" do not.
std::size_t end_of_value(std::string_view text, std::size_t from) {
  std::size_t at = std::min(text.find_first_of(" ,;\t)", from), text.size());
  const auto digit = [&](std::size_t i) { return i < text.size() && is_digit(text[i]); };
  while (at < text.size() && text[at] == ',' && at > from && at - from <= 16 && digit(at - 1) &&
         digit(at + 1) && digit(at + 2) && digit(at + 3) && !digit(at + 4) && text[from] != '0') {
    at = std::min(text.find_first_of(" ,;\t)", at + 1), text.size());
  }
  return at;
}

bool is_environment(std::string_view key) {
  return key.size() >= 2 && std::all_of(key.begin(), key.end(), [](char c) {
           return (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
         });
}

std::optional<std::int64_t> number_behind(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    std::string_view rest = text.substr(at + word.size());
    while (!rest.empty() &&
           (rest[0] == ' ' || rest[0] == '=' || rest[0] == ':' || rest[0] == '#')) {
      rest.remove_prefix(1);
    }
    std::size_t end = 0;
    while (end < rest.size() && is_digit(rest[end])) ++end;
    if (const auto number = parse_int(rest.substr(0, end))) return number;
  }
  return std::nullopt;
}

// Words between single blanks, one in front and behind as well: "Inactive" is no "active", "10" no
// "0". Points inside numbers stay.
std::string spaced_words(std::string_view low) {
  std::string out = " ";
  for (std::size_t i = 0; i < low.size(); ++i) {
    const char c = low[i];
    const bool inside = (c == '.' || c == ',') && i > 0 && i + 1 < low.size() &&
                        is_digit(low[i - 1]) && is_digit(low[i + 1]);
    if (is_letter(c) || is_digit(c) || inside) {
      out += c;
    } else if (out.back() != ' ') {
      out += ' ';
    }
  }
  if (out.back() != ' ') out += ' ';
  return out;
}

bool says(std::string_view spaced, std::string_view phrase) {
  for (std::size_t at = spaced.find(phrase); at != spaced.npos; at = spaced.find(phrase, at + 1)) {
    // `at` is never the first, nor is the end ever the last: blanks stand there.
    if (spaced[at - 1] == ' ' && spaced[at + phrase.size()] == ' ') return true;
  }
  return false;
}

template <std::size_t N>
bool says_any(std::string_view spaced, const std::array<std::string_view, N>& phrases) {
  return std::any_of(phrases.begin(), phrases.end(),
                     [spaced](std::string_view phrase) { return says(spaced, phrase); });
}

// Bits of NVML's clock-event reasons that hardware sets for heat and power: slowdown, thermal
// slowdown, power brake.
constexpr std::uint64_t kHardwareReasons = 0x8 | 0x40 | 0x80;

constexpr std::array<std::string_view, 17> kDenied = {
    "not active", "inactive",    "no longer",    "not yet",       "none",          "never",
    "flat",       "no slowdown", "no reason",    "no reasons",    "not asserted",  "de asserted",
    "active 0",   "active no",   "active false", "not throttled", "not throttling"};

// "clocks_event_reasons.active: 0x0000000000000040" -> 0x40. What a GPU supports is no state.
std::optional<std::uint64_t> reason_mask(std::string_view low,
                                         const std::array<std::string_view, 2>& behind) {
  if (low.find("supported") != low.npos) return std::nullopt;
  for (const std::string_view word : behind) {
    const std::size_t about = low.find(word);
    const std::size_t at = about == low.npos ? low.npos : low.find("0x", about);
    if (at == low.npos || is_digit(low[at - 1]) || is_letter(low[at - 1])) continue;
    const std::size_t end = low.find_first_not_of("0123456789abcdef", at + 2);
    return parse_hex(low.substr(at, std::min(end, low.size()) - at));
  }
  return std::nullopt;
}

// "hw_thermal_slowdown=1", and not "gpu=1" or "=10".
bool flag_set(std::string_view low) {
  for (std::size_t at = low.find("=1"); at != low.npos; at = low.find("=1", at + 1)) {
    const char next = at + 2 < low.size() ? low[at + 2] : ' ';
    if (in_key(next)) continue;
    std::size_t begin = at;
    while (begin > 0 && in_key(low[begin - 1])) --begin;
    const std::string_view key = low.substr(begin, at - begin);
    for (const std::string_view word : {"thermal", "slowdown", "brake"}) {
      if (key.find(word) != key.npos) return true;
    }
  }
  return false;
}

void keep_first(std::optional<SeenAt>& slot, const SeenAt& seen) {
  if (!slot) slot = seen;
}

}  // namespace

std::vector<std::string> name_words(std::string_view name) {
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool hump = c >= 'A' && c <= 'Z' && i > 0 && name[i - 1] >= 'a' && name[i - 1] <= 'z';
    if ((!is_letter(c) && !is_digit(c)) || hump) {
      if (!words.back().empty()) words.emplace_back();
      if (!hump) continue;
    }
    words.back() += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

const Setting* Surroundings::find(std::string_view a, std::string_view b) const {
  for (const Setting& setting : settings) {
    const auto words = name_words(setting.key);
    const auto has = [&](std::string_view word) {
      return word.empty() || std::find(words.begin(), words.end(), word) != words.end();
    };
    if (has(a) && has(b) && !setting.value.empty()) return &setting;
  }
  return nullptr;
}

const Setting* Surroundings::interval_of(std::string_view what) const {
  for (const Setting& setting : settings) {
    const auto words = name_words(setting.key);
    if (std::find(words.begin(), words.end(), what) == words.end()) continue;
    if (!any_of(words, kInterval)) continue;
    const auto value = parse_int(setting.value);
    if (value && *value > 1) return &setting;
  }
  return nullptr;
}

void SurroundingsReader::setting(std::string_view key, std::string_view value, const SeenAt& seen) {
  while (key.starts_with('-')) key.remove_prefix(1);
  value = trim(value);
  if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
      value.back() == value.front()) {
    value = value.substr(1, value.size() - 2);
  }
  if (key.empty() || key.size() > 100 || value.size() > 400) return;
  const auto words = name_words(key);
  const auto number = parse_int(value);
  if (key == "RANK" && number && *number >= 0 && *number < 1 << 24) {
    file_rank_ = static_cast<std::int32_t>(*number);
    out_.ranks.emplace(*file_rank_, seen);
  }
  const bool world = words.size() == 2 && words[0] == "world" && words[1] == "size";
  if (world && number && *number > 0) out_.world_size = number;
  const bool cpus = any_of(words, std::array<std::string_view, 1>{"cpus"}) &&
                    any_of(words, std::array<std::string_view, 1>{"task"});
  if (cpus && value.empty()) keep_first(out_.cpus_unset, seen);
  if (cpus && number && *number > 0 && (!out_.cores || *number < *out_.cores)) {
    out_.cores = number;
    out_.cores_seen = seen;
  }
  const bool of_data = any_of(words, std::array<std::string_view, 3>{"data", "dataset", "train"});
  if (of_data && value.starts_with('/') && out_.data_path.empty()) {
    out_.data_path = value;
    keep_first(out_.data_place, seen);
  }
  if (!is_environment(key) && !any_of(words, kKept)) return;
  if (out_.settings.size() >= limits::kSettings) return;
  const auto rank = line_rank_ ? line_rank_ : file_rank_;
  out_.settings.push_back({std::string(key), std::string(value), rank, seen});
}

// "a=1 b = 2", "key: value" and "\"key\": value" alone on a line.
void SurroundingsReader::settings(std::string_view text, const SeenAt& seen) {
  std::size_t value_end = 0;  // of the value before: one without blanks may hold many '='
  for (std::size_t at = text.find('='); at != std::string_view::npos; at = text.find('=', at + 1)) {
    std::size_t end = at;
    while (end > 0 && text[end - 1] == ' ') --end;
    std::size_t begin = end;
    while (begin > 0 && in_key(text[begin - 1])) --begin;
    std::size_t from = at + 1;
    while (from < text.size() && text[from] == ' ' && end < at) ++from;
    std::size_t to = from;
    const char quote =
        from < text.size() && (text[from] == '"' || text[from] == '\'') ? text[from] : '\0';
    if (quote != '\0') {
      to = std::min(text.find(quote, from + 1), text.size() - 1) + 1;
    } else {
      if (from >= value_end) value_end = end_of_value(text, from);
      to = value_end;
    }
    if (begin < end) setting(text.substr(begin, end - begin), text.substr(from, to - from), seen);
  }
  std::string_view body = trim(text);
  if (body.starts_with("- ")) body.remove_prefix(2);
  if (body.ends_with(',')) body.remove_suffix(1);
  const std::size_t colon = body.find(':');
  if (colon == std::string_view::npos || colon == 0 || body.find('=') != std::string_view::npos) {
    return;
  }
  std::string_view key = trim(body.substr(0, colon));
  if (key.size() >= 2 && key.front() == '"' && key.back() == '"')
    key = key.substr(1, key.size() - 2);
  if (std::all_of(key.begin(), key.end(), in_key) && colon + 1 < body.size()) {
    setting(key, body.substr(colon + 1), seen);
  }
}

// "n1:4711:4720 [0] NCCL INFO Channel 00/0 : 8[0] -> 16[0] [send] via NET/IB/0/GDRDMA".
void SurroundingsReader::nccl(std::string_view text, const SeenAt& seen) {
  const std::size_t info = text.find("NCCL INFO ");
  if (info == std::string_view::npos) return;
  std::string_view head = trim(text.substr(0, info));
  if (head.ends_with(']')) head = trim(head.substr(0, head.rfind('[')));
  head = head.substr(head.find_last_of(" \t]") + 1);
  const std::size_t colon = head.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon > 255) return;
  const std::string_view said = text.substr(info + 10);
  const auto has = [said](std::string_view part) {
    return said.find(part) != std::string_view::npos;
  };
  std::string host(head.substr(0, colon));
  if (!out_.hosts.contains(host) && out_.hosts.size() >= limits::kSettings) return;
  HostNetwork& network = out_.hosts[std::move(host)];
  if (has("NET/IB : No device")) keep_first(network.no_device, seen);
  if (has("NET/Socket : Using") || has("Using network Socket") || has("via NET/Socket")) {
    keep_first(network.socket, seen);
  }
  if (has("NET/IB : Using") || has("Using network IB") || has("via NET/IB")) {
    keep_first(network.infiniband, seen);
  }
  if (has("via NET/IB")) keep_first(has("GDRDMA") ? network.direct : network.staged, seen);
  const bool off = has("NCCL_IB_DISABLE set by environment to 1") ||
                   has("NCCL_NET set by environment to Socket");
  if (off) keep_first(network.forced, seen);
}

// What a note says of clocks, and the part of it that tells which GPU.
void SurroundingsReader::clocks(std::string_view text, std::string_view low, const SeenAt& seen) {
  const auto has = [low](std::string_view part) { return low.find(part) != low.npos; };
  const bool hot = has("thermal") || has("slowdown") || has("power brake") || has("power_brake");
  if (!hot && !has("throttl") && !has("clock")) return;
  const std::string words = spaced_words(low);
  const auto mask = reason_mask(low, {"reason", "throttl"});
  const bool zero = !mask && reason_mask(low, {"slowdown", "clock"}) == std::uint64_t{0};
  const bool normal = says(words, "normal") && !says(words, "not normal");
  const bool denied =
      mask ? *mask == 0 : zero || normal || says_any(words, kDenied) || has("no throttl");
  if (denied) {
    // Thermal paste that is not asked about says nothing of clocks.
    if (has("throttl") || has("clock") || has("slowdown") || has("power brake")) {
      keep_first(out_.clocks_fine, seen);
    }
    return;
  }
  const bool active = hot && (says(words, "active") || says(words, "asserted") || flag_set(low));
  const bool masked = mask && (*mask & kHardwareReasons) != 0;
  // A mask without these bits tells of power caps and idleness, whatever the words beside it.
  if (out_.throttled || (mask ? !masked : !active)) return;
  out_.throttled = seen;
  if (const auto gpu = number_behind(low, "gpu")) out_.throttled_gpu = std::to_string(*gpu);
  for (const std::string_view word : {"host ", "node ", "host=", "node="}) {
    const std::size_t at = low.find(word);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = text.substr(at + word.size());
    out_.throttled_host = rest.substr(0, rest.find_first_of(" ,;:/)"));
    break;
  }
}

void SurroundingsReader::network(std::string_view low, const SeenAt& seen) {
  constexpr std::array<std::string_view, 8> kNetwork = {"ib",      "infiniband", "link", "links",
                                                        "network", "fabric",     "port", "ports"};
  constexpr std::array<std::string_view, 5> kFine = {"clean", "no error", "no errors", "0 errors",
                                                     "healthy"};
  constexpr std::array<std::string_view, 2> kNot = {"not clean", "not healthy"};
  const bool near = std::any_of(kFine.begin(), kFine.end(),
                                [low](auto part) { return low.find(part) != low.npos; });
  if (!near) return;
  const std::string words = spaced_words(low);
  if (says_any(words, kNetwork) && says_any(words, kFine) && !says_any(words, kNot)) {
    keep_first(out_.network_fine, seen);
  }
}

void SurroundingsReader::notes(std::string_view text, const SeenAt& seen) {
  const std::string low = to_lower(text);
  const auto has = [&low](std::string_view part) { return low.find(part) != std::string::npos; };
  if (has("restart") || has("relaunch") || has("resumed")) {
    if (const auto step = number_behind(low, "step")) {
      if (out_.restart_steps.size() < limits::kCurveEvents) out_.restart_steps.insert(*step);
      keep_first(out_.restart_note, seen);
    }
  }
  clocks(text, low, seen);
  network(low, seen);
  if (has("compil") && has("min") && has("max")) {
    const auto low_s = number_behind(low, "min"), high_s = number_behind(low, "max");
    if (low_s && high_s && *high_s >= *low_s) {
      out_.compile_min_s = static_cast<double>(*low_s);
      out_.compile_max_s = static_cast<double>(*high_s);
    }
  }
  const bool compiles = has("torch.compile") || has("torch_compile") || has("inductor") ||
                        has("max-autotune") || has("compile=true") || has("autotune");
  if (compiles && !has("compile=false")) keep_first(out_.compile_seen, seen);
  if (!has("data") && !has("corpus") && !has("shard")) return;
  const std::size_t slash = text.find(" /");
  if (slash == std::string_view::npos || !out_.data_path.empty()) return;
  const std::string_view path = text.substr(slash + 1);
  out_.data_path = path.substr(0, path.find_first_of(" ,;)\t"));
  if (out_.data_path.size() < 2) out_.data_path.clear();
  if (!out_.data_path.empty()) keep_first(out_.data_place, seen);
}

namespace {

// "0-3,8" -> 5.
std::optional<std::int64_t> cores_of_list(std::string_view list) {
  std::int64_t count = 0;
  for (const std::string_view piece : split(list, ',')) {
    const std::size_t dash = piece.find('-');
    const auto low = parse_int(trim(piece.substr(0, std::min(dash, piece.size()))));
    const auto high =
        dash == std::string_view::npos ? low : parse_int(trim(piece.substr(dash + 1)));
    if (!low || !high || *high < *low || *high > 1 << 20) return std::nullopt;
    count += *high - *low + 1;
  }
  return count;
}

}  // namespace

void SurroundingsReader::cores(std::string_view text, const SeenAt& seen) {
  std::optional<std::int64_t> told;
  for (const std::string_view word : {"affinity list:", "Cpus_allowed_list:"}) {
    const std::size_t at = text.find(word);
    if (at != std::string_view::npos) told = cores_of_list(trim(text.substr(at + word.size())));
  }
  if (text.find("suggested max number of worker") != std::string_view::npos) {
    told = number_behind(text, "current system is");
  }
  if (!told || *told <= 0 || (out_.cores && *out_.cores <= *told)) return;
  out_.cores = told;
  out_.cores_seen = seen;
}

// "[rank3]: ...", "[default3]:...", "rank 3: ...", "rank=3 host=n2 ...".
void SurroundingsReader::rank_of(std::string_view text, const SeenAt& seen) {
  line_rank_.reset();
  const std::string low = to_lower(trim(text).substr(0, 64));
  std::optional<std::int64_t> rank;
  for (const std::string_view word : {"[rank", "[default", "rank ", "rank=", "rank"}) {
    if (low.starts_with(word)) {
      rank = number_behind(std::string_view(low), word);
      break;
    }
  }
  if (!rank || *rank < 0 || *rank >= 1 << 24 || out_.ranks.size() >= limits::kSettings) return;
  line_rank_ = static_cast<std::int32_t>(*rank);
  out_.ranks.emplace(*line_rank_, seen);
  for (const std::string_view word : {"host=", "host ", "node=", " on "}) {
    const std::size_t at = text.find(word);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = text.substr(at + word.size());
    const std::string host(rest.substr(0, rest.find_first_of(" ,;:/)")));
    if (!host.empty() && host.size() < 256) out_.rank_hosts.emplace(*line_rank_, host);
    break;
  }
}

void SurroundingsReader::line(std::string_view text, std::uint64_t number) {
  std::string plain;
  if (text.find('\x1b') != std::string_view::npos) {
    plain = without_colours(text);
    text = plain;
  }
  text = trim(text).substr(0, 16 * 1024);
  if (text.empty()) return;
  const SeenAt seen{source_, number, std::string(whole_characters(text, limits::kEvidenceChars))};
  rank_of(text, seen);
  if (text.find("NCCL INFO ") != std::string_view::npos) return nccl(text, seen);
  settings(text, seen);
  cores(text, seen);
  notes(text, seen);
}

}  // namespace muster::shape
