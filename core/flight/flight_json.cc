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
constexpr std::string_view kTooMuch = "too many values";

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kScalarEnds = " \t\r\n,]}:\"[{";

// What ends a run of plain bytes inside a list or a dict.
constexpr std::array<bool, 256> bracket_table() {
  std::array<bool, 256> table{};
  for (const char c : {'"', '[', ']', '{', '}'}) table[static_cast<unsigned char>(c)] = true;
  return table;
}
constexpr std::array<bool, 256> kBracket = bracket_table();

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
  Reading(std::string_view bytes, Pieces& pieces, FlightValues& values, FlightRowSink& rows)
      : bytes_(bytes), pieces_(pieces), values_(values), rows_(rows) {}

  Result<FlightDocument> read() {
    skip_blanks();
    const bool list = peek() == '[';
    if (!list && peek() != '{') return make_error(Errc::invalid_input, "no JSON list or object");
    const auto root = values_.make(list ? FlightKind::list : FlightKind::dict);
    if (!root) return make_error(Errc::exhausted, "too many values");
    document_.root = *root;
    ++at_;
    if (list ? read_rows() : read_members()) {
      skip_blanks();
      document_.trailing_bytes = bytes_.size() - at_;
    } else if (!document_.cut_at) {
      document_.cut_at = bytes_.size();
    }
    return document_;
  }

 private:
  // 0 at the end.
  char peek() const { return at_ < bytes_.size() ? bytes_[at_] : '\0'; }
  void skip_blanks() { at_ = std::min(bytes_.find_first_not_of(kBlanks, at_), bytes_.size()); }

  bool damage(std::string_view reason) {
    document_.cut_at = at_;
    document_.damage = reason;
    return false;
  }

  // The next value, which begins here; false: cut or damage.
  bool take(std::string_view& piece) {
    const std::string_view window = bytes_.substr(at_, limits::kFlightRowBytes);
    std::size_t length = std::string_view::npos;
    if (peek() == '[' || peek() == '{') {
      length = bracket_end(window);
    } else if (peek() == '"') {
      length = string_end(window, 0);
    } else {
      length = window.substr(0, kScalarBytes).find_first_of(kScalarEnds);
      if (length == 0) return damage("a value that is no JSON");
    }
    if (length == std::string_view::npos) {
      const bool end = bytes_.size() - at_ < limits::kFlightRowBytes;
      const bool open =
          window.size() <= kScalarBytes || window[0] == '"' || kBracket[byte(window[0])];
      return end && open ? false : damage("a value without an end");
    }
    piece = window.substr(0, length);
    at_ += length;
    return true;
  }

  static unsigned char byte(char c) { return static_cast<unsigned char>(c); }

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

  bool read_rows() {
    while (true) {
      skip_blanks();
      const char next = peek();
      if (next == ']') {
        ++at_;
        return true;
      }
      if (next == ',') {
        ++at_;
        continue;
      }
      if (at_ == bytes_.size()) return false;
      std::string_view piece;
      if (!take(piece)) return false;
      const auto mark = values_.mark();
      const auto row = pieces_.read(piece, values_);
      if (!row) return damage(kTooMuch);
      if (!rows_.row(*row)) return damage("more than is read of one dump");
      values_.release(mark);
    }
  }

  bool read_members() {
    while (true) {
      skip_blanks();
      const char next = peek();
      if (next == '}') {
        ++at_;
        return true;
      }
      if (next == ',') {
        ++at_;
        continue;
      }
      if (at_ == bytes_.size()) return false;
      if (next != '"') return damage("no name of a member");
      if (!read_member()) return false;
    }
  }

  bool read_member() {
    std::string_view key;
    if (!take(key)) return false;
    skip_blanks();
    if (at_ == bytes_.size()) return false;
    if (peek() != ':') return damage("no colon behind a name");
    ++at_;
    skip_blanks();
    if (at_ == bytes_.size()) return false;
    key = key.substr(1, key.size() - 2);
    const auto id = values_.intern(key, true);
    FlightValue value;
    if (key == flight_word_text(FlightWord::entries) && peek() == '[') {
      ++at_;
      value = FlightValue::of_bool(true);  // there were some; they are gone
      if (!id || !add(*id, value)) return damage(kTooMuch);
      return read_rows();
    }
    std::string_view piece;
    if (!take(piece)) return false;
    const auto read = pieces_.read(piece, values_);
    if (!id || !read || !add(*id, *read)) return damage(kTooMuch);
    return true;
  }

  bool add(std::uint32_t key, const FlightValue& value) {
    const FlightValue pair[] = {{FlightKind::string, key, 0}, value};
    return values_.append(document_.root, pair, 2);
  }

  std::string_view bytes_;
  Pieces& pieces_;
  FlightValues& values_;
  FlightRowSink& rows_;
  std::size_t at_ = 0;
  FlightDocument document_;
};

FlightJsonReader::FlightJsonReader() : pieces_(std::make_unique<Pieces>()) {}
FlightJsonReader::~FlightJsonReader() = default;

Result<FlightDocument> FlightJsonReader::read(std::string_view bytes, FlightValues& values,
                                              FlightRowSink& rows) {
  values.reset();
  return Reading(bytes, *pieces_, values, rows).read();
}

}  // namespace muster
