#include "core/flight/call.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/hash_mix.h"
#include "base/text.h"

namespace muster {
namespace {

struct FamilyName {
  std::string_view name;
  CallFamily family;
};

// Spellings of NCCL's, Gloo's and the hooks' recorders, without leading "_", in lower case.
constexpr FamilyName kFamilies[] = {
    {"all_reduce", CallFamily::all_reduce},
    {"allreduce", CallFamily::all_reduce},
    {"allreduce_coalesced", CallFamily::all_reduce},
    {"allreduce_sparse", CallFamily::all_reduce},
    {"all_gather", CallFamily::all_gather},
    {"allgather", CallFamily::all_gather},
    {"all_gather_base", CallFamily::all_gather},
    {"allgather_base", CallFamily::all_gather},
    {"all_gather_into_tensor", CallFamily::all_gather},
    {"all_gather_into_tensor_coalesced", CallFamily::all_gather},
    {"allgather_into_tensor_coalesced", CallFamily::all_gather},
    {"allgather_coalesced", CallFamily::all_gather},
    {"reduce_scatter", CallFamily::reduce_scatter},
    {"reduce_scatter_base", CallFamily::reduce_scatter},
    {"reduce_scatter_tensor", CallFamily::reduce_scatter},
    {"reduce_scatter_tensor_coalesced", CallFamily::reduce_scatter},
    {"reduce_scatter_coalesced", CallFamily::reduce_scatter},
    {"all_to_all", CallFamily::all_to_all},
    {"alltoall", CallFamily::all_to_all},
    {"alltoall_base", CallFamily::all_to_all},
    {"all_to_all_single", CallFamily::all_to_all},
    {"broadcast", CallFamily::broadcast},
    {"broadcast_oop", CallFamily::broadcast},
    {"reduce", CallFamily::reduce},
    {"reduce_oop", CallFamily::reduce},
    {"gather", CallFamily::gather},
    {"scatter", CallFamily::scatter},
    {"barrier", CallFamily::barrier},
    {"all_reduce_barrier", CallFamily::barrier},
    {"send", CallFamily::send},
    {"recv", CallFamily::receive},
    {"coalesced", CallFamily::coalesced},
};

CallFamily family_of(std::string_view op) {
  std::string name(op);
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  name.erase(0, name.find_first_not_of('_'));
  for (const FamilyName& row : kFamilies) {
    if (row.name == name) return row.family;
  }
  return CallFamily::other;
}

std::optional<std::int32_t> place(std::string_view text) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return {};
  return value;
}

// "1->2", "3<-0", "0<-?": the left one is the recording rank.
void parse_route(std::string_view route, Call& call) {
  const std::size_t right = route.find("->");
  const std::size_t left = route.find("<-");
  if (right != std::string_view::npos) {
    call.from = place(route.substr(0, right));
    call.to = place(route.substr(right + 2));
  } else if (left != std::string_view::npos) {
    call.to = place(route.substr(0, left));
    call.from = place(route.substr(left + 2));
  }
}

// Elements of hostile shapes may not overflow.
std::int64_t elements(const std::vector<std::vector<std::int64_t>>& tensors) {
  std::int64_t total = 0;
  for (const auto& shape : tensors) {
    std::int64_t product = 1;
    for (const std::int64_t size : shape) {
      if (__builtin_mul_overflow(product, size, &product)) return INT64_MAX;
    }
    if (__builtin_add_overflow(total, product, &total)) return INT64_MAX;
  }
  return total;
}

std::string_view type_of(const FlightSignature& s) {
  if (!s.input_dtypes.empty()) return s.input_dtypes.front();
  return s.output_dtypes.empty() ? std::string_view() : std::string_view(s.output_dtypes.front());
}

// What of the sizes must agree. Roots and others differ legally in gather and scatter, in broadcast
// and reduce one side may be left out, and the splits of all_to_all are free.
CallTotals compared_sizes(const FlightSignature& s, CallFamily family) {
  const CallTotals totals = call_totals(s);
  // What is not known may have other rules; variants with "v" are there for unequal sizes.
  const std::string_view op = parse_call(s.name).op;
  if (family == CallFamily::other || op.ends_with("_v") || op.ends_with("v_base")) return {};
  switch (family) {
    case CallFamily::all_to_all:
    case CallFamily::gather:
    case CallFamily::scatter:
    case CallFamily::coalesced:
    case CallFamily::barrier:
      return {};
    case CallFamily::broadcast:
    case CallFamily::reduce:
      return {std::max(totals.in, totals.out), 0};
    default:
      return totals;
  }
}

// An all_reduce of one element, of the types that PyTorch has reduced for a barrier.
bool may_be_barrier(const Call& call, const FlightSignature& s) {
  if (call.family != CallFamily::all_reduce) return false;
  const CallTotals totals = call_totals(s);
  const std::string_view type = type_of(s);
  return totals.in == 1 && totals.out == 1 && (type.empty() || type == "Float" || type == "Byte");
}

}  // namespace

