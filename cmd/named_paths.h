#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cmd/console.h"
#include "edge/os/files.h"

namespace muster {

// A path that `option` names and that is not there is blind in the report, among what else was not
// read; a typing error deserves a sentence of its own on standard error.
void complain_of_missing(std::string_view option, const std::vector<std::string>& paths,
                         Files& files, Console& console);

// Says that the program waits for what is typed, where "-" among `paths` is a terminal.
void tell_of_terminal(const std::vector<std::string>& paths, Console& console);

}  // namespace muster
