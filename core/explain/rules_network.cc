#include "core/explain/rule_row.h"

// Launchers and networks beside NCCL: SSH, MPI with PMIx, Ray, UCX, gloo.

namespace muster {
namespace {

using enum EventRole;
using A = Action;
using C = Cause;
using K = CulpritKind;

constexpr RuleRow kRows[] = {
    // Who runs where, as launch scripts print it.
    RuleRow{
        "rank_on_host", "host ",
        R"(^(?:[gG]lobal )?[rR]ank[ =:]+(?P<rank>\d{1,7})[,:]? (?:is |runs )?(?:on )?host[ =:]+)"
        R"((?P<host>[A-Za-z][\w.-]{0,254})\s*$)",
        C::undetermined, context, K::none, "", "rank {rank} runs on {host}"},

    // SSH: the host named is the one that cannot be used.
    RuleRow{"ssh_unreachable", "ssh: connect to host",
            R"(ssh: connect to host (?P<host>\S{1,255}) port \d+: (?P<error>No route to host|)"
            R"(Connection timed out|Network is unreachable|Connection refused))",
            C::no_route, root, K::host, "{host}", "the host cannot be reached by SSH ({error})",
            "see whether it is up, and leave it out if not", A::exclude_host, A::fix_network},
    RuleRow{"ssh_unknown_name", "ssh: Could not resolve",
            R"(ssh: Could not resolve hostname (?P<host>[^:\s]{1,255}))", C::no_route, root,
            K::host, "{host}", "nobody knows the address of this host",
            "correct the name, or the name service", A::fix_network, A::fix_config},
    RuleRow{"ssh_refused", "ermission denied (",
            R"((?:(?P<user>[^@\s]{1,64})@(?P<host>[^:\s]{1,255}): )?Permission denied \(publickey)",
            C::undetermined, root, K::host, "{host}", "SSH lets the launcher not in",
            "install its key there", A::fix_config, A::none, Severity::critical},
    RuleRow{"ssh_host_key", "Host key verification failed", "Host key verification failed",
            C::undetermined, root, K::none, "", "SSH does not know the key of a host",
            "add the host key; was the host set up anew?", A::fix_config, A::none,
            Severity::critical},
    RuleRow{"ssh_closed", "closed by remote host",
            R"(Connection (?:to (?P<peer>\S{1,255}) )?closed by remote host)", C::undetermined,
            cascade, K::none, "", "the other end of an SSH connection went away",
            "look at that host", A::collect_evidence},

    // MPI. mpirun names the first process whose end it saw.
    RuleRow{"mpirun_crashed", "mpirun noticed that process rank",
            R"(process rank (?P<rank>\d{1,7}) with PID (?P<pid>\d+) on node (?P<host>\S{1,255}) )"
            R"(exited on signal (?P<signal>4|7|8|11)\b)",
            C::rank_exception, root, K::rank, "{rank}", "rank {rank} crashed (signal {signal})",
            "look at its core file", A::fix_code, A::restart_from_checkpoint},
    RuleRow{"mpirun_killed", "mpirun noticed that process rank",
            R"(process rank (?P<rank>\d{1,7}) with PID (?P<pid>\d+) on node (?P<host>\S{1,255}) )"
            R"(exited on signal (?P<signal>9)\b)",
            C::undetermined, root, K::rank, "{rank}", "rank {rank} was killed from outside",
            "see the kernel log of its host for an OOM kill", A::collect_evidence, A::none,
            Severity::critical},
    RuleRow{"mpirun_ended", "mpirun noticed that process rank",
            R"(process rank (?P<rank>\d{1,7}) with PID (?P<pid>\d+) on node (?P<host>\S{1,255}) )"
            R"(exited on signal (?P<signal>\d{1,2})\b)",
            C::undetermined, teardown, K::none, "", "rank {rank} ended by signal {signal}"},
    RuleRow{"mpi_abort", "MPI_ABORT was invoked",
            R"(MPI_ABORT was invoked on rank (?P<rank>\d{1,7}))", C::rank_exception, teardown,
            K::none, "", "rank {rank} ended the job by MPI_Abort", "its lines before say why",
            A::collect_evidence},
    RuleRow{"mpi_abort_mpich", "Abort(", R"(^Abort\((?P<code>-?\d+)\) on node (?P<rank>\d{1,7}) )",
            C::rank_exception, teardown, K::none, "", "rank {rank} ended the job by MPI_Abort",
            "its lines before say why", A::collect_evidence},
    RuleRow{"mpi_no_tcp", "unable to complete a TCP connection",
            "unable to complete a TCP connection", C::no_route, root, K::none, "",
            "MPI daemons cannot reach each other over TCP",
            "choose the interface (--mca btl_tcp_if_include) and look at the firewall",
            A::fix_network, A::fix_config},
    RuleRow{"mpi_daemon_lost", "has lost communication with a remote daemon",
            "has lost communication with a remote daemon", C::node_failure, confirmation, K::none,
            "", "MPI lost the daemon of a node", "the next lines name the node", A::exclude_host},
    RuleRow{"mpi_no_slots", "not enough slots available",
            "not enough slots available in the system", C::undetermined, root, K::none, "",
            "MPI was asked for more processes than the host file has slots",
            "correct the host file or the number of processes", A::fix_config, A::none,
            Severity::critical},
    // Printed on any early end of a peer.
    RuleRow{"pmix_error", "PMIX ERROR", R"(PMIX ERROR: (?P<code>\S{1,64}))", C::undetermined,
            cascade, K::none, "", "PMIx lost its server or a peer"},
    RuleRow{"pmix_finalize", "PMIX_", R"(PMIX(?:_ERR_\w+|_ERROR)\b)", C::undetermined, cascade,
            K::none, "", "PMIx lost its server or a peer"},

    // Ray.
    RuleRow{"ray_node_dead", "marked dead",
            R"(node with node id: \w+ and address: (?P<host>[^\s,]{1,255}) .*marked dead)",
            C::node_failure, root, K::host, "{host}", "Ray lost the node",
            "leave it out, look at its console and raylet log", A::exclude_host,
            A::restart_from_checkpoint},
    RuleRow{"ray_memory_pressure", "due to memory pressure",
            R"(killed due to memory pressure \(OOM\))", C::host_oom_killed, root, K::none, "",
            "Ray killed a worker because its node ran out of memory",
            "use less host memory, or fewer workers a node", A::reduce_memory, A::raise_limit},
    RuleRow{"ray_low_memory", "node running low on memory", "node running low on memory",
            C::host_oom_killed, root, K::none, "",
            "Ray killed a worker because its node ran out of memory",
            "use less host memory, or fewer workers a node", A::reduce_memory, A::raise_limit},
    RuleRow{"ray_actor_died", "ray.exceptions.Actor",
            R"(ray\.exceptions\.Actor(?:Died|Unavailable)Error)", C::undetermined, cascade, K::none,
            "", "a Ray actor ended", "the log of that worker says why", A::collect_evidence},
    RuleRow{"ray_task_error", "ray.exceptions.Ray", R"(ray\.exceptions\.Ray(?:Task|Actor)Error)",
            C::undetermined, cascade, K::none, "", "Ray passes on the exception of a worker"},
    RuleRow{"ray_worker_died", "orker died or was killed",
            "[wW]orker died or was killed while executing", C::undetermined, cascade, K::none, "",
            "a Ray worker ended", "the log of that worker says why", A::collect_evidence},

    // UCX and perftest.
    RuleRow{"ucx_retry_exceeded", "ransport retry count exceeded",
            R"([tT]ransport retry count exceeded on (?P<device>[\w.-]{1,64}):(?P<port>\d{1,3}))",
            C::undetermined, cascade, K::none, "",
            "a peer did not answer over {device}:{port} any more",
            "see whether that peer died first, then the port", A::collect_evidence, A::check_link,
            Severity::critical},
    RuleRow{"libmlx5_completion", "got completion with error", "got completion with error",
            C::undetermined, cascade, K::none, "", "a queue of the adapter failed"},

    // gloo.
    RuleRow{"gloo_no_interface", "nable to find",
            R"((?:[uU]nable to find (?:interface|address) for:? ?|Unable to resolve hostname )"
            R"(to a \(local\) address)(?P<name>[^\]\s]{0,255}))",
            C::no_route, root, K::config, "GLOO_SOCKET_IFNAME",
            "gloo finds no network interface for this host",
            "set GLOO_SOCKET_IFNAME to the interface of the cluster network", A::fix_config},
    RuleRow{"gloo_full_mesh", "onnectFullMesh failed", R"([cC]onnectFullMesh failed)", C::no_route,
            cascade, K::none, "", "gloo could not connect all ranks",
            "see whether a peer died first; then set GLOO_SOCKET_IFNAME on all hosts",
            A::collect_evidence, A::fix_config},
    RuleRow{"gloo_timed_out", "for send operation to complete",
            R"([tT]imed out waiting (?P<ms>\d+)ms for send operation)", C::collective_hang, cascade,
            K::none, "", "a peer took nothing for {ms} ms",
            "look for the rank that failed or stopped before", A::collect_evidence},
    RuleRow{"gloo_recv_timed_out", "for recv operation to complete",
            R"([tT]imed out waiting (?P<ms>\d+)ms for recv operation)", C::collective_hang, cascade,
            K::none, "", "a peer sent nothing for {ms} ms",
            "look for the rank that failed or stopped before", A::collect_evidence},
    RuleRow{"gloo_closed", "Connection closed by peer",
            R"(Connection closed by peer \[(?P<peer>[^\]]{1,255})\](?::(?P<port>\d{1,5}))?)",
            C::undetermined, cascade, K::none, "", "{peer} closed its connection",
            "look for the first error of that peer", A::collect_evidence},
    RuleRow{"gloo_pair", "pair closure", "Application timeout caused pair closure",
            C::collective_hang, cascade, K::none, "", "a peer did not answer gloo in time"},
};

}  // namespace

std::span<const RuleRow> network_rules() {
  return kRows;
}

}  // namespace muster
