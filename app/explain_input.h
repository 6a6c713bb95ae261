#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/log_scan.h"
#include "base/result.h"
#include "core/model/finding.h"
#include "core/model/site_fact.h"
#include "edge/os/files.h"

// Everything that comes into `explain`: logs of any kind and documents of a site, alone, in folders
// and in archives, in any mixture. Each file is known by its content.

namespace muster {

struct ExplainReading {
  std::vector<ScannedLog> logs;  // in the order of the paths, a rotated log from old to new
  std::vector<SiteFact> facts;
  std::vector<Blind> blind;  // what could not be read, and why
  std::vector<std::string> notes;
  std::size_t documents = 0;  // of a site
  std::size_t dumps = 0;      // of the flight recorder: for another verb
};

struct ReadProgress {
  std::size_t files = 0, of_files = 0;
  std::uint64_t bytes = 0;  // unpacked
};

// Two files are read at a time; the answer does not depend on which is done first. Files and
// members of archives of any size stream through; memory grows with what they tell, not with them.
// `on_progress` is called as bytes come, one call at a time. What is unreadable is `blind`. Fails
// only where nothing at all could be read, with the first reason.
Result<ExplainReading> read_explain_inputs(
    const std::vector<std::string>& paths, const LogAnchors& anchors, Files& files,
    const std::function<void(const ReadProgress&)>& on_progress);

}  // namespace muster
