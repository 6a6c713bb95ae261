// Training of the small model of train_math_bench by ranks that are processes of this machine, each
// on a core of its own, over shared memory. `train_engine_bench [rounds [steps]]`: for each kind of
// training one and two ranks by turns, medians; then the memory of 1, 2 and 4 ranks.
// `train_engine_bench f32|bf16 RANKS [steps]`: one row alone, for bench/train_engine_fsdp2.py.
//
// Weak scaling: tokens a second of two ranks by twice those of one, with the same batch for each
// rank. Where other work is on the machine the second figure counts: tokens for each second that
// the processor worked for the ranks, all their threads together.
#include <fmt/core.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "base/median.h"
#include "train/comm/join.h"
#include "train/fsdp/engine.h"
#include "train/math/cpu_math.h"
#include "train/model/weight_init.h"

namespace muster::train {
namespace {

constexpr std::uint64_t kSequences = 4, kLength = 256;

Qwen3Config tiny(bool tied) {
  Qwen3Config c;
  c.vocabulary = 4096, c.hidden = 256, c.intermediate = 768, c.layers = 4;
  c.heads = 8, c.kv_heads = 2, c.head_dim = 32, c.max_positions = 256;
  c.tied = tied;
  // Tied models are small ones: their embedding is four to ten times as large as a layer.
  if (tied) c.vocabulary = 3 * 4096;
  return c;
}

struct Kind {
  const char* name;
  Dtype dtype;
  std::uint64_t accumulation;
  bool tied = false;
};

struct Figures {  // of one rank
  double wall_s = 0, cpu_s = 0;
  std::uint64_t counted_bytes = 0;  // state and engine
  std::uint64_t activation_bytes = 0;
  std::uint64_t first_rss = 0, last_rss = 0;  // after the first step and the last, less the start
};

struct NoObserver final : StepObserver {
  void enter(StepPhase /*phase*/) override {}
};

double seconds_of_processor() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

double seconds_of_clock() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

std::uint64_t resident_bytes() {
  std::uint64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

void stay_on_core(int rank) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(static_cast<std::size_t>(rank) % static_cast<std::size_t>(sysconf(_SC_NPROCESSORS_ONLN)),
          &cores);
  sched_setaffinity(0, sizeof cores, &cores);
}

void fill(ShardedState& state) {
  for (std::size_t unit = 0; unit < state.units.size(); ++unit) {
    AlignedBytes& master = state.units[unit].master;
    init_weights(state.plan->units()[unit], 1, master.size() / 4 * state.shard,
                 std::span(reinterpret_cast<float*>(master.data()), master.size() / 4));
  }
}

std::uint64_t bytes_of(const ShardedState& state) {
  std::uint64_t out = 0;
  for (const UnitShard& unit : state.units) out += 3 * unit.master.size();
  return out;
}

Result<Figures> train(const Kind& kind, Communicator& world, std::uint64_t steps) {
  const std::uint64_t before = resident_bytes();
  const auto math = make_cpu_math(tiny(kind.tied), kind.dtype, Keep::everything);
  ShardedState state(math->plan(), kind.dtype, static_cast<std::uint64_t>(world.rank()),
                     static_cast<std::uint64_t>(world.world()));
  fill(state);
  Engine engine(*math, state, {&world, &world, nullptr}, {});
  engine.weights_changed();
  std::vector<std::int32_t> ids;
  for (std::uint64_t i = 0; i < kSequences * kLength; ++i) {
    ids.push_back(static_cast<std::int32_t>(i * 2654435761 % 4096));
  }
  const std::vector<std::uint8_t> counted(ids.size(), 1);
  const std::vector<MicroBatch> batches(kind.accumulation, {kSequences, kLength, ids, counted});
  const std::uint64_t labels =
      static_cast<std::uint64_t>(world.world()) * kind.accumulation * kSequences * (kLength - 1);
  NoObserver observer;
  Figures out;
  double wall = 0, cpu = 0;
  for (std::uint64_t step = 0; step <= steps; ++step) {
    const auto done = engine.step({step, step + 1, 1e-4, labels, batches}, observer);
    if (!done) return done.error();
    out.last_rss = resident_bytes() - before;
    if (step != 0) continue;  // the first one finds its memory
    out.first_rss = out.last_rss;
    wall = seconds_of_clock();
    cpu = seconds_of_processor();
  }
  out.wall_s = (seconds_of_clock() - wall) / static_cast<double>(steps);
  out.cpu_s = (seconds_of_processor() - cpu) / static_cast<double>(steps);
  out.counted_bytes = bytes_of(state) + engine.memory().total();
  out.activation_bytes = math->activation_bytes();
  return out;
}

[[noreturn]] void be_rank(const Kind& kind, int rank, int world, std::uint64_t steps,
                          const std::string& token, int pipe) {
  stay_on_core(rank);
  auto comm = join_host({rank, world, token, {}, 0}, {});
  if (!comm) fmt::print(stderr, "{}\n", comm.error().context);
  if (!comm) _exit(1);
  const auto figures = train(kind, **comm, steps);
  if (!figures) fmt::print(stderr, "{}\n", figures.error().context);
  if (!figures) _exit(1);
  const bool told = write(pipe, &*figures, sizeof *figures) == sizeof *figures;
  comm->reset();
  _exit(told ? 0 : 1);
}

std::vector<Figures> run_ranks(const Kind& kind, int world, std::uint64_t steps) {
  static int runs = 0;
  const std::string token = fmt::format("bench {} {}", getpid(), ++runs);
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  for (int rank = 0; rank < world; ++rank) {
    if (fork() == 0) be_rank(kind, rank, world, steps, token, ends[1]);
  }
  close(ends[1]);
  std::vector<Figures> out;
  Figures one;
  while (read(ends[0], &one, sizeof one) == sizeof one) out.push_back(one);
  close(ends[0]);
  for (int rank = 0; rank < world; ++rank) wait(nullptr);
  if (out.size() != static_cast<std::size_t>(world)) std::abort();
  return out;
}

// Tokens a second of all ranks by the clock, and for each second of the processor.
struct Rates {
  double clock = 0, processor = 0;
};

Rates rates_of(const Kind& kind, const std::vector<Figures>& ranks) {
  double wall = 0, cpu = 0;
  for (const Figures& rank : ranks) {
    wall = std::max(wall, rank.wall_s);
    cpu += rank.cpu_s;
  }
  const auto tokens = static_cast<double>(ranks.size() * kind.accumulation * kSequences * kLength);
  return {tokens / wall, tokens / cpu};
}

void measure_scaling(const Kind& kind, int rounds, std::uint64_t steps) {
  std::vector<double> one, two, one_cpu, two_cpu;
  for (int round = 0; round < rounds; ++round) {
    const Rates alone = rates_of(kind, run_ranks(kind, 1, steps));
    const Rates both = rates_of(kind, run_ranks(kind, 2, steps));
    one.push_back(alone.clock);
    two.push_back(both.clock);
    one_cpu.push_back(alone.processor);
    two_cpu.push_back(both.processor);
  }
  fmt::print(
      "{:24} tokens/s: one rank {:6.0f}, two {:6.0f}, weak scaling {:5.1f} %; for a second of the "
      "processor {:6.0f}, {:6.0f}: {:5.1f} %\n",
      kind.name, median_of(one), median_of(two), 50 * median_of(two) / median_of(one),
      median_of(one_cpu), median_of(two_cpu), 100 * median_of(two_cpu) / median_of(one_cpu));
}

void measure_memory(const Kind& kind, std::uint64_t steps) {
  constexpr double kMb = 1e-6;
  std::optional<double> alone;
  for (const int world : {1, 2, 4}) {
    const Figures rank = run_ranks(kind, world, steps).front();
    const auto counted = static_cast<double>(rank.counted_bytes);
    if (!alone) alone = counted;
    // A unit as one rank alone holds it: weights, moments, gradient, in bf16 a copy.
    const UnitPlan plan(tiny(kind.tied));
    const double unit =
        static_cast<double>(plan.largest_unit(1)) * *alone / static_cast<double>(plan.parameters());
    fmt::print(
        "{:24} {} ranks: {:5.1f} MB each, most allowed {:5.1f}; activations {:5.1f}; resident "
        "after "
        "the first step {:5.1f}, after {} {:5.1f}\n",
        kind.name, world, counted * kMb, (*alone / world * 1.05 + (world > 1 ? unit : 0)) * kMb,
        static_cast<double>(rank.activation_bytes) * kMb, static_cast<double>(rank.first_rss) * kMb,
        steps, static_cast<double>(rank.last_rss) * kMb);
  }
}

constexpr Kind kKinds[] = {{"f32", Dtype::f32, 1},
                           {"bf16", Dtype::bf16, 1},
                           {"f32, accumulation 8", Dtype::f32, 8},
                           {"bf16, accumulation 8", Dtype::bf16, 8}};

int one_row(const std::string& name, int world, std::uint64_t steps) {
  for (const Kind& kind : kKinds) {
    if (name != kind.name) continue;
    const Rates rates = rates_of(kind, run_ranks(kind, world, steps));
    fmt::print("tokens/s: {:.1f} by the clock, {:.1f} for a second of the processor\n", rates.clock,
               rates.processor);
    return 0;
  }
  return 64;
}

}  // namespace
}  // namespace muster::train

int main(int argc, char** argv) {
  using namespace muster::train;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const auto number = [&](int at, int otherwise) {
    return argc > at ? std::atoi(argv[at]) : otherwise;
  };
  if (argc > 1 && number(1, 0) == 0) {
    return one_row(argv[1], number(2, 1), static_cast<std::uint64_t>(number(3, 10)));
  }
  const auto steps = static_cast<std::uint64_t>(number(2, 10));
  for (const Kind& kind : kKinds) {
    measure_scaling(kind, number(1, 5), kind.accumulation == 1 ? steps : (steps + 3) / 4);
  }
  for (const Kind& kind : {Kind{"f32", Dtype::f32, 2}, Kind{"f32, tied", Dtype::f32, 2, true},
                           Kind{"bf16", Dtype::bf16, 2}}) {
    measure_memory(kind, 5);
  }
}
