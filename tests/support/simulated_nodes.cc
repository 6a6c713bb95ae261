#include "tests/support/simulated_nodes.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace muster {
namespace {

constexpr std::int64_t kStartMs = 1'780'000'000'000;

enum class Doing : std::uint8_t { loading, work, evaluation, save, ended, rest };

struct Stretch {
  Doing doing;
  double from_s, to_s;
};

struct Node {
  std::string name;
  double phase_s, work_w, floor_w;
  double silent_from_s = -1;  // for 20 s
};

class Simulation {
 public:
  explicit Simulation(std::uint64_t seed) : rng_(seed) {
    out_.name = fmt::format("simulated, seed {}", seed);
    step_s_ = uniform(4, 11);
    plan();
    make_nodes();
  }

  PowerRecording run() {
    for (const Node& node : nodes_) sample(node);
    std::sort(out_.samples.begin(), out_.samples.end(),
              [](const auto& a, const auto& b) { return a.at < b.at; });
    write_log();
    return std::move(out_);
  }

 private:
  double uniform(double from, double to) {
    return std::uniform_real_distribution<double>(from, to)(rng_);
  }

  // Rounds of work, evaluation and work until half and twice a save are in it.
  void plan() {
    double at_s = 0;
    const auto then = [&](Doing doing, double length_s) {
      stretches_.push_back({doing, at_s, at_s + length_s});
      at_s += length_s;
    };
    const double save_s = uniform(8, 100), work_s = uniform(30, 60);
    then(Doing::loading, uniform(20, 60));
    for (int round = 0; round < 4; ++round) {
      then(Doing::work, work_s);
      then(Doing::evaluation, uniform(4, 15));
      then(Doing::work, uniform(15, 30));
      if (round != 3) then(Doing::save, save_s * uniform(0.9, 1.1));
    }
    then(Doing::ended, uniform(10, 40));
    then(Doing::rest, uniform(20, 60));
  }

  void make_nodes() {
    const auto count = static_cast<int>(uniform(3, 8.99));
    const double work_w = uniform(5600, 7300), floor_w = uniform(2300, 2900);
    for (int i = 0; i < count; ++i) {
      const double own = uniform(0.975, 1.025);
      nodes_.push_back({fmt::format("n{}", i), uniform(0, 2), work_w * own, floor_w * own});
    }
    if (count >= 4 && uniform(0, 1) < 0.3) {
      nodes_[1].work_w *= 0.92;
      nodes_[1].floor_w = nodes_[1].work_w * uniform(0.64, 0.69);
    }
    if (uniform(0, 1) < 0.3) nodes_[0].silent_from_s = uniform(0, stretches_.back().from_s);
  }

  double level_w(const Node& node, Doing doing) {
    switch (doing) {
      case Doing::work:
        return node.work_w * (uniform(0, step_s_) < 1 ? uniform(0.76, 0.92) : 1);
      case Doing::evaluation:
        return node.work_w * uniform(0.86, 0.93);
      case Doing::save:
      case Doing::ended:
        return node.floor_w + 120;  // a host that writes, contexts that are still loaded
      case Doing::rest:
        return node.floor_w * 0.93;
      case Doing::loading:
        break;
    }
    return node.floor_w;
  }

  void sample(const Node& node) {
    std::size_t now = 0;
    for (double at_s = node.phase_s; at_s < stretches_.back().to_s; at_s += uniform(1.95, 2.07)) {
      while (at_s >= stretches_[now].to_s) ++now;
      double watts = level_w(node, stretches_[now].doing);
      // The meter takes the mean of a second.
      const double into_s = at_s - stretches_[now].from_s;
      if (now > 0 && into_s < 1) {
        watts = into_s * watts + (1 - into_s) * level_w(node, stretches_[now - 1].doing);
      }
      watts = std::round(watts * uniform(0.985, 1.015));
      const bool silent = at_s >= node.silent_from_s && at_s < node.silent_from_s + 20;
      if ((silent && node.silent_from_s >= 0) || uniform(0, 1) < 0.01) continue;
      out_.samples.push_back({wall(at_s), node.name, watts});
    }
  }

  WallTime wall(double at_s) const {
    const auto ms = static_cast<std::int64_t>(std::llround(at_s * 1000));
    return wall_from_ns((kStartMs + ms) * 1'000'000);
  }
  void tell(double at_s, const std::string& rest) {
    const WallTime at = wall(at_s);
    out_.log.push_back({at, fmt::format("{},{}", wall_to_ns(at) / 1'000'000, rest)});
  }

  // Saves are not told, as in the logs of the benchmark.
  void write_log() {
    tell(0, "init_start,,");
    tell(stretches_[0].to_s, "run_start,,");
    std::int64_t step = 0;
    for (const Stretch& s : stretches_) {
      if (s.doing == Doing::evaluation) {
        tell(s.from_s, fmt::format("eval_start,{},", step));
        tell(s.to_s, fmt::format("eval_stop,{},", step));
      } else if (s.doing == Doing::ended) {
        tell(s.from_s, fmt::format("run_stop,{},", step));
      } else if (s.doing == Doing::work) {
        for (double at_s = s.from_s + step_s_; at_s < s.to_s; at_s += step_s_) {
          tell(at_s,
               fmt::format("tracked_stats,{},train_step_timing in s={:.3f}", ++step, step_s_));
        }
      }
    }
  }

  std::mt19937_64 rng_;
  double step_s_ = 0;
  std::vector<Stretch> stretches_;
  std::vector<Node> nodes_;
  PowerRecording out_;
};

}  // namespace

PowerRecording simulate_nodes(std::uint64_t seed) {
  return Simulation(seed).run();
}

}  // namespace muster
