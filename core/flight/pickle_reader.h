#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/flight/flight_values.h"
#include "core/flight/flight_window.h"

// Reads a pickle of plain values: what PyTorch's recorder writes (protocol 2, no more than 24
// opcodes) and what Python's own pickle writes for dicts, lists, tuples, strings, numbers and None
// (protocols 2 to 5). Nothing is ever looked up, called or built: an opcode that would make Python
// import or call something is an Error with its name and place ("this pickle wants to run code:
// opcode GLOBAL at byte 17"), wherever in the file it stands.
//
// Damage: a file that ends in the middle, or that is garbage from some byte on, gives what was
// complete before, and FlightDocument::cut_at. Garbage before the first complete row is an
// Error (Errc::invalid_input), found without looking further; so is what goes on for
// limits::kFlightRowBytes without the end of a row, and for limits::kFlightHeadBytes or
// kFlightHeadValues without a row or a name that dumps have.

namespace muster {

class PickleReader {
 public:
  // Rows of the list `entries` (of the top level, or of the bare list) go to `rows` one by one, in
  // order. `values` is reset; what comes back points into it and, where it is stable, into
  // `window`.
  Result<FlightDocument> read(FlightWindow& window, FlightValues& values, FlightRowSink& rows);

 private:
  enum class Stop : std::uint8_t { none, end, cut, damage, enough, code };
  static constexpr std::size_t kNowhere = SIZE_MAX;

  // Values under way. One place is always free, so that a push need not look.
  class Stack {
   public:
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    FlightValue* data() { return pool_.data(); }
    FlightValue& operator[](std::size_t at) { return pool_[at]; }
    const FlightValue& operator[](std::size_t at) const { return pool_[at]; }
    const FlightValue& back() const { return pool_[size_ - 1]; }
    FlightValue* end() { return pool_.data() + size_; }
    FlightValue* last_place() { return pool_.data() + pool_.size() - 1; }
    void end_at(const FlightValue* end) {
      size_ = static_cast<std::size_t>(end - pool_.data());
      if (size_ == pool_.size()) pool_.resize(size_ * 2);
    }
    void push(const FlightValue& value) {
      pool_[size_++] = value;
      if (size_ == pool_.size()) pool_.resize(size_ * 2);
    }
    void shrink(std::size_t size) { size_ = size; }
    void clear();

   private:
    std::vector<FlightValue> pool_ = std::vector<FlightValue>(1024);
    std::size_t size_ = 0;
  };

  void push_literals();
  bool step(std::uint8_t opcode);
  bool literal(std::uint8_t opcode);
  bool refuse(std::uint8_t opcode);
  bool stop(Stop why, std::string_view reason = {});

  std::uint64_t place() const;
  void look();
  bool more(std::size_t count);
  bool next_opcode();
  const std::uint8_t* take(std::size_t count);
  template <typename T>
  bool number(T& out);
  bool push(const FlightValue& value);
  bool push_string(std::uint64_t length);
  bool push_long(std::size_t length);
  bool push_empty(FlightKind kind);
  bool push_mark();
  bool get(std::size_t place);
  bool put(std::size_t place);
  bool tuple(std::size_t from);
  bool tuple_from_mark();
  bool add_from_mark(FlightKind kind);
  bool add_last(FlightKind kind, std::size_t count);
  bool add(std::size_t container_at, FlightKind kind, std::size_t from);

  bool at_row() const;
  bool opens_rows() const;
  void shrink(std::size_t size);
  bool deliver(std::size_t from);
  void salvage();

  FlightValues* values_ = nullptr;
  FlightRowSink* sink_ = nullptr;
  const std::uint8_t* begin_ = nullptr;
  const std::uint8_t* at_ = nullptr;
  const std::uint8_t* end_ = nullptr;
  FlightWindow* window_ = nullptr;
  std::uint64_t opcode_at_ = 0;  // place in the file
  std::uint64_t row_from_ = 0;   // where the last row ended
  std::uint64_t steps_ = 0;      // since then
  bool seen_ = false;            // a row, or a name that dumps have at the top
  Stack stack_;
  std::vector<FlightValue> memo_;
  std::vector<std::size_t> marks_;
  std::size_t rows_at_ = kNowhere;     // place on the stack of the list whose items are rows
  FlightValues::Mark row_mark_;        // of the row under way
  std::uint32_t closed_ = UINT32_MAX;  // node of the dict that SETITEMS filled last
  std::uint64_t rows_ = 0;
  Stop stop_ = Stop::none;
  std::string_view reason_;
};

}  // namespace muster
