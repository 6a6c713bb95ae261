#include "core/site/place_reader.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/text.h"

namespace muster {
namespace {

constexpr std::uint64_t kMostRanks = 1 << 24;  // far above any job
using Span = std::pair<std::int32_t, std::int32_t>;

std::optional<std::int32_t> rank_of(std::string_view text) {
  const auto value = parse_uint(text);
  if (!value || *value > kMostRanks) return std::nullopt;
  return static_cast<std::int32_t>(*value);
}

// "0-7,16"
std::vector<Span> ranks_of(std::string_view text) {
  std::vector<Span> out;
  for (std::string_view piece : split(text, ',')) {
    piece = trim(piece);
    const std::size_t dash = piece.find('-');
    const auto first = rank_of(piece.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : rank_of(piece.substr(dash + 1));
    if (!first || !last || *last < *first || out.size() >= 1024) return {};
    out.emplace_back(*first, *last);
  }
  return out;
}

bool is_address(std::string_view text) {
  const bool four = std::count(text.begin(), text.end(), '.') == 3 &&
                    text.find_first_not_of("0123456789.") == std::string_view::npos;
  // Not the time of day: that has two colons and no pair of them.
  const bool six = (std::count(text.begin(), text.end(), ':') == 7 ||
                    text.find("::") != std::string_view::npos) &&
                   text.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
  return text.size() >= 3 && text.size() <= 45 && (four || six);
}

bool is_host(std::string_view text) {
  if (text.empty() || text.size() > 253) return false;
  bool letter = false;
  for (const char c : text) {
    const bool alpha = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool other = (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
    if (!alpha && !other) return false;
    letter = letter || alpha;
  }
  constexpr std::string_view kWords[] = {"rank", "ranks", "host", "node",  "on",
                                         "at",   "gpu",   "pci",  "local", "is"};
  const bool word = std::any_of(std::begin(kWords), std::end(kWords),
                                [&](auto w) { return equals_ignoring_case(w, text); });
  return letter && !word && text.front() != '-' && text.front() != '.';
}

// "0002:00:00", "0000:3b:00.0"
bool is_pci(std::string_view text) {
  const auto pieces = split(text.substr(0, text.find('.')), ':');
  return pieces.size() == 3 && (pieces[0].size() == 4 || pieces[0].size() == 8) &&
         pieces[1].size() == 2 && pieces[2].size() == 2 && text.size() <= 16 &&
         text.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
}

// The line as words, without the marks between them: "ranks 16-23 -> n3 (rank 18 -> PCI x)".
std::vector<std::string_view> plain_words(std::string_view line) {
  std::vector<std::string_view> out;
  for (std::string_view word : words_of(line)) {
    while (!word.empty() && (word.front() == '(' || word.front() == '[')) word.remove_prefix(1);
    while (!word.empty() && std::string_view("),;]:").find(word.back()) != std::string_view::npos) {
      word.remove_suffix(1);
    }
    if (word.empty() || word == "->" || word == "=>" || word == "=" || word == "-") continue;
    out.push_back(word);
  }
  return out;
}

struct Note {
  std::string address;
  std::vector<std::string> names;
  std::vector<Span> ranks;
  std::vector<std::pair<std::int32_t, std::string>> gpus;  // rank and its PCI address
};

// "3 n01" and "n01 0-7" say it without a word of ranks; "errors 3 4" is something else.
bool is_bare_pair(std::string_view line) {
  const auto words = plain_words(line);
  if (words.size() != 2) return false;
  const bool range = words[1].find_first_of("-,") != std::string_view::npos;
  return !ranks_of(words[0]).empty() || (range && !ranks_of(words[1]).empty());
}

bool speaks_of_ranks(std::string_view line) {
  return contains_ignoring_case(line, "rank") || line.find("->") != std::string_view::npos ||
         line.find("=>") != std::string_view::npos || line.find(": ") != std::string_view::npos;
}

// Nothing where a word is left that says neither.
std::optional<Note> read_note(std::string_view line) {
  Note out;
  std::optional<std::int32_t> one;
  bool gpu = false;
  for (const std::string_view word : plain_words(line)) {
    if (equals_ignoring_case(word, "rank") || equals_ignoring_case(word, "ranks") ||
        equals_ignoring_case(word, "host") || equals_ignoring_case(word, "node") ||
        equals_ignoring_case(word, "pci") || word == "on" || word == "at") {
      continue;
    }
    if (equals_ignoring_case(word, "gpu")) {
      gpu = true;  // its index counts inside of the host: no fact of ours
      continue;
    }
    if (std::exchange(gpu, false) && rank_of(word)) continue;
    if (is_pci(word)) {
      if (!one) return std::nullopt;
      out.gpus.emplace_back(*one, std::string(word));
    } else if (const auto ranks = ranks_of(word); !ranks.empty()) {
      one = ranks.size() == 1 && ranks[0].first == ranks[0].second ? std::optional(ranks[0].first)
                                                                   : std::nullopt;
      out.ranks.insert(out.ranks.end(), ranks.begin(), ranks.end());
    } else if (is_address(word) && out.address.empty()) {
      out.address = std::string(word);
    } else if (is_host(word) && out.names.size() < 16) {
      out.names.emplace_back(word);
    } else {
      return std::nullopt;
    }
  }
  const bool somebody = !out.names.empty() || !out.address.empty();
  const bool placed = !out.ranks.empty() && somebody && out.names.size() <= 1;
  const bool addressed = !out.address.empty() && !out.names.empty();
  if (!placed && !addressed && !(out.gpus.size() == 1 && out.ranks.size() == 1)) {
    return std::nullopt;
  }
  return out;
}

// "rank,host", "Rank  Node"
bool is_heading(std::string_view line) {
  const std::string low = to_lower(line.substr(0, 64));
  return low.starts_with("rank") &&
         (low.find("host") != low.npos || low.find("node") != low.npos) &&
         low.find_first_of("0123456789") == low.npos;
}

void add_note(SiteText& text, std::size_t index, const Note& note) {
  const std::string host = note.names.empty() ? note.address : note.names.front();
  if (!note.address.empty()) {
    for (const std::string& name : note.names) text.add(index, HostAddress{note.address, name});
  }
  const auto pci = [&](std::int32_t rank) -> std::string {
    for (const auto& [of, address] : note.gpus) {
      if (of == rank) return address;
    }
    return "";
  };
  for (const auto& [first, last] : note.ranks) {
    text.add(index, RankPlace{first, last, host, first == last ? pci(first) : std::string()});
  }
}

}  // namespace

void read_places(SiteText& text) {
  std::vector<std::pair<std::size_t, Note>> found;
  bool first = true;
  for (std::size_t i = 0; i < text.lines().size(); ++i) {
    std::string_view line = text.line(i);
    line = trim(line.substr(0, line.find('#')));
    if (line.empty() || text.claimed(i)) continue;
    std::string commas(line);
    // "3,n01": a table, maybe with a heading; "0-7,16" keeps its comma.
    const std::size_t comma = commas.find_first_of(",\t");
    if (comma != std::string::npos && (is_host(trim(std::string_view(commas).substr(comma + 1))) ||
                                       is_host(trim(std::string_view(commas).substr(0, comma))))) {
      commas[comma] = ' ';
    }
    const bool heading = std::exchange(first, false) && is_heading(line);
    auto note = read_note(commas);
    if (!note && heading) continue;
    if (!note) return;
    if (!note->ranks.empty() && !speaks_of_ranks(line) && !is_bare_pair(commas)) return;
    // "3: Killed" is a line of a log: without a word of ranks a host must look like one.
    const bool named = contains_ignoring_case(line, "rank") || !note->address.empty() ||
                       note->ranks.empty() || note->names.empty() ||
                       note->names.front().find_first_of("0123456789.") != std::string::npos;
    if (!named) return;
    found.emplace_back(i, std::move(*note));
  }
  if (found.empty()) return;
  for (std::size_t i = 0; i < text.lines().size(); ++i) text.claim(i);
  for (const auto& [index, note] : found) add_note(text, index, note);
}

}  // namespace muster
