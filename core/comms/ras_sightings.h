#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/comms/ras_reader.h"

namespace muster::ras {

// One GPU of the job, however many communicators it is in.
struct Place {
  std::string host;
  std::int64_t pid = -1;
  std::int64_t device = -1;

  auto operator<=>(const Place&) const = default;
};

// Something that RAS says of one rank of one communicator.
struct Sighting {
  WitnessKind kind = WitnessKind::ras_missing;
  bool of_job = false;  // `rank` is the rank of the job
  std::int64_t rank = -1;
  Place place;
  std::string op;
  std::optional<std::int64_t> count;
  std::optional<int> code;
  std::optional<std::uint64_t> line;
  std::string text;
};

// How far each rank of a communicator came with one kind of operation.
struct Counts {
  struct Rank {
    std::int64_t rank = -1;
    std::int64_t count = 0;
    Place place;
    std::optional<std::uint64_t> line;
  };
  std::string op;    // "AllReduce"; "collective" before 2.26: all kinds together
  std::string comm;  // for people
  bool of_job = false;
  std::int64_t size = 0;    // ranks of the communicator
  std::int64_t most = 0;    // the highest count
  std::int64_t below = 0;   // ranks with a lower one, listed or not
  std::vector<Rank> ranks;  // those that are listed
};

// Those behind, where they are the fewer: one rank that is ahead of all others makes nobody late.
void sight_behind(const Counts& counts, std::vector<Sighting>& out);

// Sightings -> witnesses with ranks of the job, or notes. `job`: the GPU of each rank.
void place_sightings(const std::vector<Sighting>& sightings,
                     const std::map<Place, std::int32_t>& job, const std::string& source,
                     std::optional<WallTime> at, RasReading& out);

// ncclResult_t of a rank; nothing for success and work in progress.
std::optional<WitnessKind> kind_of_result(std::int64_t result);

// The text form (STATUS, VERBOSE STATUS).
RasReading read_text(std::string_view text, const std::string& source);

}  // namespace muster::ras
