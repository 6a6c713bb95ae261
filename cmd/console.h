#pragma once

#include <cstdio>
#include <string_view>

#include "core/model/exit_status.h"
#include "core/model/finding.h"

namespace muster {

// Where answers go: human text and JSON to standard output, progress and complaints to standard
// error. Colour only on a terminal and without NO_COLOR.
class Console {
 public:
  explicit Console(bool json);

  bool json() const { return json_; }
  bool terminal() const { return terminal_; }
  bool colour() const { return colour_; }
  std::size_t width() const { return width_; }
  // Whether the locale (LC_ALL, LC_CTYPE, LANG) writes UTF-8.
  bool unicode() const;

  // The report in the form that was asked for; returns its exit status. Whether standard output
  // could be written is asked once, at the end of main.
  ExitStatus answer(const Report& report);
  // Plain text to standard output.
  void print(std::string_view text);
  // Whoever read standard output has seen enough (`| head`): that is no failure.
  bool reader_left() const { return reader_left_; }
  // One line to standard error, "muster: " in front, control characters escaped.
  void complain(std::string_view text);
  // An error that ended the verb: complained about, and its exit status.
  ExitStatus fail(const Error& error);
  // The same for one that was met while writing: a full disk is ExitStatus::storage, and a name
  // that is taken a mistake of usage.
  ExitStatus fail_to_write(const Error& error);

 private:
  bool json_;
  bool reader_left_ = false;
  bool terminal_;
  bool colour_;
  std::size_t width_;
};

}  // namespace muster
