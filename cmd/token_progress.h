#pragma once

#include <cstdint>

#include "base/time.h"

namespace muster {

// One line on standard error that tells how far a pack is read or written: on a terminal only, four
// times a second: "12.4 of 80.0 GB of ids, 1.9 GB/s, 36 s to go".
class TokenProgressLine {
 public:
  TokenProgressLine();
  ~TokenProgressLine();  // takes the line away
  TokenProgressLine(const TokenProgressLine&) = delete;
  TokenProgressLine& operator=(const TokenProgressLine&) = delete;

  void show(std::uint64_t done_tokens, std::uint64_t all_tokens);

 private:
  bool terminal_, told_ = false;
  MonoTime start_, last_;
};

}  // namespace muster
