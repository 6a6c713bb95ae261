#include "cmd/read_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "edge/os/clock.h"

namespace muster {
namespace {

constexpr Duration kFirst = std::chrono::milliseconds(500), kStep = std::chrono::milliseconds(250);

}  // namespace

ReadProgressLine::ReadProgressLine()
    : terminal_(isatty(STDERR_FILENO) == 1), next_(system_clock().mono() + kFirst) {}

void ReadProgressLine::show(const ReadProgress& progress) {
  show(fmt::format("reading: {} of {} files, {:.1f} GB", progress.files, progress.of_files,
                   static_cast<double>(progress.bytes) / 1e9));
}

void ReadProgressLine::show(std::string_view text) {
  if (!terminal_) return;
  const MonoTime now = system_clock().mono();
  if (now < next_) return;
  next_ = now + kStep;
  shown_ = true;
  std::fputs(fmt::format("\r\x1b[K{}", text).c_str(), stderr);
  std::fflush(stderr);
}

void ReadProgressLine::clear() {
  if (!shown_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
}

}  // namespace muster
