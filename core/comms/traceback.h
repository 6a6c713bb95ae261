#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

// One Python traceback, line by line, of one writer. Chained exceptions ("During handling of the
// above exception...") are one failure: the last one ended the program, the first is told with it.
class Traceback {
 public:
  enum class Step : std::uint8_t {
    open,     // belongs to it
    pending,  // an exception stands, and more of the chain may follow
    closed,   // over, and `text` is not part of it
  };
  // The line after "Traceback (most recent call last):", without the writer's prefix.
  Step line(std::string_view text, std::uint64_t number);

  bool has_exception() const { return !exception_.empty(); }
  // "ValueError: expected 4096 (in collate, /srv/data.py:41)": the innermost frame of the user's
  // own code, not of a library.
  std::string summary() const;
  const std::string& exception() const { return exception_; }
  std::uint64_t number() const { return number_; }  // line of the exception

 private:
  void frame(std::string_view text);

  std::string exception_, first_;
  std::string place_, any_place_;
  std::uint64_t number_ = 0;
  int strange_ = 0;  // lines that are not of a traceback
  bool stack_ = true;
  bool chained_ = false;
};

}  // namespace muster
