#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/metric.h"
#include "core/model/telemetry_row.h"

// Bytes of any telemetry dialect -> rows and notes (core/model/telemetry_row.h).
//
//   Dialect d = recognise(head);                     // first few KiB, by content
//   auto decoder = make_decoder(d, options);
//   decoder->feed(chunk, sink); ... decoder->finish(sink);
//
// Line dialects lose only the damaged lines, each with a note; documents (XML, JSON) give the
// reason and what stood before the damage. Memory does not depend on the length of the input,
// except for documents, which are held up to limits::kDocumentBytes. No decoder ever throws or
// aborts on input.

namespace muster {

enum class Dialect : std::uint8_t {
  unknown,
  nvsmi_csv,        // nvidia-smi --query-gpu ... --format=csv, and CSV files made from it
  nvsmi_dmon,       // nvidia-smi dmon
  nvsmi_pmon,       // nvidia-smi pmon
  nvsmi_xml,        // nvidia-smi -q -x
  nvsmi_list,       // nvidia-smi failed as a whole: its error text
  dcgmi_dmon,       // dcgmi dmon
  prometheus_text,  // dcgm-exporter, nvidia_gpu_exporter, node_exporter, our agent
  prometheus_json,  // answer of /api/v1/query or query_range
  table_csv,        // any other CSV: by --columns or by the names of its heading
  lspci,            // lspci -vv: LnkCap and LnkSta
  recording,        // our own (edge/record), after decompression
};

std::string_view dialect_name(Dialect dialect);

// `--columns time=time_ms,host=node,power_w=power_w`: our name = the file's column.
// Names on the left: a Metric, or time host index rank uuid pci name group.
struct ColumnMapping {
  std::string ours;
  std::string theirs;
};

struct DecoderOptions {
  std::vector<ColumnMapping> columns;
};

class Decoder {
 public:
  virtual ~Decoder() = default;
  // Takes the next bytes; chunks may be cut anywhere.
  virtual void feed(std::string_view chunk, TelemetrySink& sink) = 0;
  // The input has ended: the torn last line or document is handled here. Call once.
  virtual void finish(TelemetrySink& sink) = 0;
};

// By content, from the first bytes of the input (8 KiB are plenty; fewer are fine). `unknown` for
// what no reader claims: a trainer's log, a kernel log, junk.
Dialect recognise(std::string_view head);

// A decoder for every dialect but `unknown` (a MUSTER_CHECK).
std::unique_ptr<Decoder> make_decoder(Dialect dialect, const DecoderOptions& options);

}  // namespace muster
