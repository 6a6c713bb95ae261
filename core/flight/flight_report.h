#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/flight/verdict.h"
#include "core/model/finding.h"

namespace muster {

// The verdicts in the one form of an answer. `hosts` maps ranks to hosts where that is known: the
// summary then names them. What was there to judge from goes into the notes.
std::vector<Finding> flight_findings(const FlightAnalysis& analysis,
                                     const std::map<std::int32_t, std::string>& hosts);
std::vector<std::string> coverage_notes(const FlightAnalysis& analysis);

}  // namespace muster
