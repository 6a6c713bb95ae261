#include "core/explain/rule_row.h"

// Lines that look like an error and are none: each stands in the logs of healthy runs.

namespace muster {
namespace {

using enum EventRole;
using A = Action;
using C = Cause;
using K = CulpritKind;

constexpr RuleRow harmless(std::string_view name, std::string_view anchor, std::string_view pattern,
                           std::string_view meaning) {
  return {name, anchor, pattern, C::harmless_message, benign, K::none, "", meaning, "", A::none};
}

constexpr RuleRow kRows[] = {
    // IPv6 is tried first and is not there.
    harmless("c10d_no_ipv6", "errno: 97", R"(errno: 97 - Address family not supported)",
             "a host without IPv6: IPv4 is tried next"),
    harmless("c10d_no_ipv6_name", "IPv6 network addresses of",
             R"(IPv6 network addresses of \(.{1,255}\) cannot be retrieved)",
             "a host without IPv6: IPv4 is tried next"),
    harmless("c10d_no_reverse_name", "hostname of the client socket cannot be",
             "hostname of the client socket cannot be retrieved", "an address without a name"),
    harmless("torchrun_omp", "Setting OMP_NUM_THREADS", "Setting OMP_NUM_THREADS environment",
             "torchrun sets one thread a process"),
    harmless("ddp_barrier_device", "devices used by this process are currently unknown",
             "devices used by this process are currently unknown",
             "a barrier before the GPU was chosen: it takes the one of the rank"),
    harmless("ddp_unused_needless", "did not find any unused parameters",
             "did not find any unused parameters in the forward pass", "a setting costs some time"),
    harmless("ddp_strides", "Grad strides do not match",
             "Grad strides do not match bucket view strides", "a layout costs some time"),
    harmless("symbolizing", "symbolizing C++ stack trace",
             "symbolizing C\\+\\+ stack trace for exception", "a stack trace takes a while"),
    harmless("forked_tokenizer", "process just got forked",
             "current process just got forked, after parallelism has already been used",
             "the tokenizer turns its threads off in workers"),
    harmless("long_sequence", "Token indices sequence length is longer",
             "Token indices sequence length is longer than the specified maximum",
             "a text is longer than the model's context before it is cut"),
    harmless("loss_scale", "Attempted loss scale",
             R"((?:OVERFLOW!|[oO]verflow).{0,80}[sS]kipping step)",
             "half precision looks for its scale"),
    harmless("numpy_read_only", "array is not writ",
             R"(The given NumPy array is not writ(?:e)?able)", "a view that nobody writes to"),
    harmless("numpy_api", "_ARRAY_API not found", "_ARRAY_API not found",
             "a module was built for another NumPy"),
    harmless("cuda_factory_twice", "ttempting to register factory",
             R"((?i)unable to register cu\w+ factory)", "two libraries register the same plugin"),
    harmless("tensorrt_missing", "Could not find TensorRT", "Could not find TensorRT",
             "an optional library is not there"),
    harmless("libaio_missing", "libaio .so object and headers", "libaio \\.so object and headers",
             "an optional library is not there"),
    harmless("verbs_provider_missing", "load driver",
             R"(libibverbs: Warning: couldn't (?:load|open).{0,40}driver)",
             "a driver for another adapter is not there"),
    harmless("wandb_retries",
             "wandb: ", R"((?i)wandb: .*(?:entering retry loop|network error|retry))",
             "metrics are sent later"),
    harmless("http_retries", "after connection broken by",
             R"(Retrying \(Retry\(total=\d+.{0,200}after connection broken by)",
             "a download is tried again"),
    harmless("locale", "Setting locale failed", "Setting locale failed",
             "a language is not installed"),
    harmless("known_host", "to the list of known hosts", "Permanently added .{1,300} known hosts",
             "SSH met a host for the first time"),
    harmless("x11", "X11 forwarding request failed", "X11 forwarding request failed",
             "no screen is needed"),
    harmless("ucx_unused", "unused environment variable", "UCX .*unused environment variable",
             "a setting that nobody reads"),
    harmless("leaked_semaphores", "leaked semaphore",
             R"(resource_tracker: There appear to be \d+ leaked)",
             "a process ended without tidying up"),
    harmless("ignored_exception", "Exception ignored in", R"(Exception ignored in: )",
             "an exception while objects were deleted: Python goes on"),
    harmless("persistence_hint", "ersistence mode is",
             R"((?i)persistence mode is (?:disabled|legacy))", "GPUs start slower, nothing else"),
};

}  // namespace

std::span<const RuleRow> harmless_rules() {
  return kRows;
}

}  // namespace muster
