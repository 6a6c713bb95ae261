#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "core/model/finding.h"

namespace muster {

class JsonNode;
class JsonWriter;

// The report as one line of JSON, schema "muster.report/1" (docs/FORMATS.md), without a newline.
std::string encode_report(const Report& report);
// The other way. A cause, action or kind of culprit that this program does not know is an error: a
// reader is never older than the writer. Blind::hides_critical does not stand in the document; it
// comes back as true.
Result<Report> decode_report(std::string_view bytes);

// The same as a part of a larger document; `where` ("report.") stands in front of complaints.
void write_report(JsonWriter& writer, const Report& report);
// Its fields alone, into an object that has others beside them.
void write_report_fields(JsonWriter& writer, const Report& report);
Result<Report> read_report(const JsonNode& node, const std::string& where);

}  // namespace muster
