#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"

namespace muster::train {

struct LocalRanks {
  // Of the rank that failed first, 128 + its signal where one ended it; 0: none. Where that one was
  // out of step (76), of the next that failed for a reason of its own, if one did.
  int status = 0;
  std::optional<std::string> first;  // "rank 3 ended first, with status 74"
};

// Starts `count` copies of this process as ranks of one host: each runs `rank_main(rank)` and ends
// with what it returns. SIGTERM, SIGINT and SIGUSR1 go on to all of them, and are blocked
// in them until they watch (stop_request.h): one that comes early is not lost, and ends none. Ranks
// that are left when one failed get `grace` to say why, then SIGKILL. Where this process is killed,
// they get SIGTERM.
//
// Only before there are threads, and once. Errc::exhausted: no process could be made; those that
// were are ended.
Result<LocalRanks> run_local_ranks(int count, const std::function<int(int rank)>& rank_main,
                                   Duration grace);

}  // namespace muster::train
