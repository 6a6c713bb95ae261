#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "cmd/console.h"
#include "cmd/parse.h"
#include "edge/config/config_value.h"
#include "edge/os/environment.h"
#include "edge/os/files.h"

// How muster.toml and the environment reach a verb: through the options that it declared with a key
// (cmd/options.h). A verb without such options does not look for a file.

namespace muster {

// Gives every option that was not given what holds for its key, and checks those that were given
// by the same table. What came from a file or the environment is said in one line of standard
// error: a forgotten file must not change an answer in silence. Nothing where the verb can run,
// else, after the complaints, the status to end with: usage where a value is wrong, that of the
// error where a file could not be read.
std::optional<ExitStatus> apply_settings(const Parsed& parsed, Files& files,
                                         const Environment& environment, Console& console);

// What the table of keys cannot say about a value: whether an address can be listened on, and
// whether this machine knows a zone.
Status check_meaning(std::string_view key, const ConfigValue& value);

}  // namespace muster
