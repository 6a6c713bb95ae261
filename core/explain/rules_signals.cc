#include "core/explain/rule_row.h"

// Ends of processes by signals, as shells, C libraries and handlers tell of them.

namespace muster {
namespace {

using enum EventRole;
using A = Action;
using C = Cause;
using K = CulpritKind;

constexpr std::string_view kNative =
    "run with faulthandler or look at the core file: the last frame names the library";

constexpr RuleRow kRows[] = {
    // "run.sh: line 12: 4711 Segmentation fault (core dumped) python train.py"
    RuleRow{"shell_segfault", "Segmentation fault",
            R"(line \d+: +(?P<pid>\d{1,10}) Segmentation fault)", C::rank_exception, root,
            K::process, "{pid}", "process {pid} crashed (segmentation fault)", kNative, A::fix_code,
            A::collect_evidence},
    RuleRow{
        "segfault", "Segmentation fault",
        R"(^Segmentation fault|Fatal Python error: Segmentation fault|Signal: Segmentation fault)",
        C::rank_exception, root, K::none, "", "a process crashed (segmentation fault)", kNative,
        A::fix_code, A::collect_evidence},
    RuleRow{"ucx_segfault", "Caught signal 11", "Caught signal 11", C::rank_exception, root,
            K::none, "", "a process crashed (segmentation fault)", kNative, A::fix_code,
            A::collect_evidence},
    RuleRow{"shell_bus_error", "Bus error",
            R"((?:line \d+: +(?P<pid>\d{1,10}) Bus error|^Bus error|Fatal Python error: Bus error|)"
            R"(Signal: Bus error))",
            C::undetermined, root, K::process, "{pid}", "a process ended by a bus error",
            "see df /dev/shm and the file system of memory-mapped files", A::collect_evidence,
            A::raise_limit, Severity::critical},
    RuleRow{"shell_killed", "Killed", R"(line \d+: +(?P<pid>\d{1,10}) Killed)", C::undetermined,
            root, K::process, "{pid}", "process {pid} was killed from outside",
            "see the kernel log of its host for an OOM kill", A::collect_evidence, A::none,
            Severity::critical},
    RuleRow{"shell_aborted", "Aborted",
            R"((?:line \d+: +(?P<pid>\d{1,10}) Aborted|^Aborted \(core))", C::undetermined,
            teardown, K::none, "", "a process ended itself (abort)"},
    RuleRow{"shell_terminated", "Terminated", R"(line \d+: +(?P<pid>\d{1,10}) Terminated)",
            C::external_stop, teardown, K::none, "", "process {pid} was told to end"},
    RuleRow{"illegal_instruction", "Illegal instruction",
            R"((?:line \d+: +\d{1,10} Illegal instruction|^Illegal instruction))",
            C::rank_exception, root, K::none, "",
            "a program was built for another kind of processor",
            "build it for the oldest processor of the cluster", A::fix_config},
    RuleRow{"heap_damaged", "free()", R"((?:^|[:>] )(?:free|munmap_chunk)\(\): invalid)",
            C::rank_exception, root, K::none, "", "native code damaged its heap", kNative,
            A::fix_code, A::collect_evidence},
    RuleRow{"heap_corruption", "orrupt",
            R"(^(?:double free or corruption|malloc\(\): .{1,60}|corrupted (?:size vs\. prev_size|)"
            R"(double-linked list))\b)",
            C::rank_exception, root, K::none, "", "native code damaged its heap", kNative,
            A::fix_code, A::collect_evidence},

    // A worker may be told to end by its launcher, which had a reason.
    RuleRow{"handler_sigterm", "SIGTERM",
            R"((?i)(?:received|caught|got|handling)(?: a)?(?: signal:?)? (?P<signal>SIGTERM)\b)",
            C::external_stop, teardown, K::none, "", "a process was told to end by {signal}",
            "find who sent it: scheduler, preemption, operator", A::find_sender,
            A::restart_from_checkpoint},
    RuleRow{"handler_sigusr", "SIGUSR",
            R"((?i)(?:received|caught|got|handling)(?: a)?(?: signal:?)? (?P<signal>SIGUSR[12])\b)",
            C::external_stop, teardown, K::none, "", "a process was told to end by {signal}",
            "find who sent it: scheduler, preemption, operator", A::find_sender,
            A::restart_from_checkpoint},
    RuleRow{"handler_signal_15", "signal",
            R"((?i)(?:received|caught|got) signal:? ?(?P<signal>15|10|12|2)\b)", C::external_stop,
            teardown, K::none, "", "a process was told to end by signal {signal}",
            "find who sent it: scheduler, preemption, operator", A::find_sender,
            A::restart_from_checkpoint},
    RuleRow{"program_exits_on_sigterm", "exiting program after receiving",
            R"(exiting program after receiving (?P<signal>SIG\w{2,6}))", C::external_stop, root,
            K::none, "", "the program saved and ended on {signal}",
            "find who sent it: scheduler, preemption, operator", A::find_sender,
            A::restart_from_checkpoint},
    RuleRow{"keyboard_interrupt", "KeyboardInterrupt", R"(^KeyboardInterrupt\b)", C::external_stop,
            root, K::none, "", "somebody pressed Ctrl-C", "ask who did", A::find_sender,
            A::restart_from_checkpoint},
};

}  // namespace

std::span<const RuleRow> signal_rules() {
  return kRows;
}

}  // namespace muster
