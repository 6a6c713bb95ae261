#pragma once

#include <memory>
#include <string>

#include "core/model/telemetry_source.h"
#include "edge/net/url.h"

namespace muster {

// The live /metrics page of an exporter (dcgm-exporter, nvidia_gpu_exporter, node_exporter, our
// agent): every read() is one GET. Rows without a time get the wall time at which the answer was
// whole. Failures are those of http_get; damage inside the page is a note, as in a file. `name` is
// what the user calls it.
std::unique_ptr<TelemetrySource> make_exporter_source(std::string name, Url url);

}  // namespace muster
