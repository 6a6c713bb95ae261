#include "core/flight/dump_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "base/limits.h"
#include "base/text.h"
#include "core/flight/flight_json.h"
#include "core/flight/flight_misfits.h"
#include "core/flight/flight_rows.h"
#include "core/flight/flight_top.h"
#include "core/flight/flight_values.h"
#include "core/flight/pickle_reader.h"
#include "core/flight/record_reader.h"
#include "core/model/flight_record.h"

namespace muster {
namespace {

constexpr std::uint8_t kProto = 0x80;
constexpr std::size_t kHeadBytes = 4096;  // looked at for the first byte that is no blank

// The part of a source that names the file itself: behind the last "/", and behind the ":" that
// parts an archive from its member.
std::string_view base_name(std::string_view name) {
  const std::size_t at = name.find_last_of("/:");
  return at == std::string_view::npos ? name : name.substr(at + 1);
}

// Takes ".json", ".gz" and the like off the end.
bool take_ending(std::string_view& name) {
  for (const std::string_view ending : {".json", ".gz", ".zst", ".bz2", ".lz4"}) {
    if (!name.ends_with(ending)) continue;
    name.remove_suffix(ending.size());
    return true;
  }
  return false;
}

std::string_view without_digits(std::string_view text) {
  while (!text.empty() && is_digit(text.back())) text.remove_suffix(1);
  return text;
}

// Takes off what browsers, file managers and editors put behind the name of a second copy:
// " (2)", "(2)", " - Copy", " copy 3", " (another copy)", ".~1~". Their number is no rank.
bool take_copy_mark(std::string_view& name) {
  constexpr std::string_view kJoins = " _-";
  constexpr std::string_view kCopy = "copy";
  const auto ends_in_copy = [&](std::string_view text) {
    return text.size() > kCopy.size() && to_lower(text.substr(text.size() - kCopy.size())) == kCopy;
  };
  std::string_view rest = name;
  if (rest.ends_with(')') && rest.find('(') != std::string_view::npos) {
    std::string_view inside = rest.substr(rest.rfind('(') + 1);
    inside.remove_suffix(1);
    rest = rest.substr(0, rest.rfind('('));
    // "rank(3)" is a name of somebody's own.
    const bool number = !inside.empty() && without_digits(inside).empty() &&
                        (rest.ends_with(' ') || rest.find_first_of("0123456789") < rest.size());
    if (!number && to_lower(inside) != kCopy && !ends_in_copy(inside)) return false;
  } else if (rest.ends_with('~')) {
    rest.remove_suffix(1);
    if (const std::string_view numbered = without_digits(rest); numbered.ends_with(".~")) {
      rest = numbered.substr(0, numbered.size() - 2);
    }
  } else {
    std::string_view word = without_digits(rest);
    while (word.size() < rest.size() && word.ends_with(' ')) word.remove_suffix(1);
    if (!ends_in_copy(word)) return false;
    word.remove_suffix(kCopy.size());
    if (word.empty() || kJoins.find(word.back()) == std::string_view::npos) return false;
    if (word.find_first_of("0123456789") == std::string_view::npos) return false;
    rest = word;
  }
  const std::size_t end = rest.find_last_not_of(kJoins);
  name = rest.substr(0, end == std::string_view::npos ? 0 : end + 1);
  return true;
}

bool looks_like_json(std::string_view bytes) {
  const std::string_view head = bytes.substr(0, kHeadBytes);
  const std::size_t at = head.find_first_not_of(" \t\r\n");
  return at != std::string_view::npos && (head[at] == '{' || head[at] == '[');
}

// A rank that is in none of the groups is a name that means something else.
void check_rank(FlightDump& dump) {
  if (!dump.rank) return;
  bool told = false, member = false;
  for (const FlightGroup& group : dump.groups) {
    // Gloo's recorder writes one group without a name, with the numbers of another.
    if (!group.ranks || group.name.empty()) continue;
    told = true;
    member = member || std::ranges::binary_search(*group.ranks, *dump.rank);
  }
  if (!told || member) return;
  dump.notes.push_back(fmt::format(
      "the file name says rank {}, which is a member of none of its groups: rank unknown",
      *dump.rank));
  dump.rank.reset();
}

// Of a document without an entry. One that is cut may have lost what would tell.
bool may_be_dump(const FlightDocument& document, const FlightValues& values,
                 std::uint64_t strangers) {
  const bool cut = document.cut_at && document.damage.empty();
  switch (document.root.kind) {
    case FlightKind::none:
      return cut;
    case FlightKind::list:
      return strangers == 0 && document.damage.empty();
    case FlightKind::dict:
      return has_flight_key(document.root, values, cut);
    default:
      return false;
  }
}

void add_notes(const FlightDocument& document, std::uint64_t strangers, FlightDump& dump) {
  if (dump.bytes == 0) {
    dump.notes.push_back("empty: the dump was under way, or its process died in it");
  } else if (!document.damage.empty()) {
    dump.notes.push_back(
        fmt::format("not read from byte {} on: {}", *dump.cut_at, document.damage));
  } else if (dump.cut_at) {
    dump.notes.push_back(fmt::format("the file is cut at byte {}", *dump.cut_at));
  }
  if (document.trailing) dump.notes.push_back("more bytes stand after its end: not read");
  if (dump.entries_let_go > 0) {
    dump.notes.push_back(fmt::format("of its {} records the last {} are kept",
                                     dump.entries_let_go + dump.entries.size(),
                                     dump.entries.size()));
  }
  if (strangers > 0) {
    dump.notes.push_back(fmt::format("{} items of entries are no records", strangers));
  }
}

}  // namespace

struct FlightReaderScratch::State {
  FlightWindow window;
  FlightValues values;
  FlightMisfits misfits;
  FlightRows rows{values, misfits};
  PickleReader pickle;
  FlightJsonReader json;
};

FlightReaderScratch::FlightReaderScratch() : state_(std::make_unique<State>()) {}
FlightReaderScratch::~FlightReaderScratch() = default;

std::optional<std::int32_t> flight_rank_of(std::string_view name) {
  name = base_name(name);
  while (take_ending(name) || take_copy_mark(name)) continue;
  while (!name.empty() && !is_digit(name.back())) name.remove_suffix(1);
  std::size_t first = name.size();
  while (first > 0 && is_digit(name[first - 1])) --first;
  const auto rank = parse_int(name.substr(first));
  if (!rank || *rank > INT32_MAX) return std::nullopt;
  return static_cast<std::int32_t>(*rank);
}

Result<FlightDump> read_flight_dump(const FlightSource& source, FlightReaderScratch& scratch) {
  FlightReaderScratch::State& state = *scratch.state_;
  FlightWindow& window = state.window;
  FlightDump dump;
  dump.rank = flight_rank_of(source.name);
  FlightDocument document;
  state.misfits.reset();
  state.values.reset();
  state.rows.reset(source.keep);
  window.open(source.bytes, source.rest);
  window.advance(0, kHeadBytes);
  const std::string_view head = window.bytes();
  if (looks_like_flight_record(head)) {
    auto record = read_flight_record(source, window);
    if (record) check_rank(*record);
    if (record) record->source = source.name;
    return record;
  }
  if (head.empty()) {
    document.cut_at = 0;
  } else if (static_cast<std::uint8_t>(head[0]) == kProto) {
    auto read = state.pickle.read(window, state.values, state.rows);
    if (!read) return within(source.name, std::move(read).error());
    document = *read;
  } else if (looks_like_json(head)) {
    auto read = state.json.read(window, state.values, state.rows);
    if (!read) return within(source.name, std::move(read).error());
    document = *read;
  } else {
    return make_error(Errc::invalid_input, source.name + ": neither a pickle nor JSON");
  }
  if (state.rows.empty() && !may_be_dump(document, state.values, state.rows.strangers())) {
    return make_error(Errc::invalid_input, source.name + ": no flight-recorder dump");
  }
  dump.bytes = window.end();
  dump.cut_at = document.cut_at;
  state.rows.move_to(dump);
  add_flight_top(document.root, state.values, dump.bytes, state.misfits, dump);
  add_notes(document, state.rows.strangers(), dump);
  state.misfits.add_notes(dump.notes);
  check_rank(dump);
  dump.source = source.name;
  return dump;
}

}  // namespace muster
