#include "core/telemetry/prometheus_json.h"
#include "tests/support/document_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return muster::testkit::fuzz_document(data, size, muster::looks_like_prometheus_json,
                                        muster::make_prometheus_json_decoder);
}
