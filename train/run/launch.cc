#include "train/run/launch.h"

#include <fmt/core.h>

#include "base/limits.h"
#include "base/text.h"

namespace muster::train {
namespace {

constexpr int kFirstPort = 20'000, kPorts = 20'000;  // below the ephemeral ones of Linux

class Variables {
 public:
  explicit Variables(const Environment& environment) : environment_(environment) {}

  // Empty and set is not set.
  std::optional<std::string> text(const std::string& name) const {
    auto value = environment_.get(name);
    return value && !value->empty() ? value : std::nullopt;
  }
  // The first fault is kept.
  std::optional<int> number(const std::string& name, int least, int most) {
    const auto value = text(name);
    if (!value) return std::nullopt;
    const auto parsed = parse_int(*value);
    if (!parsed || *parsed < least || *parsed > most) {
      complain(fmt::format("{}={}: not a number from {} to {}", name, escape_controls(*value, 40),
                           least, most));
      return std::nullopt;
    }
    return static_cast<int>(*parsed);
  }
  int require(const std::string& name, int least, int most, std::string_view beside) {
    if (!text(name)) complain(fmt::format("{} is set, {} is not", beside, name));
    return number(name, least, most).value_or(least);
  }
  void complain(std::string text) {
    if (!fault_) fault_ = make_error(Errc::invalid_input, std::move(text));
  }
  const std::optional<Error>& fault() const { return fault_; }

 private:
  const Environment& environment_;
  std::optional<Error> fault_;
};

constexpr int kMostRanks = limits::kRanks;

Status check_place(const LaunchPlace& place) {
  const auto refuse = [](std::string text) {
    return Status(make_error(Errc::invalid_input, std::move(text)));
  };
  if (place.rank >= place.world) {
    return refuse(fmt::format("rank {} of {} ranks: they count from 0", place.rank, place.world));
  }
  if (place.local_rank >= place.world) {
    return refuse(fmt::format("local rank {} of {} ranks", place.local_rank, place.world));
  }
  return {};
}

Result<LaunchPlace> torchrun_place(Variables& variables) {
  LaunchPlace place;
  place.launcher = "torchrun";
  place.rank = variables.require("RANK", 0, kMostRanks - 1, "WORLD_SIZE");
  place.world = variables.require("WORLD_SIZE", 1, kMostRanks, "RANK");
  place.local_rank = variables.number("LOCAL_RANK", 0, kMostRanks - 1).value_or(0);
  // Who does not say how many ranks a host has is taken to have several hosts.
  const int local =
      variables.number("LOCAL_WORLD_SIZE", 1, kMostRanks).value_or(place.world == 1 ? 1 : 0);
  place.one_host = local == place.world;
  const std::string run = variables.text("TORCHELASTIC_RUN_ID").value_or("");
  const std::string attempt = variables.text("TORCHELASTIC_RESTART_COUNT").value_or("");
  if (place.world > 1) {
    place.master_address = variables.text("MASTER_ADDR").value_or("");
    if (place.master_address.empty()) variables.complain("RANK is set, MASTER_ADDR is not");
    const int port = variables.require("MASTER_PORT", 1, 65'534, "RANK");
    place.master_port = static_cast<std::uint16_t>(port + 1);
    place.token = fmt::format("{}/{}/{}:{}", run, attempt, place.master_address, port);
  }
  if (variables.fault()) return *variables.fault();
  return place;
}

Result<LaunchPlace> slurm_place(Variables& variables) {
  LaunchPlace place;
  place.launcher = "Slurm";
  place.rank = variables.require("SLURM_PROCID", 0, kMostRanks - 1, "SLURM_NTASKS");
  place.world = variables.number("SLURM_NTASKS", 1, kMostRanks).value_or(1);
  const auto step = variables.text("SLURM_STEP_ID");
  if (place.world > 1 && !step) {
    variables.complain(
        "SLURM_NTASKS asks for several ranks, but this is no step of Slurm: start "
        "it with srun");
  }
  place.local_rank = variables.number("SLURM_LOCALID", 0, kMostRanks - 1).value_or(0);
  const int nodes = variables.number("SLURM_STEP_NUM_NODES", 1, kMostRanks).value_or(0);
  place.one_host = place.world == 1 || nodes == 1;
  const std::string job = variables.text("SLURM_JOB_ID").value_or("0");
  const std::string restart = variables.text("SLURM_RESTART_COUNT").value_or("0");
  place.token = fmt::format("slurm/{}/{}/{}", job, step.value_or(""), restart);
  if (place.world > 1) {
    place.master_address =
        variables.text("MASTER_ADDR")
            .value_or(first_host(variables.text("SLURM_STEP_NODELIST").value_or("")));
    if (place.master_address.empty() && !place.one_host) {
      variables.complain("SLURM_STEP_NODELIST names no host: set MASTER_ADDR");
    }
    const auto port = variables.number("MASTER_PORT", 1, 65'534);
    const auto id = parse_uint(job).value_or(0);
    place.master_port =
        static_cast<std::uint16_t>(port ? *port + 1 : kFirstPort + static_cast<int>(id % kPorts));
  }
  if (variables.fault()) return *variables.fault();
  return place;
}

}  // namespace

Result<LaunchPlace> read_launch(const Environment& environment) {
  Variables variables(environment);
  Result<LaunchPlace> place = LaunchPlace{};
  if (variables.text("RANK") || variables.text("WORLD_SIZE")) {
    place = torchrun_place(variables);
  } else if (variables.text("SLURM_PROCID") || variables.text("SLURM_NTASKS")) {
    place = slurm_place(variables);
  }
  if (!place) return place;
  if (const Status fine = check_place(*place); !fine) return fine.error();
  return place;
}

std::string first_host(std::string_view node_list) {
  const std::size_t end = node_list.find_first_of(",[");
  const std::string_view head = node_list.substr(0, end);
  if (end == std::string_view::npos || node_list[end] == ',') return std::string(head);
  const std::string_view inside = node_list.substr(end + 1);
  const std::size_t stop = inside.find_first_of("-,]");
  if (stop == std::string_view::npos || stop == 0) return {};
  const std::size_t close = inside.find(']');
  if (close == std::string_view::npos) return {};
  const std::string_view after = inside.substr(close + 1);
  return std::string(head) + std::string(inside.substr(0, stop)) +
         std::string(after.substr(0, after.find(',')));
}

}  // namespace muster::train
