#include "cmd/console.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/text.h"
#include "core/model/report_json.h"
#include "core/render/report_text.h"

namespace muster {
namespace {

// Set and not empty, as no-color.org has it.
bool colour_is_unwanted() {
  const char* const value = std::getenv("NO_COLOR");
  return value != nullptr && *value != '\0';
}

std::size_t terminal_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return std::clamp<std::size_t>(size.ws_col, 40, 160);
}

}  // namespace

Console::Console(bool json)
    : json_(json),
      terminal_(isatty(STDOUT_FILENO) == 1),
      colour_(terminal_ && !colour_is_unwanted()),
      width_(terminal_ ? terminal_width() : 80) {}

bool Console::unicode() const {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    return contains_ignoring_case(value, "utf-8") || contains_ignoring_case(value, "utf8");
  }
  return false;
}

ExitStatus Console::answer(const Report& report) {
  print(json_ ? encode_report(report) + "\n"
              : render_report(report, {.colour = colour_, .width = width_}));
  return exit_status_of(report);
}

void Console::print(std::string_view text) {
  errno = 0;
  const bool whole = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!whole || std::fflush(stdout) != 0) reader_left_ = reader_left_ || errno == EPIPE;
}

void Console::complain(std::string_view text) {
  std::fflush(stdout);
  // fmt::print would throw where standard error is closed or full.
  std::fputs(fmt::format("muster: {}\n", escape_controls(text, 1000)).c_str(), stderr);
}

ExitStatus Console::fail(const Error& error) {
  complain(error.context);
  return exit_status_of(error);
}

ExitStatus Console::fail_to_write(const Error& error) {
  const ExitStatus status = fail(error);
  if (error.code == Errc::exhausted) return ExitStatus::storage;
  return error.code == Errc::invalid_input ? ExitStatus::usage : status;
}

}  // namespace muster
