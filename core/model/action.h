#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

// The closed list of what a finding may advise. Advice only: an action is a word in a report until
// core/policy/ turns it into something that the launcher does.

namespace muster {

enum class Action : std::uint8_t {
  none,
  watch,
  recheck,
  collect_evidence,
  drain_host,
  exclude_host,
  undrain_host,
  reboot_host,
  power_cycle_host,
  reset_gpu,
  replace_gpu,
  check_power_cooling,
  update_driver,
  start_service,
  recreate_container,
  ask_vendor,
  check_link,
  disable_port_pair,
  fix_network,
  fix_config,
  fix_code,
  fix_data,
  fix_monitoring,
  raise_limit,
  raise_timeout,
  reduce_memory,
  equalize_steps,
  speed_up_input,
  coordinate_gc,
  warm_up_ranks,
  free_disk,
  repair_storage,
  replace_disk,
  restart_from_checkpoint,
  step_back_checkpoint,
  quarantine_checkpoint,
  keep_result,
  stop_restarts,
  cancel_job,
  stop_process,
  find_sender,
  refuse_launch,
};

struct ActionRow {
  Action action;
  std::string_view name;
  std::string_view meaning;
};

std::span<const ActionRow> action_table();
std::string_view action_name(Action action);
std::optional<Action> action_from_name(std::string_view name);

}  // namespace muster
