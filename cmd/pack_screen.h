#pragma once

#include <cstdint>
#include <string>

#include "app/pack_build.h"
#include "base/time.h"

namespace muster {

// 1234567 as "1,234,567".
std::string grouped(std::uint64_t number);

// One line on standard error that tells how far a build is: on a terminal only, at most four times
// a second.
class PackProgressLine {
 public:
  PackProgressLine();
  void show(const PackProgress& progress);
  void clear();

 private:
  bool terminal_;
  MonoTime next_;
  bool shown_ = false, begun_ = false;
  MonoTime begin_{};
  PackProgress first_;  // where the work of this process began
};

// The line itself: "packing   43 %  1.7 of 4.0 GB   57 MB/s  13.9 Mtok/s   2 min left   ...".
// `seconds` since `first` was seen.
std::string progress_text(const PackProgress& first, const PackProgress& now, double seconds);

// What was packed, for people. `out` and `tokenizer` as the user named them.
std::string pack_screen(const PackResult& result, const std::string& out,
                        const std::string& tokenizer, const std::string& eos_text);

}  // namespace muster
