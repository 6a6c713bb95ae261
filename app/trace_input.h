#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/flight/dump.h"
#include "core/model/finding.h"
#include "core/model/rank_witness.h"
#include "edge/os/files.h"

// Everything that comes into `trace`: dumps of the flight recorder, logs of ranks, answers of NCCL
// RAS, host maps; alone, in folders and in archives, in any mixture. Each file is known by its
// content.

namespace muster {

struct TraceInput {
  std::vector<FlightDump> dumps;  // in the order of the paths, folders by name
  std::vector<RankWitness> witnesses;
  std::map<std::int32_t, std::string> hosts;  // of a host map, else of RAS
  std::vector<Blind> blind;                   // what could not be read, and why
  std::vector<std::string> notes;
  std::size_t logs = 0;  // files that were read as logs
};

struct TraceInputOptions {
  // Paths that are what they are said to be, for where the content leaves doubt.
  std::vector<std::string> logs = {}, ras = {};
  std::optional<std::string> hosts = std::nullopt;
  // 0: as many as the machine has cores. More than one calls `files` from several at a time.
  std::size_t threads = 0;
};

// Folders are walked limits::kFolderDepth deep; links inside of them are passed over with a note,
// so that nothing outside of a folder is read; so are pipes, sockets and devices. Of a dump no more
// than a row is in memory at one time, of a log a line; what must be known whole is bounded by
// limits::kDocumentBytes, and what all dumps become by limits::kFlightRunBytes.
// What is unreadable is `blind` (limits::kInputsNamed of it, the rest is counted); an empty file
// with the name of a dump is a dump that its rank began and never finished: a FlightDump without
// entries, and `blind`. Fails only where nothing at all could be read, with the first reason.
Result<TraceInput> read_trace_inputs(const std::vector<std::string>& paths,
                                     const TraceInputOptions& options, Files& files);

// The rank that the name of a log tells: "rank5.log", "out/rank_5.err", "train-rank-5.txt". Other
// numbers in names are no ranks ("node3.log").
std::optional<std::int32_t> log_rank_of(std::string_view name);

}  // namespace muster
