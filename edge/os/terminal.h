#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/model/key.h"

// The terminal as a full screen.

namespace muster {

// Bytes from a keyboard -> keys. A sequence may come in pieces; bytes that mean nothing are
// dropped.
class KeyDecoder {
 public:
  std::vector<Key> feed(std::string_view bytes);

 private:
  std::string rest_;  // begin of an escape sequence, at most kLongestSequence bytes
};

// What rewrites a screen that shows `before` into `after`: only the lines that differ. Lines are
// whole, at most one screen row each, and may carry colour sequences that end in a reset.
std::string screen_update(const std::vector<std::string>& before,
                          const std::vector<std::string>& after);

struct TerminalSize {
  std::size_t columns = 80, rows = 24;
  bool operator==(const TerminalSize&) const = default;
};

// Takes the terminal: alternate screen, no echo, keys at once, cursor hidden. The destructor gives
// all of it back. Ctrl-C stays a signal (edge/os/stop_signal.h makes it an end in order). At Ctrl-Z
// (SIGTSTP) read_keys() gives the terminal back, stops the program, and takes the terminal again
// when it is continued; after a SIGSTOP, which nobody can see coming, it is taken again likewise.
// One at a time, one thread.
class Terminal {
 public:
  // Errc::unsupported where standard input or output is no terminal.
  static Result<std::unique_ptr<Terminal>> take();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  TerminalSize size() const;
  // Errc::unavailable where the terminal is gone.
  Status show(const std::vector<std::string>& lines);
  // Everything is written anew by the next show(): after a change of the size.
  void forget_screen();
  // Waits at most `wait` for keys; returns early on any byte, signal or change of the size.
  // Errc::unavailable where the terminal is gone.
  Result<std::vector<Key>> read_keys(Duration wait);
  // True once after the program was continued: the screen is empty, show() is due.
  bool continued();

 private:
  struct Saved;
  explicit Terminal(std::unique_ptr<Saved> saved);
  Status enter();
  void leave();
  void stop_here();

  std::unique_ptr<Saved> saved_;
  KeyDecoder decoder_;
  std::vector<std::string> shown_;
  bool cleared_ = false, continued_ = false;
};

}  // namespace muster
