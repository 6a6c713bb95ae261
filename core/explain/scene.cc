#include "core/explain/scene.h"

#include <algorithm>
#include <map>

#include "base/text.h"

namespace muster {
namespace {

// What an exception says when somebody else's end reached it through a connection or a collective.
constexpr std::string_view kSecondHand[] = {
    "ncclremoteerror",
    "remote process exited",
    "connection closed by",
    "connection reset by",
    "broken pipe",
    "nccl communicator was aborted",
    "watchdog caught",
    "processgroupnccl",
    "timed out waiting",
    "socket timeout",
    "rendezvousclosederror",
    "rendezvousconnectionerror",
    "recvvalue failed",
    "failed to recv",
    "childfailederror",
    "signalexception",
    "connectfullmesh failed",
    "tcpstore",
    "ncclsystemerror",
    "unhandled system error",
    "nccl error in",
};

bool second_hand(const LogEvent& event) {
  if (event.rule != "exception" && event.cause != Cause::rank_exception) return false;
  const std::string text = to_lower(event.text);
  return std::any_of(std::begin(kSecondHand), std::end(kSecondHand),
                     [&](std::string_view word) { return text.find(word) != text.npos; });
}

}  // namespace

Scene::Scene(const ExplainInput& input) : input_(&input), identity_(input) {
  std::map<std::string_view, const LogSource*> sources;
  for (const LogSource& source : input.sources) sources.emplace(source.name, &source);
  const std::size_t count = input.events.size();
  hosts_.resize(count);
  ranks_.resize(count);
  roles_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const LogEvent& e = input.events[i];
    const auto it = sources.find(e.source);
    const LogSource* source = it == sources.end() ? nullptr : it->second;
    ranks_[i] = e.rank ? e.rank : source != nullptr ? source->rank : std::nullopt;
    if (ranks_[i] && names_task(e) && !is_rank_of(*ranks_[i], e.host)) ranks_[i].reset();
    hosts_[i] = e.host;
    if (hosts_[i].empty() && ranks_[i]) hosts_[i] = identity_.host_of_rank(*ranks_[i]);
    if (hosts_[i].empty() && source != nullptr) hosts_[i] = source->host;
    if (!ranks_[i] && e.pid) ranks_[i] = identity_.rank_of_process(hosts_[i], *e.pid);
    const auto named = identity_.hosts().find(host_key(hosts_[i]));
    if (named != identity_.hosts().end()) hosts_[i] = named->second;
    roles_[i] = e.role == EventRole::root && second_hand(e) ? EventRole::cascade : e.role;
  }
  std::string one;
  for (const SiteFact& fact : input.facts) {
    const std::string key = host_key(fact.host);
    if (key.empty()) continue;
    if (!one.empty() && key != one) facts_of_one_host_ = false;
    one = key;
  }
  clock_ = HostClock(input, hosts_);
  places_.resize(count);
  for (std::size_t k = 0; k < count; ++k) places_[sorted()[k]] = k;
}

// Its lines or the map of ranks say that it is on that host, or it has lines of its own and no host
// that is told.
bool Scene::is_rank_of(std::int32_t rank, std::string_view host) const {
  if (!identity_.ranks().contains(rank)) return false;
  const std::string on = identity_.host_of_rank(rank);
  if (!on.empty()) return host.empty() || host_key(on) == host_key(host);
  return identity_.hosts().size() <= 1;
}

std::vector<std::size_t> Scene::with_role(EventRole role) const {
  std::vector<std::size_t> out;
  for (const std::size_t i : sorted()) {
    if (roles_[i] == role) out.push_back(i);
  }
  return out;
}

std::vector<std::size_t> Scene::with_cause(Cause cause) const {
  std::vector<std::size_t> out;
  for (const std::size_t i : sorted()) {
    if (event(i).cause == cause) out.push_back(i);
  }
  return out;
}

std::vector<std::size_t> Scene::with_rule(std::string_view rule) const {
  std::vector<std::size_t> out;
  for (const std::size_t i : sorted()) {
    if (event(i).rule == rule) out.push_back(i);
  }
  return out;
}

bool Scene::says(std::size_t i, std::initializer_list<std::string_view> words) const {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return contains_ignoring_case(event(i).text, word);
  });
}

bool Scene::applies(const SiteFact& fact, std::string_view host) const {
  if (fact.host.empty()) return one_host();
  if (host.empty()) return facts_of_one_host_;
  return host_key(fact.host) == host_key(host);
}

bool Scene::same_host(std::string_view a, std::string_view b) const {
  if (a.empty() || b.empty()) return one_host();
  return host_key(a) == host_key(b);
}

Culprit Scene::host_culprit(std::string_view host) const {
  return {CulpritKind::host, host.empty() ? "this" : std::string(host)};
}

Culprit Scene::gpu_culprit(std::string_view host, std::string_view gpu) const {
  const std::string pci = pci_key(gpu);
  const std::string id = pci.empty() ? std::string(gpu) : pci;
  return {CulpritKind::gpu, host.empty() ? id : std::string(host) + "/" + id};
}

Culprit Scene::process_culprit(std::string_view host, std::string_view process) const {
  if (host.empty() || one_host()) return {CulpritKind::process, std::string(process)};
  return {CulpritKind::process, std::string(host) + "/" + std::string(process)};
}

Culprit Scene::hardware_of(std::size_t i) const {
  const LogEvent& e = event(i);
  if (!e.word("pci").empty()) return gpu_culprit(host(i), e.word("pci"));
  if (e.subject.kind == CulpritKind::gpu) {
    const std::size_t slash = e.subject.id.rfind('/');
    const std::string_view id = e.subject.id;
    if (slash != id.npos) return e.subject;
    return gpu_culprit(host(i), id);
  }
  if (e.subject.kind == CulpritKind::link || e.subject.kind == CulpritKind::port) return e.subject;
  if (ranks_[i]) {
    const std::string pci = identity_.pci_of_rank(*ranks_[i]);
    if (!pci.empty()) return gpu_culprit(host(i), pci);
  }
  if (!host(i).empty()) return host_culprit(host(i));
  if (ranks_[i]) return {CulpritKind::rank, std::to_string(*ranks_[i])};
  return host_culprit("");
}

}  // namespace muster
