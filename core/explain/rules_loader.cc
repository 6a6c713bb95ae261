#include "core/explain/rule_row.h"

// Workers of data loaders, and the shared memory through which they pass batches.

namespace muster {
namespace {

using enum EventRole;
using A = Action;
using C = Cause;
using K = CulpritKind;

constexpr std::string_view kMoreShm =
    "start the container with a larger --shm-size, or mount a memory volume at /dev/shm";
constexpr std::string_view kLessMemory =
    "use fewer workers and less prefetch, or give the job more memory; look for memory that grows";

constexpr RuleRow kRows[] = {
    RuleRow{"loader_bus_error", "killed by signal: Bus error",
            R"(DataLoader worker \(pid (?P<pid>\d{1,10})\) is killed by signal: Bus error)",
            C::shm_full, root, K::file, "/dev/shm", "loader worker {pid} found no shared memory",
            kMoreShm, A::raise_limit, A::restart_from_checkpoint},
    // What the worker itself says; the line of its loader names it.
    RuleRow{"loader_bus_error_inside", "Unexpected bus error",
            "Unexpected bus error encountered in worker", C::shm_full, root, K::file, "/dev/shm",
            "a loader worker found no shared memory", kMoreShm, A::raise_limit,
            A::restart_from_checkpoint},
    // SIGKILL to a worker alone: the kernel without memory, far more often than a person.
    RuleRow{"loader_killed", "killed by signal: Killed",
            R"(DataLoader worker \(pid (?P<pid>\d{1,10})\) is killed by signal: Killed)",
            C::host_oom_killed, root, K::process, "{pid}",
            "loader worker {pid} was killed, most likely because the host had no memory left",
            kLessMemory, A::reduce_memory, A::raise_limit},
    RuleRow{"loader_terminated", "killed by signal: Terminated",
            R"(DataLoader worker \(pid (?P<pid>\d{1,10})\) is killed by signal: (?:Terminated|)"
            R"(Hangup|Interrupt))",
            C::external_stop, teardown, K::none, "", "loader worker {pid} was told to end"},
    RuleRow{"loader_crashed", "is killed by signal: ",
            R"(DataLoader worker \(pid (?P<pid>\d{1,10})\) is killed by signal: (?P<signal>[A-)"
            R"(Z][\w ]{1,40}))",
            C::loader_worker_crashed, root, K::process, "{pid}",
            "loader worker {pid} crashed ({signal})",
            "look for a decoder in native code; try num_workers=0 on the same data", A::fix_code,
            A::fix_data},
    RuleRow{
        "loader_crashed_inside", "encountered in worker",
        R"(Unexpected (?P<signal>segmentation fault|floating-point exception|illegal instruction))"
        R"( encountered in worker)",
        C::loader_worker_crashed, confirmation, K::none, "", "a loader worker crashed ({signal})",
        "look for a decoder in native code; try num_workers=0 on the same data", A::fix_code,
        A::fix_data},
    RuleRow{"loader_exited", "exited unexpectedly",
            R"(DataLoader worker \(pid(?:\(s\))? (?P<workers>[\d, ]{1,120})\) exited unexpectedly)",
            C::loader_worker_crashed, root, K::none, "",
            "loader workers {workers} ended by themselves",
            "their own error stands above it; look at host memory too", A::collect_evidence,
            A::fix_code},
    RuleRow{"loader_process_exited", "ata process",
            R"(data process (?P<pid>\d{1,10}) exited with code (?P<code>-?\d{1,3}))",
            C::loader_worker_crashed, confirmation, K::process, "{pid}",
            "data process {pid} ended with {code}", "its own error stands beside it", A::fix_data},
    RuleRow{"loader_timed_out", "DataLoader timed out",
            R"(DataLoader timed out after (?P<seconds>\d+(?:\.\d+)?) seconds)", C::data_starvation,
            root, K::none, "", "no batch came for {seconds} s",
            "look at the storage and the workers: which of them wait", A::speed_up_input,
            A::collect_evidence},
    RuleRow{"loader_exception", "in DataLoader worker process",
            R"(Caught (?P<what>\w{1,80}) in DataLoader worker process (?P<worker>\d{1,6}))",
            C::rank_exception, confirmation, K::none, "", "loader worker {worker} raised {what}",
            "its own traceback follows"},

    // Files of torch in /dev/shm.
    RuleRow{"torch_shm_no_room", "</torch_",
            R"(</torch_[\w.-]{1,80}>.{0,80}(?:No space left on device|Cannot allocate memory))",
            C::shm_full, root, K::file, "/dev/shm", "no shared memory left for a batch", kMoreShm,
            A::raise_limit, A::restart_from_checkpoint},
    RuleRow{"shm_no_room", "/dev/shm",
            R"((?:No space left on device.{0,40}'(?P<path>/dev/shm[^']{0,200})'|)"
            R"(/dev/shm\S{0,200}: No space left on device))",
            C::shm_full, root, K::file, "/dev/shm", "no shared memory left", kMoreShm,
            A::raise_limit, A::restart_from_checkpoint},
    RuleRow{"shm_insufficient", "insufficient shared memory", "insufficient shared memory",
            C::shm_full, confirmation, K::file, "/dev/shm", "shared memory may be too small",
            kMoreShm, A::raise_limit},
};

}  // namespace

std::span<const RuleRow> loader_rules() {
  return kRows;
}

}  // namespace muster
