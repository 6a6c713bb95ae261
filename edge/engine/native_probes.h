#pragma once

#include "core/health/probe.h"

namespace muster {

// Contents of the files that patterns name (probe_table.h says how); at most `max_bytes` of all.
health::ProbeAnswer read_probe_files(std::string_view patterns, std::size_t max_bytes);

// The functions that rows of ProbeKind::native name; `failed` for a name that none has.
health::ProbeAnswer run_native_probe(const health::Probe& probe);

}  // namespace muster
