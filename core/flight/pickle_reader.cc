#include "core/flight/pickle_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "base/limits.h"

namespace muster {
namespace {

// Numbers in a pickle are little-endian, floating ones big-endian; so are all machines we run on
// little-endian.
static_assert(std::endian::native == std::endian::little);

constexpr std::size_t kKeptValues = 64 * 1024;  // of a stack, between files
constexpr std::size_t kGrantOfRow = 128;        // values; a row of Python's has some 70
// A value takes up to four opcodes; some may be repeated for ever and make none.
constexpr std::uint64_t kStepsOfRow = 4 * limits::kFlightRowValues;
constexpr std::string_view kEnough = "more than is read of one dump";

struct Refused {
  std::uint8_t opcode;
  std::string_view name;
};
// Opcodes that make Python import, call or build something, or take data from elsewhere.
constexpr Refused kCode[] = {
    {'c', "GLOBAL"},    {0x93, "STACK_GLOBAL"}, {'R', "REDUCE"},
    {'b', "BUILD"},     {0x81, "NEWOBJ"},       {0x92, "NEWOBJ_EX"},
    {'i', "INST"},      {'o', "OBJ"},           {'P', "PERSID"},
    {'Q', "BINPERSID"}, {0x82, "EXT1"},         {0x83, "EXT2"},
    {0x84, "EXT4"},     {0x97, "NEXT_BUFFER"},  {0x98, "READONLY_BUFFER"},
};

}  // namespace

Result<FlightDocument> PickleReader::read(FlightWindow& window, FlightValues& values,
                                          FlightRowSink& rows) {
  values.reset();
  values_ = &values;
  sink_ = &rows;
  window_ = &window;
  look();
  opcode_at_ = row_from_ = steps_ = 0;
  seen_ = false;
  stack_.clear();
  memo_.clear();
  if (memo_.capacity() > kKeptValues) memo_.shrink_to_fit();
  marks_.clear();
  rows_at_ = kNowhere;
  closed_ = UINT32_MAX;
  rows_ = 0;
  stop_ = Stop::none;
  reason_ = {};
  if (at_ == end_ || *at_ != 0x80) {
    return make_error(Errc::invalid_input, "no pickle: the first byte is not PROTO");
  }
  do {
    push_literals();
  } while (next_opcode() && step(*at_++));
  if (stop_ == Stop::code) {
    return make_error(
        Errc::invalid_input,
        fmt::format("this pickle wants to run code: opcode {} at byte {}", reason_, opcode_at_));
  }
  FlightDocument out;
  if (stop_ == Stop::end) {
    out.trailing = at_ != end_ || more(1);
  } else {
    if (stop_ == Stop::cut && window.full()) stop(Stop::enough, kEnough);
    salvage();
    out.cut_at = stop_ == Stop::cut ? window.end() : opcode_at_;
    out.damage = reason_;
    if (stop_ == Stop::damage && rows_ == 0) {
      return make_error(Errc::invalid_input, fmt::format("byte {}: {}", opcode_at_, reason_));
    }
  }
  if (!stack_.empty()) out.root = stack_[0];
  return out;
}

void PickleReader::Stack::clear() {
  size_ = 0;
  if (pool_.size() > kKeptValues) pool_ = std::vector<FlightValue>(kKeptValues);
}

bool PickleReader::stop(Stop why, std::string_view reason) {
  stop_ = why;
  reason_ = reason;
  return false;
}

std::uint64_t PickleReader::place() const {
  return window_->offset() + static_cast<std::uint64_t>(at_ - begin_);
}

// The window begins here now.
void PickleReader::look() {
  begin_ = at_ = reinterpret_cast<const std::uint8_t*>(window_->bytes().data());
  end_ = begin_ + window_->bytes().size();
}

// Are there so many bytes, when the window moves on?
bool PickleReader::more(std::size_t count) {
  if (window_->ended()) return false;
  window_->advance(static_cast<std::size_t>(at_ - begin_), count);
  look();
  return static_cast<std::size_t>(end_ - at_) >= count;
}

bool PickleReader::next_opcode() {
  if (at_ == end_ && !more(1)) {
    opcode_at_ = place();
    return stop(Stop::cut);
  }
  opcode_at_ = place();
  if (opcode_at_ - row_from_ > limits::kFlightRowBytes) {
    return stop(Stop::damage, "no end of a row in 16 MiB");
  }
  if (!seen_ && (opcode_at_ > limits::kFlightHeadBytes || steps_ > limits::kFlightHeadValues ||
                 stack_.size() > limits::kFlightHeadValues)) {
    return stop(Stop::damage, "nothing of a dump so far");
  }
  return ++steps_ <= kStepsOfRow || stop(Stop::damage, "no end of a row in 4 million opcodes");
}

const std::uint8_t* PickleReader::take(std::size_t count) {
  if (static_cast<std::size_t>(end_ - at_) < count && !more(count)) {
    stop(Stop::cut);
    return nullptr;
  }
  const std::uint8_t* const from = at_;
  at_ += count;
  return from;
}

template <typename T>
bool PickleReader::number(T& out) {
  const std::uint8_t* const from = take(sizeof(T));
  if (from == nullptr) return false;
  std::memcpy(&out, from, sizeof(T));
  return true;
}

// A fast path for the runs of opcodes that only push a value, two thirds of a dump. Stops before
// whatever it leaves to step(): other opcodes, references to nothing, the last bytes of the file.
void PickleReader::push_literals() {
  constexpr std::ptrdiff_t kLongest = 10;  // LONG1 with its operand
  if (stack_.size() >= limits::kFlightRowValues) return;
  const std::uint8_t* at = at_;
  FlightValue* top = stack_.end();
  FlightValue* const last = stack_.last_place();
  const FlightValue* const memo = memo_.data();
  const std::size_t memo_size = memo_.size();
  const auto load = [&at]<typename T>(T value) {
    std::memcpy(&value, at + 1, sizeof(T));
    return value;
  };
  for (bool more = true; more && end_ - at >= kLongest && top <= last;) {
    switch (*at) {
      case 'h': {  // BINGET
        more = at[1] < memo_size;
        if (!more) break;
        *top++ = memo[at[1]];
        at += 2;
        break;
      }
      case 'K':  // BININT1
        *top++ = FlightValue::of_int(at[1]);
        at += 2;
        break;
      case 'M':  // BININT2
        *top++ = FlightValue::of_int(load(std::uint16_t{}));
        at += 3;
        break;
      case 'J':  // BININT
        *top++ = FlightValue::of_int(load(std::int32_t{}));
        at += 5;
        break;
      case 0x8a:  // LONG1, of 8 bytes
        more = at[1] == 8;
        if (!more) break;
        ++at;
        *top++ = FlightValue::of_int(load(std::int64_t{}));
        at += 9;
        break;
      case 'N':  // NONE
        *top++ = FlightValue{};
        ++at;
        break;
      case 0x88:  // NEWTRUE
      case 0x89:  // NEWFALSE
        *top++ = FlightValue::of_bool(*at == 0x88);
        ++at;
        break;
      default:
        more = false;
    }
  }
  at_ = at;
  stack_.end_at(top);
}

// The opcodes of the inner loop; the rare ones are in literal().
bool PickleReader::step(std::uint8_t opcode) {
  std::uint8_t byte = 0;
  std::uint16_t word = 0;
  std::int32_t integer = 0;
  std::uint32_t place = 0;
  switch (opcode) {
    case 'h':  // BINGET
      return number(byte) && get(byte);
    case 'j':  // LONG_BINGET
      return number(place) && get(place);
    case 'q':  // BINPUT
      return number(byte) && put(byte);
    case 'r':  // LONG_BINPUT
      return number(place) && put(place);
    case 0x94:  // MEMOIZE
      return put(memo_.size());
    case 'K':  // BININT1
      return number(byte) && push(FlightValue::of_int(byte));
    case 'M':  // BININT2
      return number(word) && push(FlightValue::of_int(word));
    case 'J':  // BININT
      return number(integer) && push(FlightValue::of_int(integer));
    case 0x8a:  // LONG1
      return number(byte) && push_long(byte);
    case '(':  // MARK
      return push_mark();
    case '}':  // EMPTY_DICT
      return push_empty(FlightKind::dict);
    case ']':  // EMPTY_LIST
      return push_empty(FlightKind::list);
    case 'u':  // SETITEMS
      return add_from_mark(FlightKind::dict);
    case 'e':  // APPENDS
      return add_from_mark(FlightKind::list);
    case 's':  // SETITEM
      return add_last(FlightKind::dict, 2);
    case 'a':  // APPEND
      return add_last(FlightKind::list, 1);
    case 'X':  // BINUNICODE
      return number(place) && push_string(place);
    case 'N':  // NONE
      return push({});
    case 0x88:  // NEWTRUE
    case 0x89:  // NEWFALSE
      return push(FlightValue::of_bool(opcode == 0x88));
    default:
      return literal(opcode);
  }
}

bool PickleReader::literal(std::uint8_t opcode) {
  std::uint8_t byte = 0;
  std::uint32_t length = 0;
  std::uint64_t wide = 0;
  switch (opcode) {
    case 0x80:  // PROTO
      if (!number(byte)) return false;
      return (byte >= 2 && byte <= 5) || stop(Stop::damage, "a pickle of an unknown protocol");
    case 0x95:  // FRAME: a hint for readers of streams
      return number(wide);
    case 'G':  // BINFLOAT
      return number(wide) &&
             push(FlightValue::of_real(std::bit_cast<double>(__builtin_bswap64(wide))));
    case 0x8b:  // LONG4
      return number(length) && push_long(length);
    case 0x8c:  // SHORT_BINUNICODE
    case 'U':   // SHORT_BINSTRING
      return number(byte) && push_string(byte);
    case 'T':  // BINSTRING
      return number(length) && push_string(length);
    case 0x8d:  // BINUNICODE8
      return number(wide) && push_string(wide);
    case ')':  // EMPTY_TUPLE
      return tuple(stack_.size());
    case 0x85:    // TUPLE1
    case 0x86:    // TUPLE2
    case 0x87: {  // TUPLE3
      const std::size_t count = opcode - 0x84U;
      if (stack_.size() < count || (!marks_.empty() && stack_.size() - count < marks_.back())) {
        return stop(Stop::damage, "a tuple of more values than there are");
      }
      return tuple(stack_.size() - count);
    }
    case 't':  // TUPLE
      return tuple_from_mark();
    case '.':  // STOP
      if (stack_.size() != 1 || !marks_.empty()) {
        return stop(Stop::damage, "the end of the pickle in the middle of a value");
      }
      return stop(Stop::end);
    default:
      return refuse(opcode);
  }
}

bool PickleReader::refuse(std::uint8_t opcode) {
  for (const Refused& refused : kCode) {
    if (refused.opcode == opcode) return stop(Stop::code, refused.name);
  }
  return stop(Stop::damage, "an opcode that no dump has");
}

bool PickleReader::push(const FlightValue& value) {
  if (stack_.size() >= limits::kFlightRowValues) return stop(Stop::damage, "too many values");
  stack_.push(value);
  return true;
}

bool PickleReader::push_string(std::uint64_t length) {
  if (length > limits::kFlightStringBytes) {
    return stop(Stop::damage, "a string longer than 1 MiB");
  }
  const std::uint8_t* const from = take(length);
  if (from == nullptr) return false;
  const auto id = values_->intern({reinterpret_cast<const char*>(from), length}, window_->stable());
  if (!id) return stop(Stop::damage, "too many strings");
  seen_ = seen_ || is_top_word(*id);
  return push({FlightKind::string, *id, 0});
}

bool PickleReader::push_long(std::size_t length) {
  if (length > sizeof(std::int64_t)) return stop(Stop::damage, "an integer of more than 64 bits");
  const std::uint8_t* const from = take(length);
  if (from == nullptr) return false;
  std::int64_t value = 0;
  if (length > 0) {
    std::uint64_t bits = (from[length - 1] & 0x80) != 0 ? UINT64_MAX : 0;
    for (std::size_t i = length; i > 0; --i) bits = bits << 8 | from[i - 1];
    value = static_cast<std::int64_t>(bits);
  }
  return push(FlightValue::of_int(value));
}

bool PickleReader::push_empty(FlightKind kind) {
  if (kind == FlightKind::dict && at_row()) {
    if (!deliver(rows_at_ + 1)) return false;
    row_mark_ = values_->mark();
  }
  const bool rows = kind == FlightKind::list && opens_rows();
  const auto made = values_->make(kind);
  if (!made) return stop(Stop::damage, "too many values");
  if (rows) {
    rows_at_ = stack_.size();
    row_mark_ = values_->mark();
  }
  return push(*made);
}

bool PickleReader::push_mark() {
  if (marks_.size() >= limits::kFlightDepth) return stop(Stop::damage, "nested too deep");
  marks_.push_back(stack_.size());
  return true;
}

bool PickleReader::get(std::size_t place) {
  if (place >= memo_.size()) return stop(Stop::damage, "refers to a value that was never put");
  return push(memo_[place]);
}

bool PickleReader::put(std::size_t place) {
  if (stack_.empty()) return stop(Stop::damage, "puts a value that is not there");
  if (place > memo_.size() || place >= values_->most()) {
    return stop(Stop::damage, "puts a value out of order");
  }
  const FlightValue& top = stack_.back();
  if (top.kind == FlightKind::list || top.kind == FlightKind::dict) values_->pin(top);
  if (place == memo_.size()) {
    memo_.push_back(top);
  } else {
    memo_[place] = top;
  }
  return true;
}

bool PickleReader::tuple(std::size_t from) {
  const auto made = values_->make(FlightKind::list);
  if (!made || !values_->append(*made, stack_.data() + from, stack_.size() - from)) {
    return stop(Stop::damage, "too many values");
  }
  shrink(from);
  return push(*made);
}

bool PickleReader::tuple_from_mark() {
  if (marks_.empty()) return stop(Stop::damage, "a tuple without its mark");
  const std::size_t from = marks_.back();
  marks_.pop_back();
  return tuple(from);
}

bool PickleReader::add_from_mark(FlightKind kind) {
  if (marks_.empty() || marks_.back() == 0) return stop(Stop::damage, "items without their mark");
  const std::size_t from = marks_.back();
  marks_.pop_back();
  if (kind == FlightKind::dict) closed_ = stack_[from - 1].ref;
  return add(from - 1, kind, from);
}

bool PickleReader::add_last(FlightKind kind, std::size_t count) {
  const std::size_t floor = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() < floor + count + 1) return stop(Stop::damage, "an item without its container");
  return add(stack_.size() - count - 1, kind, stack_.size() - count);
}

