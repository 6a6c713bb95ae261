#include "core/comms/witness_log_event.h"

#include <fmt/core.h>

#include <array>

#include "core/comms/scan.h"

namespace muster {
namespace {

using Kind = WitnessKind;

struct KindRow {
  std::string_view name;
  Cause cause;
  EventRole role;
  std::string_view meaning;
};

// In the order of WitnessKind.
constexpr std::array<KindRow, 16> kKinds = {{
    {"exception", Cause::rank_exception, EventRole::root,
     "the program of this rank raised an error"},
    {"gpu_oom", Cause::gpu_oom, EventRole::root, "a GPU of this rank had no memory left"},
    {"host_oom_killed", Cause::host_oom_killed, EventRole::root,
     "the kernel killed this rank to free memory"},
    {"killed", Cause::external_stop, EventRole::teardown, "somebody ended this rank with a signal"},
    {"crashed", Cause::rank_exception, EventRole::root, "this rank crashed"},
    {"cuda_error", Cause::rank_exception, EventRole::root, "CUDA gave up in this rank"},
    {"gpu_lost", Cause::ecc_uncorrectable, EventRole::root, "this rank met a fault of its GPU"},
    {"network_error", Cause::undetermined, EventRole::cascade, "this rank lost a peer or its port"},
    {"collective_timeout", Cause::collective_hang, EventRole::cascade,
     "this rank waited in a collective until its time limit"},
    {"last_enqueued", Cause::collective_hang, EventRole::confirmation,
     "how far this rank came in its collectives"},
    {"dump_signal", Cause::collective_hang, EventRole::cascade,
     "another rank told this one that it had timed out"},
    {"left_script", Cause::undetermined, EventRole::context, "this rank has left its script"},
    {"watchdog_stuck", Cause::watchdog_stuck, EventRole::root,
     "this rank made no progress inside a call of CUDA or NCCL"},
    {"gil_held", Cause::watchdog_stuck, EventRole::confirmation,
     "the interpreter of this rank was held by one of its threads"},
    {"ras_missing", Cause::rank_behind, EventRole::confirmation, "NCCL does not reach this rank"},
    {"ras_behind", Cause::rank_behind, EventRole::confirmation,
     "this rank has begun fewer collectives than the others"},
}};

const KindRow& row_of(Kind kind) {
  return kKinds[static_cast<std::size_t>(kind)];
}

// What CUDA says of its GPU is more than the kind knows.
Cause cause_of(const LogWitness& witness) {
  const std::string& text = witness.value.text;
  if (witness.value.kind == Kind::gpu_lost) {
    if (text.find("NVLink") != std::string::npos) return Cause::nvlink_down;
    if (witness.value.code == 79) return Cause::gpu_fell_off_bus;
  }
  return row_of(witness.value.kind).cause;
}

EventRole role_of(const LogWitness& witness) {
  return witness.only_exit ? EventRole::teardown : row_of(witness.value.kind).role;
}

bool ended_by_signal(const LogWitness& witness) {
  const Kind kind = witness.value.kind;
  return kind == Kind::killed || kind == Kind::crashed || kind == Kind::host_oom_killed;
}

void add_words(const LogWitness& witness, LogEvent& out) {
  const RankWitness& value = witness.value;
  const auto word = [&out](std::string_view name, const auto& number) {
    if (number) out.words.emplace_back(name, fmt::format("{}", *number));
  };
  word("seq", value.seq);
  if (!value.op.empty()) out.words.emplace_back("op", value.op);
  word("group", value.group);
  word("enqueued", value.enqueued);
  word("completed", value.completed);
  word("pending", value.pending);
  word(ended_by_signal(witness) ? "signal" : "code", value.code);
  if (value.kind != Kind::collective_timeout) return;
  word("timeout_ms", comms::int_behind(value.text, "Timeout(ms)="));
  word("ran_ms", comms::int_behind(value.text, "ran for "));
  word("numel_in", comms::int_behind(value.text, "NumelIn="));
}

}  // namespace

LogEvent log_event_of(const LogWitness& witness) {
  const RankWitness& value = witness.value;
  LogEvent out;
  out.rule = std::string(row_of(value.kind).name);
  out.cause = cause_of(witness);
  out.role = role_of(witness);
  out.time.at = value.at;
  out.time.has_zone = value.at_has_zone;
  if (!value.at && value.clock) {
    out.time.at = WallTime(*value.clock);
    out.time.has_date = false;
  }
  out.last = out.time;
  out.host = witness.host;
  out.pid = witness.pid;
  if (witness.placed) {
    out.rank = value.rank;
    out.subject = {CulpritKind::rank, fmt::format("{}", value.rank)};
  }
  add_words(witness, out);
  out.meaning = row_of(value.kind).meaning;
  out.text = value.text;
  out.source = value.source;
  out.line = value.line;
  return out;
}

}  // namespace muster
