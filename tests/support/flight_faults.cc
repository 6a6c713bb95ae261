#include "tests/support/flight_faults.h"

#include <algorithm>
#include <set>
#include <string>

#include "tests/support/flight_waits.h"

namespace muster {
namespace {

using Kind = FlightVerdictKind;

class Planter {
 public:
  Planter(FaultKind kind, SimulatedJob& job, SimulatorRng& rng) : job_(job), rng_(rng) {
    fault_.kind = kind;
    const std::size_t steps = job.settings.steps;
    // Not in the last step, so that nobody comes to the end of its program before the fault bites.
    step_ = draw_percent(rng, 10) ? 0 : static_cast<std::uint32_t>(draw(rng, 1, steps - 2));
    rank_ = draw(rng, 0, job.topology.ranks - 1);
  }

  std::optional<PlantedFault> plant() {
    if (!plant_kind()) return std::nullopt;
    std::sort(fault_.culprits.begin(), fault_.culprits.end());
    return fault_;
  }

 private:
  std::vector<Action>& program() { return job_.programs[rank_]; }
  Action& action(std::size_t place) { return job_.programs[rank_][place]; }
  std::size_t group_size(const Action& a) const {
    return job_.topology.groups[a.group].ranks.size();
  }

  // A place in the program of rank_, in step_, that suits; kNoIndex: none does.
  template <class Suits>
  std::size_t find_place(const Suits& suits) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < program().size(); ++i) {
      if (program()[i].step == step_ && suits(program()[i])) places.push_back(i);
    }
    return places.empty() ? kNoIndex : places[draw(rng_, 0, places.size() - 1)];
  }
  std::size_t find_collective(bool plain) {
    return find_place([&](const Action& a) {
      if (a.kind != ActionKind::collective) return false;
      const std::string& name = job_.signatures[a.signature].name;
      return !plain || (name != "nccl:all_to_all" && name != "nccl:all_reduce_barrier");
    });
  }

  void accept(std::size_t place, std::vector<Kind> kinds) {
    fault_.group = action(place).group;
    fault_.changed = CallOf{rank_, place};
    fault_.accepted = std::move(kinds);
    // Two members: nothing inside the group tells which of them is right.
    if (group_size(action(place)) == 2) fault_.accepted.push_back(Kind::undecided);
  }

  bool plant_kind();
  bool stop(ActionKind kind);
  bool stop_host();
  bool stop_at_data();
  bool launch();
  bool create_group();
  bool leave_early();
  bool change_signature();
  bool change_message_size();
  bool change_operation();
  bool skip();
  bool add_extra();
  bool swap_groups();
  bool swap_messages();
  bool break_collective();
  bool break_message();

  void insert(std::size_t place, ActionKind kind) {
    Action a;
    a.kind = kind;
    a.step = step_;
    program().insert(program().begin() + static_cast<std::ptrdiff_t>(place), a);
  }

  SimulatedJob& job_;
  SimulatorRng& rng_;
  PlantedFault fault_;
  std::uint32_t step_ = 0;
  std::size_t rank_ = 0;
};

bool Planter::plant_kind() {
  switch (fault_.kind) {
    case FaultKind::hang:
      return draw_percent(rng_, 15) ? stop_host() : stop(ActionKind::stuck);
    case FaultKind::dataloader_stall:
      return stop_at_data();
    case FaultKind::crash:
      return stop(ActionKind::gone);
    case FaultKind::in_launch:
      return launch();
    case FaultKind::comm_init:
      return create_group();
    case FaultKind::early_exit:
      return leave_early();
    case FaultKind::size:
      return draw_percent(rng_, 20) ? change_message_size() : change_signature();
    case FaultKind::dtype:
    case FaultKind::silent:
      return change_signature();
    case FaultKind::op:
      return change_operation();
    case FaultKind::skipped_op:
      return skip();
    case FaultKind::extra_op:
      return add_extra();
    case FaultKind::order:
      return swap_groups();
    case FaultKind::p2p_order:
      return swap_messages();
    case FaultKind::link:
      return break_collective();
    case FaultKind::p2p_link:
      return break_message();
  }
  return false;
}

