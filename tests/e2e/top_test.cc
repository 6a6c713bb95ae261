#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include "tests/support/shell.h"

// `muster top` in a pseudo-terminal, as a person meets it.

namespace muster {
namespace {

const std::string kMuster = std::string(MUSTER_BINARY_DIR) + "/cmd/muster";
const std::string kDemo = std::string(MUSTER_SOURCE_DIR) + "/testdata/demo/gpus.csv";
constexpr const char* kRestored = "\x1b[?25h\x1b[?1049l";

class PseudoTerminal {
 public:
  PseudoTerminal() {
    winsize size{24, 80, 0, 0};
    EXPECT_EQ(openpty(&master_, &slave_, nullptr, nullptr, &size), 0);
    tcgetattr(slave_, &before_);
    child_ = fork();
    if (child_ == 0) {
      close(master_);
      if (login_tty(dup(slave_)) != 0) _exit(126);
      execl(kMuster.c_str(), "muster", "top", kDemo.c_str(), "--interval", "0.2", nullptr);
      _exit(127);
    }
  }
  ~PseudoTerminal() {
    if (child_ > 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
    close(slave_);
    close(master_);
  }
  PseudoTerminal(const PseudoTerminal&) = delete;
  PseudoTerminal& operator=(const PseudoTerminal&) = delete;

  // Reads until `text` came; what came up to then is passed over.
  testing::AssertionResult shows(const std::string& text) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < end) {
      if (const std::size_t at = seen_.find(text); at != std::string::npos) {
        seen_.erase(0, at + text.size());
        return testing::AssertionSuccess();
      }
      pollfd input{master_, POLLIN, 0};
      if (poll(&input, 1, 100) <= 0) continue;
      char buffer[4096];
      const ssize_t n = read(master_, buffer, sizeof buffer);
      if (n > 0) seen_.append(buffer, static_cast<std::size_t>(n));
    }
    return testing::AssertionFailure() << "no \"" << text << "\" in:\n" << seen_;
  }
  void type(const std::string& keys) {
    EXPECT_EQ(write(master_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }
  void resize(unsigned short columns, unsigned short rows) {
    const winsize size{rows, columns, 0, 0};
    EXPECT_EQ(ioctl(master_, TIOCSWINSZ, &size), 0);
  }
  void send(int signal) { EXPECT_EQ(kill(child_, signal), 0); }
  int exit_status() {
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  // What differs from the modes before the program, by name.
  std::string changed_modes() const {
    termios now{};
    tcgetattr(slave_, &now);
    std::string out;
    if (now.c_lflag != before_.c_lflag) out += "local ";
    if (now.c_iflag != before_.c_iflag) out += "input ";
    if (now.c_oflag != before_.c_oflag) out += "output ";
    if (now.c_cc[VSUSP] != before_.c_cc[VSUSP]) out += "suspend ";
    if (now.c_cc[VMIN] != before_.c_cc[VMIN]) out += "least ";
    return out;
  }

 private:
  int master_ = -1, slave_ = -1;
  pid_t child_ = 0;
  termios before_{};
  std::string seen_;
};

TEST(Top, ShowsHostsAndPhaseAndQuitRestores) {
  PseudoTerminal terminal;
  ASSERT_TRUE(terminal.shows("\x1b[?1049h"));
  ASSERT_TRUE(terminal.shows("2 hosts  16 GPUs"));
  ASSERT_TRUE(terminal.shows("  for "));
  ASSERT_TRUE(terminal.shows("n2 "));
  EXPECT_EQ(terminal.changed_modes(), "local input suspend least ");
  terminal.type("s");
  ASSERT_TRUE(terminal.shows("sort: power"));
  terminal.type("h");
  ASSERT_TRUE(terminal.shows("PgUp, PgDn"));
  terminal.type("q");
  ASSERT_TRUE(terminal.shows(kRestored));
  EXPECT_EQ(terminal.exit_status(), 0);
  EXPECT_EQ(terminal.changed_modes(), "");
}

TEST(Top, SignalsRestore) {
  for (const int signal : {SIGTERM, SIGINT}) {
    PseudoTerminal terminal;
    ASSERT_TRUE(terminal.shows("q quit"));
    terminal.send(signal);
    ASSERT_TRUE(terminal.shows(kRestored));
    EXPECT_EQ(terminal.exit_status(), 130);
    EXPECT_EQ(terminal.changed_modes(), "");
  }
}

TEST(Top, FollowsTheSizeOfTheWindow) {
  PseudoTerminal terminal;
  ASSERT_TRUE(terminal.shows("q quit"));
  terminal.resize(30, 24);
  ASSERT_TRUE(terminal.shows("window too small"));
  terminal.resize(132, 43);
  ASSERT_TRUE(terminal.shows("\x1b[2J"));
  ASSERT_TRUE(terminal.shows("\x1b[21;1H\x1b[2K"));
  ASSERT_TRUE(terminal.shows("q quit"));
  terminal.type("q");
  EXPECT_EQ(terminal.exit_status(), 0);
}

TEST(Top, WithoutATerminalItIsOneFrame) {
  const auto run = testing_support::run_shell(testing_support::shell_word(kMuster) + " top " +
                                              testing_support::shell_word(kDemo));
  EXPECT_EQ(run.status, 0) << run.output;
  EXPECT_NE(run.output.find("2 hosts  16 GPUs"), std::string::npos) << run.output;
  EXPECT_EQ(run.output.find('\x1b'), std::string::npos);
  EXPECT_EQ(run.output.find("q quit"), std::string::npos);
}

}  // namespace
}  // namespace muster
