#include "core/telemetry/decoder.h"

#include "base/check.h"
#include "core/telemetry/csv_decoder.h"
#include "core/telemetry/dcgmi_dmon.h"
#include "core/telemetry/lspci.h"
#include "core/telemetry/nvsmi_scroll.h"
#include "core/telemetry/nvsmi_xml.h"
#include "core/telemetry/prometheus_json.h"
#include "core/telemetry/prometheus_text.h"
#include "core/telemetry/recording.h"
#include "core/telemetry/tool_text.h"

namespace muster {
namespace {

struct DialectRow {
  Dialect dialect;
  std::string_view name;
  bool (*looks_like)(std::string_view head);
  std::unique_ptr<Decoder> (*make)(const DecoderOptions& options);
};

// In the order of asking: the more particular first.
constexpr DialectRow kTable[] = {
    {Dialect::recording, "muster recording", looks_like_recording, make_recording_decoder},
    {Dialect::nvsmi_xml, "nvidia-smi XML", looks_like_nvsmi_xml, make_nvsmi_xml_decoder},
    {Dialect::prometheus_json, "Prometheus query answer", looks_like_prometheus_json,
     make_prometheus_json_decoder},
    {Dialect::lspci, "lspci -vv", looks_like_lspci, make_lspci_decoder},
    {Dialect::prometheus_text, "Prometheus text", looks_like_prometheus_text,
     make_prometheus_text_decoder},
    {Dialect::nvsmi_pmon, "nvidia-smi pmon", looks_like_pmon, make_pmon_decoder},
    {Dialect::nvsmi_dmon, "nvidia-smi dmon", looks_like_dmon, make_dmon_decoder},
    {Dialect::dcgmi_dmon, "dcgmi dmon", looks_like_dcgmi_dmon, make_dcgmi_dmon_decoder},
    {Dialect::nvsmi_csv, "nvidia-smi query CSV", looks_like_nvsmi_csv, make_csv_decoder},
    {Dialect::table_csv, "CSV table", looks_like_table_csv, make_csv_decoder},
    {Dialect::nvsmi_list, "failure of nvidia-smi or dcgmi", looks_like_tool_failure,
     make_tool_failure_decoder},
};

}  // namespace

std::string_view dialect_name(Dialect dialect) {
  for (const DialectRow& row : kTable) {
    if (row.dialect == dialect) return row.name;
  }
  return "unknown";
}

Dialect recognise(std::string_view head) {
  for (const DialectRow& row : kTable) {
    if (row.looks_like(head)) return row.dialect;
  }
  return Dialect::unknown;
}

std::unique_ptr<Decoder> make_decoder(Dialect dialect, const DecoderOptions& options) {
  for (const DialectRow& row : kTable) {
    if (row.dialect == dialect) return row.make(options);
  }
  MUSTER_CHECK(false, "a decoder is asked for a dialect that was recognised");
}

}  // namespace muster
