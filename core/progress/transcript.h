#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/progress.h"

// For tests: what a decoder says, as one line of text that a table row can hold:
// "step 480/4000 loss=1.8; save_begin step=480". With times also "#LINE @TIME", "z" behind a time
// with a zone and "?" behind one without a date.

namespace muster {

class Transcript : public ProgressSink {
 public:
  explicit Transcript(bool with_time = false) : with_time_(with_time) {}

  void step(const StepRecord& record) override;
  void event(const ProgressEvent& event) override;

  std::string text() const;

 private:
  void add(std::string said, std::optional<WallTime> at, bool zone, bool date, std::uint64_t line);

  std::vector<std::string> lines_;
  bool with_time_;
};

// Of a whole log, fed in pieces of `chunk` bytes (0: in one).
std::string transcript(std::string_view log, std::size_t chunk = 0, bool with_time = false);

}  // namespace muster
