#pragma once

#include <string>
#include <vector>

#include "core/model/finding.h"
#include "edge/os/files.h"

namespace muster {

// `muster pack FILE...` without --out: what the run's settings and the tables of its data say about
// its steps. Files are known by their content; folders are read with what lies in them; "-" is
// standard input. Per-rank files of ids (*.i32 and what binary file has a rank in its name) are
// rows of the table by their size; a folder that holds a pack is verified as `pack verify --quick`
// does. Fails only where nothing could be read, with the first reason.
Result<Report> judge_pack_inputs(const std::vector<std::string>& paths, Files& files);

}  // namespace muster
