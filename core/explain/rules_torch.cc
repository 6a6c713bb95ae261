#include "core/explain/rule_row.h"

// PyTorch: c10d and its store, torchelastic, DDP and FSDP, and the launchers on top of them.
// Watchdog and heartbeat of ProcessGroupNCCL are read elsewhere; here is what they say around it.

namespace muster {
namespace {

using enum EventRole;
using A = Action;
using C = Cause;
using K = CulpritKind;

constexpr std::string_view kFreePort =
    "end the old process if it is no live run (ss -ltnp shows it), or choose another port";
constexpr std::string_view kFirstError = "look for the first error of the rank behind it";

constexpr RuleRow kRows[] = {
    // Ports.
    RuleRow{"c10d_port_in_use", "ddress already in use",
            R"(failed to (?:bind|listen) (?:to|on) (?P<address>\S{1,128}):(?P<port>\d{1,5}) \()"
            R"(errno: 98)",
            C::port_in_use, root, K::port, "{port}", "port {port} is held by another process",
            kFreePort, A::stop_process, A::fix_config},
    // Not the number of a line of code: that is followed by "]".
    RuleRow{"port_in_use", "ddress already in use",
            R"([,:] ?(?P<port>\d{4,5})[,):'" ].{0,120}[aA]ddress already in use)", C::port_in_use,
            root, K::port, "{port}", "port {port} is held by another process", kFreePort,
            A::stop_process, A::fix_config},
    RuleRow{"address_in_use", "ddress already in use", "[aA]ddress already in use", C::port_in_use,
            root, K::none, "", "a port is held by another process", kFreePort, A::stop_process,
            A::fix_config},
    RuleRow{"eaddrinuse", "EADDRINUSE", "EADDRINUSE", C::port_in_use, root, K::none, "",
            "a port is held by another process", kFreePort, A::stop_process, A::fix_config},
    RuleRow{"c10d_no_listen", "failed to listen on any",
            "failed to listen on any local network address", C::port_in_use, confirmation, K::none,
            "", "the store could not listen", kFreePort, A::stop_process, A::fix_config},

    // Reaching the store. Refused: nobody listens there yet, or any more.
    RuleRow{"c10d_no_route", "The client socket",
            R"(client socket has failed to connect to \[?(?P<peer>[^\]\s]{1,255})\]?:(?P<port>)"
            R"(\d{1,5}) )"
            R"(\(errno: (?:113|101) - (?P<error>[^)]{1,80})\))",
            C::no_route, root, K::none, "", "{peer} cannot be reached ({error})",
            "compare MASTER_ADDR with the addresses of that host, and look at the firewall",
            A::fix_network, A::fix_config},
    RuleRow{"c10d_retry", "The client socket",
            R"(client socket has failed to connect to \[?(?P<peer>[^\]\s]{1,255})\]?:(?P<port>)"
            R"(\d{1,5}) )"
            R"(\(errno: (?:111|110) )",
            C::no_route, context, K::none, "", "nobody listens at {peer}:{port} yet"},
    RuleRow{"c10d_connect_timeout", "client socket has timed out after",
            R"(client socket has timed out after (?P<ms>\d+) ?ms while trying to connect to \()"
            R"((?P<peer>[^,]{1,255}), (?P<port>\d{1,5})\))",
            C::no_route, cascade, K::none, "", "{peer}:{port} did not answer for {ms} ms",
            "see whether rank 0 came up there, then MASTER_ADDR, MASTER_PORT and the firewall",
            A::collect_evidence, A::fix_network},
    RuleRow{"c10d_name_unknown", "network addresses of (",
            R"(IPv4 network addresses of \((?P<peer>[^,]{1,255}), (?P<port>\d{1,5})\) cannot b)"
            R"(e retrieved)",
            C::no_route, root, K::config, "MASTER_ADDR", "nobody knows the address of {peer}",
            "correct MASTER_ADDR, or the name service of the nodes", A::fix_config, A::fix_network},
    RuleRow{"c10d_clients_missing", "clients joined",
            R"(Timed out after (?P<seconds>\d+) seconds waiting for clients\. (?P<joined>\d+)/)"
            R"((?P<of>\d+) clients joined)",
            C::undetermined, cascade, K::none, "",
            "only {joined} of {of} processes came to the store",
            "look for errors of the processes that did not come", A::collect_evidence, A::none,
            Severity::critical},

