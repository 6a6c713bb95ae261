#include "core/explain/rule_row.h"

// Limits of processes and memory of the host, as programs meet them.

namespace muster {
namespace {

using enum EventRole;
using A = Action;
using C = Cause;
using K = CulpritKind;

constexpr std::string_view kMoreFiles =
    "raise ulimit -n in the launcher's shell, or set the loader's sharing strategy to file_system";

constexpr RuleRow kRows[] = {
    RuleRow{"too_many_open_files", "oo many open files", "[tT]oo many open files", C::limit_too_low,
            root, K::config, "nofile", "a process may not open more files", kMoreFiles,
            A::raise_limit, A::restart_from_checkpoint},
    RuleRow{"too_many_files_errno", "[Errno 24]", R"(\[Errno 24\])", C::limit_too_low, root,
            K::config, "nofile", "a process may not open more files", kMoreFiles, A::raise_limit,
            A::restart_from_checkpoint},
    // What Python's sharing of descriptors says at that limit.
    RuleRow{"ancdata", "items of ancdata", R"(received \d+ items of ancdata)", C::limit_too_low,
            root, K::config, "nofile", "a process may not open more files", kMoreFiles,
            A::raise_limit, A::restart_from_checkpoint},
    RuleRow{"inotify_limit", "inotify watch limit", "inotify watch limit reached", C::limit_too_low,
            root, K::config, "fs.inotify.max_user_watches",
            "the kernel allows no more watched files", "raise it by sysctl", A::raise_limit},
    RuleRow{"no_more_threads", "can't start new thread", "can't start new thread", C::limit_too_low,
            root, K::config, "nproc", "a process may not start more threads",
            "raise ulimit -u, or the pids limit of the container; set OMP_NUM_THREADS",
            A::raise_limit, A::fix_config},
    RuleRow{"blas_threads", "pthread_create failed",
            R"(pthread_create failed.*Resource temporarily unavailable)", C::limit_too_low, root,
            K::config, "nproc", "a process may not start more threads",
            "raise ulimit -u, or the pids limit of the container; set OMP_NUM_THREADS",
            A::raise_limit, A::fix_config},
    RuleRow{
        "fork_limit", "Resource temporarily unavailable",
        R"((?:fork|clone|Thread creation failed|libgomp: Thread creation)\b.*Resource temporarily)"
        R"( unavailable)",
        C::limit_too_low, root, K::config, "nproc", "no more processes may be started",
        "raise ulimit -u, or the pids limit of the container", A::raise_limit},
    RuleRow{"memlock_warning", "RLIMIT_MEMLOCK", R"(RLIMIT_MEMLOCK is (?P<bytes>\d+) bytes)",
            C::limit_too_low, confirmation, K::config, "memlock",
            "only {bytes} bytes may be locked for RDMA",
            "set the limit of locked memory to unlimited", A::raise_limit},
    RuleRow{"file_size_limit", "File size limit exceeded", "File size limit exceeded",
            C::limit_too_low, root, K::config, "fsize", "a file may not grow further",
            "raise ulimit -f", A::raise_limit},

    // The host has no memory, and nobody was killed.
    RuleRow{"cpu_allocator", "DefaultCPUAllocator",
            R"(DefaultCPUAllocator: (?:can't allocate|not enough) memory: you tried to allocate )"
            R"((?P<bytes>\d+) bytes)",
            C::undetermined, root, K::config, "memory_limit",
            "{bytes} bytes of host memory could not be had",
            "use less host memory (workers, prefetch, pinned buffers) or raise the limit",
            A::reduce_memory, A::raise_limit, Severity::critical},
    RuleRow{"numpy_memory", "Unable to allocate ",
            R"(Unable to allocate (?P<size>[\d.]+ [KMGTP]?i?B) for an array)", C::undetermined,
            root, K::config, "memory_limit", "{size} of host memory could not be had",
            "use less host memory (workers, prefetch, pinned buffers) or raise the limit",
            A::reduce_memory, A::raise_limit, Severity::critical},
    RuleRow{
        "no_host_memory", "Cannot allocate memory",
        R"((?:\[Errno 12\] Cannot allocate memory|fork: Cannot allocate memory|mmap\S*: Cannot )"
        R"(allocate memory))",
        C::undetermined, root, K::config, "memory_limit", "host memory could not be had",
        "use less host memory (workers, prefetch, pinned buffers) or raise the limit",
        A::reduce_memory, A::raise_limit, Severity::critical},
    RuleRow{"bad_alloc", "std::bad_alloc", R"(std::bad_alloc)", C::undetermined, root, K::config,
            "memory_limit", "host memory could not be had",
            "use less host memory (workers, prefetch, pinned buffers) or raise the limit",
            A::reduce_memory, A::raise_limit, Severity::critical},
    RuleRow{"python_memory", "MemoryError", R"(^MemoryError\b)", C::undetermined, root, K::config,
            "memory_limit", "host memory could not be had",
            "use less host memory (workers, prefetch, pinned buffers) or raise the limit",
            A::reduce_memory, A::raise_limit, Severity::critical},
};

}  // namespace

std::span<const RuleRow> limit_rules() {
  return kRows;
}

}  // namespace muster