bool Planter::stop(ActionKind kind) {
  bool in_batch = false;
  const std::size_t place = find_place([&](const Action& a) {
    const bool suits = a.is_call() && !in_batch;
    in_batch = a.batched;
    return suits;
  });
  if (place == kNoIndex) return false;
  fault_.group = action(place).group;
  insert(place, kind);
  fault_.culprits = {rank_};
  fault_.accepted = {kind == ActionKind::gone ? Kind::no_dump : Kind::behind};
  // A rank that had not called anything in the group yet looks like one that makes it.
  if (kind == ActionKind::stuck) fault_.accepted.push_back(Kind::comm_init);
  return true;
}

bool Planter::stop_at_data() {
  const std::size_t place = find_place([](const Action& a) { return a.step_start; });
  if (place == kNoIndex) return false;
  insert(place, ActionKind::stuck);
  fault_.culprits.push_back(rank_);
  fault_.accepted = {Kind::behind};
  if (step_ == 0) fault_.accepted.push_back(Kind::comm_init);
  return true;
}

bool Planter::stop_host() {
  const std::size_t host = job_.topology.host(rank_);
  if (job_.topology.ranks < 2 * job_.topology.ranks_per_host) return false;
  for (rank_ = 0; rank_ < job_.topology.ranks; ++rank_) {
    if (job_.topology.host(rank_) == host && !stop_at_data()) return false;
  }
  return true;
}

bool Planter::launch() {
  // Not where messages and collectives share the status of a group.
  const std::size_t stages = job_.topology.places[rank_].group(Dimension::pipeline);
  const std::size_t place = find_place(
      [stages](const Action& a) { return a.kind == ActionKind::collective && a.group != stages; });
  if (place == kNoIndex) return false;
  action(place).in_launch = true;
  fault_.group = action(place).group;
  fault_.culprits = {rank_};
  fault_.accepted = {Kind::in_launch};
  return true;
}

bool Planter::create_group() {
  step_ = job_.settings.new_group_at;
  const std::size_t last = job_.topology.groups.size() - 1;
  const std::size_t place = find_place([&](const Action& a) {
    return a.kind == ActionKind::collective && a.site == CallSite::new_group_use;
  });
  if (place == kNoIndex) return false;
  insert(place, ActionKind::stuck);
  fault_.group = last;
  fault_.culprits = {rank_};
  fault_.accepted = {Kind::comm_init};
  return true;
}

bool Planter::leave_early() {
  if (step_ == 0) step_ = 1;
  std::set<std::size_t> parts;
  const std::size_t count = draw_percent(rng_, 60) ? 1 : draw(rng_, 2, 3);
  while (parts.size() < std::min(count, job_.topology.data_parts)) {
    parts.insert(draw(rng_, 0, job_.topology.data_parts - 1));
  }
  // Ranks that read the same part of the data come to its end together.
  const bool reduce_first = draw_percent(rng_, 40);
  for (rank_ = 0; rank_ < job_.topology.ranks; ++rank_) {
    if (parts.count(job_.topology.places[rank_].data) == 0) continue;
    const std::size_t place = find_place([](const Action& a) { return a.step_start; });
    program().resize(place);
    const std::vector<Action> last = final_actions(job_, step_, reduce_first);
    program().insert(program().end(), last.begin(), last.end());
    fault_.culprits.push_back(rank_);
  }
  fault_.accepted = {Kind::ahead_left_loop, Kind::mismatch, Kind::extra_op, Kind::out_of_order};
  return fault_.culprits.size() * 2 < job_.topology.ranks;
}

bool Planter::change_signature() {
  const std::size_t place = find_collective(true);
  if (place == kNoIndex) return false;
  const FlightSignature& s = job_.signatures[action(place).signature];
  std::vector<std::int64_t> in = s.input_sizes.front(), out = s.output_sizes.front();
  std::string dtype = s.input_dtypes.front();
  if (fault_.kind == FaultKind::size) {
    const auto more = static_cast<std::int64_t>(draw(rng_, 1, 64));
    in.front() += more;
    out.front() += more * std::max<std::int64_t>(1, out.front() / s.input_sizes.front().front());
  } else if (fault_.kind == FaultKind::silent) {
    dtype = dtype == "Float" ? "Int" : "Half";
    fault_.equal_bytes_pass = true;
  } else {
    dtype = dtype == "Float" ? "BFloat16" : "Float";
  }
  action(place).signature = job_.signature(std::string(s.name), in, out, dtype);
  fault_.culprits = {rank_};
  accept(place, {fault_.kind == FaultKind::silent ? Kind::silent_mismatch : Kind::mismatch});
  return true;
}

