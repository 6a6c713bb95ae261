#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cmd/verb.h"

namespace muster {

struct Parsed {
  Verb* verb = nullptr;  // nothing: `text` and `status` are the whole answer (help, version, usage)
  bool json = false;
  std::string config_file;         // --config; empty: not given
  std::vector<OptionRow> options;  // of the verb, with what was given
  std::string text;
  ExitStatus status = ExitStatus::ok;
};

// Reads the command line and fills the targets that the chosen verb declared.
Parsed parse_command_line(int argc, const char* const* argv,
                          const std::vector<std::unique_ptr<Verb>>& verbs);

}  // namespace muster
