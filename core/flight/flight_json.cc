#include "core/flight/flight_json.h"

#include <simdjson.h>

#include <array>
#include <tuple>

#include "base/limits.h"

namespace muster {
namespace {

namespace dom = simdjson::dom;

// A number or a word that is longer is none.
constexpr std::size_t kScalarBytes = 64;
// Members of the top level; a dump has six.
constexpr std::size_t kMembers = 4096;
constexpr std::string_view kTooMuch = "too many values";
constexpr std::string_view kEnough = "more than is read of one dump";
constexpr std::string_view kEndless = "a value without an end";

constexpr std::string_view kScalarEnds = " \t\r\n,]}:\"[{";

constexpr std::array<bool, 256> table_of(std::string_view characters) {
  std::array<bool, 256> table{};
  for (const char c : characters) table[static_cast<unsigned char>(c)] = true;
  return table;
}
constexpr std::array<bool, 256> kBlank = table_of(" \t\r\n");
// What ends a run of plain bytes inside a list or a dict.
constexpr std::array<bool, 256> kBracket = table_of("\"[]{}");

}  // namespace

// One piece of JSON -> a value.
class FlightJsonReader::Pieces {
 public:
  Pieces() : parser_(limits::kFlightRowBytes) {}

  // Nothing: the values are too many. None: the piece is no JSON.
  std::optional<FlightValue> read(std::string_view piece, FlightValues& values) {
    if (parser_.max_depth() != limits::kFlightDepth &&
        parser_.allocate(64 * 1024, limits::kFlightDepth) != simdjson::SUCCESS) {
      return std::nullopt;
    }
    dom::element element;
    if (parser_.parse(piece.data(), piece.size(), true).get(element) != simdjson::SUCCESS) {
      return FlightValue{};
    }
    stack_.clear();
    return convert(element, values);
  }

 private:
  // Recursion ends at the depth that the parser allows.
  std::optional<FlightValue> convert(dom::element element, FlightValues& values) {
    switch (element.type()) {
      case dom::element_type::ARRAY: {
        const std::size_t from = stack_.size();
        for (const dom::element item : dom::array(element)) {
          const auto value = convert(item, values);
          if (!value) return std::nullopt;
          stack_.push_back(*value);
        }
        return collect(FlightKind::list, from, values);
      }
      case dom::element_type::OBJECT: {
        const std::size_t from = stack_.size();
        for (const auto& [key, item] : dom::object(element)) {
          const auto id = values.intern(key, false);
          const auto value = convert(item, values);
          if (!id || !value) return std::nullopt;
          stack_.push_back({FlightKind::string, *id, 0});
          stack_.push_back(*value);
        }
        return collect(FlightKind::dict, from, values);
      }
      case dom::element_type::STRING: {
        const auto id = values.intern(std::string_view(element), false);
        if (!id) return std::nullopt;
        return FlightValue{FlightKind::string, *id, 0};
      }
      case dom::element_type::INT64:
        return FlightValue::of_int(std::int64_t(element));
      case dom::element_type::UINT64:
        return FlightValue::of_real(static_cast<double>(std::uint64_t(element)));
      case dom::element_type::DOUBLE:
        return FlightValue::of_real(double(element));
      case dom::element_type::BOOL:
        return FlightValue::of_bool(bool(element));
      default:
        return FlightValue{};
    }
  }

  std::optional<FlightValue> collect(FlightKind kind, std::size_t from, FlightValues& values) {
    const auto made = values.make(kind);
    if (!made || !values.append(*made, stack_.data() + from, stack_.size() - from)) {
      return std::nullopt;
    }
    stack_.resize(from);
    return made;
  }

  dom::parser parser_;
  std::vector<FlightValue> stack_;
};

// One file: finds where its rows and its top-level values begin and end.
class FlightJsonReader::Reading {
 public:
  Reading(FlightWindow& window, Pieces& pieces, FlightValues& values, FlightRowSink& rows)
      : window_(window), pieces_(pieces), values_(values), rows_(rows) {
    look();
  }

  Result<FlightDocument> read() {
    const bool list = next() && peek() == '[';
    if (!list && peek() != '{') return make_error(Errc::invalid_input, "no JSON list or object");
    const auto root = values_.make(list ? FlightKind::list : FlightKind::dict);
    if (!root) return make_error(Errc::exhausted, std::string(kTooMuch));
    document_.root = *root;
    ++at_;
    const bool whole = list ? each_item(']', [this] { return read_row(); })
                            : each_item('}', [this] { return read_member(); });
    if (whole) {
      document_.trailing = next();
      document_.cut_at.reset();
      document_.damage = {};
    } else if (!document_.cut_at) {
      if (window_.full()) damage(kEnough);
      document_.cut_at = window_.end();
    }
    return document_;
  }

 private:
  // 0 at the end.
  char peek() const { return at_ < bytes_.size() ? bytes_[at_] : '\0'; }
  std::uint64_t place() const { return window_.offset() + at_; }
  // Bytes that are read without the end of a row.
  std::size_t most() const { return seen_ ? limits::kFlightRowBytes : limits::kFlightHeadBytes; }

  // The window begins here now.
  void look() {
    bytes_ = window_.bytes();
    at_ = 0;
  }