Call parse_call(std::string_view profiling_name) {
  Call call;
  const std::size_t colon = profiling_name.find(':');
  if (colon != std::string_view::npos) {
    call.library = profiling_name.substr(0, colon);
    profiling_name.remove_prefix(colon + 1);
  }
  call.op = profiling_name;
  const std::size_t blank = profiling_name.find(' ');
  call.family = family_of(profiling_name.substr(0, blank));
  const bool message = call.family == CallFamily::send || call.family == CallFamily::receive;
  if (message && blank != std::string_view::npos) {
    parse_route(trim(profiling_name.substr(blank + 1)), call);
  }
  return call;
}

bool retired_means_done(std::string_view library) {
  return library == "gloo" || library == "nccl2" || library == "xla";
}

bool completion_is_unknown(std::string_view library) {
  return library == "fake" || library == "mpi" || library == "ucc" || library == "custom";
}

CallTotals call_totals(const FlightSignature& signature) {
  return {elements(signature.input_sizes), elements(signature.output_sizes)};
}

std::uint64_t call_key(const FlightSignature& signature, const CallRules& rules) {
  Call call = parse_call(signature.name);
  if (!rules.barrier_by_name && may_be_barrier(call, signature)) call.family = CallFamily::barrier;
  std::uint64_t hash = mix(0x6d757374ULL, static_cast<std::uint64_t>(call.family));
  if (call.family == CallFamily::other) hash = mix(hash, call.op);
  const CallTotals sizes = compared_sizes(signature, call.family);
  hash =
      mix(mix(hash, static_cast<std::uint64_t>(sizes.in)), static_cast<std::uint64_t>(sizes.out));
  if (rules.types && call.family != CallFamily::barrier) hash = mix(hash, type_of(signature));
  return hash == 0 ? 1 : hash;
}

std::string describe_call(const FlightSignature& signature) {
  constexpr std::size_t kOpChars = 64;
  const Call call = parse_call(signature.name);
  std::string op(call.op.substr(0, kOpChars));
  op.erase(0, op.find_first_not_of('_'));
  if (call.family == CallFamily::barrier) return "barrier";
  const auto& tensors =
      signature.input_sizes.empty() ? signature.output_sizes : signature.input_sizes;
  if (!tensors.empty()) {
    std::string shape;
    for (const std::int64_t size : tensors.front()) {
      if (shape.size() > 40) break;
      shape += fmt::format("{}{}", shape.empty() ? "" : ",", size);
    }
    op += fmt::format(" [{}]{}", shape,
                      tensors.size() > 1 ? fmt::format(" x {}", tensors.size()) : "");
  }
  const std::string_view type = type_of(signature).substr(0, 32);
  return type.empty() ? op : fmt::format("{} {}", op, type);
}

bool is_synchronising(CallFamily family) {
  switch (family) {
    case CallFamily::all_reduce:
    case CallFamily::all_gather:
    case CallFamily::reduce_scatter:
    case CallFamily::all_to_all:
    case CallFamily::barrier:
      return true;
    default:
      return false;
  }
}

std::string_view call_difference(const FlightSignature& a, const FlightSignature& b) {
  const Call x = parse_call(a.name);
  const Call y = parse_call(b.name);
  if (x.family != y.family || (x.family == CallFamily::other && x.op != y.op)) return "operation";
  const CallTotals s = compared_sizes(a, x.family);
  const CallTotals t = compared_sizes(b, y.family);
  if (s.in != t.in || s.out != t.out) return "size";
  if (x.family != CallFamily::barrier && type_of(a) != type_of(b)) return "type";
  return "";
}

}  // namespace muster
