#include "core/explain/rule_row.h"

// slurmctld, slurmd, slurmstepd and srun, from 20.11 to 24.05. The host behind ON is where the step
// was started, not the one that failed.

namespace muster {
namespace {

using enum EventRole;
using A = Action;
using C = Cause;
using K = CulpritKind;

#define STOPPED                                                                                  \
  R"(\*\*\* (?P<kind>JOB|STEP) (?P<job>[\d_+.]{1,32}|\S{1,32}) ON (?P<on>\S{1,255}) CANCELLED )" \
  R"(AT (?P<at>\S{1,32}) )"
#define HOST "(?P<host>[A-Za-z0-9][\\w.-]{0,254})"

constexpr RuleRow kRows[] = {
    // The scheduler's own line names a planned reason.
    RuleRow{"slurm_time_limit", "DUE TO TIME LIMIT", STOPPED "DUE TO TIME LIMIT", C::external_stop,
            root, K::none, "", "Slurm stopped job {job} at its time limit",
            "submit it again from the last checkpoint; let it save some minutes before the limit",
            A::restart_from_checkpoint, A::none, Severity::info},
    RuleRow{"slurm_preempted", "DUE TO PREEMPTION", STOPPED "DUE TO PREEMPTION", C::external_stop,
            root, K::none, "", "Slurm stopped job {job} for one of higher priority",
            "submit it again from the last checkpoint", A::restart_from_checkpoint, A::none,
            Severity::info},
    RuleRow{"slurm_requeued", "REQUEUE", STOPPED "DUE TO (?:JOB )?REQUEUE", C::external_stop, root,
            K::none, "", "job {job} was put back into the queue",
            "see who asked for it; it starts again by itself", A::restart_from_checkpoint, A::none,
            Severity::info},
    RuleRow{"slurm_step_node_failure", "DUE TO NODE FAILURE", STOPPED "DUE TO NODE FAILURE",
            C::node_failure, root, K::none, "",
            "Slurm ended job {job} because one of its nodes failed",
            "the line of srun, sacct or slurmctld names the node", A::exclude_host,
            A::restart_from_checkpoint},
    RuleRow{"slurm_cancelled_by_signal", "DUE to SIGNAL",
            STOPPED R"(DUE to SIGNAL (?P<signal>\w+))", C::external_stop, teardown, K::none, "",
            "step {job} was sent signal {signal}"},
    RuleRow{"slurm_unkillable_step", "NOT ENDING WITH SIGNALS",
            R"(\*\*\* STEP (?P<job>\S{1,32}) STEPD TERMINATED ON )" HOST R"( AT )",
            C::unkillable_process, root, K::host, "{host}",
            "processes of step {job} did not die when Slurm killed them",
            "look there for processes in state D: they wait for storage or a driver",
            A::repair_storage, A::reboot_host},
    // A step is also cancelled by srun itself once a task has failed; a job is not.
    RuleRow{"slurm_job_cancelled", "CANCELLED AT",
            R"(\*\*\* JOB (?P<job>\S{1,32}) ON (?P<on>\S{1,255}) CANCELLED AT (?P<at>\S{1,32}) )"
            R"(\*\*\*)",
            C::external_stop, root, K::none, "", "job {job} was cancelled",
            "ask who cancelled it: sacct shows the user", A::find_sender,
            A::restart_from_checkpoint},
    RuleRow{"slurm_step_cancelled", "CANCELLED AT", STOPPED R"(\*\*\*)", C::external_stop, teardown,
            K::none, "", "step {job} was cancelled"},
    RuleRow{"slurm_kill_task_failed", "Kill task failed",
            "(?:[nN]ode(?:s)? )" HOST ".*Kill task failed", C::unkillable_process, root, K::host,
            "{host}", "Slurm drained the node because processes did not die",
            "look there for processes in state D: they wait for storage or a driver",
            A::repair_storage, A::reboot_host},

    // Nodes.
    RuleRow{"slurm_srun_node_failure", "Node failure on", "Node failure on " HOST, C::node_failure,
            root, K::host, "{host}", "the node stopped answering Slurm",
            "leave it out, look at its console and its BMC log", A::exclude_host,
            A::restart_from_checkpoint},
    RuleRow{"slurm_node_down", "not responding, setting DOWN",
            "[nN]odes? (?P<host>[\\w.,\\[\\]-]{1,255}) not responding, setting DOWN",
            C::node_failure, root, K::host, "{host}", "the node stopped answering Slurm",
            "leave it out, look at its console and its BMC log", A::exclude_host,
            A::restart_from_checkpoint},
    RuleRow{"slurm_node_silent", "not responding",
            R"(error: Nodes? (?P<nodes>[\w.,\[\]-]{1,255}) not responding\b)", C::node_failure,
            confirmation, K::none, "", "{nodes} did not answer Slurm for a while",
            "watch whether it comes back", A::watch},
    RuleRow{"slurm_killed_on_failed_node", "on failed node",
            R"([kK]illing JobId=(?P<job>\d+)\S* on failed node )" HOST, C::node_failure, root,
            K::host, "{host}", "Slurm ended job {job} because this node failed",
            "leave it out, look at its console and its BMC log", A::exclude_host,
            A::restart_from_checkpoint},
    RuleRow{"slurm_requeue_failed_node", "due to failure of node",
            R"(JobId=(?P<job>\d+)\S* due to failure of node )" HOST, C::node_failure, root, K::host,
            "{host}", "job {job} was put back into the queue because this node failed",
            "leave it out, look at its console and its BMC log", A::exclude_host,
            A::restart_from_checkpoint},
    RuleRow{"slurm_node_rebooted", "unexpectedly rebooted",
            "[nN]ode " HOST " unexpectedly rebooted", C::node_failure, root, K::host, "{host}",
            "the node rebooted without being told to", "look at its console, power and BMC log",
            A::exclude_host, A::collect_evidence},
    RuleRow{"slurm_preempt_requeue", "reempt",
            R"([pP]reempted JobId=(?P<job>\d+)|JobId=(?P<other>\d+)\S* (?:has been )?preempted)",
            C::external_stop, root, K::none, "", "the job was stopped for one of higher priority",
            "it starts again from the last checkpoint", A::restart_from_checkpoint, A::none,
            Severity::info},
    RuleRow{"slurm_health_check", "Health check failed",
            R"(Health check failed: +(?P<check>\w{1,64}): +(?P<what>.{1,200}))", C::undetermined,
            root, K::host, "{host}", "the health check of the node failed: {what}",
            "mend what the check names before the node is used", A::drain_host, A::recheck,
            Severity::critical},

    // Memory of a step.
    RuleRow{"slurm_oom_events", "kill event",
            R"([dD]etected (?P<count>[1-9]\d*) oom[-_ ]kill event)", C::host_oom_killed, root,
            K::host, "{host}", "the kernel killed processes of the step at its memory limit",
            "ask for more memory, or use fewer loader workers and less prefetch", A::reduce_memory,
            A::raise_limit},
    RuleRow{"slurm_memory_limit", "memory limit",
            R"((?:[eE]xceeded (?:job|step) memory limit|exceeded memory limit \((?P<used>\d+) > )"
            R"((?P<limit>\d+)\)))",
            C::host_oom_killed, root, K::config, "memory_limit",
            "Slurm killed the job at its memory limit",
            "ask for more memory, or use fewer loader workers and less prefetch", A::reduce_memory,
            A::raise_limit},
    RuleRow{"srun_task_oom", ": Out Of Memory",
            "error: " HOST R"(: tasks? (?P<task>\d{1,8})\S*: Out Of Memory)", C::host_oom_killed,
            root, K::host, "{host}", "task {task} was killed for lack of host memory",
            "ask for more memory, or use fewer loader workers and less prefetch", A::reduce_memory,
            A::raise_limit},

    // Ends of tasks. Once one has failed, srun ends the others, and which was first is not told.
    RuleRow{"srun_task_crashed", "egmentation fault",
            "error: " HOST R"(: tasks? (?P<task>\d{1,8})\S*: Segmentation fault)",
            C::rank_exception, root, K::none, "", "task {task} crashed (segmentation fault)",
            "look at its core file or run it with faulthandler", A::fix_code,
            A::restart_from_checkpoint},
    RuleRow{"srun_task_bus_error", ": Bus error",
            "error: " HOST R"(: tasks? (?P<task>\d{1,8})\S*: Bus error)", C::undetermined, root,
            K::host, "{host}", "task {task} ended by a bus error",
            "see df /dev/shm and the file system of memory-mapped files", A::collect_evidence,
            A::raise_limit, Severity::critical},
    RuleRow{
        "srun_task_ended", ": task",
        R"(error: (?P<host>[\w.-]{1,255}): tasks? (?P<task>[\d,-]{1,64}): (?P<what>Exited with )"
        R"((?:exit code|signal) \d+|Killed|Terminated|Aborted|Floating point exception|)"
        R"(Hangup|Interrupt))",
        C::undetermined, teardown, K::none, "", "task {task} ended: {what}"},

    // Binding and launch.
    RuleRow{"srun_cpu_binding", "CPU binding outside of job step allocation",
            "CPU binding outside of job step allocation", C::cpu_binding, root, K::config,
            "cpus_per_task", "the step wants cores that the job does not have",
            "give srun the same --cpus-per-task as the job", A::fix_config},
    RuleRow{"srun_cpu_bind_request", "Unable to satisfy cpu bind request",
            "Unable to satisfy cpu bind request", C::cpu_binding, root, K::config, "cpus_per_task",
            "the step wants cores that the node does not have", "correct --cpu-bind",
            A::fix_config},
    RuleRow{"srun_launch_failed", "ask launch for",
            "[tT]ask launch for \\S+ failed on node " HOST ": (?P<what>.{1,200})", C::undetermined,
            root, K::host, "{host}", "a task could not be started there: {what}",
            "look at slurmd on that node", A::exclude_host, A::collect_evidence,
            Severity::critical},
    RuleRow{"srun_launch_timeout", "imeout waiting for task launch",
            R"([tT]imeout waiting for task launch, started (?P<started>\d+) of (?P<of>\d+) tasks)",
            C::undetermined, root, K::none, "", "only {started} of {of} tasks came up in time",
            "look at slurmd on the nodes that did not start theirs", A::collect_evidence,
            A::exclude_host, Severity::critical},
    RuleRow{"srun_no_step", "Unable to create step for job",
            R"(Unable to create step for job (?P<job>\d+): (?P<what>.{1,200}))", C::undetermined,
            root, K::none, "", "the step cannot start: {what}", "correct what the step asks for",
            A::fix_config, A::none, Severity::critical},
    RuleRow{"slurm_no_allocation", "nable to allocate resources",
            R"([uU]nable to allocate resources: (?P<what>.{1,200}))", C::undetermined, root,
            K::none, "", "the job got no nodes: {what}", "correct what the job asks for",
            A::fix_config, A::none, Severity::critical},
    RuleRow{"slurm_execve",
            "execve(): ", R"(execve\(\): (?P<path>.{1,200}?): (?P<what>[A-Z].{1,80}))",
            C::undetermined, root, K::file, "{path}", "the program of the job cannot start: {what}",
            "correct the path, or see whether the file system is mounted", A::fix_config,
            A::repair_storage, Severity::critical},
    RuleRow{"srun_interrupted", "srun: ", R"(srun: (?:interrupt \(one more|sending Ctrl-C to))",
            C::external_stop, root, K::none, "", "somebody pressed Ctrl-C at srun", "ask who did",
            A::find_sender},

    // What follows once the step ends.
    RuleRow{"srun_step_aborted", "Job step aborted", "Job step aborted: Waiting up to",
            C::undetermined, teardown, K::none, "", "srun waits for the rest of the step to end"},
    RuleRow{"srun_teardown", "srun: ",
            R"(srun: (?:error: )?(?:[fF]orcing job termination|Terminating (?:StepId|job step)|)"
            R"(First task exited|error: eio_handle_mainloop|eio_handle_mainloop|)"
            R"(Timed out waiting for job step|launch/slurm: _step_signal))",
            C::undetermined, teardown, K::none, "", "srun ends the step"},
    RuleRow{"slurm_message_lost", "Failed to send MESSAGE_TASK_EXIT",
            "Failed to send MESSAGE_TASK_EXIT", C::undetermined, cascade, K::none, "",
            "srun was gone already"},
};

#undef HOST
#undef STOPPED

}  // namespace

std::span<const RuleRow> slurm_rules() {
  return kRows;
}

}  // namespace muster
