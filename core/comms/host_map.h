#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

// Which host runs which rank: dumps of the flight recorder do not say it. Lines in any of these
// forms, mixed at will; blank lines and lines that begin with '#' are passed over:
//
//   3 n01            rank host, also with a comma or a tab between
//   3: n01           srun -l hostname
//   0-7,16: n01      ranks and their host
//   n01: 0-7,16      host and its ranks
//   n[01-04]: 0-31   hosts in Slurm's form, which share the ranks in blocks of one size
//
// or one JSON object: {"0": "n01", "1": "n01"}. A host has a letter, a dot or a colon in it, so
// that it is no number.
struct HostMap {
  std::map<std::int32_t, std::string> hosts;
  // "line 3: rank 4 is on n01 and on n02": the first stays. At most limits::kNotesOfLog.
  std::vector<std::string> complaints;
};

HostMap parse_host_map(std::string_view bytes);

// A file that is nothing but a host map: at least one rank and not one complaint.
bool looks_like_host_map(std::string_view bytes);

}  // namespace muster
