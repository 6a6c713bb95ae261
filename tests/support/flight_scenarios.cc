#include "tests/support/flight_scenarios.h"

#include <algorithm>

#include "tests/support/flight_script.h"
#include "tests/support/flight_writer.h"

namespace muster {
namespace {

using Kind = FlightVerdictKind;
using Way = FlightScript::Way;

FlightScenario scenario(std::string name, std::vector<Kind> expected, std::vector<int> culprits,
                        std::vector<FlightDump> dumps) {
  FlightScenario s;
  s.name = std::move(name);
  s.expected = std::move(expected);
  s.culprits = std::move(culprits);
  s.dumps = std::move(dumps);
  return s;
}

// Two hosts, one group, sharded training whose parameters stay gathered over both micro batches of
// a step. `early` has no data for the second one: it goes to save while the others are in their
// backward pass.
FlightScenario left_the_loop(const char* name, std::size_t early) {
  FlightScript job(16);
  for (int step = 0; step < 6; ++step) {
    job.gathers(job.all(), 4);
    job.reductions(job.all(), 4);
    const bool last = step == 5;
    job.reductions(last ? without(job.all(), early) : job.all(), 4);
    if (last) break;
    job.call(job.all(), {CallSite::grad_norm, "nccl:all_reduce", {1}, {1}, "Float"});
    job.sync(job.all());
  }
  job.barrier({early}, CallSite::final_save);
  job.sync(without(job.all(), early));
  return scenario(name, {Kind::ahead_left_loop}, {static_cast<int>(early)}, job.run());
}

// 12 collectives of all ranks; then a gather, number 13, that `late` does not come to.
FlightScript late_for_13(std::size_t ranks, std::size_t late, ActionKind how) {
  FlightScript job(ranks);
  job.gathers(job.all(), 6);
  job.reductions(job.all(), 6);
  job.sync(job.all());
  job.stop(late, how);
  const RankList others = without(job.all(), late);
  job.gathers(others, 6);
  job.sync(others);
  return job;
}

FlightScenario late_rank(const char* name, int late, std::vector<FlightDump> dumps) {
  return scenario(name, {Kind::behind}, {late}, std::move(dumps));
}

FlightScenario no_dump(const char* name, WitnessKind witness, const char* text) {
  FlightScenario s =
      scenario(name, {Kind::no_dump}, {6}, late_for_13(8, 6, ActionKind::gone).run());
  RankWitness w;
  w.kind = witness;
  w.rank = 6;
  w.source = "rank_6.log";
  w.text = text;
  s.witnesses = {w};
  s.least = Confidence::medium;
  return s;
}

// All are in, but `odd` call something else.
FlightScenario mismatch(const char* name, const RankList& odd, const FlightScript::Call& wrong,
                        const FlightScript::Call& right) {
  FlightScript job(8);
  job.gathers(job.all(), 6);
  job.reductions(job.all(), 6);
  job.sync(job.all());
  RankList rest = job.all();
  for (const std::size_t rank : odd) std::erase(rest, rank);
  job.call(odd, wrong);
  job.call(rest, right);
  job.sync(job.all());
  FlightScenario s = scenario(name, {Kind::mismatch}, {}, job.run());
  s.culprits.assign(odd.begin(), odd.end());
  return s;
}

void add_one_group(std::vector<FlightScenario>& all) {
  all.push_back(left_the_loop("01_left_the_loop", 3));
  all.push_back(left_the_loop("02_left_the_loop_rank_0", 0));
  all.push_back(late_rank("03_data_loader", 5, late_for_13(8, 5, ActionKind::stuck).run()));
  all.push_back(no_dump("04_killed", WitnessKind::host_oom_killed, "Killed process 4711"));
  all.push_back(scenario("04b_killed_without_a_witness", {Kind::no_dump}, {6},
                         late_for_13(8, 6, ActionKind::gone).run()));
  all.back().least = Confidence::medium;

  const FlightScript::Call gather = {
      CallSite::shard_gather_forward, "nccl:_all_gather_base", {1024}, {8192}};
  FlightScript::Call smaller = gather;
  smaller.in = {1000};
  smaller.out = {8000};
  all.push_back(mismatch("05_size", {2}, smaller, gather));
  // Neither size was ever called before, so the past does not tell either.
  FlightScript::Call other = gather;
  other.in = {1001};
  other.out = {8008};
  all.push_back(mismatch("05b_two_halves", {4, 5, 6, 7}, smaller, other));
  all.back().expected = {Kind::undecided};
  all.back().culprits.clear();
  all.back().least = Confidence::low;
  const FlightScript::Call reduce = {CallSite::bucket_reduce, "nccl:all_reduce", {4096}, {4096}};
  FlightScript::Call wider = reduce;
  wider.dtype = "Float";
  all.push_back(mismatch("06_dtype", {7}, wider, reduce));
}

// 12 collectives, and all in the 13th, of which only `out` come back.
FlightScript broken_13th(std::size_t ranks, RankList out) {
  FlightScript job(ranks);
  job.gathers(job.all(), 6);
  job.reductions(job.all(), 6);
  job.gathers(job.all(), 1);
  job.sync(job.all());
  BrokenLink broken;
  broken.seq = 13;
  broken.got_out = std::move(out);
  job.break_link(broken);
  return job;
}

void add_fabric(std::vector<FlightScenario>& all) {
  all.push_back(scenario("07_link", {Kind::fabric_all}, {}, broken_13th(16, {}).run()));
  all.push_back(scenario("07b_link_of_one", {Kind::fabric_partial}, {4},
                         broken_13th(8, without(ranks_between(0, 7), 4)).run()));
  all.back().least = Confidence::medium;
  FlightScript job(16);
  job.gathers(job.all(), 6);
  job.reductions(job.all(), 6);
  // The kernels of the second host stand in a queue that does not move.
  for (const std::size_t rank : ranks_between(8, 15)) job.gpu(rank, 1'000'000'000);
  job.gathers(job.all(), 1);
  job.sync(job.all());
  BrokenLink never;
  never.seq = 13;
  job.break_link(never);
  job.rings().timing = true;
  all.push_back(scenario("07c_started_on_one_host", {Kind::fabric_all},
                         {8, 9, 10, 11, 12, 13, 14, 15}, job.run()));
  all.back().least = Confidence::medium;
}

// Four stages. Message 0 goes down the whole pipeline, then stages 1 and 2 exchange.
FlightScript pipeline(bool both_send_first, bool batched) {
  FlightScript job(4);
  const std::size_t pp = job.group("1", "mesh_pp", job.all());
  const auto one = [&](std::size_t rank, Way way, std::size_t peer) {
    job.message(rank, way, peer, pp, batched);
    if (batched) job.close_batch(rank, pp);
  };
  for (int round = 0; round < 3; ++round) {
    for (std::size_t stage = 0; stage < 4; ++stage) {
      if (stage > 0) one(stage, Way::receive, stage - 1);
      if (stage < 3) one(stage, Way::send, stage + 1);
    }
  }
  for (std::size_t stage = 4; stage-- > 0;) {
    const bool middle = stage == 1 || stage == 2;
    if (middle && both_send_first) {
      job.message(stage, Way::send, 3 - stage, pp, false);
      job.sync({stage});
      job.message(stage, Way::receive, 3 - stage, pp, false);
    }
    if (stage == 0) one(0, Way::receive, 1);
    if (stage == 1) one(1, Way::send, 0);
    if (stage == 2) one(2, Way::send, 3);
    if (stage == 3) one(3, Way::receive, 2);
  }
  job.sync(job.all());
  return job;
}

// Tensor groups of two and data groups of four over eight ranks; like trainers name them, or all
// groups of a dimension by one name.
struct Mesh {
  FlightScript job{8};
  std::vector<std::size_t> tensor, data;

  explicit Mesh(bool one_name) {
    for (std::size_t i = 0; i < 4; ++i) {
      tensor.push_back(
          job.group(one_name ? "1" : std::to_string(i + 1), "mesh_tp", {2 * i, 2 * i + 1}));
    }
    for (std::size_t i = 0; i < 2; ++i) {
      data.push_back(
          job.group(one_name ? "2" : std::to_string(i + 5), "mesh_dp", {i, i + 2, i + 4, i + 6}));
    }
  }
  void step(std::size_t rank) {
    for (int layer = 0; layer < 4; ++layer) {
      job.call({rank}, {CallSite::tensor_forward,
                        "nccl:all_reduce",
                        {1, 2048, 4096},
                        {1, 2048, 4096},
                        "BFloat16",
                        tensor[rank / 2]});
    }
    for (int bucket = 1; bucket <= 3; ++bucket) {
      job.call({rank}, {CallSite::bucket_reduce,
                        "nccl:all_reduce",
                        {bucket * 100'000},
                        {bucket * 100'000},
                        "Float",
                        data[rank % 2]});
    }
    job.sync({rank});
  }
};

std::vector<FlightDump> stuck_in_mesh(bool one_name) {
  Mesh mesh(one_name);
  for (std::size_t rank = 0; rank < 8; ++rank) {
    mesh.step(rank);
    if (rank == 5) mesh.job.stop(rank, ActionKind::stuck);
    if (rank != 5) mesh.step(rank);
  }
  return mesh.job.run();
}

void add_meshes(std::vector<FlightScenario>& all) {
  all.push_back(scenario("08_both_stages_send_first", {Kind::deadlock_cycle}, {1, 2},
                         pipeline(true, false).run()));
  all.back().least = Confidence::medium;
  all.push_back(late_rank("09_stuck_in_python", 5, stuck_in_mesh(false)));
  Mesh mesh(false);
  for (std::size_t rank = 0; rank < 8; ++rank) {
    mesh.step(rank);
    mesh.step(rank);
  }
  BrokenLink broken;
  broken.group = mesh.tensor[2];
  broken.seq = 6;
  mesh.job.break_link(broken);
  all.push_back(scenario("09b_link_of_a_tensor_group", {Kind::fabric_all}, {}, mesh.job.run()));
}

void add_straggler(std::vector<FlightScenario>& all) {
  FlightScript job(8);
  job.rings().timing = true;  // by times of issue alone a clock that is ahead looks the same
  for (int step = 0; step < 80; ++step) {
    job.cpu(3, 20);
    job.call(job.all(), {CallSite::metrics, "nccl:all_reduce", {256}, {256}, "Float"});
    job.sync(job.all());
  }
  all.push_back(scenario("10_straggler", {Kind::straggler}, {3}, job.run()));
  all.back().least = Confidence::medium;
}

// Rank 0 and 1 have calls of their own between those of all, so equal record ids mean nothing.
std::vector<FlightDump> wrapped_rings() {
  FlightScript job(8);
  const std::size_t pair = job.group("1", "pair", {0, 1});
  for (int step = 0; step < 12; ++step) {
    for (int i = 0; i < 5; ++i) {
      job.call({0, 1}, {CallSite::metrics, "nccl:all_reduce", {8}, {8}, "Float", pair});
    }
    const bool last = step == 11;
    job.reductions(last ? without(job.all(), 6) : job.all(), 2);
    if (!last) job.sync(job.all());
  }
  job.stop(6, ActionKind::stuck);
  job.sync(without(job.all(), 6));
  job.rings().entries = 12;
  return job.run();
}

std::vector<FlightDump> as_gloo(std::vector<FlightDump> dumps) {
  for (FlightDump& dump : dumps) {
    dump.library_version.clear();
    for (FlightGroup& group : dump.groups) {
      group.last_enqueued = group.last_completed = std::nullopt;
    }
    for (FlightSignature& s : dump.signatures) s.name.replace(0, 4, "gloo");
    for (FlightEntry& e : dump.entries) {
      e.retired = e.state == FlightState::completed;
      e.state = FlightState::scheduled;
      e.completed_seen_ns = FlightEntry::kAbsent;
      e.duration_ms = -1;
    }
  }
  return dumps;
}

void add_crossed(std::vector<FlightScenario>& all) {
  all.push_back(late_rank("11_wrapped_rings", 6, wrapped_rings()));
  all.push_back(late_rank("12_gloo", 1, as_gloo(late_for_13(4, 1, ActionKind::stuck).run())));

  FlightScript job(2);
  const std::size_t a = job.group("1", "a", {0, 1}), b = job.group("2", "b", {0, 1});
  const auto reduce = [&](std::size_t rank, std::size_t group) {
    job.call({rank}, {CallSite::metrics, "nccl:all_reduce", {64}, {64}, "Float", group});
    job.sync({rank});
  };
  for (const std::size_t rank : {0U, 1U}) {
    reduce(rank, rank == 0 ? a : b);
    reduce(rank, rank == 0 ? b : a);
  }
  all.push_back(scenario("13_opposite_order", {Kind::deadlock_cycle}, {0, 1}, job.run()));
  all.back().least = Confidence::low;

  FlightScript ghost(8);
  ghost.gathers(ghost.all(), 6);
  ghost.reductions(ghost.all(), 6);
  ghost.sync(ghost.all());
  ghost.call({0}, {CallSite::lone_metric, "nccl:all_reduce", {2}, {2}, "Float"});
  ghost.sync({0});
  all.push_back(scenario("14_ghost_metric", {Kind::extra_op}, {0}, ghost.run()));
  // The first one at a barrier looks the same.
  all.back().least = Confidence::low;

  FlightScript second(8);
  const std::size_t metrics = second.group("1", "metrics", second.all());
  for (int step = 0; step < 3; ++step) {
    if (step == 2) {
      second.call({0}, {CallSite::lone_metric, "nccl:all_reduce", {2}, {2}, "Float", metrics});
      second.sync({0});
    }
    second.gathers(second.all(), 4);
    second.call(second.all(), {CallSite::metrics, "nccl:all_reduce", {3}, {3}, "Float", metrics});
    second.sync(second.all());
  }
  all.push_back(scenario("14b_ghost_metric_in_its_group",
                         {Kind::extra_op, Kind::mismatch, Kind::out_of_order}, {0}, second.run()));
  all.back().least = Confidence::low;
}

std::vector<FlightDump> renamed(std::vector<FlightDump> dumps, const std::string& library) {
  for (FlightDump& dump : dumps) {
    for (FlightSignature& s : dump.signatures) {
      s.name = library + s.name.substr(s.name.find(':'));
    }
  }
  return dumps;
}

std::vector<FlightDump> late_dumps() {
  return late_for_13(8, 5, ActionKind::stuck).run();
}

// After an abort the watchdog sees the kernels end, as late as the time-out.
std::vector<FlightDump> aborted(std::vector<FlightDump> dumps) {
  for (FlightDump& dump : dumps) {
    for (FlightEntry& e : dump.entries) {
      if (e.state == FlightState::completed) continue;
      e.state = FlightState::completed;
      e.completed_seen_ns = e.created_ns + std::int64_t{e.timeout_ms} * 1'000'000 + 80'000'000;
      e.retired = true;
    }
  }
  return dumps;
}

void add_variants(std::vector<FlightScenario>& all) {
  all.push_back(late_rank("15_nccl2_names", 5, renamed(late_dumps(), "nccl2")));
  std::vector<FlightDump> mixed = late_dumps();
  for (std::size_t i = 0; i < mixed.size(); i += 2) mixed[i].version = "2.9";
  all.push_back(late_rank("17_mixed_versions", 5, mixed));
  all.push_back(scenario("18_batches", {}, {}, pipeline(false, true).run()));
  std::vector<FlightDump> garbage = late_dumps();
  for (FlightDump& dump : garbage) {
    dump.version = "2.3";
    for (FlightGroup& group : dump.groups) {
      group.last_enqueued = 76'000'000'000'000'001;
      group.last_completed = 94'000'000'000'007;
    }
  }
  all.push_back(late_rank("19_garbage_status", 5, garbage));
  all.push_back(late_rank("21_late_completions", 5, aborted(late_dumps())));
  all.push_back(scenario("21b_late_completions_of_all", {Kind::fabric_all}, {},
                         aborted(broken_13th(8, {}).run())));
  all.push_back(no_dump("22_in_teardown", WitnessKind::left_script,
                        "destroy_process_group() was not called before program exit"));
  all.push_back(late_rank("24_one_name_many_groups", 5, stuck_in_mesh(true)));
}

// 2000 entries a rank, rank 5 late; of rank 2's file there is no more than 1500 entries.
FlightScenario cut_file() {
  FlightScript job(8);
  for (int step = 0; step < 210; ++step) {
    job.gathers(job.all(), 5);
    job.reductions(job.all(), 5);
    job.sync(job.all());
  }
  job.stop(5, ActionKind::stuck);
  job.gathers(without(job.all(), 5), 5);
  job.sync(without(job.all(), 5));
  FlightScenario s = late_rank("16_cut_file", 5, {});
  s.least = Confidence::medium;
  for (FlightDump& dump : job.run()) {
    const std::string whole = flight_pickle(dump);
    const auto rank = static_cast<std::size_t>(*dump.rank);
    dump.entries.resize(1500);
    // Behind the last of 1500 entries lie "e", "u" and "."; 40 bytes before is in the middle of it.
    const std::size_t half = flight_pickle(dump).size() - 43;
    s.files.push_back({dump.source, rank == 2 ? whole.substr(0, half) : whole});
  }
  return s;
}

void add_files(std::vector<FlightScenario>& all) {
  all.push_back(cut_file());
  FlightScenario hostile;
  hostile.name = "20_wants_to_run_code";
  hostile.files = {{"trace_rank_0", std::string("\x80\x02") + "cposix\nsystem\nX\x04" +
                                        std::string(3, '\0') + "true\x85R."}};
  hostile.refused = true;
  all.push_back(hostile);
  FlightScenario json = late_rank("23_json", 5, {});
  for (const FlightDump& dump : late_dumps()) {
    json.files.push_back({dump.source, flight_json(dump)});
  }
  json.least = Confidence::medium;  // without the time of the files
  all.push_back(json);
}

}  // namespace

std::vector<FlightScenario> flight_scenarios() {
  std::vector<FlightScenario> all;
  add_one_group(all);
  add_fabric(all);
  add_meshes(all);
  add_straggler(all);
  add_crossed(all);
  add_variants(all);
  add_files(all);
  std::sort(all.begin(), all.end(),
            [](const FlightScenario& a, const FlightScenario& b) { return a.name < b.name; });
  return all;
}

std::string huge_flight_file() {
  FlightScript job(2);
  for (int step = 0; step < 10'000; ++step) {
    job.gathers(job.all(), 5);
    job.reductions(job.all(), 5);
    job.sync(job.all());
  }
  job.rings().entries = 100'000;
  return flight_pickle(job.run().front());
}

}  // namespace muster
