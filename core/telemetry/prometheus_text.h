#pragma once

#include <memory>
#include <string_view>

#include "core/telemetry/decoder.h"

// Pages in the Prometheus text format (0.0.4, and what OpenMetrics adds), read by its grammar:
// blanks between any two tokens, escapes in label values, HELP, TYPE, EOF, time stamps, NaN. Names
// and labels: prometheus_page.h.
//
//  * Pages may follow each other in one file. A page ends at `# scraped_at RFC3339` (the time of
//    the page that follows; `curl` in a loop writes it), at `# EOF`, where a sample (name and
//    labels) comes again, or at the end. Rows come when their page ends.
//  * `at` of a row: the sample's own time stamp, else `# scraped_at`, else absent.
//  * A line that breaks the grammar is lost alone, with a note (damaged_line). A last line without
//    a newline is dropped with a note (truncated): "62" may be the first half of "627".
//  * Memory: one page, at most limits::kDocumentBytes; a longer one is given in pieces.

namespace muster {

bool looks_like_prometheus_text(std::string_view head);
std::unique_ptr<Decoder> make_prometheus_text_decoder(const DecoderOptions& options);

}  // namespace muster
