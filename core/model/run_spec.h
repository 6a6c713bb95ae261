#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/model/action.h"

// What was asked of a run: the facts of run.toml (docs/FORMATS.md). The file is read in
// edge/config/.

namespace muster {

enum class Engine : std::uint8_t { local, ssh, slurm };

std::string_view engine_name(Engine engine);
std::optional<Engine> engine_from_name(std::string_view name);

struct RunLimits {
  std::optional<std::int64_t> max_attempts;
  std::optional<std::int64_t> max_wall_s;  // of all attempts together

  bool operator==(const RunLimits&) const = default;
};

struct RunSpec {
  std::vector<std::string> command;  // program and arguments, never a line for a shell
  Engine engine = Engine::local;
  std::vector<std::string> hosts;  // empty for local, or where Slurm chooses
  std::optional<std::int64_t> target_step;
  std::optional<std::string> checkpoint_folder;
  RunLimits limits;
  // Arguments the launcher adds when a verdict asks for the action. None unless the user says so.
  std::map<Action, std::vector<std::string>> remedy;

  bool operator==(const RunSpec&) const = default;
};

// What no single field shows: a command is there, ssh has hosts, no host stands twice or could be
// taken for an option.
Status check_run_spec(const RunSpec& spec);

}  // namespace muster
