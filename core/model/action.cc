#include "core/model/action.h"

#include "base/check.h"

namespace muster {
namespace {

constexpr ActionRow kTable[] = {
    {Action::none, "none", "nothing to do"},
    {Action::watch, "watch", "keep an eye on it, act if it repeats or outlasts its limit"},
    {Action::recheck, "recheck",
     "measure again under the right condition (load, later, after the fix)"},
    {Action::collect_evidence, "collect_evidence",
     "dumps, stacks, logs, tests before any decision"},
    {Action::drain_host, "drain_host", "take the node out of use"},
    {Action::exclude_host, "exclude_host", "restart without this node, with an expiry"},
    {Action::undrain_host, "undrain_host", "put a node back into use"},
    {Action::reboot_host, "reboot_host", "reboot the node"},
    {Action::power_cycle_host, "power_cycle_host", "cut the power, then start"},
    {Action::reset_gpu, "reset_gpu", "reset the GPU"},
    {Action::replace_gpu, "replace_gpu", "pull the GPU, open a replacement case"},
    {Action::check_power_cooling, "check_power_cooling",
     "cables, power supply, fan, heat sink, riser, chassis table"},
    {Action::update_driver, "update_driver",
     "install the fixed or the matching driver, firmware or manager"},
    {Action::start_service, "start_service", "start a missing service"},
    {Action::recreate_container, "recreate_container", "delete and recreate the container or pod"},
    {Action::ask_vendor, "ask_vendor", "open a case with the vendor"},
    {Action::check_link, "check_link", "cable, transceiver and port of a link"},
    {Action::disable_port_pair, "disable_port_pair", "disable both ends of a link"},
    {Action::fix_network, "fix_network",
     "addresses, routing, lossless settings, missing network devices"},
    {Action::fix_config, "fix_config", "change a setting of the run, launcher or node"},
    {Action::fix_code, "fix_code", "change the program"},
    {Action::fix_data, "fix_data", "repair, skip or copy the data again"},
    {Action::fix_monitoring, "fix_monitoring", "change the probe or the alert"},
    {Action::raise_limit, "raise_limit",
     "resource limit: memory, shared memory, open files, locked memory"},
    {Action::raise_timeout, "raise_timeout", "time limit of a collective"},
    {Action::reduce_memory, "reduce_memory", "less memory use of GPU or host"},
    {Action::equalize_steps, "equalize_steps", "same number of steps on every rank"},
    {Action::speed_up_input, "speed_up_input", "prefetch, pack, more readers, faster source"},
    {Action::coordinate_gc, "coordinate_gc", "collect garbage at the same step on all ranks"},
    {Action::warm_up_ranks, "warm_up_ranks",
     "compile or build once on every rank before the first collective"},
    {Action::free_disk, "free_disk", "free space or inodes"},
    {Action::repair_storage, "repair_storage", "the file server or its path"},
    {Action::replace_disk, "replace_disk", "replace a local disk"},
    {Action::restart_from_checkpoint, "restart_from_checkpoint",
     "restart from the newest complete checkpoint"},
    {Action::step_back_checkpoint, "step_back_checkpoint",
     "use an older checkpoint than the newest"},
    {Action::quarantine_checkpoint, "quarantine_checkpoint",
     "move a bad or partial checkpoint aside"},
    {Action::keep_result, "keep_result", "the results are there, do not run again"},
    {Action::stop_restarts, "stop_restarts", "stop automatic restarts"},
    {Action::cancel_job, "cancel_job", "end the job"},
    {Action::stop_process, "stop_process", "end a left-over process"},
    {Action::find_sender, "find_sender", "find who sent the signal"},
    {Action::refuse_launch, "refuse_launch", "do not start"},
};

}  // namespace

std::span<const ActionRow> action_table() {
  return kTable;
}

std::string_view action_name(Action action) {
  const auto index = static_cast<std::size_t>(action);
  MUSTER_CHECK(index < std::size(kTable), "every action has a row");
  return kTable[index].name;
}

std::optional<Action> action_from_name(std::string_view name) {
  for (const ActionRow& row : kTable) {
    if (row.name == name) return row.action;
  }
  return std::nullopt;
}

}  // namespace muster
