#include <csignal>
#include <cstdio>

#include "cmd/parse.h"
#include "cmd/settings.h"
#include "cmd/verb.h"

int main(int argc, char** argv) {
  // A reader that went away (`muster triage ... | head`) is an error of write(), not a death.
  std::signal(SIGPIPE, SIG_IGN);
  const auto verbs = muster::make_verbs();
  const muster::Parsed parsed = muster::parse_command_line(argc, argv, verbs);
  if (parsed.verb == nullptr) {
    std::fputs(parsed.text.c_str(), parsed.status == muster::ExitStatus::ok ? stdout : stderr);
    return static_cast<int>(parsed.status);
  }
  muster::Console console(parsed.json);
  const auto end =
      muster::apply_settings(parsed, muster::real_files(), muster::real_environment(), console);
  muster::ExitStatus status = end ? *end : parsed.verb->run(console);
  // Of every verb: what was not written is no answer, whatever it would have been.
  const bool unwritten = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  if (unwritten && !console.reader_left()) {
    console.complain("standard output could not be written; the answer is not complete");
    status = muster::ExitStatus::storage;
  }
  return static_cast<int>(status);
}
