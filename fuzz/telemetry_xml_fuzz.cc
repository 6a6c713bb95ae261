#include "core/telemetry/nvsmi_xml.h"
#include "tests/support/document_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return muster::testkit::fuzz_document(data, size, muster::looks_like_nvsmi_xml,
                                        muster::make_nvsmi_xml_decoder);
}
