#include "core/explain/rule_row.h"

// NCCL 2.8 to 2.30, whose texts change: ranges are said where two rows mean the same. A line of
// "NCCL INFO file.cc:1 -> 2" only passes an error on that another line has told: no row.

namespace muster {
namespace {

using enum EventRole;
using A = Action;
using C = Cause;
using K = CulpritKind;

// The head of the line, for its device.
#define HEAD R"(\[(?P<cuda_dev>\d{1,3})\] \S{1,255} NCCL WARN )"
#define PEER "(?P<peer>[^\\s<]{1,255})(?:<(?P<peer_port>\\d{1,5})>)?"

constexpr RuleRow kRows[] = {
    // Memory and CUDA below NCCL. "{cuda_dev}" is the [3] of the head of the line.
    RuleRow{"nccl_cuda_out_of_memory", "Cuda failure",
            HEAD R"(Cuda failure (?:\d+ )?'(?:out of memory|CUDA_ERROR_OUT_OF_MEMORY)')",
            C::gpu_oom, root, K::gpu, "{host}/{cuda_dev}", "NCCL got no GPU memory for its buffers",
            "leave NCCL a few hundred MB more: smaller batch, or lower NCCL_BUFFSIZE and "
            "NCCL_MAX_NCHANNELS",
            A::reduce_memory, A::restart_from_checkpoint},
    RuleRow{"nccl_out_of_memory_quoted", "Cuda failure",
            R"(Cuda failure (?:\d+ )?'(?:out of memory|CUDA_ERROR_OUT_OF_MEMORY)')", C::gpu_oom,
            root, K::none, "", "NCCL got no GPU memory for its buffers",
            "leave NCCL a few hundred MB more: smaller batch, or lower NCCL_BUFFSIZE and "
            "NCCL_MAX_NCHANNELS",
            A::reduce_memory, A::restart_from_checkpoint},
    RuleRow{"nccl_allocation_failed", "Failed to CUDA ",
            R"(Failed to CUDA (?:[cm]alloc|host alloc|calloc async|malloc) (?P<bytes>\d+) bytes)",
            C::gpu_oom, confirmation, K::none, "", "NCCL asked for {bytes} bytes of GPU memory",
            "the line before it says why it failed", A::reduce_memory},
    RuleRow{"nccl_ecc", "Cuda failure", HEAD R"(Cuda failure (?:\d+ )?'uncorrectable ECC)",
            C::ecc_uncorrectable, root, K::gpu, "{host}/{cuda_dev}",
            "the memory of the GPU gave a wrong value that could not be corrected",
            "take the host out, reset the GPU, look at its remapped rows", A::drain_host,
            A::reset_gpu},
    RuleRow{"nccl_nvlink_error", "Cuda failure",
            HEAD R"(Cuda failure (?:\d+ )?'uncorrectable NVLink)", C::nvlink_down, root, K::gpu,
            "{host}/{cuda_dev}", "an NVLink of the GPU failed",
            "take the host out and look at its kernel log for Xid 74 or 144 to 150", A::drain_host,
            A::reset_gpu},
    // cudaErrorSystemNotReady: NVSwitch machines before Fabric Manager has set the switches up.
    RuleRow{"nccl_system_not_ready", "Cuda failure",
            R"(Cuda failure (?:802 |)?'system not yet initialized')", C::nvswitch_not_set_up, root,
            K::host, "{host}", "CUDA waits for the NVSwitches to be set up",
            "start nvidia-fabricmanager in the version of the driver", A::start_service,
            A::recheck},
    // An assertion has its own line, which says more.
    RuleRow{"nccl_sticky_assert", "Cuda failure",
            R"(Cuda failure (?:\d+ )?'device-side assert triggered)", C::rank_exception, cascade,
            K::none, "", "NCCL met an assertion that had failed in a GPU kernel before",
            "look for the line of the assertion", A::fix_code},
    // The error is sticky: a kernel of this process had it before NCCL met it.
    RuleRow{"nccl_sticky_cuda_error", "Cuda failure",
            R"(Cuda failure (?:\d+ )?'(?P<what>an illegal memory access[^']*|)"
            R"(unspecified launch failure|misaligned address|an illegal instruction[^']*))",
            C::rank_exception, root, K::none, "", "a GPU kernel of the program failed: {what}",
            "run the same data again with CUDA_LAUNCH_BLOCKING=1 or compute-sanitizer", A::fix_code,
            A::restart_from_checkpoint},
    RuleRow{"nccl_cuda_teardown", "Cuda failure",
            R"(Cuda failure (?:\d+ )?'(?:driver shutting down|context is destroyed))",
            C::undetermined, teardown, K::none, "", "CUDA was ending already"},
    RuleRow{"nccl_driver_too_old", "Minimum requirement is",
            R"(CUDA Driver version found is (?P<version>\d+)\. Minimum requirement)",
            C::driver_library_mismatch, root, K::host, "{host}",
            "the driver is older than this NCCL can use",
            "install a newer driver, or an older NCCL", A::update_driver},
    RuleRow{"nccl_cuda_failure", "Cuda failure", R"(Cuda failure (?:\d+ )?'(?P<what>[^']{1,200})')",
            C::undetermined, root, K::none, "", "CUDA failed below NCCL: {what}",
            "look for an Xid of this host at that time", A::collect_evidence, A::none,
            Severity::critical},

    // NVLink SHARP. Up to 2.28 the failed bind is INFO unless NVLS was forced, and the run goes on.
    RuleRow{"nccl_nvls_skipped", "Proceeding without NVLS",
            R"(Failed to bind NVLink SHARP.*Proceeding without NVLS)", C::nvswitch_not_set_up,
            confirmation, K::host, "{host}",
            "NVLink multicast could not be bound, NCCL went on "
            "without it",
            "slower, not broken: look at Fabric Manager when the run is over", A::watch, A::none,
            Severity::info},
    RuleRow{"nccl_nvls_bind_failed", "Failed to bind NVLink SHARP",
            R"(Failed to bind NVLink SHARP \(NVLS\) Multicast memory)", C::nvswitch_not_set_up,
            root, K::host, "{host}", "NVLink multicast memory could not be bound",
            "start nvidia-fabricmanager in the version of the driver; NCCL_NVLS_ENABLE=0 helps for "
            "the moment",
            A::start_service, A::recheck},
    RuleRow{"nccl_p2p_disabled", "P2P is disabled between NVLINK connected",
            R"(P2P is disabled between NVLINK connected GPUs (?P<gpu>\d+) and (?P<other>\d+))",
            C::nvlink_down, root, K::host, "{host}",
            "GPUs {gpu} and {other} share NVLinks and cannot reach each other's memory",
            "look at nvidia-smi nvlink -s and the kernel log of the host", A::drain_host,
            A::collect_evidence},

    // What the ranks do not agree on.
    RuleRow{"nccl_version_mismatch", "Mismatched NCCL version",
            R"(Mismatched NCCL version detected : rank (?P<rank>\d+) version (?P<version>\S+))"
            R"( rank (?P<other>\d+) version (?P<other_version>\S+))",
            C::nccl_env_mismatch, root, K::config, "nccl",
            "ranks {rank} and {other} run different versions of NCCL",
            "use one container image for all ranks", A::fix_config},
    RuleRow{"nccl_rank_count_mismatch", "Bootstrap Root : mismatch in",
            R"(Bootstrap Root : mismatch in (?:rank count from procs (?P<ranks>\d+) : )"
            R"((?P<other>\d+)|info from procs))",
            C::nccl_env_mismatch, root, K::config, "WORLD_SIZE",
            "processes of one communicator do not agree on its size or version",
            "give all ranks the same WORLD_SIZE and image, and each job its own port",
            A::fix_config},
    RuleRow{"nccl_rank_twice", "has already checked in",
            R"(Bootstrap Root : rank (?P<rank>\d+) of (?P<of>\d+) ranks has already checked in)",
            C::nccl_env_mismatch, root, K::config, "RANK", "two processes say they are rank {rank}",
            "give each process its own RANK; an older job may still be there", A::fix_config},
    // Gone since 2.20. Settings that differ and calls that differ look alike here.
    RuleRow{"nccl_collective_mismatch", "collective mismatch error",
            "peer " PEER " collective mismatch error, local size (?P<local>\\d+) remote size "
            "(?P<remote>\\d+)",
            C::collective_mismatch, root, K::none, "",
            "this rank and {peer} want to exchange different sizes ({local} and {remote} bytes)",
            "compare the NCCL_ variables of all ranks, then their collectives", A::fix_config,
            A::fix_code},
    RuleRow{"nccl_message_truncated", "essage truncated : rece",
            R"([Mm]essage truncated : receiv(?:ed|ing) (?P<local>\d+)(?:,\d+)? bytes instead of )"
            R"((?P<remote>\d+))",
            C::collective_mismatch, root, K::none, "",
            "a peer sent {local} bytes where {remote} were expected",
            "compare the collectives and the NCCL_ variables of all ranks; two jobs may share a "
            "port",
            A::fix_code, A::fix_config},
    RuleRow{"nccl_net_count_mismatch", "Detected mixed local",
            R"(Detected mixed local (?:Net|CollNet) device counts across ranks)",
            C::nccl_env_mismatch, root, K::config, "NCCL_IB_HCA",
            "ranks see different numbers of network devices",
            "give all containers the same devices and NCCL_IB_HCA", A::fix_config, A::fix_network},
    RuleRow{"nccl_incompatible_devices", "incompatible",
            R"(NET/IB : (?:Attempted to (?:connect|merge) incompatible devices|Remote \S+ device )"
            R"(is incompatible))",
            C::nccl_env_mismatch, root, K::config, "NCCL_IB_HCA",
            "InfiniBand and RoCE devices were mixed", "choose devices of one kind by NCCL_IB_HCA",
            A::fix_config},
    // To 2.22 with "rank 3 and rank 0", later by the second text.
    RuleRow{"nccl_duplicate_gpu", "Duplicate GPU detected",
            R"(Duplicate GPU detected : rank (?P<rank>\d+) and rank (?P<other>\d+) both on CUDA )"
            R"(device (?P<device>[0-9a-fA-F]+))",
            C::duplicate_gpu, root, K::config, "device_selection",
            "ranks {rank} and {other} use the same GPU ({device})",
            "choose the GPU by the local rank before the first collective", A::fix_code,
            A::restart_from_checkpoint},
    RuleRow{"nccl_ranks_share_gpu", "Ranks are using the same GPU",
            R"(Multiple Ranks are using the same GPU)", C::duplicate_gpu, root, K::config,
            "device_selection", "several ranks use the same GPU",
            "choose the GPU by the local rank before the first collective", A::fix_code,
            A::restart_from_checkpoint},
    RuleRow{"nccl_invalid_argument", "NCCL WARN",
            R"(^\w+ : (?:invalid root|invalid (?:type|reduction operation)|\w+ is not a valid )"
            R"(pointer|invalid count))",
            C::rank_exception, root, K::none, "", "a collective was called with a wrong argument",
            "look for the call in the program", A::fix_code},

    // InfiniBand and RoCE. Flushed (5): the queue had failed before.
    RuleRow{"nccl_ib_flushed", "Got completion from peer",
            "Got completion from peer " PEER " with (?:status=(?:IBV_WC_WR_FLUSH_ERR\\(5\\)|5\\b)|"
            "error 5,)",
            C::undetermined, cascade, K::none, "", "the queue to {peer} had failed before"},
    // Retry exceeded (12), to 2.28.3 by number: the peer does not answer. As often its process is
    // gone as the link is bad, so it blames nobody.
    RuleRow{"nccl_ib_retry_exceeded", "Got completion from peer",
            "Got completion from peer " PEER
            " with (?:status=(?:IBV_WC_RETRY_EXC_ERR\\(12\\)|12\\b)|"
            "error 12,)(?:.*\\bhca (?P<device>[\\w.-]{1,64}))?",
            C::undetermined, cascade, K::none, "", "{peer} did not answer over RDMA any more",
            "see whether the process of that peer died first, then the ports of both ends",
            A::collect_evidence, A::check_link, Severity::critical},
    RuleRow{"nccl_ib_completion_error", "Got completion from peer",
            "Got completion from peer " PEER " with (?:status=|error )(?P<status>[A-Z_]{0,40})\\(?"
            "(?P<code>\\d{1,3})?(?:.*\\bhca (?P<device>[\\w.-]{1,64}))?",
            C::undetermined, root, K::none, "", "an RDMA transfer with {peer} failed",
            "the number of the status says which side refused; look at both hosts",
            A::collect_evidence, A::check_link, Severity::critical},
    RuleRow{"nccl_ib_resiliency_failed", "NET/IB: Fatal error. Detected",
            R"(NET/IB: Fatal error\. Detected (?P<failed>\d+) failed devices out of (?P<of>\d+))",
            C::ib_link_faulty, root, K::host, "{host}",
            "{failed} of {of} InfiniBand devices of the process failed",
            "look at the ports of the host", A::check_link, A::drain_host},
    RuleRow{"nccl_ofi_completion_error", "NET/OFI Request",
            R"(NET/OFI Request \S+ completed with error\. RC: (?P<code>\d+))", C::undetermined,
            cascade, K::none, "", "a transfer over the fabric provider failed",
            "see whether the peer died first", A::collect_evidence, A::none, Severity::critical},

    // Events of a port. To 2.18 "async event : ", then "async error event: ", from 2.28.7 "async
    // fatal event: ".
    RuleRow{"nccl_ib_port_active", "async",
            R"((?P<device>[\w.-]{1,64}):(?P<port>\d{1,3}) (?:Got )?(?:non-fatal )?async )"
            R"((?:error |fatal )?event ?: port active)",
            C::ib_link_faulty, confirmation, K::port, "{host}/{device}/{port}",
            "the port {device}:{port} came up again"},
    RuleRow{"nccl_ib_port_error", "async",
            R"((?P<device>[\w.-]{1,64}):(?P<port>\d{1,3}) (?:Got )?async (?:error |fatal )?event)"
            R"( ?: (?P<what>port error|local catastrophic error|device fatal))",
            C::ib_link_faulty, root, K::port, "{host}/{device}/{port}",
            "the InfiniBand port {device}:{port} went down",
            "look at cable, transceiver and switch port, and at ibstat on the host", A::check_link,
            A::drain_host},
    RuleRow{"nccl_ib_queue_error", "async",
            R"((?P<device>[\w.-]{1,64}):(?P<port>\d{1,3}) (?:Got )?async (?:error |fatal )?event)"
            R"((?: on [CSR]*Q|: (?:QP|CQ|SRQ)|: send queue|: path migration))",
            C::undetermined, cascade, K::none, "", "a queue of {device}:{port} failed",
            "the first error of its peers says more"},
    // The subnet manager was restarted, an address was added: nothing that stops a run.
    RuleRow{"nccl_ib_subnet_event", "NET/IB : ",
            R"((?P<device>[\w.-]{1,64}):(?P<port>\d{1,3}) (?:GID table changed|(?:Got )?)"
            R"((?:non-fatal )?async (?:error |fatal )?event ?: )"
            R"((?:client reregistration|SM change|LID change|P_Key change|GID table change)))",
            C::harmless_message, benign, K::none, "", "the subnet manager told a change"},

    // Verbs. From 2.21 with the number of the error, from 2.23 with both ends.
    RuleRow{"nccl_memlock", "Call to ibv_",
            R"(Call to ibv_(?:reg_mr\w*|create_cq|create_qp|create_srq) failed with error Cannot )"
            R"(allocate memory)",
            C::limit_too_low, root, K::config, "memlock",
            "the adapter could not lock memory for RDMA",
            "set the limit of locked memory to unlimited for the launcher and its daemons",
            A::raise_limit, A::recheck},
    RuleRow{"nccl_peermem_missing", "Call to ibv_reg_",
            R"(Call to ibv_reg_\w+ failed with error (?P<error>Bad address|Operation not supported)"
            R"(|Invalid argument))",
            C::undetermined, root, K::config, "nvidia_peermem",
            "the adapter could not register GPU memory ({error})",
            "load nvidia_peermem in the version of the driver, or use DMA-BUF", A::start_service,
            A::recheck, Severity::critical},
    RuleRow{
        "nccl_qp_no_route", "Call to ibv_modify_qp failed",
        R"(Call to ibv_modify_qp failed with (?:error )?(?:\d+ )?(?P<error>Connection timed out|)"
        R"(Invalid argument|Network is unreachable|No data available|No route to host|No such )"
        R"(device)(?:.*\bdev (?P<device>[\w.-]{1,64}):(?P<port>\d{1,3}))?)"
        R"((?:.*local GID index (?P<gid_index>\d+), local GID (?P<gid>[^,]{1,64}))?)"
        R"((?:, remote GID (?P<remote_gid>\S{1,64}))?)",
        C::no_route, root, K::none, "", "no path to the peer from the address in use ({error})",
        "compare NCCL_IB_GID_INDEX and show_gids on both hosts: the address must be one that is "
        "routed between them",
        A::fix_config, A::fix_network},
    RuleRow{"nccl_device_closed", "Unable to open device",
            R"(NET/IB : Unable to open device (?P<device>[\w.-]{1,64}))", C::undetermined,
            confirmation, K::none, "", "the adapter {device} cannot be opened here",
            "pass /dev/infiniband and all devices into the container", A::fix_config},
    RuleRow{"nccl_verbs_post", "Call to ibv_", R"(Call to ibv_(?:post_|poll_)\w+ failed)",
            C::undetermined, cascade, K::none, "", "a queue of the adapter is in error"},
    RuleRow{"nccl_verbs", "Call to ibv_",
            R"(Call to (?P<call>ibv_\w+) failed(?: with (?:error )?(?P<error>[^,\n]{1,120}))?)",
            C::undetermined, root, K::host, "{host}", "{call} failed on this host",
            "look at ibv_devinfo and the kernel log of the host", A::collect_evidence,
            A::fix_network, Severity::critical},

    // How NCCL reaches the network, as INFO: normal where there is no other network.
    RuleRow{"nccl_uses_sockets", "Using network Socket", "Using network Socket",
            C::nccl_socket_fallback, context, K::host, "{host}", "NCCL goes over TCP"},
    RuleRow{"nccl_no_ib_device", "NET/IB : No device found", R"(NET/IB : No device found)",
            C::nccl_socket_fallback, context, K::host, "{host}", "NCCL sees no InfiniBand device"},
    RuleRow{"nccl_gdr_disabled", "Direct RDMA Disabled for HCA",
            R"(GPU Direct RDMA Disabled for HCA (?P<hca>\d+) '(?P<device>[^']{1,64})')",
            C::gdr_disabled, confirmation, K::host, "{host}",
            "{device} cannot reach GPU memory directly", "load nvidia_peermem, then look again",
            A::start_service, A::recheck},
    RuleRow{"nccl_gdr_module_missing", "Peermem is not supported", R"(Peermem is not supported)",
            C::gdr_disabled, confirmation, K::host, "{host}",
            "there is no way to GPU memory for the adapter", "load nvidia_peermem",
            A::start_service, A::recheck},
    RuleRow{
        "nccl_no_interface", "interface found",
        R"(^(?:Bootstrap|NET/Socket|NET/IB) : [Nn]o (?:socket |IP |usable listening )?interface)"
        R"( found)",
        C::no_route, root, K::config, "NCCL_SOCKET_IFNAME",
        "no network interface fits the settings", "compare NCCL_SOCKET_IFNAME with ip addr",
        A::fix_config},

    // Sockets: who closed is named, and failed before.
    RuleRow{"nccl_peer_closed", "Connection closed by remote peer",
            "Connection closed by remote peer " PEER, C::undetermined, cascade, K::none, "",
            "{peer} closed its connection: its process ended",
            "look for the first error of that peer", A::collect_evidence},
    RuleRow{"nccl_no_route", " failed : ",
            "[Cc]onnect to " PEER
            " failed : (?P<error>No route to host|Network is unreachable|Connection timed out)",
            C::no_route, root, K::none, "", "{peer} cannot be reached over TCP ({error})",
            "compare NCCL_SOCKET_IFNAME on all hosts, and the routes and firewall between them",
            A::fix_network, A::fix_config},
    RuleRow{"nccl_no_route_retried", "exceeded error retry count",
            "[Cc]onnect to " PEER " returned (?P<error>No route to host|Network is unreachable|"
            "Connection timed out)",
            C::no_route, root, K::none, "", "{peer} cannot be reached over TCP ({error})",
            "compare NCCL_SOCKET_IFNAME on all hosts, and the routes and firewall between them",
            A::fix_network, A::fix_config},
    RuleRow{"nccl_socket_error", "socketPro", R"(^socketPro\w{0,40}: )", C::undetermined, cascade,
            K::none, "", "a connection to a peer broke", "look for the first error of that peer"},
    RuleRow{"nccl_connect_failed", "onnect to ",
            "^(?:\\w+: |Net : )?[Cc]onnect to " PEER
            " (?:failed : |returned )(?P<error>[^,]{1,80})",
            C::undetermined, cascade, K::none, "", "{peer} could not be reached ({error})",
            "see whether the process of that peer lives"},
    RuleRow{"nccl_call_failed", "Call to ",
            "^(?:\\w+: )?Call to (?:recv|send|connect|accept)\\w* (?:from |to )?" PEER
            " failed : (?P<error>.{1,80})",
            C::undetermined, cascade, K::none, "", "the connection to {peer} broke ({error})",
            "look for the first error of that peer"},
    RuleRow{"nccl_recv_failed", "Socket recv failed", "Socket recv failed while polling",
            C::undetermined, cascade, K::none, "", "a connection to a peer broke"},
    RuleRow{"nccl_socket_progress", "socket progress error", "NET/Socket : socket progress error",
            C::undetermined, cascade, K::none, "", "a connection to a peer broke"},
    RuleRow{"nccl_proxy", "[Proxy ", R"(^\[Proxy (?:Service|Progress)[^\]]{0,40}\] )",
            C::undetermined, cascade, K::none, "", "NCCL passes an error on inside the process"},
    RuleRow{"nccl_proxy_call", "Proxy Call to rank", R"(^Proxy Call to rank (?P<other>\d+) failed)",
            C::undetermined, cascade, K::none, "", "NCCL passes an error on inside the process"},
    RuleRow{"nccl_service_thread", "[Service thread]", R"(^\[Service thread\] )", C::undetermined,
            cascade, K::none, "", "NCCL passes an error on inside the process"},
    RuleRow{"nccl_abort_state", "in abort state", R"(^Comm \S+ is in abort state)", C::undetermined,
            cascade, K::none, "", "the communicator had been aborted"},

    // Shared memory and threads.
    RuleRow{"nccl_shm_full", "/dev/shm/nccl",
            R"((?:shared memory segment|failed to (?:extend|create)|Could not map)\D*)"
            R"((?P<path>/dev/shm/nccl[\w.-]{0,64}))",
            C::shm_full, root, K::file, "/dev/shm", "NCCL found no room in /dev/shm",
            "start the container with a larger --shm-size, or mount a memory volume there",
            A::raise_limit, A::restart_from_checkpoint},
    RuleRow{"nccl_no_transport", "No transport found for rank",
            R"(No transport found for rank (?P<rank>\d+)\[[^\]]*\] -> rank (?P<other>\d+))",
            C::undetermined, root, K::none, "", "NCCL found no way from rank {rank} to {other}",
            "look at the settings that forbid transports, and at the devices of both hosts",
            A::fix_config, A::collect_evidence, Severity::critical},

    // What PyTorch and NCCL say on top: the class of the error, not its cause.
    RuleRow{"nccl_result_error",
            "Error: ", R"(\bnccl(?:UnhandledCuda|System|Internal|Remote)Error: )", C::undetermined,
            cascade, K::none, "", "the class of a failure of NCCL",
            "the first NCCL WARN before it says more"},
    RuleRow{"nccl_result_usage", "ncclInvalid", R"(\bnccl(?:InvalidUsage|InvalidArgument): )",
            C::undetermined, cascade, K::none, "", "the class of a failure of NCCL",
            "the first NCCL WARN before it says more"},
    RuleRow{"nccl_error_in", "NCCL error in: ", R"(NCCL error in: \S+, (?P<what>[^,(]{1,120}))",
            C::undetermined, cascade, K::none, "", "NCCL failed: {what}",
            "the first NCCL WARN before it says more"},
    RuleRow{"nccl_communicator_aborted", "NCCL communicator was aborted",
            R"(NCCL communicator was aborted(?: on rank (?P<rank>\d+))?)", C::undetermined, cascade,
            K::none, "", "the communicator was aborted after a failure"},
    RuleRow{"nccl_remote_exited", "remote process exited or there was a network error",
            "remote process exited or there was a network error", C::undetermined, cascade, K::none,
            "", "a peer ended or could not be reached", "look for the first error of the others"},
};

#undef PEER
#undef HEAD

}  // namespace

std::span<const RuleRow> nccl_rules() {
  return kRows;
}

}  // namespace muster
