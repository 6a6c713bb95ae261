#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "core/explain/explain_test_kit.h"

// One fault in a job of 16 to 512 ranks, seen through logs in random order, with victims, noise and
// clocks that are off: the answer stays, and nobody innocent is named.

namespace muster {
namespace {

struct Draw {
  explicit Draw(unsigned seed) : random(seed) {}
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); }
  double between(double a, double b) {
    return std::uniform_real_distribution<double>(a, b)(random);
  }
  bool one_in(int n) { return below(n) == 0; }
  std::mt19937 random;
};

struct Fault {
  Cause cause;
  bool kernel;  // told by the kernel of its host, else by its rank
};
constexpr Fault kFaults[] = {{gpu_fell_off_bus, true},  {gpu_firmware_hang, true},
                             {ecc_uncorrectable, true}, {host_oom_killed, true},
                             {gpu_oom, false},          {rank_exception, false},
                             {watchdog_stuck, false},   {loader_worker_crashed, false}};

std::string host_of(int rank) {
  return "node" + std::to_string(rank / 8);
}
std::string pci_of(int rank) {
  return "0000:" + std::to_string(10 + rank % 8) + ":00";
}

struct Job {
  Pile pile;
  std::map<std::string, double> ahead;  // of the clock of a host, seconds
  double at(const std::string& host, double seconds) { return 100'000 + seconds + ahead[host]; }
};

void add_fault(Job& job, const Fault& fault, int rank) {
  const std::string host = host_of(rank);
  Pile& p = job.pile;
  p.source = fault.kernel ? "kern-" + host : "out-" + host;
  if (fault.cause == host_oom_killed) {
    p.line("oom_kill", fault.cause, EventRole::root, "Killed process")
        .host(host)
        .pid(5000 + rank)
        .word("process", "python3")
        .at(job.at(host, 0));
  } else if (fault.kernel) {
    p.xid(79, fault.cause, pci_of(rank)).host(host).at(job.at(host, 0));
  } else {
    p.line("own_end", fault.cause, EventRole::root, "it ended by itself")
        .host(host)
        .rank(rank)
        .at(job.at(host, 0));
  }
}

void add_victims(Job& job, Draw& draw, int ranks, int culprit) {
  for (int r = 0; r < ranks; ++r) {
    if (r == culprit || draw.one_in(20)) continue;
    const std::string host = host_of(r);
    job.pile.source = "out-" + host;
    job.pile.timeout(r, job.at(host, 640 + draw.between(0, 3))).host(host);
    if (draw.one_in(4)) {
      job.pile.cascade().rank(r).host(host).at(job.at(host, 645)).word("peer", host_of(culprit));
    }
    if (draw.one_in(4)) {
      job.pile
          .line("exception", rank_exception, EventRole::root,
                "DistBackendError: NCCL error in: x, remote process exited")
          .rank(r)
          .host(host)
          .at(job.at(host, 646));
    }
    if (draw.one_in(3)) {
      job.pile.line("exit", undetermined, EventRole::teardown, "exited with signal 6")
          .rank(r)
          .host(host)
          .word("signal", "6")
          .at(job.at(host, 650));
    }
  }
}

void add_noise(Job& job, Draw& draw, int ranks) {
  for (int i = 0; i < 20; ++i) {
    const int r = draw.below(ranks);
    const std::string host = host_of(r);
    const double at = job.at(host, draw.between(-3000, 900));
    job.pile.source = "kern-" + host;
    switch (draw.below(5)) {
      case 0:
        job.pile.line("driver_noise", harmless_message, EventRole::benign).host(host).at(at);
        break;
      case 1:
        job.pile.xid(45, benign_cleanup_xid, pci_of(r), EventRole::benign).host(host).at(at);
        break;
      case 2:
        job.pile.xid(145, nvlink_nonfatal, pci_of(r)).host(host).at(at).severity(Severity::info);
        break;
      case 3:
        job.pile.line("pcie_error", undetermined, EventRole::confirmation)
            .host(host)
            .at(at)
            .word("pci", pci_of(r))
            .word("grade", "corrected");
        break;
      default:
        job.pile.root(ib_link_faulty)
            .host(host)
            .at(job.at(host, -5000))
            .word("device", "mlx5_0")
            .sure(Confidence::low);
        break;
    }
  }
}

// The lines of each source keep their order in time; sources come in any order.
void shuffle_sources(Job& job, Draw& draw) {
  std::map<std::string, std::vector<LogEvent>> sources;
  for (LogEvent& e : job.pile.input.events) sources[e.source].push_back(std::move(e));
  std::vector<std::vector<LogEvent>> order;
  for (auto& [name, events] : sources) {
    std::stable_sort(events.begin(), events.end(),
                     [](const LogEvent& a, const LogEvent& b) { return a.time.at < b.time.at; });
    order.push_back(std::move(events));
  }
  std::shuffle(order.begin(), order.end(), draw.random);
  job.pile.input.events.clear();
  for (auto& events : order) {
    for (LogEvent& e : events) job.pile.input.events.push_back(std::move(e));
  }
}

// Parts that have the fault themselves.
bool is_guilty(const Culprit& culprit, const Fault& fault, int rank) {
  const std::string& id = culprit.id;
  const std::string host = host_of(rank);
  switch (culprit.kind) {
    case CulpritKind::none:
    case CulpritKind::unknown:
      return true;
    case CulpritKind::rank:
      return id == std::to_string(rank);
    case CulpritKind::gpu:
      return fault.kernel && id == host + "/" + pci_of(rank) + ".0";
    case CulpritKind::host:
      return id == host;
    case CulpritKind::process:
      return id == std::to_string(5000 + rank) || id == host + "/" + std::to_string(5000 + rank);
    default:
      return false;
  }
}

TEST(ExplainProperty, TheAnswerStaysAndNobodyInnocentIsNamed) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Draw draw(seed);
    const int ranks = 16 << draw.below(6);
    const int culprit = draw.below(ranks);
    const Fault& fault = kFaults[draw.below(std::size(kFaults))];
    Job job;
    // What two clocks may differ by is five minutes; the victims tell of it all ten minutes later.
    for (int r = 0; r < ranks; r += 8) job.ahead[host_of(r)] = draw.between(-145, 145);
    add_fault(job, fault, culprit);
    add_victims(job, draw, ranks, culprit);
    add_noise(job, draw, ranks);
    shuffle_sources(job, draw);
    const Explanation answer = explain(job.pile.input);
    ASSERT_FALSE(answer.findings.empty());
    EXPECT_EQ(answer.findings[0].cause, fault.cause) << answer.findings[0].summary;
    EXPECT_FALSE(named(answer.findings[0]).empty()) << answer.findings[0].summary;
    for (const Finding& finding : answer.findings) {
      if (finding.confidence == Confidence::low || finding.severity < Severity::warning) continue;
      for (const Culprit& c : finding.culprits) {
        EXPECT_TRUE(is_guilty(c, fault, culprit)) << c.id << ": " << finding.summary;
      }
    }
  }
}

