#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/flight/call_rules.h"
#include "core/flight/dump.h"

// What one entry called, comparable between ranks, formats and back ends.

namespace muster {

// The operation whatever its spelling: "nccl:_all_gather_base", "gloo:all_gather" and "ALLGATHER"
// are all_gather.
enum class CallFamily : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  reduce,
  gather,
  scatter,
  barrier,
  send,
  receive,
  coalesced,  // the end of a batch; speaks for its members
  other,
};

struct Call {
  CallFamily family = CallFamily::other;
  std::string_view library;  // "nccl"; empty: not told
  std::string_view op;       // "_all_gather_base", "send 1->2"
  // Messages: places in the group, from 0; nothing where the text has none or "?".
  std::optional<std::int32_t> from, to;
};

// Of a profiling name; the views point into it.
Call parse_call(std::string_view profiling_name);

// Whether a finished call shows as "retired" and not by its state (back ends without completion
// events), and whether nothing shows it at all.
bool retired_means_done(std::string_view library);
bool completion_is_unknown(std::string_view library);

// One number for what must be equal on all members: family, elements by the rule of the family,
// types; as far as the dumps of the run tell it alike. 0 is never returned.
std::uint64_t call_key(const FlightSignature& signature, const CallRules& rules);

// The same without types, and the total elements that go in and come out.
struct CallTotals {
  std::int64_t in = 0, out = 0;
};
CallTotals call_totals(const FlightSignature& signature);

// "reduce_scatter [131072] BFloat16": for people. Bounded.
std::string describe_call(const FlightSignature& signature);

// Whether no member can finish this before all have come: not so for broadcast, reduce, messages.
bool is_synchronising(CallFamily family);

// Ranks of `a` and `b` differ in what: "operation", "size", "type"; empty if they agree.
std::string_view call_difference(const FlightSignature& a, const FlightSignature& b);

}  // namespace muster
