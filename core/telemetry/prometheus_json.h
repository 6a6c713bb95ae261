#pragma once

#include <memory>
#include <string_view>

#include "core/telemetry/decoder.h"

// The answer of a Prometheus server to /api/v1/query (vector) or /api/v1/query_range (matrix), as
// JSON. Names and labels: prometheus_page.h; `__name__` is the name, so the query must keep it (no
// rate(), no sum()); results without a known name are passed over.
//
//  * One row for each series and time with all its metrics, in order of time. `at` is always there
//    and has a zone: Prometheus counts seconds of UTC.
//  * {"status":"error"} is a note source_error with its type and text.
//  * A document that was cut or damaged gives the results that are whole and a note (truncated or
//    damaged_line).
//  * Memory: the document is held until it ends, up to limits::kDocumentBytes; a larger one is cut
//    there and treated like a torn one.

namespace muster {

bool looks_like_prometheus_json(std::string_view head);
std::unique_ptr<Decoder> make_prometheus_json_decoder(const DecoderOptions& options);

}  // namespace muster
