#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/flight/verdict.h"
#include "core/model/finding.h"

namespace muster {

// The verdicts in the one form of an answer. `hosts` maps ranks to hosts where that is known: the
// summary then names those of the culprits, and of all who wait where the fault lies between them.
// Bounded (limits::kFindingsNamed, kCulpritsNamed, kEvidenceLines): what is left out is counted.
//
// The failure that a culprit's own log tells becomes the cause. Not one that lies more than 13
// hours before the wait (an earlier attempt); after more than one the answer is not sure, since a
// log without a zone is read as UTC.
//
// What was there to judge from goes into the notes.
std::vector<Finding> flight_findings(const FlightAnalysis& analysis,
                                     const std::map<std::int32_t, std::string>& hosts);
std::vector<std::string> coverage_notes(const FlightAnalysis& analysis);

}  // namespace muster
