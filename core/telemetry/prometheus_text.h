#pragma once

#include <memory>
#include <string_view>

#include "core/telemetry/decoder.h"

namespace muster {

// Prometheus text of the exporters in prometheus_names.h; other names are passed over. One page gives
// one row for each series. Several pages may follow each other: a page ends at a line
// "# scraped_at RFC3339" (which tells the time of the page that follows), or where a sample comes a
// second time. Samples without a time of their own, on a page without one, have none: the caller
// knows when it read the page.
bool looks_like_prometheus_text(std::string_view head);
std::unique_ptr<Decoder> make_prometheus_text_decoder(const DecoderOptions& options);

}  // namespace muster
