#include "core/explain/rule_row.h"

// What no other rule knows better: the last line of a traceback of any program. Only at the front
// of a message: a program that catches one and goes on speaks of it in the middle of a sentence.

namespace muster {
namespace {

using enum EventRole;
using A = Action;
using C = Cause;
using K = CulpritKind;

constexpr std::string_view kRead = "read the traceback above it";

constexpr RuleRow kRows[] = {
    // Of a connection whose other end failed.
    RuleRow{"connection_exception", "Connection",
            R"(^(?:\w+\.)*Connection(?:Reset|Aborted|Refused)Error\b)", C::undetermined, cascade,
            K::none, "", "the other end of a connection ended",
            "look for the first error of the process behind it"},
    RuleRow{"timeout_exception", "TimeoutError", R"(^(?:\w+\.)*TimeoutError\b)", C::undetermined,
            cascade, K::none, "", "somebody did not answer in time",
            "look for the first error of the process that was waited for"},
    RuleRow{"ended_input", "EOFError", R"(^EOFError\s*$)", C::undetermined, cascade, K::none, "",
            "the other end of a pipe ended", "look for the first error of the process behind it"},
    RuleRow{"system_exit", "SystemExit", R"(^SystemExit\b)", C::undetermined, teardown, K::none, "",
            "a program ended itself"},
    RuleRow{"name_unknown", "Name or service not known", "Name or service not known", C::no_route,
            confirmation, K::none, "", "a host name could not be resolved",
            "look at the name service and at the names in the settings", A::fix_network,
            A::fix_config},
    RuleRow{"name_service_down", "failure in name resolution",
            "Temporary failure in name resolution", C::no_route, confirmation, K::none, "",
            "the name service did not answer", "look at the name service", A::fix_network},
    RuleRow{"hub_unreachable", "huggingface.co",
            R"((?:We couldn't connect to|Couldn't reach).{0,20}huggingface\.co|)"
            R"(huggingface\.co.{0,40}Max retries exceeded)",
            C::undetermined, root, K::none, "", "the model hub cannot be reached from this node",
            "download before the start, and set HF_HUB_OFFLINE=1", A::fix_config, A::fix_network,
            Severity::critical},
    RuleRow{"no_module", "No module named",
            R"(^(?:ModuleNotFound|Import)Error: No module named '(?P<module>[^']{1,120})')",
            C::rank_exception, root, K::config, "{module}", "{module} is not installed here",
            "use the same environment on all nodes", A::fix_config},
    RuleRow{"error_exception", "Error: ",
            R"(^(?:[A-Za-z_]\w{0,60}\.){0,8}(?P<exception>[A-Z]\w{1,80}Error): (?P<what>.{0,200}))",
            C::rank_exception, root, K::none, "", "{exception}", kRead, A::fix_code,
            A::restart_from_checkpoint},
    RuleRow{"bare_assertion", "AssertionError", R"(^AssertionError\s*$)", C::rank_exception, root,
            K::none, "", "an assertion of the program failed", kRead, A::fix_code,
            A::restart_from_checkpoint},
    RuleRow{"other_exception", "Exception: ",
            R"(^(?:[A-Za-z_]\w{0,60}\.){0,8}(?P<exception>\w{0,80}Exception): (?P<what>.{0,200}))",
            C::rank_exception, root, K::none, "", "{exception}", kRead, A::fix_code,
            A::restart_from_checkpoint},
};

}  // namespace

std::span<const RuleRow> exception_rules() {
  return kRows;
}

}  // namespace muster
