#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace muster::storage {

// Disk::fio() of the real machine: runs `program` of PATH with these arguments and an empty
// standard input, and gives its standard output (at most limits::kContractBytes). Where it fails,
// the error has the beginning of what it wrote to standard error. Killed at `patience` and at
// `stop`; one that the kernel does not let go of is left behind.
Result<std::string> run_program(const std::string& program,
                                const std::vector<std::string>& arguments, Duration patience,
                                std::stop_token stop);

}  // namespace muster::storage