    // A store whose host has gone, and what hangs on it.
    RuleRow{"store_recv", "recvValue", R"(recvValue(?:WithTimeout)? failed)", C::undetermined,
            cascade, K::none, "", "the store, mostly rank 0, had gone", kFirstError},
    RuleRow{"store_recv_bytes", "Failed to recv, got 0 bytes", "Failed to recv, got 0 bytes",
            C::undetermined, cascade, K::none, "", "the store, mostly rank 0, had gone",
            kFirstError},
    RuleRow{"store_send", "sendBytes failed", "sendBytes failed", C::undetermined, cascade, K::none,
            "", "the store, mostly rank 0, had gone", kFirstError},
    RuleRow{"store_vector", "recvVector failed", "recvVector failed", C::undetermined, cascade,
            K::none, "", "the store, mostly rank 0, had gone", kFirstError},
    RuleRow{"store_should_dump", "\"should dump\" flag", "Failed to check the .should dump. flag",
            C::undetermined, cascade, K::none, "", "the store, mostly rank 0, had gone",
            kFirstError},
    RuleRow{"store_key_timeout", "wait timeout after",
            R"(wait timeout after (?P<ms>\d+) ?ms, keys: (?P<keys>\S{1,200}))", C::collective_hang,
            cascade, K::none, "", "no rank published {keys} for {ms} ms",
            "one rank is late or makes its groups in another order", A::collect_evidence},
    RuleRow{"store_timeout", "Socket Timeout",
            R"((?:DistStoreError|DistNetworkError|RuntimeError): .{0,80}Socket Timeout)",
            C::collective_hang, cascade, K::none, "", "the store did not answer in time",
            kFirstError},
    RuleRow{"dist_network_error", "DistNetworkError", R"(\bDistNetworkError\b)", C::undetermined,
            cascade, K::none, "", "a connection to the store broke", kFirstError},
    RuleRow{"dist_store_error", "DistStoreError", R"(\bDistStoreError\b)", C::undetermined, cascade,
            K::none, "", "the store failed or timed out", kFirstError},
    RuleRow{"nccl_id_from_store", "retrieving ncclUniqueId",
            R"(retrieving ncclUniqueId from \[(?P<other>\d+)\] via c10d key-value store)",
            C::undetermined, cascade, K::none, "",
            "rank {other} of the group never made its communicator",
            "see what that rank did instead", A::collect_evidence},
    RuleRow{"connection_reset", "onnection reset by peer", "[cC]onnection reset by peer",
            C::undetermined, cascade, K::none, "", "the other end of a connection ended",
            kFirstError},
    RuleRow{"broken_pipe", "roken pipe", "[bB]roken pipe", C::undetermined, cascade, K::none, "",
            "the other end of a connection ended", kFirstError},

