#pragma once

#include <cstdint>
#include <string>

#include "core/explain/scene.h"
#include "core/model/site_fact.h"

namespace muster {

// First word of its state in lower case: "cancelled" of "CANCELLED by 1044".
std::string state_word(const JobRecord& job);

// Whether a record of the scheduler is of the job of the logs: the names or lines of these hold its
// id, or something of the run lies within its times.
enum class Belongs : std::uint8_t { no, unknown, yes };
Belongs belongs(const Scene& scene, const JobRecord& job);

}  // namespace muster
