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
#include <vector>

#include "tests/support/shell.h"

// `muster top` in a pseudo-terminal, as a person meets it.

namespace muster {
namespace {

const std::string kMuster = std::string(MUSTER_BINARY_DIR) + "/cmd/muster";
const std::string kDemo = std::string(MUSTER_SOURCE_DIR) + "/testdata/demo/gpus.csv";
constexpr const char* kRestored = "\x1b[?25h\x1b[?1049l";

class PseudoTerminal {
 public:
  // The program with `words`, as the only one on the terminal.
  explicit PseudoTerminal(std::vector<std::string> words = {kMuster, "top", kDemo, "--interval",
                                                            "0.2"}) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    winsize size{24, 80, 0, 0};
    EXPECT_EQ(openpty(&master_, &slave_, nullptr, nullptr, &size), 0);
    tcgetattr(slave_, &before_);
    child_ = fork();
    if (child_ == 0) {
      close(master_);
      if (login_tty(dup(slave_)) != 0) _exit(126);
      execv(arguments[0], arguments.data());
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
  EXPECT_EQ(terminal.changed_modes(), "local input least ");
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

// In a shell that can stop and continue programs, as people have it.
TEST(Top, StopsAtCtrlZAndComesBackWhenContinued) {
  PseudoTerminal terminal({"/bin/bash", "--norc", "--noprofile", "-i"});
  const auto modes = [&](const std::string& name) {
    terminal.type("stty -a | grep -c -e '-icanon' | sed 's/^/" + name + " /'\r");
  };
  terminal.type(kMuster + " top " + kDemo + " --interval 0.2\r");
  ASSERT_TRUE(terminal.shows("q quit"));
  for (const char* stop : {"\x1a", "STOP"}) {
    if (*stop == '\x1a') {
      terminal.type(stop);
      ASSERT_TRUE(terminal.shows(kRestored));
    } else {
      terminal.type("\x1a");
      ASSERT_TRUE(terminal.shows("Stopped"));
      terminal.type("kill -CONT %1; kill -STOP %1\r");
    }
    modes("cooked");
    ASSERT_TRUE(terminal.shows("cooked 0"));
    terminal.type("fg\r");
    ASSERT_TRUE(terminal.shows("\x1b[?1049h"));
    ASSERT_TRUE(terminal.shows("2 hosts  16 GPUs"));
    ASSERT_TRUE(terminal.shows("q quit"));
    terminal.type("s");
    ASSERT_TRUE(terminal.shows("q quit"));
  }
  terminal.type("q");
  ASSERT_TRUE(terminal.shows(kRestored));
  modes("after");
  ASSERT_TRUE(terminal.shows("after 0"));
  terminal.type("exit 7\r");
  EXPECT_EQ(terminal.exit_status(), 7);
}

// Nobody could continue a program without a shell: it goes on.
TEST(Top, GoesOnWhereNobodyCouldContinueIt) {
  PseudoTerminal terminal;
  ASSERT_TRUE(terminal.shows("q quit"));
  terminal.send(SIGTSTP);
  ASSERT_TRUE(terminal.shows(kRestored));
  ASSERT_TRUE(terminal.shows("q quit"));
  terminal.type("q");
  EXPECT_EQ(terminal.exit_status(), 0);
  EXPECT_EQ(terminal.changed_modes(), "");
}

// Twenty hosts of sixteen GPUs on 80 x 24: a row a host, sorted and moved by the keys.
TEST(Top, ManyHostsAreARowEach) {
  const testing_support::TemporaryFolder folder;
  std::string text = "time,host,index,power_w,power_limit_w,util_gpu_percent\n";
  for (int host = 10; host < 30; ++host) {
    for (int gpu = 0; gpu < 16; ++gpu) {
      text += "2026-11-30T06:00:00Z,n" + std::to_string(host) + "," + std::to_string(gpu) + "," +
              std::to_string(1000 - host) + ",1100,100\n";
    }
  }
  PseudoTerminal terminal({kMuster, "top", folder.write("a.csv", text)});
  ASSERT_TRUE(terminal.shows("20 hosts  320 GPUs"));
  for (int host = 10; host < 26; ++host) {
    ASSERT_TRUE(terminal.shows(" n" + std::to_string(host) + "    16 "));
  }
  ASSERT_TRUE(terminal.shows("rows 1-19 of 20"));
  terminal.type("\x1b[B");
  ASSERT_TRUE(terminal.shows(" n29    16 "));
  ASSERT_TRUE(terminal.shows("rows 2-20 of 20"));
  terminal.type("s");
  ASSERT_TRUE(terminal.shows(" n29    16 "));
  ASSERT_TRUE(terminal.shows("sort: power"));
  ASSERT_TRUE(terminal.shows("rows 1-19 of 20"));
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

// Whoever typed "-" by chance learns what the program waits for.
TEST(StandardInput, OfATerminalIsAskedFor) {
  for (const char* verb : {"triage", "calibrate", "trace"}) {
    PseudoTerminal terminal({kMuster, verb, "-"});
    EXPECT_TRUE(terminal.shows("standard input is this terminal")) << verb;
    terminal.type("\x04");
    EXPECT_NE(terminal.exit_status(), 0) << verb;
  }
}

}  // namespace
}  // namespace muster
