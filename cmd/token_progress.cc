#include "cmd/token_progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>

#include "edge/os/clock.h"

namespace muster {

TokenProgressLine::TokenProgressLine()
    : terminal_(isatty(STDERR_FILENO) == 1), start_(system_clock().mono()), last_(start_) {}

TokenProgressLine::~TokenProgressLine() {
  if (told_) std::fputs("\r\x1b[K", stderr);
}

void TokenProgressLine::show(std::uint64_t done_tokens, std::uint64_t all_tokens) {
  const MonoTime now = system_clock().mono();
  if (!terminal_ || now - last_ < std::chrono::milliseconds(250)) return;
  last_ = now;
  told_ = true;
  constexpr double kGb = 4e-9;  // of a token
  const double done = static_cast<double>(done_tokens) * kGb;
  const double all = static_cast<double>(all_tokens) * kGb;
  const double rate = done / duration_to_seconds(now - start_);
  std::string line =
      fmt::format("\r\x1b[K{:.1f} of {:.1f} GB of ids, {:.2f} GB/s", done, all, rate);
  if (rate > 0) line += fmt::format(", {:.0f} s to go", (all - done) / rate);
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace muster
