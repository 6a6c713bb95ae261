#pragma once

#include <string_view>

#include "app/explain_input.h"
#include "base/time.h"

namespace muster {

// One line on standard error that tells how far a long reading is: on a terminal only, after the
// first half second, and no more than four times a second.
class ReadProgressLine {
 public:
  ReadProgressLine();

  void show(const ReadProgress& progress);
  // Of other long work: what it does and how far it is, without controls.
  void show(std::string_view text);
  // Takes the line away.
  void clear();

 private:
  bool terminal_;
  MonoTime next_;
  bool shown_ = false;
};

}  // namespace muster
