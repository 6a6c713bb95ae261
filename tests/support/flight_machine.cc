#include "tests/support/flight_machine.h"

#include <algorithm>

namespace muster {
namespace {

constexpr std::int64_t kLaunchNs = 40'000;  // a call of NCCL, from the record to its return

std::int64_t elements(const FlightSignature& s) {
  std::int64_t all = 1;
  if (s.output_sizes.empty()) return 0;
  for (const std::int64_t n : s.output_sizes.front()) all *= n;
  return all;
}

std::int64_t bytes_of(const FlightSignature& s) {
  if (s.output_dtypes.empty()) return 0;
  const std::string& dtype = s.output_dtypes.front();
  const std::int64_t width = dtype == "BFloat16" || dtype == "Half" ? 2 : dtype == "Long" ? 8 : 4;
  return elements(s) * width;
}

}  // namespace

Machine::Machine(const SimulatedJob& job, std::optional<BrokenLink> broken, bool equal_bytes_pass,
                 SimulatorRng& rng)
    : job_(job),
      broken_(std::move(broken)),
      equal_bytes_pass_(equal_bytes_pass),
      rng_(rng),
      ranks_(job.topology.ranks),
      collectives_(job.topology.groups.size()),
      is_awake_(job.topology.ranks, false) {
  // Calls keep their places: other tables point at them.
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    std::size_t calls = 0;
    for (const Action& a : job.programs[rank]) {
      if (a.is_call() || a.kind == ActionKind::batch_end) ++calls;
    }
    ranks_[rank].calls.reserve(calls);
    wake(rank);
  }
}

void Machine::wake(std::size_t rank) {
  if (is_awake_[rank]) return;
  is_awake_[rank] = true;
  awake_.push_back(rank);
}

void Machine::run() {
  while (!awake_.empty()) {
    const std::size_t rank = awake_.front();
    awake_.pop_front();
    is_awake_[rank] = false;
    bool moved = true;
    while (moved) {
      moved = false;
      while (step_cpu(rank)) moved = true;
      while (step_own_work(rank)) moved = true;
      if (step_streams(rank)) moved = true;
    }
  }
}

bool Machine::finished(std::size_t rank) const {
  return ranks_[rank].next == job_.programs[rank].size();
}

bool Machine::hangs() const {
  for (const Rank& r : ranks_) {
    for (const SimulatedCall& c : r.calls) {
      if (c.done_ns == kNever) return true;
    }
  }
  return false;
}

std::int64_t Machine::end_ns() const {
  std::int64_t end = 0;
  for (const Rank& r : ranks_) {
    for (const SimulatedCall& c : r.calls) {
      end = std::max(end, c.done_ns == kNever ? c.created_ns : c.done_ns);
    }
  }
  return end;
}

std::int64_t Machine::timeout_ns(std::int64_t timeout_ns) const {
  std::int64_t oldest = end_ns();
  for (const Rank& r : ranks_) {
    for (const SimulatedCall& c : r.calls) {
      if (c.done_ns == kNever) oldest = std::min(oldest, c.created_ns);
    }
  }
  return oldest + timeout_ns;
}

bool Machine::step_cpu(std::size_t rank) {
  Rank& r = ranks_[rank];
  const std::vector<Action>& program = job_.programs[rank];
  if (r.stopped || r.next == program.size()) return false;
  const Action& a = program[r.next];
  switch (a.kind) {
    case ActionKind::stuck:
    case ActionKind::gone:
      r.stopped = true;
      return false;
    case ActionKind::sync:
      if (r.own_work_done_ns.size() < r.own_work.size()) return false;
      if (!r.own_work_done_ns.empty()) r.cpu_ns = std::max(r.cpu_ns, r.own_work_done_ns.back());
      break;
    case ActionKind::cpu:
      // Python is never twice as fast.
      r.cpu_ns += a.ns + static_cast<std::int64_t>(draw(rng_, 0, 99)) * a.ns / 2000;
      break;
    case ActionKind::gpu:
      r.own_work.push_back(
          {r.cpu_ns, a.ns + static_cast<std::int64_t>(draw(rng_, 0, 99)) * 500, kNoIndex});
      break;
    case ActionKind::wait: {
      const std::vector<std::size_t>& calls = r.waitable[a.group];
      if (calls.size() > a.back) {
        r.own_work.push_back({r.cpu_ns, 0, calls[calls.size() - 1 - a.back]});
      }
      break;
    }
    default:
      issue(rank, a);
  }
  ++r.next;
  return true;
}

