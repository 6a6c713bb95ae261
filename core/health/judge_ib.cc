#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "core/health/judges.h"
#include "core/health/limits.h"

namespace muster::health {
namespace {

constexpr std::string_view kFolder = "/sys/class/infiniband/";

struct IbPort {
  std::string id;             // "mlx5_0:1"
  std::string_view device;    // "mlx5_0"
  std::string_view state;     // "ACTIVE"
  std::string_view physical;  // "LinkUp"
  std::optional<double> rate_gbps;
  bool infiniband = true;
  std::optional<std::uint64_t> sm_lid;
};

// "4: ACTIVE" -> "ACTIVE".
std::string_view after_colon(std::string_view text) {
  const std::size_t colon = text.find(':');
  return colon == std::string_view::npos ? text : trim(text.substr(colon + 1));
}

std::vector<IbPort> ports_of(const HostProbe& probe) {
  std::map<std::string, IbPort> ports;
  for (const ProbePart& part : answer_of(probe, "ib_ports").parts) {
    const auto words = path_words(part.name, kFolder);
    if (words.size() != 4 || words[1] != "ports") continue;
    const std::string id = fmt::format("{}:{}", words[0], words[2]);
    IbPort& port = ports[id];
    port.id = id;
    port.device = words[0];
    const std::string_view text = trim(part.bytes);
    if (words[3] == "state") port.state = after_colon(text);
    if (words[3] == "phys_state") port.physical = after_colon(text);
    if (words[3] == "rate") port.rate_gbps = parse_double(text.substr(0, text.find(' ')));
    if (words[3] == "link_layer") port.infiniband = text == "InfiniBand";
    if (words[3] == "sm_lid") port.sm_lid = parse_hex(text);
  }
  std::vector<IbPort> out;
  for (auto& [id, port] : ports) out.push_back(std::move(port));
  return out;
}

std::optional<CheckResult> fault_of(const HostProbe& probe, const IbPort& port, bool counted) {
  if (port.state == "ACTIVE" && port.physical == "LinkUp") {
    if (port.sm_lid != 0u) return std::nullopt;
    return found_port(CheckOutcome::fail, probe, port.id,
                      fmt::format("{}: active, and no subnet manager is known", port.id));
  }
  if (port.physical == "LinkUp" && (port.state == "INIT" || port.state == "ARMED")) {
    return found_port(
        CheckOutcome::fail, probe, port.id,
        fmt::format("{}: link up, state {}: no subnet manager has set it up", port.id, port.state));
  }
  // A port that nothing is plugged into looks the same, unless so many should be active.
  return found_port(counted ? CheckOutcome::fail : CheckOutcome::warn, probe, port.id,
                    fmt::format("{}: {}, {}", port.id, port.state.empty() ? "?" : port.state,
                                port.physical.empty() ? "?" : port.physical));
}

}  // namespace

Judged judge_ib_ports(const HostProbe& probe, const Limits& limits) {
  const auto limit = limits.number("ib_ports");
  std::size_t active = 0, all = 0;
  Judged faults;
  const auto ports = ports_of(probe);
  for (const IbPort& port : ports) {
    if (!port.infiniband) continue;
    ++all;
    if (port.state == "ACTIVE" && port.physical == "LinkUp") ++active;
  }
  const bool too_few = limit && static_cast<double>(active) < *limit;
  for (const IbPort& port : ports) {
    if (!port.infiniband) continue;
    auto fault = fault_of(probe, port, too_few);
    if (!fault) continue;
    // Enough are active: what is not plugged in is none of our business.
    if (fault->outcome == CheckOutcome::warn && limit) continue;
    faults.push_back(std::move(*fault));
  }
  if (faults.empty() && too_few) {
    faults.push_back(found(CheckOutcome::fail,
                           fmt::format("{} of {:.0f} InfiniBand ports are there", all, *limit)));
  }
  if (faults.empty() && all == 0) return skipped("no port of InfiniBand");
  std::optional<GateValue> told;
  if (limit) told = *limit;
  for (CheckResult& fault : faults) {
    fault.value = whole(active);
    fault.limit = told;
    fault.unit = "ports";
  }
  return or_passed(std::move(faults), whole(active), told, "ports");
}

Judged judge_ib_rate(const HostProbe& probe, const Limits& limits) {
  const auto limit = limits.number("ib_rate_gbps");
  const auto ports = ports_of(probe);
  std::map<std::string_view, std::string_view> types;
  if (const ProbeAnswer* const devices = done_answer(probe, "ib_devices")) {
    for (const ProbePart& part : devices->parts) {
      const auto words = path_words(part.name, kFolder);
      if (words.size() == 2 && words[1] == "hca_type") types[words[0]] = trim(part.bytes);
    }
  }
  const auto counts = [](const IbPort& port) {
    return port.infiniband && port.state == "ACTIVE" && port.rate_gbps.has_value();
  };
  std::map<std::string_view, double> best;
  for (const IbPort& port : ports) {
    if (counts(port))
      best[types[port.device]] = std::max(best[types[port.device]], *port.rate_gbps);
  }
  Judged out;
  for (const IbPort& port : ports) {
    if (!counts(port)) continue;
    const double expected = limit.value_or(best[types[port.device]]);
    if (*port.rate_gbps >= expected) continue;
    out.push_back(
        found_port(limit ? CheckOutcome::fail : CheckOutcome::warn, probe, port.id,
                   fmt::format("{} runs at {:.0f} Gb/s, {} at {:.0f}", port.id, *port.rate_gbps,
                               limit ? "it should" : "its siblings", expected)));
    out.back().value = *port.rate_gbps;
    out.back().limit = expected;
    out.back().unit = "Gb/s";
  }
  if (out.empty() && best.empty()) return skipped("no active port of InfiniBand");
  return or_passed(std::move(out), std::nullopt, limit, "Gb/s");
}

Judged judge_ib_counters(const HostProbe& probe, const Limits& limits) {
  // Counters of 32 bits stay at their end.
  constexpr std::uint64_t kSaturated = 0xffffffffu;
  // The second look comes so long after the first.
  constexpr double kSeconds = 0.3;
  const ProbeAnswer& first = answer_of(probe, "ib_counters");
  std::map<std::string_view, std::uint64_t> before;
  for (const ProbePart& part : first.parts) {
    const auto value = parse_uint(trim(part.bytes));
    if (value) before[part.name] = *value;
  }
  Judged out;
  std::size_t compared = 0;
  for (const ProbePart& part : answer_of(probe, "ib_counters_later").parts) {
    const auto words = path_words(part.name, kFolder);
    const auto now = parse_uint(trim(part.bytes));
    const auto then = before.find(part.name);
    if (words.size() != 5 || !now || then == before.end() || then->second == kSaturated) continue;
    ++compared;
    // Smaller: somebody set it back.
    if (*now <= then->second) continue;
    const double grown = static_cast<double>(*now - then->second);
    const double most =
        words[4] == "symbol_error" ? limits.required("ib_symbol_errors_per_s") * kSeconds : 0.0;
    if (grown <= most) continue;
    const std::string port = fmt::format("{}:{}", words[0], words[2]);
    out.push_back(
        found_port(CheckOutcome::warn, probe, port,
                   fmt::format("{}: {} grew by {:.0f} within 0.3 s", port, words[4], grown)));
    out.back().value = grown;
    out.back().limit = most;
    out.back().unit = "errors";
    add_evidence(out.back(), first.id, fmt::format("{} {} -> {}", part.name, then->second, *now));
  }
  if (out.empty() && compared == 0)
    return cannot_tell("ib_counters: no counter could be read twice");
  return or_passed(std::move(out));
}

Judged judge_ib_firmware(const HostProbe& probe, const Limits&) {
  std::map<std::string_view, std::string_view> boards, versions;
  for (const ProbePart& part : answer_of(probe, "ib_devices").parts) {
    const auto words = path_words(part.name, kFolder);
    if (words.size() != 2) continue;
    if (words[1] == "board_id") boards[words[0]] = trim(part.bytes);
    if (words[1] == "fw_ver") versions[words[0]] = trim(part.bytes);
  }
  std::map<std::string_view, std::map<std::string_view, std::set<std::string_view>>> of_board;
  for (const auto& [device, version] : versions) {
    const auto board = boards.find(device);
    if (board != boards.end()) of_board[board->second][version].insert(device);
  }
  Judged out;
  for (const auto& [board, found_versions] : of_board) {
    if (found_versions.size() < 2) continue;
    std::string text = fmt::format("firmware of adapters {} differs on one host:", board);
    for (const auto& [version, devices] : found_versions) {
      text += fmt::format(" {} on {}", version, devices.size());
    }
    out.push_back(found(CheckOutcome::warn, std::move(text)));
  }
  return or_passed(std::move(out));
}

}  // namespace muster::health