  // Puts at_ on the next byte that is no blank; false: the end, or too far.
  bool next() {
    for (;;) {
      while (at_ < bytes_.size() && kBlank[byte(bytes_[at_])]) ++at_;
      if (place() - row_from_ > most()) return damage(kEndless);
      if (at_ < bytes_.size()) return true;
      if (window_.ended()) return false;
      window_.advance(at_, 1);
      look();
    }
  }

  bool damage(std::string_view reason) {
    document_.cut_at = place();
    document_.damage = reason;
    return false;
  }

  // The next value, which begins here; false: cut or damage. `piece` holds until the next call.
  bool take(std::string_view& piece) {
    const std::uint64_t used = place() - row_from_;
    const std::size_t most = this->most() - std::min<std::uint64_t>(used, this->most());
    // Twice as much each time, so that looking again costs no more than looking.
    for (std::size_t look_at = FlightWindow::kChunkBytes;; look_at *= 2) {
      const std::string_view ahead = bytes_.substr(at_, most);
      const std::size_t length = end_of(ahead);
      if (length == 0) return damage("a value that is no JSON");
      if (length != std::string_view::npos) {
        piece = ahead.substr(0, length);
        at_ += length;
        return true;
      }
      const bool open = ahead.size() <= kScalarBytes || ahead[0] == '"' || kBracket[byte(ahead[0])];
      if (!open || ahead.size() == most) return damage(kEndless);
      if (window_.ended()) return false;
      window_.advance(at_, std::min(std::max(look_at, ahead.size() + 1), most));
      look();
    }
  }

  static unsigned char byte(char c) { return static_cast<unsigned char>(c); }

  // Behind the value at the front of `text`; npos: its end is not there.
  static std::size_t end_of(std::string_view text) {
    if (text.empty()) return std::string_view::npos;
    if (text[0] == '[' || text[0] == '{') return bracket_end(text);
    if (text[0] == '"') return string_end(text, 0);
    return text.substr(0, kScalarBytes).find_first_of(kScalarEnds);
  }

  // Behind the quote that ends the string that begins at `from`.
  static std::size_t string_end(std::string_view text, std::size_t from) {
    std::size_t at = from + 1;
    while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
    return at < text.size() ? at + 1 : std::string_view::npos;
  }

  static std::size_t bracket_end(std::string_view text) {
    std::size_t depth = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (!kBracket[byte(text[at])]) continue;
      if (text[at] == '"') {
        at = string_end(text, at);
        if (at == std::string_view::npos) return at;
        --at;
      } else if (text[at] == '[' || text[at] == '{') {
        ++depth;
      } else if (--depth == 0) {
        return at + 1;
      }
    }
    return std::string_view::npos;
  }

  // Items with commas between them up to the bracket `end`; false: cut or damage.
  template <typename F>
  bool each_item(char end, F&& item) {
    while (next()) {
      if (peek() == end) {
        ++at_;
        return true;
      }
      if (peek() == ',') {
        ++at_;
      } else if (!item()) {
        return false;
      }
    }
    return false;
  }

  bool read_row() {
    std::string_view piece;
    if (!take(piece)) return false;
    const auto mark = values_.mark();
    const auto row = pieces_.read(piece, values_);
    if (!row) return damage(kTooMuch);
    const auto taken = rows_.row(*row, place());
    if (taken == FlightRowSink::Taken::enough) return damage(kEnough);
    if (taken == FlightRowSink::Taken::record) {
      row_from_ = place();
      seen_ = true;
    }
    values_.release(mark);
    return true;
  }

  bool read_member() {
    if (peek() != '"') return damage("no name of a member");
    if (++members_ > kMembers) return damage(kTooMuch);
    std::string_view piece;
    if (!take(piece)) return false;
    const std::string_view key = piece.substr(1, piece.size() - 2);
    const bool entries = key == flight_word_text(FlightWord::entries);
    const auto id = values_.intern(key, window_.stable());
    if (!id) return damage(kTooMuch);
    seen_ = seen_ || is_top_word(*id);
    if (!next()) return false;
    if (peek() != ':') return damage("no colon behind a name");
    ++at_;
    if (!next()) return false;
    if (entries && peek() == '[') {
      ++at_;
      const auto value = FlightValue::of_bool(true);  // there were some; they are gone
      if (!add(*id, value)) return damage(kTooMuch);
      return each_item(']', [this] { return read_row(); });
    }
    if (!take(piece)) return false;
    const auto read = pieces_.read(piece, values_);
    if (!read || !add(*id, *read)) return damage(kTooMuch);
    return true;
  }

  bool add(std::uint32_t key, const FlightValue& value) {
    const FlightValue pair[] = {{FlightKind::string, key, 0}, value};
    return values_.append(document_.root, pair, 2);
  }

  FlightWindow& window_;
  Pieces& pieces_;
  FlightValues& values_;
  FlightRowSink& rows_;
  std::string_view bytes_;      // of the window
  std::size_t at_ = 0;          // in them
  std::uint64_t row_from_ = 0;  // where the last row ended
  std::size_t members_ = 0;
  bool seen_ = false;  // a row, or a name that dumps have at the top
  FlightDocument document_;
};

FlightJsonReader::FlightJsonReader() : pieces_(std::make_unique<Pieces>()) {}
FlightJsonReader::~FlightJsonReader() = default;

Result<FlightDocument> FlightJsonReader::read(FlightWindow& window, FlightValues& values,
                                              FlightRowSink& rows) {
  values.reset();
  return Reading(window, *pieces_, values, rows).read();
}

}  // namespace muster