void Machine::number(Rank& r, SimulatedCall& call) {
  auto& [seq, p2p_seq] = r.numbers[call.action->group];
  // A batch takes one number, with its first message.
  const bool continues = !r.open_batch.empty();
  if (call.action->kind == ActionKind::collective) {
    ++seq;
  } else if (!continues) {
    ++p2p_seq;
  }
  call.seq = seq;
  call.p2p_seq = p2p_seq;
}

void Machine::issue(std::size_t rank, const Action& a) {
  Rank& r = ranks_[rank];
  SimulatedCall call;
  call.action = &a;
  call.place = r.calls.size();
  call.own_work = r.own_work.size();
  number(r, call);
  r.cpu_ns += 15'000 + static_cast<std::int64_t>(draw(rng_, 0, 30'000));
  call.created_ns = r.cpu_ns;
  if (!a.batched) r.cpu_ns += kLaunchNs;
  call.launched_ns = a.in_launch ? kNever : r.cpu_ns;
  if (a.in_launch) r.stopped = true;
  if (a.is_message()) join_message(rank, call);
  if (a.batched) {
    r.open_batch.push_back(call.place);
  } else {
    const std::size_t peer = a.is_message() ? a.peer : kNoIndex;
    r.streams[{a.group, peer}].calls.push_back(call.place);
    r.waitable[a.group].push_back(call.place);
  }
  if (a.kind == ActionKind::batch_end) {
    for (const std::size_t member : r.open_batch) {
      r.calls[member].batch = call.place;
      r.calls[member].launched_ns = call.launched_ns;
      call.messages.push_back(r.calls[member].message);
    }
    r.open_batch.clear();
  }
  if (a.kind == ActionKind::collective) {
    std::vector<SimulatedCollective>& all = collectives_[a.group];
    const auto place = static_cast<std::size_t>(call.seq - 1);
    if (all.size() <= place) all.resize(place + 1);
    all[place].calls.push_back({rank, call.place});
  }
  r.calls.push_back(std::move(call));
}

void Machine::join_message(std::size_t rank, SimulatedCall& call) {
  const Action& a = *call.action;
  const bool sends = a.kind == ActionKind::send;
  std::vector<std::size_t>& between =
      pairs_[{a.group, sends ? rank : a.peer, sends ? a.peer : rank}];
  for (const std::size_t m : between) {
    std::optional<CallOf>& end = sends ? messages_[m].send : messages_[m].receive;
    if (end) continue;
    end = CallOf{rank, call.place};
    call.message = m;
    return;
  }
  SimulatedMessage message;
  message.group = a.group;
  (sends ? message.send : message.receive) = CallOf{rank, call.place};
  call.message = messages_.size();
  between.push_back(messages_.size());
  messages_.push_back(message);
}

bool Machine::step_own_work(std::size_t rank) {
  Rank& r = ranks_[rank];
  const std::size_t place = r.own_work_done_ns.size();
  if (place == r.own_work.size()) return false;
  const OwnWork& w = r.own_work[place];
  std::int64_t at = std::max(w.issued_ns, place > 0 ? r.own_work_done_ns.back() : 0);
  if (w.call != kNoIndex) {
    if (r.calls[w.call].done_ns == kNever) return false;
    at = std::max(at, r.calls[w.call].done_ns);
  }
  r.own_work_done_ns.push_back(at + w.ns);
  return true;
}

bool Machine::step_streams(std::size_t rank) {
  Rank& r = ranks_[rank];
  bool moved = false;
  for (auto& [key, stream] : r.streams) {
    while (stream.head < stream.calls.size()) {
      SimulatedCall& call = r.calls[stream.calls[stream.head]];
      if (call.started_ns == kNever) {
        if (call.launched_ns == kNever || call.own_work > r.own_work_done_ns.size()) break;
        const std::int64_t own = call.own_work > 0 ? r.own_work_done_ns[call.own_work - 1] : 0;
        start(rank, call, std::max({call.launched_ns, own, stream.free_ns}));
        moved = true;
      }
      if (call.done_ns == kNever) break;
      stream.free_ns = call.done_ns;
      ++stream.head;
      moved = true;
    }
  }
  return moved;
}

