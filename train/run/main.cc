#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "base/text.h"
#include "edge/os/clock.h"
#include "edge/os/environment.h"
#include "train/run/launch.h"
#include "train/run/local_ranks.h"
#include "train/run/stop_request.h"
#include "train/run/train_options.h"
#include "train/run/train_rank.h"

namespace muster::train {
namespace {

// How long ranks may take to say why, when one of them has failed.
constexpr Duration kGrace = std::chrono::seconds(30);

int complain(std::string_view text, ExitStatus status) {
  std::fputs(fmt::format("muster train: {}\n", escape_controls(text, 2000)).c_str(), stderr);
  return static_cast<int>(status);
}

// Nobody else has it: this process, at this moment.
std::string own_token() {
  return fmt::format("local/{}/{}", ::getpid(), system_clock().mono().time_since_epoch().count());
}

int run_alone(const TrainOptions& options, const LaunchPlace& place, const std::string& run,
              std::int64_t attempt) {
  watch_stop_signals();
  return static_cast<int>(run_rank(options, place, run, attempt));
}

int run_local(const TrainOptions& options, const std::string& run, std::int64_t attempt) {
  LaunchPlace place;
  place.world = static_cast<int>(options.local);
  place.token = own_token();
  const auto ended = run_local_ranks(
      place.world,
      [&](int rank) {
        LaunchPlace own = place;
        own.rank = own.local_rank = rank;
        return run_alone(options, own, run, attempt);
      },
      kGrace);
  if (!ended) return complain(ended.error().context, ExitStatus::internal);
  // Ranks that end by a decision of all say so themselves, and which of them is first means
  // nothing.
  const auto decided = {ExitStatus::storage, ExitStatus::saved, ExitStatus::out_of_step,
                        ExitStatus::refused_config, ExitStatus::do_not_restart};
  const auto is_status = [&ended](ExitStatus status) {
    return ended->status == static_cast<int>(status);
  };
  if (ended->first && std::none_of(decided.begin(), decided.end(), is_status)) {
    complain(*ended->first, ExitStatus::ok);
  }
  return ended->status;
}

int run_program(const std::vector<std::string>& words) {
  const auto parsed = parse_train_options(words);
  if (!parsed) return complain(parsed.error().context, ExitStatus::usage);
  if (parsed->help) {
    std::fputs(train_help().c_str(), stdout);
    return 0;
  }
  const TrainOptions& options = parsed->options;
  const Environment& environment = real_environment();
  std::string run = options.run.empty() ? environment.get("MUSTER_RUN").value_or("") : options.run;
  if (run.empty()) run = options.out;
  const auto attempt = parse_int(environment.get("MUSTER_ATTEMPT").value_or("1"));
  if (!attempt || *attempt < 1) {
    return complain("MUSTER_ATTEMPT is a number from 1", ExitStatus::usage);
  }
  if (options.local > 1) return run_local(options, run, *attempt);
  auto place = options.local == 1 ? Result<LaunchPlace>(LaunchPlace{}) : read_launch(environment);
  if (!place) return complain(place.error().context, ExitStatus::usage);
  if (place->world == 1) place->token = own_token();
  return run_alone(options, *place, run, *attempt);
}

}  // namespace
}  // namespace muster::train

int main(int argc, char** argv) {
  ::signal(SIGPIPE, SIG_IGN);  // a reader that went away ends no run
  return muster::train::run_program({argv + (argc > 0 ? 1 : 0), argv + argc});
}
