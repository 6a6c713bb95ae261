#pragma once

#include <string>

#include "core/model/kernel_event.h"
#include "core/model/log_event.h"

namespace muster {

// An event of a kernel log among those of all logs. Its rule is the name of its kind, its words are
// "code", "pci", "gpu_uuid", "process", "device", "link", "caused_by", "grade" (corrected,
// nonfatal, fatal), "recovery" (number of Xid 154) and "unit" (of NVLink 5), where the line has
// them.
//
// Role: benign where its cause means nothing; context where something came back by itself;
// confirmation where the line counts, grades or advises but names no cause; else root.
LogEvent log_event_of(const KernelEvent& event, const std::string& source);

}  // namespace muster
