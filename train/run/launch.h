#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "edge/os/environment.h"

namespace muster::train {

// Which rank this process is, by whoever started it.
struct LaunchPlace {
  int rank = 0, world = 1;
  int local_rank = 0;          // on this host
  bool one_host = true;        // all ranks: then they talk through memory, else over TCP
  std::string token;           // all ranks of one attempt have the same, and nobody else
  std::string master_address;  // host of rank 0; empty where all ranks are on one host
  std::uint16_t master_port = 0;
  std::string launcher;  // "torchrun", "Slurm"; empty: started alone
};

// Of torchrun and its like (RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR,
// MASTER_PORT), else of srun (SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID, ...), else one rank alone.
// MASTER_ADDR and MASTER_PORT count under srun as well; without them rank 0 is on the first host of
// the step, and the port follows from the number of the job. The port used is the one behind
// MASTER_PORT: the launcher's own store has that one.
//
// Errc::invalid_input, with the variable: half of a set, no number, a rank that is none of the
// world, several tasks of Slurm without a step (`muster train` in a batch script without srun would
// wait for ranks that nobody starts).
Result<LaunchPlace> read_launch(const Environment& environment);

// The first host of Slurm's list: "n[003-7,12],m1" is "n003". Empty where it is no such list.
std::string first_host(std::string_view node_list);

}  // namespace muster::train