bool PickleReader::add(std::size_t container_at, FlightKind kind, std::size_t from) {
  const FlightValue container = stack_[container_at];
  if (container.kind != kind) return stop(Stop::damage, "items for something that takes none");
  const std::size_t count = stack_.size() - from;
  if (kind == FlightKind::dict) {
    if (count % 2 != 0) return stop(Stop::damage, "a key without a value");
  } else if (container_at == rows_at_) {
    return deliver(from);
  }
  if (!values_->append(container, stack_.data() + from, count)) {
    return stop(Stop::damage, "too many values");
  }
  shrink(from);
  return true;
}

// Is the next value an item of `entries`? Between two items what lies on top is a finished dict.
bool PickleReader::at_row() const {
  if (rows_at_ == kNowhere) return false;
  const std::size_t first = rows_at_ + 1;
  if (!marks_.empty() && marks_.back() > first) return false;
  return stack_.size() == first ||
         (stack_.back().kind == FlightKind::dict && stack_.back().ref == closed_);
}

// Is the list that is pushed now the one of the rows: the bare list, or `entries` of the top dict?
bool PickleReader::opens_rows() const {
  if (rows_at_ != kNowhere) return false;
  if (stack_.empty()) return marks_.empty();
  if (stack_[0].kind != FlightKind::dict || stack_.size() % 2 != 0) return false;
  if (marks_.size() > 1 || (marks_.size() == 1 && marks_[0] != 1)) return false;
  const FlightValue& key = stack_.back();
  return key.kind == FlightKind::string &&
         key.ref == static_cast<std::uint32_t>(FlightWord::entries);
}

