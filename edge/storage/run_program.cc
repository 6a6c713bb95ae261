#include "edge/storage/run_program.h"

#include <fmt/core.h>

#include <cerrno>
#include <utility>

#include "base/limits.h"
#include "base/text.h"
#include "edge/os/child_process.h"
#include "edge/os/files.h"

namespace muster::storage {

Result<std::string> run_program(const std::string& program,
                                const std::vector<std::string>& arguments, Duration patience,
                                std::stop_token stop) {
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  ChildRun run = run_child({.words = std::move(words),
                            .patience = patience,
                            .most_output = limits::kContractBytes,
                            .stop = std::move(stop)});
  if (run.start_error == ENOENT) return make_error(Errc::not_found, program + " is not installed");
  if (run.start_error != 0) return errno_error("starting " + program, run.start_error);
  if (run.stopped) return make_error(Errc::unavailable, "stopped");
  if (run.late || !run.status) return make_error(Errc::timeout, program + " did not end in time");
  if (*run.status == 0) return std::move(run.output);
  const std::string_view said =
      trim(run.errors.empty() ? std::string_view(run.output) : std::string_view(run.errors));
  return make_error(Errc::unavailable,
                    fmt::format("{} failed: {}", program, said.substr(0, said.find('\n'))));
}

}  // namespace muster::storage
