#pragma once

#include <string>

#include "base/result.h"
#include "core/model/run_spec.h"
#include "edge/os/files.h"

namespace muster {

// run.toml, "muster.run/1" (docs/FORMATS.md). A word that is not known is an error here, other than
// in the JSON documents: people write this file too, and a limit that is misspelt and passed over
// would be no limit. Errc::invalid_input begins with "NAME:LINE:COLUMN: "; another version is
// Errc::unsupported.
Result<RunSpec> parse_run_spec(const std::string& text, const std::string& name);

// The same of a file of at most limits::kConfigBytes.
Result<RunSpec> read_run_spec(Files& files, const std::string& path);

}  // namespace muster