void PickleReader::shrink(std::size_t size) {
  stack_.shrink(size);
  if (rows_at_ != kNowhere && size <= rows_at_) rows_at_ = kNowhere;
}

// Everything from here to the top of the stack is complete rows.
bool PickleReader::deliver(std::size_t from) {
  if (stack_.size() == from) return true;
  for (std::size_t i = from; i < stack_.size(); ++i) {
    ++rows_;
    seen_ = true;
    const auto taken = sink_->row(stack_[i], place());
    if (taken == FlightRowSink::Taken::enough) return stop(Stop::enough, kEnough);
    if (taken == FlightRowSink::Taken::stranger) continue;
    values_->grant(kGrantOfRow);
    row_from_ = place();
    steps_ = 0;
  }
  values_->release(row_mark_);
  closed_ = UINT32_MAX;  // its node may be used again
  shrink(from);
  return true;
}

// After a cut: the rows that are complete, and the pairs that are complete in the top dict and in a
// dict of the second level. What was open deeper down is lost.
void PickleReader::salvage() {
  if (rows_at_ != kNowhere) {
    const std::size_t first = rows_at_ + 1;
    if (stop_ != Stop::enough && stack_.size() == first + 1 && at_row()) deliver(first);
    stack_.shrink(first);
    while (!marks_.empty() && marks_.back() >= first) marks_.pop_back();
  }
  if (stack_.empty() || stack_[0].kind != FlightKind::dict) return;
  if (!marks_.empty() && marks_[0] == 0) return;
  while (marks_.size() > 2) {
    stack_.shrink(std::min(stack_.size(), marks_.back() - 1));
    marks_.pop_back();
  }
  if (marks_.size() == 2 && marks_[1] <= stack_.size()) {
    const std::size_t from = marks_[1];
    const FlightValue child = stack_[from - 1];
    const std::size_t pairs = (stack_.size() - from) / 2;
    if (child.kind == FlightKind::dict) {
      std::ignore = values_->append(child, stack_.data() + from, pairs * 2);
    }
    stack_.shrink(from);
  }
  const std::size_t count = (stack_.size() - 1) / 2 * 2;
  std::ignore = values_->append(stack_[0], stack_.data() + 1, count);
}

}  // namespace muster
