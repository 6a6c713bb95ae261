#pragma once

#include <memory>
#include <string_view>

#include "core/telemetry/decoder.h"

namespace muster {

// dcgmi dmon -e FIELDS: "#Entity" and the short names of the fields, a line "ID", then rows such as
// "GPU 0   627.020  100". The heading comes again every few rows.
//
// Keys: the index of DCGM (that of NVML, unless the host engine was told otherwise), and the UUID
// and the name where those fields are asked for. Rows carry no time. Rows of other entities
// (instances of MIG, links, switches, CPUs) are no GPUs and are passed over. Blank values of DCGM
// that leaked out as numbers are Absence::blank. Errors of the tool become notes.
bool looks_like_dcgmi_dmon(std::string_view head);
std::unique_ptr<Decoder> make_dcgmi_dmon_decoder(const DecoderOptions& options);

}  // namespace muster
