#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/flight/verdict.h"
#include "core/flight/verdict_text.h"
#include "tests/support/flight_simulator.h"

// How often the judge of flight-recorder dumps is right, on SIMULATED jobs with one known fault
// (tests/support/flight_simulator.h): kind of fault and topology are drawn evenly. Usage:
//   flight_accuracy_bench [FIRST_SEED COUNT] [-v]
// Right: exactly the true set of ranks, under a name that fits; of two ranks that both send first,
// the one that changed its order or both. Wrong: an innocent rank named at high confidence, or a
// set without the true ones at medium or high.

namespace muster {
namespace {

struct Row {
  int runs = 0, right = 0, sure = 0, wrong = 0;
};

bool holds_all(const std::vector<std::int32_t>& set, const std::vector<int>& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](int rank) {
    return std::find(set.begin(), set.end(), rank) != set.end();
  });
}

bool is_wrong(const FlightVerdict& verdict, const SimulatedFlight& truth) {
  if (verdict.culprits.empty() || verdict.confidence == Confidence::low) return false;
  if (verdict.confidence == Confidence::medium) {
    return truth.culprits.empty() || !holds_all(verdict.culprits, truth.culprits);
  }
  return std::any_of(verdict.culprits.begin(), verdict.culprits.end(), [&](std::int32_t rank) {
    return std::find(truth.culprits.begin(), truth.culprits.end(), rank) == truth.culprits.end();
  });
}

bool is_right(const FlightAnalysis& analysis, const SimulatedFlight& truth) {
  if (analysis.verdicts.empty()) return false;
  const FlightVerdict& first = analysis.verdicts.front();
  const std::vector<std::int32_t> wanted(truth.culprits.begin(), truth.culprits.end());
  const bool crossed = truth.fault == FaultKind::p2p_order &&
                       first.kind == FlightVerdictKind::deadlock_cycle &&
                       first.culprits.size() == 2 && holds_all(first.culprits, truth.culprits);
  return (first.culprits == wanted || crossed) &&
         std::find(truth.accepted.begin(), truth.accepted.end(), first.kind) !=
             truth.accepted.end();
}

void show(std::uint64_t seed, const SimulatedFlight& truth, const FlightAnalysis& analysis) {
  fmt::print("{} {} {}: true {} in {}\n", seed, truth.fault ? fault_name(*truth.fault) : "no fault",
             truth.topology, describe_ranks({truth.culprits.begin(), truth.culprits.end()}),
             truth.culprit_group);
  for (const FlightVerdict& v : analysis.verdicts) {
    fmt::print("    {} {} {} explains {}/{}: {}; {}\n", flight_verdict_name(v.kind),
               confidence_name(v.confidence), describe_ranks(v.culprits), v.explained, v.waiting,
               v.summary, v.why);
    for (const FlightSide& s : v.sides) {
      fmt::print("      {}: {} {} {}\n", describe_ranks(s.ranks), s.call, s.frame, s.about);
    }
  }
}

void run(std::uint64_t first_seed, std::uint64_t count, bool verbose) {
  std::map<std::string, Row> rows;
  for (std::uint64_t seed = first_seed; seed < first_seed + count; ++seed) {
    const SimulatedFlight truth = simulate_flight(seed);
    const FlightAnalysis analysis = analyze_flight(truth.dumps, truth.witnesses);
    const bool right = is_right(analysis, truth);
    const bool wrong = std::any_of(analysis.verdicts.begin(), analysis.verdicts.end(),
                                   [&](const FlightVerdict& v) { return is_wrong(v, truth); });
    for (Row* row : {&rows[std::string(fault_name(*truth.fault))], &rows["~ all"]}) {
      ++row->runs;
      row->right += right;
      row->sure += right && analysis.verdicts.front().confidence != Confidence::low;
      row->wrong += wrong;
    }
    if (verbose && (!right || wrong)) show(seed, truth, analysis);
  }
  fmt::print("simulated single faults, seeds {} to {}\n", first_seed, first_seed + count - 1);
  fmt::print("{:<18} {:>6} {:>6} {:>7} {:>18} {:>6}\n", "fault", "runs", "right", "%",
             "medium or high, %", "wrong");
  for (const auto& [name, row] : rows) {
    fmt::print("{:<18} {:>6} {:>6} {:>7.1f} {:>18.1f} {:>6}\n", name, row.runs, row.right,
               100.0 * row.right / row.runs, row.right == 0 ? 0 : 100.0 * row.sure / row.right,
               row.wrong);
  }
}

bool names_innocent(const FlightVerdict& verdict, const SimulatedFlight& truth) {
  return std::any_of(verdict.culprits.begin(), verdict.culprits.end(), [&](std::int32_t rank) {
    return std::find(truth.culprits.begin(), truth.culprits.end(), rank) == truth.culprits.end();
  });
}

// Runs of `make`, and those with an innocent rank named at a confidence of at least `least`.
template <typename Make>
void count_innocents(std::string_view what, Make make, Confidence least, std::uint64_t first_seed,
                     std::uint64_t count, bool verbose) {
  std::uint64_t named = 0, innocents = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + count; ++seed) {
    const SimulatedFlight truth = make(seed);
    const FlightAnalysis analysis = analyze_flight(truth.dumps, truth.witnesses);
    const auto sure = [&](const FlightVerdict& v) {
      return !v.culprits.empty() && v.confidence >= least;
    };
    const bool bad =
        std::any_of(analysis.verdicts.begin(), analysis.verdicts.end(),
                    [&](const FlightVerdict& v) { return sure(v) && names_innocent(v, truth); });
    named += std::any_of(analysis.verdicts.begin(), analysis.verdicts.end(), sure) ? 1 : 0;
    innocents += bad ? 1 : 0;
    if (verbose && bad) show(seed, truth, analysis);
  }
  fmt::print("{}: {} runs, {} with ranks named, {} with an innocent one\n", what, count, named,
             innocents);
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  const bool verbose = !words.empty() && words.back() == "-v";
  std::array<std::uint64_t, 2> numbers = {1'000'000, 1600};
  for (std::size_t i = 0; i < numbers.size() && i < words.size(); ++i) {
    if (words[i] != "-v") numbers[i] = std::strtoull(argv[i + 1], nullptr, 10);
  }
  muster::run(numbers[0], numbers[1], verbose);
  using enum muster::Confidence;
  muster::count_innocents("simulated healthy jobs, medium or high", muster::simulate_healthy,
                          medium, numbers[0], numbers[1] / 4, verbose);
  muster::count_innocents("simulated stragglers, medium or high", muster::simulate_straggler,
                          medium, numbers[0], numbers[1] / 4, verbose);
  muster::count_innocents("two simulated faults at once, high", muster::simulate_two_faults, high,
                          numbers[0], numbers[1] / 4, verbose);
  return 0;
}