bool Planter::change_message_size() {
  const std::size_t place = find_place([](const Action& a) { return a.is_message(); });
  if (place == kNoIndex) return false;
  const FlightSignature s = job_.signatures[action(place).signature];
  std::vector<std::int64_t> sizes = s.input_sizes.front();
  sizes.front() -= sizes.front() / 4;
  action(place).signature = job_.signature(s.name, sizes, sizes, s.input_dtypes.front());
  fault_.culprits = {rank_, action(place).peer};
  fault_.group = action(place).group;
  fault_.accepted = {Kind::p2p_size_mismatch};
  return true;
}

bool Planter::change_operation() {
  const std::size_t place = find_collective(false);
  if (place == kNoIndex) return false;
  const FlightSignature s = job_.signatures[action(place).signature];
  const bool reduces = s.name == "nccl:all_reduce";
  action(place).signature =
      job_.signature(reduces ? "nccl:broadcast" : "nccl:all_reduce", s.input_sizes.front(),
                     s.input_sizes.front(), s.input_dtypes.front());
  if (draw_percent(rng_, 60)) action(place).site = CallSite::other_branch;
  fault_.culprits = {rank_};
  // From a place where nobody else calls, a call instead of another looks like one too many.
  accept(place, {Kind::mismatch, Kind::extra_op});
  return true;
}

bool Planter::skip() {
  const std::size_t place = find_collective(false);
  if (place == kNoIndex) return false;
  accept(place, {Kind::mismatch, Kind::out_of_order, Kind::behind, Kind::deadlock_cycle,
                 Kind::silent_mismatch});
  fault_.changed.reset();
  fault_.culprits = {rank_};
  program().erase(program().begin() + static_cast<std::ptrdiff_t>(place));
  return true;
}

bool Planter::add_extra() {
  const std::size_t place = find_collective(false);
  if (place == kNoIndex) return false;
  Action a;
  a.kind = ActionKind::collective;
  a.step = step_;
  a.site = CallSite::lone_metric;
  a.group = draw_percent(rng_, 60) ? 0 : action(place).group;
  a.signature = job_.signature("nccl:all_reduce", {5}, {5}, "Float");
  std::vector<Action> added = {a};
  a.kind = ActionKind::wait;
  added.push_back(a);
  a.kind = ActionKind::sync;
  if (draw_percent(rng_, 50)) added.push_back(a);
  program().insert(program().begin() + static_cast<std::ptrdiff_t>(place), added.begin(),
                   added.end());
  accept(place, {Kind::extra_op, Kind::mismatch, Kind::out_of_order, Kind::deadlock_cycle});
  fault_.changed.reset();
  fault_.culprits = {rank_};
  return true;
}

// Takes [call A, wait A, ..., call B, wait B] apart into B before A.
bool Planter::swap_groups() {
  std::vector<std::size_t> firsts;
  const std::vector<Action>& p = program();
  const auto waited_call = [&p](std::size_t i) {
    return p[i].kind == ActionKind::collective && p[i + 1].kind == ActionKind::wait &&
           p[i + 1].back == 0 && p[i + 1].group == p[i].group;
  };
  for (std::size_t i = 0; i + 3 < p.size(); ++i) {
    if (p[i].step != step_ || !waited_call(i)) continue;
    std::size_t other = i + 2;
    while (other + 2 < p.size() && (p[other].kind == ActionKind::gpu)) ++other;
    if (waited_call(other) && p[other].group != p[i].group) firsts.push_back(i);
  }
  if (firsts.empty()) return false;
  const std::size_t place = firsts[draw(rng_, 0, firsts.size() - 1)];
  std::size_t other = place + 2;
  while (p[other].kind == ActionKind::gpu) ++other;
  std::swap(program()[place], program()[other]);
  std::swap(program()[place + 1], program()[other + 1]);
  fault_.group = p[place].group;
  fault_.culprits = {rank_};
  fault_.accepted = {Kind::out_of_order, Kind::deadlock_cycle};
  return true;
}

