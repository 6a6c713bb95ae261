#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "base/text.h"
#include "core/explain/joins.h"

namespace muster {
namespace {

// ---- GID index -------------------------------------------------------------------------------

bool is_link_local(std::string_view gid) {
  return to_lower(gid).starts_with("fe80");
}

void gid_index(const Scene& scene, std::vector<Claim>& claims) {
  for (const FactRef& ref : all_facts<Setting>(scene)) {
    const auto& setting = std::get<Setting>(ref.fact->value);
    const auto index = parse_int(setting.value);
    if (setting.name != "NCCL_IB_GID_INDEX" || !index) continue;
    const GidEntry* chosen = nullptr;
    const GidEntry* better = nullptr;
    std::vector<std::size_t> used;
    for (const FactRef& gids : facts_of<GidEntry>(scene, ref.fact->host)) {
      const auto& gid = std::get<GidEntry>(gids.fact->value);
      if (gid.index == *index) {
        chosen = &gid;
        used.push_back(gids.index);
      }
      // A routed address shows that the port is RoCE: on InfiniBand itself GID 0 is link-local.
      if (!is_link_local(gid.gid) && gid.type == "v2") {
        better = &gid;
        used.push_back(gids.index);
      }
    }
    if (better == nullptr || (chosen != nullptr && !is_link_local(chosen->gid))) continue;
    Claim* claim = find_claim(claims, Cause::no_route);
    if (claim == nullptr) {
      claims.emplace_back();
      claim = &claims.back();
      claim->cause = Cause::no_route;
      claim->confidence = Confidence::medium;
    }
    claim->culprits = {{CulpritKind::config, setting.name}};
    claim->facts = {ref.index};
    claim->facts.insert(claim->facts.end(), used.begin(), used.end());
    claim->what =
        fmt::format("{}={} is {}, which no router passes on", setting.name, *index,
                    chosen == nullptr ? "not in the table of the adapter" : "a link-local address");
    claim->actions = {Action::fix_config, Action::recheck, Action::restart_from_checkpoint};
    claim->next = fmt::format("set it to {} where show_gids says so on every host", better->index);
    claim->join = "gid_index";
    return;
  }
}

// ---- Settings that differ between hosts ------------------------------------------------------

// What may well differ from host to host.
constexpr std::array<std::string_view, 12> kOwn = {
    "NCCL_SOCKET_IFNAME", "NCCL_IB_HCA",   "NCCL_DEBUG",        "NCCL_DEBUG_FILE",
    "NCCL_DEBUG_SUBSYS",  "NCCL_HOSTID",   "NCCL_TOPO_FILE",    "NCCL_TOPO_DUMP_FILE",
    "NCCL_COMM_ID",       "NCCL_RAS_ADDR", "NCCL_IB_GID_INDEX", "NCCL_GRAPH_DUMP_FILE"};

struct Differing {
  std::string name;
  std::vector<std::size_t> facts;
  bool only_missing = false;
};

std::vector<Differing> differing(const Scene& scene) {
  std::map<std::string, std::map<std::string, std::string>> values;  // of a name: by host
  std::map<std::string, std::vector<std::size_t>> facts;
  std::set<std::string> hosts;
  for (const FactRef& ref : all_facts<Setting>(scene)) {
    const auto& setting = std::get<Setting>(ref.fact->value);
    if (!setting.name.starts_with("NCCL_")) continue;
    const std::string host = ref.fact->host.empty() ? ref.fact->source : host_key(ref.fact->host);
    hosts.insert(host);
    values[setting.name][host] = setting.value;
    facts[setting.name].push_back(ref.index);
  }
  std::vector<Differing> out;
  for (const auto& [name, by_host] : values) {
    if (std::find(kOwn.begin(), kOwn.end(), name) != kOwn.end()) continue;
    std::set<std::string> different;
    for (const auto& [host, value] : by_host) different.insert(value);
    // Where it is not among the settings of a host it may only not have been written down.
    const bool missing = by_host.size() < hosts.size();
    if (different.size() > 1 || missing) out.push_back({name, facts[name], different.size() == 1});
  }
  return out;
}

void settings_differ(const Scene& scene, std::vector<Claim>& claims) {
  const auto names = differing(scene);
  if (names.empty()) return;
  for (Claim& claim : claims) {
    const bool sizes = claim.cause == Cause::collective_mismatch && !claim.events.empty() &&
                       scene.event(claim.events.front()).role == EventRole::root &&
                       scene.event(claim.events.front()).word("seq").empty();
    const bool unnamed = claim.cause == Cause::nccl_env_mismatch &&
                         (claim.culprits.empty() || claim.culprits[0].kind != CulpritKind::config);
    if (claim.follows || (!sizes && !unnamed)) continue;
    claim.become(Cause::nccl_env_mismatch, "settings_differ");
    claim.culprits.clear();
    std::string list;
    for (const Differing& one : names) {
      claim.culprits.push_back({CulpritKind::config, one.name});
      claim.facts.insert(claim.facts.end(), one.facts.begin(), one.facts.end());
      list += (list.empty() ? "" : ", ") + one.name;
    }
    claim.what = fmt::format("{} differ{} between the hosts, so sizes of messages do not match",
                             list, names.size() == 1 ? "s" : "");
    claim.actions = {Action::fix_config, Action::restart_from_checkpoint};
    claim.next = "give all ranks the same NCCL settings";
    const bool sure = names.size() == 1 && !names.front().only_missing;
    claim.confidence = sure ? Confidence::high : Confidence::medium;
  }
}

// ---- Ports that go down ----------------------------------------------------------------------

constexpr Duration kOneSecond = std::chrono::seconds(1);
constexpr Duration kErrorsFollow = std::chrono::minutes(5);
constexpr std::size_t kTogether = 3;
constexpr std::size_t kErrorsSeen = 256;

Culprit port_of(const Scene& scene, std::size_t i) {
  const LogEvent& e = scene.event(i);
  if (e.subject.kind == CulpritKind::port || e.subject.kind == CulpritKind::link) return e.subject;
  const std::string_view device = e.word("device");
  if (device.empty()) return scene.host_culprit(scene.host(i));
  std::string id = scene.host(i).empty() ? "" : scene.host(i) + "/";
  id += device;
  if (!e.word("port").empty()) id += fmt::format("/{}", e.word("port"));
  return {CulpritKind::port, id};
}

enum class PortState : std::uint8_t {
  unsuspected,  // what every restart of a switch looks like
  flapping,     // again and again; nobody complains of it at that time
  failing,      // and transfers failed soon behind it
};

// Host of the peer that an event complains of; empty: none that is known.
std::string peer_of(const Scene& scene, std::size_t i) {
  return scene.identity().host_of_peer(scene.event(i).word("peer"));
}

// Failed transfers by the hosts that they are of: where they were seen, and the peer. Without any
// host they are those of the only one.
using Failures = std::map<std::string, std::vector<std::size_t>>;

Failures failures_by_host(const Scene& scene, const std::vector<std::size_t>& errors) {
  Failures out;
  for (const std::size_t i : errors) {
    const std::string here = host_key(scene.host(i)), there = host_key(peer_of(scene, i));
    out[here].push_back(i);
    if (!there.empty() && there != here) out[there].push_back(i);
  }
  return out;
}

PortState state_of(const Scene& scene, const std::vector<std::size_t>& downs,
                   const Failures& failures) {
  bool again = scene.event(downs.front()).repeats > 0;
  for (const std::size_t down : downs) {
    const auto later = scene.clock().gap(downs.front(), down);
    again |= down != downs.front() && (!later || *later > kOneSecond);
  }
  for (const auto& [host, errors] : failures) {
    if (!scene.same_host(host, scene.host(downs.front()))) continue;
    for (const std::size_t down : {downs.front(), downs.back()}) {
      // Only what comes soon counts: the first few behind it in time.
      auto it = std::upper_bound(errors.begin(), errors.end(), down,
                                 [&](auto a, auto b) { return scene.place(a) < scene.place(b); });
      for (std::size_t n = 0; it != errors.end() && n < kErrorsSeen; ++it, ++n) {
        if (!scene.clock().before(down, *it)) continue;
        const auto gap = scene.clock().gap(down, *it);
        if (gap ? *gap < kErrorsFollow : again) return PortState::failing;
      }
    }
  }
  return again ? PortState::flapping : PortState::unsuspected;
}

void flapping_ports(const Scene& scene, std::vector<Claim>& claims) {
  Claim* claim = find_claim(claims, Cause::ib_link_faulty);
  if (claim == nullptr || claim->events.empty()) return;
  std::map<std::string, std::vector<std::size_t>> downs;
  for (const std::size_t i : claim->events) downs[port_of(scene, i).id].push_back(i);
  std::set<std::string> hosts;
  bool together = downs.size() >= kTogether;
  for (const auto& [port, events] : downs) {
    hosts.insert(scene.host(events.front()));
    const auto gap = scene.clock().gap(claim->events.front(), events.front());
    if (gap && *gap > kOneSecond) together = false;
    if (!gap && events.front() != claim->events.front()) together = false;
  }
  claim->join = "flapping_ports";
  if (together && hosts.size() > 1) {
    claim->become(Cause::ports_down_together, "flapping_ports");
    claim->culprits = {{CulpritKind::unknown, ""}};
    claim->cap(Confidence::medium);
    claim->what =
        fmt::format("{} ports of {} hosts went down in one second", downs.size(), hosts.size());
    claim->next = "look for what they share: a switch, its power, its firmware";
    return;
  }
  claim->culprits.clear();
  const auto errors = scene.with_role(EventRole::cascade);
  const Failures failures = failures_by_host(scene, errors);
  std::map<std::string, PortState> states;
  PortState worst = PortState::unsuspected;
  for (const auto& [port, events] : downs) {
    states[port] = state_of(scene, events, failures);
    worst = std::max(worst, states[port]);
  }
  for (const auto& [port, events] : downs) {
    if (states[port] == worst) claim->culprits.push_back(port_of(scene, events.front()));
  }
  // Others failed at another time: then the port is not why.
  const bool elsewhere = worst == PortState::flapping && !errors.empty();
  if (worst != PortState::unsuspected && !elsewhere) {
    // Two at once are as well what hangs between them.
    claim->confidence = claim->culprits.size() == 1 ? Confidence::high : Confidence::medium;
    claim->what = fmt::format("the port {} went down", claim->culprits.front().id);
    if (downs[claim->culprits.front().id].size() > 1) {
      claim->what += fmt::format(" {} times", downs[claim->culprits.front().id].size());
    }
    return;
  }
  claim->cap(Confidence::low);
  claim->actions = {Action::watch, Action::check_link};
}

// ---- Errors that name a peer -----------------------------------------------------------------

// Adapters count some errors on any good link: bits that were mended, one lost packet a day.
constexpr double kErrorsOfBadLink = 10;

enum class Moved : std::uint8_t { unknown, still, link, loss };

// Whether the error counters of a host's ports moved. Time-outs of acknowledgements move where the
// other end died: they say nothing.
Moved counters_of(const Scene& scene, std::string_view host, std::vector<std::size_t>& facts,
                  Culprit& port) {
  Moved moved = Moved::unknown;
  for (const FactRef& ref : facts_of<PortCounter>(scene, host)) {
    const auto& counter = std::get<PortCounter>(ref.fact->value);
    const std::string name = to_lower(counter.name);
    const bool link = name.find("symbol") != name.npos || name.find("downed") != name.npos ||
                      name.find("recovery") != name.npos || name.find("rcv_err") != name.npos ||
                      name.find("physical") != name.npos || name.find("integrity") != name.npos;
    const bool loss = name.find("seq_err") != name.npos || name.find("sequence") != name.npos ||
                      name.find("retrans") != name.npos;
    // What the other end tells of itself is not of this port.
    if ((!link && !loss) || name.find("remote") != name.npos) continue;
    facts.push_back(ref.index);
    if (moved == Moved::unknown) moved = Moved::still;
    const bool once = name.find("downed") != name.npos;
    if (counter.after - counter.before < (once ? 1 : kErrorsOfBadLink)) continue;
    moved = link ? Moved::link : moved == Moved::link ? moved : Moved::loss;
    // Packets are lost anywhere on their way: the port that misses them is not why.
    if (!link) continue;
    std::string id(host);
    if (!id.empty()) id += "/";
    id += counter.device;
    if (counter.port) id += fmt::format("/{}", *counter.port);
    port = {CulpritKind::port, id};
  }
  return moved;
}

// Claims of processes and parts that ended, by host: the first event of each there.
using Ends = std::multimap<std::string, std::pair<std::size_t, std::size_t>>;  // claim, event

Ends ends_by_host(const Scene& scene, const std::vector<Claim>& claims) {
  Ends out;
  for (std::size_t c = 0; c < claims.size(); ++c) {
    const bool ends = layer_of(claims[c].cause) <= Layer::program &&
                      claims[c].severity > Severity::info && !claims[c].follows;
    std::set<std::string> hosts;
    for (const std::size_t i : claims[c].events) {
      const std::string host = host_key(scene.host(i));
      if (ends && hosts.insert(host).second) out.emplace(host, std::pair(c, i));
    }
  }
  return out;
}

// What ended on the host that the errors name, before they did: it is the reason.
std::optional<std::size_t> dead_before(const Scene& scene, const Ends& ends,
                                       const std::string& peer, std::size_t error) {
  const auto [first, last] = ends.equal_range(host_key(peer));
  for (auto it = first; it != last; ++it) {
    const auto [claim, event] = it->second;
    if (scene.clock().order(event, error) != Order::after) return claim;
  }
  return std::nullopt;
}

void named_peer(const Scene& scene, std::vector<Claim>& claims) {
  std::map<std::string, std::vector<std::size_t>> named;
  for (const std::size_t i : scene.sorted()) {
    const std::string peer = peer_of(scene, i);
    const bool error = scene.role(i) == EventRole::cascade || scene.role(i) == EventRole::root;
    if (!peer.empty() && error) named[peer].push_back(i);
  }
  const Ends ends = ends_by_host(scene, claims);
  std::set<std::size_t> told;
  for (const auto& [peer, errors] : named) {
    std::vector<std::size_t> facts;
    Culprit port{CulpritKind::unknown, ""};
    const Moved moved = counters_of(scene, peer, facts, port);
    if (const auto index = dead_before(scene, ends, peer, errors.front())) {
      Claim* dead = &claims[*index];
      dead->facts.insert(dead->facts.end(), facts.begin(), facts.end());
      dead->join = "named_peer";
      if (told.insert(*index).second) {
        dead->what += fmt::format("; the network errors that name {} follow from it", peer);
      }
      if (moved == Moved::still) dead->what += "; the counters of its port stand still";
      const bool sure = scene.clock().before(*dead->first(), errors.front());
      if (moved > Moved::still || !sure) dead->cap(Confidence::medium);
      continue;
    }
    if (moved <= Moved::still) continue;
    Claim claim = claim_of(
        scene, moved == Moved::link ? Cause::ib_link_faulty : Cause::roce_packet_loss, errors);
    claim.severity = Severity::critical;
    claim.confidence = Confidence::medium;
    claim.culprits = {port};
    claim.facts = facts;
    claim.what = fmt::format("transfers with {} failed and the error counters of {} moved", peer,
                             moved == Moved::link ? port.id : "lost packets");
    claim.actions.clear();
    claim.next.clear();
    claim.join = "named_peer";
    claims.push_back(std::move(claim));
  }
}

constexpr Join kJoins[] = {
    {"gid_index", "the GID index of NCCL; show_gids", "the address is not routed", gid_index},
    {"settings_differ", "sizes that do not match; the settings of the hosts",
     "settings differ between hosts", settings_differ},
    {"flapping_ports", "ports that went down, and what followed",
     "a bad port, several at once, or nothing yet", flapping_ports},
    {"named_peer", "network errors that name a peer; what happened there; counters of its ports",
     "its process died first, or its link is bad", named_peer},
};

}  // namespace

std::span<const Join> network_joins() {
  return kJoins;
}

}  // namespace muster
