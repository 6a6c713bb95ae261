#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/options.h"

// What a shell needs to complete a command line, generated from the options that the verbs declare,
// so that it cannot fall behind them.

namespace muster {

enum class Shell : std::uint8_t { bash, zsh, fish };

std::optional<Shell> shell_from_name(std::string_view name);

struct VerbForm {
  std::string name;  // "triage", or "config check"
  std::string summary;
  std::vector<OptionRow> options;
};

// The whole script, to be sourced (bash), put on fpath as _muster (zsh) or into fish's folder of
// completions. Files are offered wherever neither a verb, an option nor a closed list of words is
// due.
std::string completion_script(Shell shell, const std::vector<VerbForm>& verbs);

}  // namespace muster