bool Planter::swap_messages() {
  const std::size_t previous = job_.topology.places[rank_].previous;
  if (!job_.settings.single_messages || previous == kNoIndex) return false;
  std::vector<std::size_t> firsts;
  const std::vector<Action>& p = program();
  for (std::size_t i = 0; i + 1 < p.size(); ++i) {
    if (p[i].step == step_ && p[i].kind == ActionKind::receive && p[i].peer == previous &&
        p[i + 1].kind == ActionKind::send && p[i + 1].peer == previous) {
      firsts.push_back(i);
    }
  }
  if (firsts.empty()) return false;
  const std::size_t place = firsts[draw(rng_, 0, firsts.size() - 1)];
  std::swap(program()[place], program()[place + 1]);
  fault_.group = p[place].group;
  // It is this rank that changed its order; that both ends are named is true as well.
  fault_.culprits = {rank_};
  fault_.accepted = {Kind::deadlock_cycle, Kind::out_of_order};
  return true;
}

bool Planter::break_collective() {
  const std::size_t place = find_collective(false);
  if (place == kNoIndex) return false;
  const std::size_t group = action(place).group;
  BrokenLink broken;
  broken.group = group;
  broken.seq = std::count_if(
      program().begin(), program().begin() + static_cast<std::ptrdiff_t>(place) + 1,
      [&](const Action& a) { return a.kind == ActionKind::collective && a.group == group; });
  fault_.group = group;
  fault_.accepted = {Kind::fabric_all};
  if (draw_percent(rng_, 40)) {
    std::vector<std::size_t> members = job_.topology.groups[group].ranks;
    for (std::size_t i = members.size(); i-- > 1;) std::swap(members[i], members[draw(rng_, 0, i)]);
    const auto out = static_cast<std::ptrdiff_t>(draw(rng_, 1, members.size() - 1));
    broken.got_out.assign(members.begin(), members.begin() + out);
    // Who did not get out is named where that is no more than half; most of a group are victims.
    if (static_cast<std::size_t>(out) * 2 >= members.size()) {
      fault_.culprits.assign(members.begin() + out, members.end());
    }
    fault_.accepted = {Kind::fabric_partial};
  }
  fault_.broken = broken;
  return true;
}

bool Planter::break_message() {
  const std::size_t place = find_place([](const Action& a) { return a.kind == ActionKind::send; });
  if (place == kNoIndex) return false;
  const Action send = action(place);
  BrokenLink broken;
  broken.group = send.group;
  broken.from = rank_;
  broken.to = send.peer;
  broken.nth = static_cast<std::size_t>(std::count_if(
      program().begin(), program().begin() + static_cast<std::ptrdiff_t>(place),
      [&](const Action& a) { return a.kind == ActionKind::send && a.peer == send.peer; }));
  fault_.group = send.group;
  fault_.culprits = {rank_, send.peer};
  fault_.accepted = {Kind::fabric_p2p};
  fault_.broken = broken;
  return true;
}

// The call whose signature was changed is issued, and with all others in, nothing is done.
bool mismatch_shows(const PlantedFault& fault, const SimulatedJob& job, const Machine& machine) {
  const Action* changed = &job.programs[fault.changed->rank][fault.changed->call];
  for (const SimulatedCall& c : machine.calls(fault.changed->rank)) {
    if (c.action != changed) continue;
    const SimulatedCollective& all =
        machine.collectives(changed->group)[static_cast<std::size_t>(c.seq - 1)];
    return !all.done && all.calls.size() == job.topology.groups[changed->group].ranks.size();
  }
  return false;
}

}  // namespace

std::string_view fault_name(FaultKind kind) {
  constexpr std::string_view kNames[] = {"hang",      "dataloader_stall",
                                         "crash",     "in_launch",
                                         "comm_init", "early_exit",
                                         "dtype",     "size",
                                         "op",        "skipped_op",
                                         "extra_op",  "order",
                                         "p2p_order", "link",
                                         "p2p_link",  "silent"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::optional<PlantedFault> plant_fault(FaultKind kind, SimulatedJob& job, SimulatorRng& rng) {
  return Planter(kind, job, rng).plant();
}

bool fault_shows(const PlantedFault& fault, const SimulatedJob& job, const Machine& machine) {
  if (fault.kind == FaultKind::silent) return !machine.hangs();
  if (!machine.hangs()) return false;
  switch (fault.kind) {
    case FaultKind::hang:
    case FaultKind::dataloader_stall:
    case FaultKind::crash:
    case FaultKind::in_launch:
    case FaultKind::comm_init:
      return std::all_of(fault.culprits.begin(), fault.culprits.end(),
                         [&](std::size_t rank) { return somebody_waits_for(rank, job, machine); });
    default:
      return !fault.changed || mismatch_shows(fault, job, machine);
  }
}

}  // namespace muster
