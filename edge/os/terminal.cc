#include "edge/os/terminal.h"

#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "edge/os/files.h"

namespace muster {
namespace {

constexpr std::size_t kLongestSequence = 16;
constexpr std::size_t kMostColumns = 1000, kMostRows = 1000;
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l";
constexpr std::string_view kLeave = "\x1b[0m\x1b[?25h\x1b[?1049l";

std::optional<Key> plain_key(char c) {
  switch (c) {
    case 'q':
      return Key::quit;
    case 's':
      return Key::sort;
    case 'p':
      return Key::pause;
    case 'h':
    case '?':
      return Key::help;
    default:
      return std::nullopt;
  }
}

// "\x1b[A" and "\x1bOA"; pages are "\x1b[5~" and "\x1b[6~".
std::optional<Key> sequence_key(std::string_view sequence) {
  const std::string_view body = sequence.substr(2);
  if (body == "A") return Key::up;
  if (body == "B") return Key::down;
  if (body == "5~") return Key::page_up;
  if (body == "6~") return Key::page_down;
  return std::nullopt;
}

bool ends_sequence(char c) {
  return c >= 0x40 && c <= 0x7e;
}

Status write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return make_error(Errc::unavailable, "writing to the terminal");
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

// SIGWINCH is ignored by default and then does not end poll(): a handler that does nothing does.
void on_window_change(int) {}

volatile std::sig_atomic_t stop_asked = 0, was_continued = 0;
void on_stop(int) {
  stop_asked = 1;
}
void on_continue(int) {
  was_continued = 1;
}

void handle(int signal_number, void (*handler)(int), struct sigaction* before) {
  struct sigaction action{};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  sigaction(signal_number, &action, before);
}

// A program in the background that does this is stopped by SIGTTOU until it is in front.
bool set_modes(const termios& modes) {
  while (tcsetattr(STDIN_FILENO, TCSANOW, &modes) != 0) {
    if (errno != EINTR) return false;
  }
  return true;
}

}  // namespace

std::vector<Key> KeyDecoder::feed(std::string_view bytes) {
  std::vector<Key> keys;
  for (const char c : bytes) {
    if (c == '\x1b') {
      rest_ = "\x1b";
    } else if (rest_.empty()) {
      if (const auto key = plain_key(c)) keys.push_back(*key);
    } else if (rest_.size() == 1 && c != '[' && c != 'O') {
      rest_.clear();  // Escape alone, or Alt with a key
      if (const auto key = plain_key(c)) keys.push_back(*key);
    } else {
      rest_ += c;
      if (rest_.size() == 2) continue;
      if (ends_sequence(c)) {
        if (const auto key = sequence_key(rest_)) keys.push_back(*key);
        rest_.clear();
      } else if (rest_.size() >= kLongestSequence) {
        rest_.clear();
      }
    }
  }
  return keys;
}

std::string screen_update(const std::vector<std::string>& before,
                          const std::vector<std::string>& after) {
  std::string out;
  for (std::size_t i = 0; i < std::max(before.size(), after.size()); ++i) {
    if (i < before.size() && i < after.size() && before[i] == after[i]) continue;
    // Erased first: behind a full line the cursor stands on its last column.
    out += fmt::format("\x1b[{};1H\x1b[2K", i + 1);
    if (i < after.size()) out += after[i];
  }
  return out;
}

struct Terminal::Saved {
  termios modes{}, raw{};
  struct sigaction window_change{}, stop{}, go_on{};
};

Result<std::unique_ptr<Terminal>> Terminal::take() {
  auto saved = std::make_unique<Saved>();
  if (isatty(STDOUT_FILENO) == 0 || tcgetattr(STDIN_FILENO, &saved->modes) != 0) {
    return make_error(Errc::unsupported, "standard input and output are not a terminal");
  }
  termios& raw = saved->raw;
  raw = saved->modes;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | IEXTEN);
  raw.c_iflag &= ~static_cast<tcflag_t>(IXON | ICRNL);
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  handle(SIGWINCH, on_window_change, &saved->window_change);
  handle(SIGTSTP, on_stop, &saved->stop);
  handle(SIGCONT, on_continue, &saved->go_on);
  std::unique_ptr<Terminal> terminal(new Terminal(std::move(saved)));
  if (const Status entered = terminal->enter(); !entered) return entered.error();
  return terminal;
}

Terminal::Terminal(std::unique_ptr<Saved> saved) : saved_(std::move(saved)) {}

Terminal::~Terminal() {
  leave();
  sigaction(SIGWINCH, &saved_->window_change, nullptr);
  sigaction(SIGTSTP, &saved_->stop, nullptr);
  sigaction(SIGCONT, &saved_->go_on, nullptr);
}

Status Terminal::enter() {
  if (!set_modes(saved_->raw)) return errno_error("setting up the terminal", errno);
  forget_screen();
  return write_all(kEnter);
}

void Terminal::leave() {
  // A terminal that is gone cannot be given back.
  static_cast<void>(write_all(kLeave).has_value());
  set_modes(saved_->modes);
}

// Returns when the program is continued; at once where no shell could ever continue it.
void Terminal::stop_here() {
  leave();
  struct sigaction ours{};
  handle(SIGTSTP, SIG_DFL, &ours);
  raise(SIGTSTP);
  sigaction(SIGTSTP, &ours, nullptr);
}

bool Terminal::continued() {
  return std::exchange(continued_, false);
}

TerminalSize Terminal::size() const {
  winsize window{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0 || window.ws_row == 0) {
    return {};
  }
  return {std::min<std::size_t>(window.ws_col, kMostColumns),
          std::min<std::size_t>(window.ws_row, kMostRows)};
}

Status Terminal::show(const std::vector<std::string>& lines) {
  std::string out = cleared_ ? "" : "\x1b[0m\x1b[2J";
  out += screen_update(shown_, lines);
  cleared_ = true;
  shown_ = lines;
  return write_all(out);
}

void Terminal::forget_screen() {
  shown_.clear();
  cleared_ = false;
}

Result<std::vector<Key>> Terminal::read_keys(Duration wait) {
  if (stop_asked != 0) {
    stop_asked = 0;
    stop_here();
    was_continued = 1;
  }
  if (was_continued != 0) {
    was_continued = 0;
    if (const Status entered = enter(); !entered) return entered.error();
    continued_ = true;
    return std::vector<Key>{};
  }
  pollfd input{STDIN_FILENO, POLLIN, 0};
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(std::max(wait, Duration{})).count();
  const int ready = ::poll(&input, 1, static_cast<int>(std::min<std::int64_t>(ms, 1000)));
  if (ready <= 0) return std::vector<Key>{};
  char buffer[256];
  const ssize_t n = ::read(STDIN_FILENO, buffer, sizeof buffer);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return std::vector<Key>{};
  if (n <= 0) return make_error(Errc::unavailable, "the terminal is gone");
  return decoder_.feed(std::string_view(buffer, static_cast<std::size_t>(n)));
}

}  // namespace muster
