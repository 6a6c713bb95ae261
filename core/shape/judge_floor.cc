#include <fmt/core.h>

#include <cmath>

#include "core/shape/verdicts.h"

namespace muster::shape {
namespace {

// Bands of a field report on a 4,000-GPU cluster (MFU from the start: under a tenth, about 30 %, 60
// to 80 % of what was reached before), widened to leave no gaps.
constexpr double kDead = 0.10, kThird = 0.45, kFine = 0.90;

// Hosts that say of themselves what others do not.
struct OddHosts {
  std::vector<std::string> socket, staged;
  std::vector<Evidence> socket_seen, staged_seen;
  std::size_t on_infiniband = 0, direct = 0, told = 0;
  bool forced = false;
};

OddHosts odd_hosts(const Surroundings& around) {
  OddHosts odd;
  for (const auto& [host, network] : around.hosts) {
    ++odd.told;
    const bool fell = (network.socket && !network.infiniband) || network.no_device;
    if (network.infiniband && !network.no_device) ++odd.on_infiniband;
    if (network.direct) ++odd.direct;
    if (fell) {
      odd.socket.push_back(host);
      for (const auto* seen : {&network.no_device, &network.forced, &network.socket}) {
        if (*seen) odd.socket_seen.push_back(quoted(**seen));
      }
      odd.forced = odd.forced || network.forced;
    } else if (network.staged && !network.direct) {
      odd.staged.push_back(host);
      odd.staged_seen.push_back(quoted(*network.staged));
    }
  }
  return odd;
}

void add_level(const ShapeCase& c, std::optional<double> ratio, Finding& finding) {
  const std::size_t first = c.shapes.warm_up.points;
  if (first >= c.curve.points.size()) return;
  std::string text = speed_text(c.curve, c.shapes.first_level);
  if (ratio)
    text += fmt::format(", {} of the expected speed ({})", percent(*ratio), c.expected.source);
  finding.evidence.push_back(seen_point(c, first, text));
}

std::string share_text(std::optional<double> ratio) {
  return ratio ? "slow at once, " + percent(*ratio) + " of what is expected"
               : std::string("slow at once");
}

std::string names(const std::vector<std::string>& hosts) {
  std::string text;
  for (std::size_t i = 0; i < hosts.size() && i < 4; ++i) text += (i > 0 ? ", " : "") + hosts[i];
  if (hosts.size() > 4) text += fmt::format(" and {} more", hosts.size() - 4);
  return text;
}

void name_hosts(const std::vector<std::string>& hosts, Finding& finding) {
  constexpr std::size_t kNamed = 64;
  for (std::size_t i = 0; i < std::min(hosts.size(), kNamed); ++i) {
    finding.culprits.push_back({CulpritKind::host, hosts[i]});
  }
}

// All hosts on sockets is a cluster without InfiniBand, or one with a setting for all of them.
Finding socket_fallback(const ShapeCase& c, OddHosts odd, std::optional<double> ratio) {
  Finding finding;
  finding.severity = ratio && *ratio < kDead ? Severity::critical : Severity::warning;
  finding.confidence = ratio && odd.on_infiniband > 0 ? Confidence::high : Confidence::medium;
  finding.cause = Cause::nccl_socket_fallback;
  const bool one = odd.on_infiniband > 0;
  if (one) name_hosts(odd.socket, finding);
  if (!one) finding.culprits.push_back({CulpritKind::unknown, ""});
  finding.summary = fmt::format("{}: NCCL runs over TCP sockets on {}{}", share_text(ratio),
                                names(odd.socket), one ? ", the other hosts have InfiniBand" : "");
  add_level(c, ratio, finding);
  for (Evidence& seen : odd.socket_seen) finding.evidence.push_back(std::move(seen));
  finding.actions = {Action::fix_network, Action::restart_from_checkpoint};
  if (odd.forced) finding.actions.insert(finding.actions.begin(), Action::fix_config);
  finding.next = fmt::format(
      "On {}: ibstat, the devices inside the container, the driver, NCCL_* in its environment; "
      "relaunch with NCCL_NET=IB, which fails at the start instead of falling back.",
      odd.socket.front());
  return finding;
}

Finding without_direct(const ShapeCase& c, OddHosts odd, std::optional<double> ratio) {
  Finding finding;
  finding.severity = Severity::warning;
  finding.confidence = ratio ? Confidence::high : Confidence::medium;
  finding.cause = Cause::gdr_disabled;
  name_hosts(odd.staged, finding);
  finding.summary =
      fmt::format("{}: {} sends without GPUDirect RDMA, {} other host{} with it", share_text(ratio),
                  names(odd.staged), odd.direct, odd.direct == 1 ? " does" : "s do");
  add_level(c, ratio, finding);
  for (Evidence& seen : odd.staged_seen) finding.evidence.push_back(std::move(seen));
  finding.actions = {Action::fix_config, Action::recheck};
  finding.next = fmt::format(
      "On {}: lsmod | grep nvidia_peermem (or DMA-BUF in the kernel), ACS and IOMMU; load it, "
      "relaunch, and let the check before the launch ask for it.",
      odd.staged.front());
  return finding;
}

Finding unexplained(const ShapeCase& c, double ratio) {
  Finding finding;
  finding.severity = ratio < kDead ? Severity::critical : Severity::warning;
  finding.confidence = Confidence::medium;
  finding.cause = Cause::undetermined;
  finding.culprits.push_back({CulpritKind::unknown, ""});
  finding.actions = {Action::collect_evidence, Action::recheck};
  std::string_view looks;
  if (ratio < kDead) {
    looks =
        "most often the network: a dead upper-tier switch, a path between GPU and NIC, NCCL on "
        "sockets";
    finding.next =
        "NCCL_DEBUG=INFO at the next start (does any host say NET/Socket?), then an "
        "all-reduce test of pairs of hosts to find the slow path.";
  } else if (ratio < kThird) {
    looks = "often one host without GPUDirect RDMA, or NCCL on sockets";
    finding.next =
        "NCCL_DEBUG=INFO at the next start: which host's NET/IB lines lack GDRDMA? "
        "nvidia_peermem or DMA-BUF on every host.";
  } else {
    looks = "most often degraded InfiniBand links; also throttled CPUs, or data that comes slowly";
    finding.next =
        "Rate, width and error counters of every link; CPU clock under load; the time of "
        "a step that waits for data; GPU power (uneven and at 0.6 of compute is hunger).";
  }
  finding.summary = fmt::format("{}, flat: {}", share_text(ratio), looks);
  add_level(c, ratio, finding);
  if (c.around.network_fine) finding.evidence.push_back(quoted(*c.around.network_fine));
  if (c.around.clocks_fine) finding.evidence.push_back(quoted(*c.around.clocks_fine));
  return finding;
}

}  // namespace

std::optional<Finding> judge_floor(const ShapeCase& c) {
  const auto ratio = speed_ratio(c);
  if (ratio && *ratio >= kFine) return std::nullopt;
  OddHosts odd = odd_hosts(c.around);
  // A mixture speaks for itself; all hosts alike do so only where the run is slow.
  if (!odd.socket.empty() && (odd.on_infiniband > 0 || (ratio && *ratio < kThird))) {
    return socket_fallback(c, std::move(odd), ratio);
  }
  if (!odd.staged.empty() && odd.direct > 0) return without_direct(c, std::move(odd), ratio);
  // Fewer points than this are a start, not a level.
  constexpr std::size_t kFewest = 5;
  if (!ratio || c.shapes.judged < kFewest) return std::nullopt;
  return unexplained(c, *ratio);
}

}  // namespace muster::shape