std::string told(const Explanation& answer) {
  std::string out;
  for (const Finding& f : answer.findings) {
    out += f.summary + '\n';
    for (const Evidence& e : f.evidence) out += e.source + ' ' + e.text + '\n';
  }
  return out;
}

TEST(ExplainProperty, TheOrderOfSourcesIsNothing) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Draw draw(seed);
    const int ranks = 16 << draw.below(3);
    const int culprit = draw.below(ranks);
    Job job;
    add_fault(job, kFaults[draw.below(std::size(kFaults))], culprit);
    add_victims(job, draw, ranks, culprit);
    add_noise(job, draw, ranks);
    shuffle_sources(job, draw);
    const std::string once = told(explain(job.pile.input));
    shuffle_sources(job, draw);
    EXPECT_EQ(told(explain(job.pile.input)), once);
  }
}

TEST(ExplainProperty, VictimsAloneAccuseNobodySurely) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Draw draw(seed);
    const int ranks = 16 << draw.below(5);
    Job job;
    // The culprit's own log is not there, and lines of a few others are missing too.
    for (int r = 0; r < ranks; r += 8) job.ahead[host_of(r)] = draw.between(-145, 145);
    const int culprit = draw.below(ranks);
    add_victims(job, draw, ranks, culprit);
    add_noise(job, draw, ranks);
    shuffle_sources(job, draw);
    const Explanation answer = explain(job.pile.input);
    for (const Finding& finding : answer.findings) {
      if (finding.confidence == Confidence::low || finding.severity < Severity::warning) continue;
      for (const Culprit& c : finding.culprits) {
        EXPECT_TRUE(is_guilty(c, {gpu_oom, false}, culprit)) << c.id << ": " << finding.summary;
      }
    }
  }
}

}  // namespace
}  // namespace muster
