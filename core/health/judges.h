#pragma once

#include "core/health/judge.h"

// The judges of the table of checks, by group. What each of them holds against what stands in its
// row (check_table.cc) and in its test; all are pure and answer with at least one result.

namespace muster::health {

// gpu
Judged judge_gpu_driver(const HostProbe& probe, const Limits& limits);
Judged judge_gpu_count(const HostProbe& probe, const Limits& limits);
Judged judge_gpu_ecc(const HostProbe& probe, const Limits& limits);
Judged judge_gpu_ecc_mode(const HostProbe& probe, const Limits& limits);
Judged judge_gpu_remap(const HostProbe& probe, const Limits& limits);
Judged judge_gpu_recovery(const HostProbe& probe, const Limits& limits);
Judged judge_gpu_memory(const HostProbe& probe, const Limits& limits);
Judged judge_gpu_persistence(const HostProbe& probe, const Limits& limits);
Judged judge_gpu_temperature(const HostProbe& probe, const Limits& limits);
Judged judge_gpu_clocks(const HostProbe& probe, const Limits& limits);
Judged judge_gpu_power_limit(const HostProbe& probe, const Limits& limits);
// vbios
Judged judge_gpu_versions(const HostProbe& probe, const Limits& limits);
// nvlink
Judged judge_nvlink_links(const HostProbe& probe, const Limits& limits);
Judged judge_nvlink_errors(const HostProbe& probe, const Limits& limits);
Judged judge_fabric_manager(const HostProbe& probe, const Limits& limits);
// ib and firmware
Judged judge_ib_ports(const HostProbe& probe, const Limits& limits);
Judged judge_ib_rate(const HostProbe& probe, const Limits& limits);
Judged judge_ib_counters(const HostProbe& probe, const Limits& limits);
Judged judge_ib_firmware(const HostProbe& probe, const Limits& limits);
// pcie and gdr
Judged judge_pcie_links(const HostProbe& probe, const Limits& limits);
Judged judge_pcie_acs(const HostProbe& probe, const Limits& limits);
Judged judge_gdr(const HostProbe& probe, const Limits& limits);
// disk_space, disk and storage
Judged judge_disk_space(const HostProbe& probe, const Limits& limits);
Judged judge_shm(const HostProbe& probe, const Limits& limits);
Judged judge_zpool(const HostProbe& probe, const Limits& limits);
Judged judge_nvme(const HostProbe& probe, const Limits& limits);
Judged judge_md_arrays(const HostProbe& probe, const Limits& limits);
Judged judge_network_mounts(const HostProbe& probe, const Limits& limits);
// os, time and docker
Judged judge_swap(const HostProbe& probe, const Limits& limits);
Judged judge_process_limits(const HostProbe& probe, const Limits& limits);
Judged judge_cpu_clock(const HostProbe& probe, const Limits& limits);
Judged judge_memory_errors(const HostProbe& probe, const Limits& limits);
Judged judge_services(const HostProbe& probe, const Limits& limits);
Judged judge_stuck_processes(const HostProbe& probe, const Limits& limits);
Judged judge_clock_skew(const HostProbe& probe, const Limits& limits);
Judged judge_time_sync(const HostProbe& probe, const Limits& limits);
Judged judge_docker(const HostProbe& probe, const Limits& limits);

}  // namespace muster::health