    // Rendezvous and agents.
    RuleRow{"rendezvous_closed", "RendezvousClosedError", "RendezvousClosedError", C::undetermined,
            cascade, K::none, "", "the rendezvous had been closed by another agent",
            "look for the agent that ended first; start all nodes with a new rendezvous id",
            A::restart_from_checkpoint},
    RuleRow{"rendezvous_timeout", "RendezvousTimeoutError", "RendezvousTimeoutError",
            C::undetermined, cascade, K::none, "", "not all agents came to the rendezvous",
            "count who joined; look at the agents that did not", A::collect_evidence, A::none,
            Severity::critical},
    RuleRow{"rendezvous_heartbeat", "failed to send a keep-alive heartbeat",
            R"(The node '(?P<node>[^']{1,255})' has failed to send a keep-alive heartbeat)",
            C::zombie_job, cascade, K::none, "", "an agent cannot reach the rendezvous any more",
            "its host, or the job behind it, ended before", A::collect_evidence},
    RuleRow{"rendezvous_shutdown", "has failed to shutdown the rendezvous",
            "has failed to shutdown the rendezvous", C::undetermined, teardown, K::none, "",
            "the rendezvous was gone already"},
    RuleRow{"rendezvous_connection", "RendezvousConnectionError", "RendezvousConnectionError",
            C::undetermined, cascade, K::none, "", "the rendezvous cannot be reached",
            "look at the host that runs it", A::collect_evidence},
    RuleRow{"elastic_death_signal", "death signal, shutting down workers",
            R"((?:^| )(?P<pid>\d{2,10}) \S{1,200} Received (?P<signal>\d{1,2}) death signal)",
            C::external_stop, root, K::process, "{pid}",
            "the launcher (pid {pid}) was told to stop by signal {signal}",
            "find who sent it: scheduler, preemption, operator", A::find_sender,
            A::restart_from_checkpoint},
    RuleRow{"elastic_death_signal_bare", "death signal, shutting down workers",
            R"(Received (?P<signal>\w{1,16}) death signal)", C::external_stop, root, K::none, "",
            "the launcher was told to stop by signal {signal}",
            "find who sent it: scheduler, preemption, operator", A::find_sender,
            A::restart_from_checkpoint},
    RuleRow{"elastic_signal_exception", "SignalException: Process",
            R"(SignalException: Process (?P<pid>\d{1,10}) got signal: (?P<signal>\d{1,2}))",
            C::external_stop, teardown, K::process, "{pid}",
            "the launcher (pid {pid}) was stopped by signal {signal}",
            "find who sent it: scheduler, preemption, operator", A::find_sender},
    RuleRow{"elastic_closing", " closing signal ",
            R"(Sending process (?P<pid>\d{1,10}) closing signal (?P<signal>\w{1,16}))",
            C::undetermined, teardown, K::none, "", "the launcher ends worker {pid}"},
    RuleRow{"elastic_forced", "forcefully exiting via",
            R"([uU]nable to shutdown process (?P<pid>\d{1,10}) via)", C::undetermined, teardown,
            K::none, "", "worker {pid} did not end when told to"},
    RuleRow{"elastic_segfault", "failed (exitcode: ",
            R"(failed \(exitcode: -(?P<signal>4|8|11)\) local_rank: (?P<local>\d{1,4}) \(pid: )"
            R"((?P<pid>\d{1,10})\))",
            C::rank_exception, root, K::process, "{pid}", "worker {pid} crashed (signal {signal})",
            "look at its core file or run it with faulthandler", A::fix_code,
            A::restart_from_checkpoint},
    RuleRow{"elastic_bus_error", "failed (exitcode: ",
            R"(failed \(exitcode: -(?P<signal>7)\) local_rank: (?P<local>\d{1,4}) \(pid: (?P<p)"
            R"(id>\d{1,10})\))",
            C::undetermined, root, K::process, "{pid}", "worker {pid} ended by a bus error",
            "see df /dev/shm and the file system of memory-mapped files", A::collect_evidence,
            A::raise_limit, Severity::critical},
    RuleRow{"elastic_killed", "failed (exitcode: ",
            R"(failed \(exitcode: -(?P<signal>9)\) local_rank: (?P<local>\d{1,4}) \(pid: (?P<p)"
            R"(id>\d{1,10})\))",
            C::undetermined, root, K::process, "{pid}", "worker {pid} was killed from outside",
            "see the kernel log of its host for an OOM kill", A::collect_evidence, A::none,
            Severity::critical},
    RuleRow{"elastic_exit", "failed (exitcode: ",
            R"(failed \(exitcode: (?P<code>-?\d{1,3})\) local_rank: (?P<local>\d{1,4}) \(pid: )"
            R"((?P<pid>\d{1,10})\))",
            C::rank_exception, teardown, K::none, "", "worker {pid} ended with {code}",
            "its own last lines say why"},
    RuleRow{"elastic_child_failed", "ChildFailedError", R"(\bChildFailedError\b)", C::undetermined,
            teardown, K::none, "", "the launcher sums up which workers failed"},
    RuleRow{"elastic_no_error_file", "no error file defined", "no error file defined for parent",
            C::undetermined, teardown, K::none, "", "the launcher ends"},
    RuleRow{"elastic_will_restart", "will restart worker group",
            R"((?P<left>\d{1,6})/(?P<of>\d{1,6}) attempts left; will restart worker group)",
            C::restart_loop, context, K::none, "", "a launcher starts its workers again"},
    RuleRow{"elastic_group_failed", "orker group",
            R"((?i)worker group (?:failed|FAILED)(?:, exit code (?P<code>-?\d{1,3}))?)",
            C::undetermined, teardown, K::none, "", "a launcher saw its workers fail"},
    RuleRow{"elastic_restart", "restart count ",
            R"([sS]tarting worker group, restart count (?P<count>\d{1,6})(?: of (?P<of>\d{1,6}))?)",
            C::restart_loop, context, K::none, "",
            "a launcher started its workers (restart {count})"},
    RuleRow{"elastic_rendezvous_complete", "restart_count=", R"(restart_count=(?P<count>\d{1,6}))",
            C::restart_loop, context, K::none, "",
            "a launcher started its workers (restart {count})"},