void Machine::start(std::size_t rank, SimulatedCall& call, std::int64_t at_ns) {
  call.started_ns = at_ns;
  const Action& a = *call.action;
  if (a.kind == ActionKind::collective) {
    SimulatedCollective& c = collectives_[a.group][static_cast<std::size_t>(call.seq - 1)];
    ++c.started;
    if (c.started == job_.topology.groups[a.group].ranks.size() && match(c)) {
      finish_collective(a.group, c);
    }
    return;
  }
  if (a.is_message()) return start_message(call.message, rank, at_ns);
  for (const std::size_t m : call.messages) start_message(m, rank, at_ns);
}

void Machine::start_message(std::size_t message, std::size_t rank, std::int64_t at_ns) {
  SimulatedMessage& m = messages_[message];
  const bool sends = m.send && m.send->rank == rank;
  (sends ? m.send_started_ns : m.receive_started_ns) = at_ns;
  if (m.send_started_ns != kNever && m.receive_started_ns != kNever) finish_message(message);
}

bool Machine::is_broken(std::size_t message) const {
  const SimulatedMessage& m = messages_[message];
  if (!broken_ || broken_->seq >= 0 || broken_->group != m.group) return false;
  if (m.send->rank != broken_->from || m.receive->rank != broken_->to) return false;
  const std::vector<std::size_t>& between = pairs_.at({m.group, m.send->rank, m.receive->rank});
  return between.size() > broken_->nth && between[broken_->nth] == message;
}

void Machine::finish_message(std::size_t message) {
  SimulatedMessage& m = messages_[message];
  const CallOf ends[] = {*m.send, *m.receive};
  const std::uint32_t sent = ranks_[ends[0].rank].calls[ends[0].call].action->signature;
  const std::uint32_t received = ranks_[ends[1].rank].calls[ends[1].call].action->signature;
  if (bytes_of(job_.signatures[sent]) != bytes_of(job_.signatures[received])) return;
  if (is_broken(message)) return;
  m.done = true;
  const std::int64_t at = std::max(m.send_started_ns, m.receive_started_ns) + wire_ns(sent);
  for (const CallOf& end : ends) {
    Rank& r = ranks_[end.rank];
    SimulatedCall& call = r.calls[end.call];
    call.done_ns = at;
    wake(end.rank);
    if (call.batch == kNoIndex) continue;
    SimulatedCall& batch = r.calls[call.batch];
    std::int64_t batch_at = 0;
    bool all = true;
    for (const std::size_t other : batch.messages) {
      const SimulatedMessage& o = messages_[other];
      all = all && o.done;
      const CallOf mine = o.send && o.send->rank == end.rank ? *o.send : *o.receive;
      batch_at = std::max(batch_at, all ? r.calls[mine.call].done_ns : 0);
    }
    if (all) batch.done_ns = batch_at;
  }
}

bool Machine::same_call(std::uint32_t a, std::uint32_t b) const {
  if (a == b) return true;
  const FlightSignature& x = job_.signatures[a];
  const FlightSignature& y = job_.signatures[b];
  if (x.name != y.name) return false;
  if (equal_bytes_pass_ && bytes_of(x) == bytes_of(y)) return true;
  return x.name == "nccl:all_to_all" && x.input_dtypes == y.input_dtypes;
}

bool Machine::match(const SimulatedCollective& c) const {
  const auto signature = [this](const CallOf& of) {
    return ranks_[of.rank].calls[of.call].action->signature;
  };
  return std::all_of(c.calls.begin(), c.calls.end(), [&](const CallOf& of) {
    return same_call(signature(of), signature(c.calls.front()));
  });
}

void Machine::finish_collective(std::size_t group, SimulatedCollective& c) {
  const bool broken =
      broken_ && broken_->group == group && &c - collectives_[group].data() == broken_->seq - 1;
  std::int64_t at = 0;
  for (const CallOf& of : c.calls) {
    at = std::max(at, ranks_[of.rank].calls[of.call].started_ns);
  }
  const CallOf& first = c.calls.front();
  at += wire_ns(ranks_[first.rank].calls[first.call].action->signature);
  for (const CallOf& of : c.calls) {
    if (broken && std::count(broken_->got_out.begin(), broken_->got_out.end(), of.rank) == 0) {
      continue;
    }
    ranks_[of.rank].calls[of.call].done_ns = at;
    wake(of.rank);
  }
  c.done = !broken;
}

std::int64_t Machine::wire_ns(std::uint32_t signature) const {
  return 60'000 + bytes_of(job_.signatures[signature]) / 200;  // 200 GB/s
}

}  // namespace muster
