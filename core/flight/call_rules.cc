#include "core/flight/call_rules.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace muster {
namespace {

using Format = std::pair<std::int64_t, std::int64_t>;

// Compared as two numbers: "2.10" is later than "2.9". Without a version: the list of torch 2.2.
Format format_of(std::string_view version) {
  const std::size_t dot = std::min(version.find('.'), version.size());
  const auto minor = dot < version.size() ? parse_int(version.substr(dot + 1)) : std::nullopt;
  return {parse_int(version.substr(0, dot)).value_or(0), minor.value_or(0)};
}

// Whether calls with sizes have types as well; a dump without such calls is no witness.
bool lacks_types(const FlightDump& dump) {
  bool sizes = false;
  for (const FlightSignature& s : dump.signatures) {
    if (!s.input_dtypes.empty() || !s.output_dtypes.empty()) return false;
    sizes = sizes || !s.input_sizes.empty() || !s.output_sizes.empty();
  }
  return sizes;
}

}  // namespace

CallRules common_rules(std::span<const FlightDump* const> dumps) {
  constexpr Format kMembersSince = {2, 7}, kBarriersSince = {2, 4};
  CallRules rules;
  if (dumps.empty()) return rules;
  Format first = format_of(dumps.front()->version), last = first;
  for (const FlightDump* dump : dumps) {
    const Format format = format_of(dump->version);
    first = std::min(first, format);
    last = std::max(last, format);
    rules.types = rules.types && !lacks_types(*dump);
  }
  rules.batch_members = first >= kMembersSince || last < kMembersSince;
  rules.barrier_by_name = first >= kBarriersSince || last < kBarriersSince;
  return rules;
}

}  // namespace muster