    // Other launchers.
    RuleRow{"launcher_sigterm", "Main process received SIG",
            R"(Main process received (?P<signal>SIG[A-Z]{2,6}), exiting)", C::external_stop, root,
            K::none, "", "the launcher was told to stop by {signal}",
            "find who sent it: scheduler, preemption, operator", A::find_sender,
            A::restart_from_checkpoint},
    RuleRow{"launcher_killing", "Killing subprocess", R"(Killing subprocess (?P<pid>\d{1,10}))",
            C::undetermined, teardown, K::none, "", "the launcher ends worker {pid}"},
    RuleRow{"launcher_return_code", "exits with return code",
            R"(exits with return code = (?P<code>-?\d{1,3}))", C::undetermined, teardown, K::none,
            "", "a worker ended with {code}"},
    RuleRow{"called_process_error", "CalledProcessError", R"(\bCalledProcessError\b)",
            C::undetermined, teardown, K::none, "", "a launcher saw its command fail"},
    RuleRow{"child_terminated", "Child process with PID",
            R"(Child process with PID (?P<pid>\d{1,10}) terminated with code (?P<code>-?\d{1,3}))",
            C::undetermined, teardown, K::none, "", "worker {pid} ended with {code}"},
    RuleRow{"process_exited", "ProcessExitedException", R"(\bProcessExitedException\b)",
            C::undetermined, teardown, K::none, "", "a launcher saw a worker end"},

    // Around the watchdog.
    RuleRow{"watchdog_notice", "Some NCCL operations have failed",
            R"(Some NCCL operations have failed or timed out)", C::undetermined, teardown, K::none,
            "", "the watchdog ends the process"},
    RuleRow{"watchdog_takes_down", "taking the entire process down",
            "taking the entire process down", C::undetermined, teardown, K::none, "",
            "the watchdog ends the process"},
    RuleRow{"watchdog_terminates", "Terminating the process after",
            "Terminating the process after attempting to dump debug info", C::undetermined,
            teardown, K::none, "", "the watchdog ends the process"},
    RuleRow{"thrown_by_c10", "after throwing an instance of",
            R"(terminate called after throwing an instance of '(?P<what>c10::\w+))",
            C::undetermined, teardown, K::none, "", "the watchdog ends the process"},
    RuleRow{"no_active_exception", "without an active exception",
            "terminate called without an active exception", C::undetermined, teardown, K::none, "",
            "a process ended while threads of it still ran"},
    RuleRow{"fr_dump_late", "dump in heartbeatMonitor timed out",
            "Flight recorder dump in heartbeatMonitor timed out", C::undetermined, teardown,
            K::none, "", "the flight recorder's dump of this rank is missing or without stacks"},

    // Ranks that do not do the same.
    RuleRow{"fsdp_order_across", "Forward order differs across",
            R"(Forward order differs across ranks: rank (?P<first>\d+) is all-gathering (?P<co)"
            R"(unt>\d+) )"
            R"(parameters while rank (?P<other>\d+))",
            C::collective_mismatch, root, K::none, "",
            "ranks {first} and {other} run their layers in another order",
            "make the forward pass the same on all ranks", A::fix_code},
    RuleRow{"fsdp_order_other", "Forward order differs across",
            "Forward order differs across ranks", C::collective_mismatch, root, K::none, "",
            "ranks run their layers in another order",
            "make the forward pass the same on all ranks", A::fix_code},
    RuleRow{"fsdp_order_changed", "Forward order differs from",
            R"(Forward order differs from that of the first iteration on rank (?P<rank>\d+))",
            C::collective_mismatch, confirmation, K::rank, "{rank}",
            "rank {rank} runs its layers in another order than before",
            "layers that are left out by chance must be left out on all ranks", A::fix_code},
    RuleRow{"c10d_fingerprint", "Detected mismatch between collectives",
            "Detected mismatch between collectives on ranks", C::collective_mismatch, root, K::none,
            "", "ranks called different collectives", "the line shows both calls", A::fix_code},
    RuleRow{
        "barrier_missed", "failed to pass monitoredBarrier",
        R"([rR]anks? (?P<ranks>[\d, ]{1,200}) failed to pass monitoredBarrier in (?P<ms>\d+) ms)",
        C::rank_behind, root, K::rank, "{ranks}", "rank {ranks} did not come to the barrier",
        "see what it did instead", A::collect_evidence, A::restart_from_checkpoint},
    RuleRow{"barrier_waited", "in monitoredBarrier",
            R"([rR]ank (?P<other>\d+) timed out in monitoredBarrier)", C::collective_hang, cascade,
            K::none, "", "a rank waited in a barrier for another"},
    // Sizes that an aborted group left: often garbage.
    RuleRow{"ddp_params_differ", "expects same model across all ranks",
            "expects same model across all ranks", C::collective_mismatch, cascade, K::none, "",
            "DDP says that models differ", "often the echo of an earlier failure: look for that"},
    RuleRow{"ddp_unused", "finished reduction in the prior iteration",
            "Expected to have finished reduction in the prior iteration", C::rank_exception, root,
            K::none, "", "some parameters got no gradient on this rank",
            "use find_unused_parameters, or make all outputs part of the loss", A::fix_code},

    // Numbers.
    RuleRow{"nan_forward", "found NaN",
            R"(found NaN in (?P<where>[\w ]{1,60}?)\.? Device: (?P<device>\d{1,3}), iteration:)"
            R"(? (?P<step>\d{1,12}))",
            C::rank_exception, root, K::none, "", "{where} gave NaN at iteration {step}",
            "if it returns at the same step, use an older checkpoint", A::step_back_checkpoint,
            A::collect_evidence},
    RuleRow{"nan_loss", "oss is ",
            R"(\b[lL]oss is (?:nan|NaN|inf|Inf|-inf)(?:[.! ]*$|, stopping| (?:at|in|on) ))",
            C::rank_exception, root, K::none, "", "the loss became NaN or infinite",
            "use an older checkpoint; look at the batch and the learning rate",
            A::step_back_checkpoint, A::collect_evidence},
    RuleRow{"nan_backward", "returned nan values",
            R"(Function '(?P<function>\w{1,80})' returned nan values)", C::rank_exception, root,
            K::none, "", "{function} gave NaN in the backward pass",
            "use an older checkpoint; look at the batch", A::step_back_checkpoint,
            A::collect_evidence},
};

}  // namespace

std::span<const RuleRow> torch_rules() {
  return kRows;
}

}  // namespace muster
