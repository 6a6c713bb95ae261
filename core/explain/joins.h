#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/explain/claim.h"

// Joins: where two lines, or a line and a fact of the site, tell together what neither tells alone.
//
// A join looks for claims and events by their cause (never by the name of a rule), and at these
// words of events: path or file, pid, pci, process, device, port, peer, host, limit, signal, step.
// It may refine a claim, add one, mark claims as consequences, or take confidence away where the
// facts contradict: a limit that is high enough is no cause. A fact of another host joins nothing.

namespace muster {

struct Join {
  std::string_view name;
  std::string_view needs;      // what it joins
  std::string_view concludes;  // in one clause
  void (*apply)(const Scene& scene, std::vector<Claim>& claims);
};

// In the order in which they are applied.
std::span<const Join> join_table();

// Parts of the table, by subject.
std::span<const Join> limit_joins();
std::span<const Join> gpu_joins();
std::span<const Join> network_joins();
std::span<const Join> data_joins();
std::span<const Join> job_joins();
std::span<const Join> cluster_joins();

// ---- For the joins ---------------------------------------------------------------------------

struct FactRef {
  std::size_t index;  // into the facts of the input
  const SiteFact* fact;
};

// Facts of one kind that hold for a host.
template <typename Kind>
std::vector<FactRef> facts_of(const Scene& scene, std::string_view host) {
  std::vector<FactRef> out;
  const auto& facts = scene.input().facts;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (std::holds_alternative<Kind>(facts[i].value) && scene.applies(facts[i], host)) {
      out.push_back({i, &facts[i]});
    }
  }
  return out;
}

// All of one kind, whatever their host.
template <typename Kind>
std::vector<FactRef> all_facts(const Scene& scene) {
  std::vector<FactRef> out;
  const auto& facts = scene.input().facts;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (std::holds_alternative<Kind>(facts[i].value)) out.push_back({i, &facts[i]});
  }
  return out;
}

// Null: there is none that still stands.
Claim* find_claim(std::vector<Claim>& claims, Cause cause);
std::string host_of(const Scene& scene, const Claim& claim);
// The path that an event names; empty: none.
std::string path_of(const LogEvent& event);
// `path` is `folder` or lies below it.
bool lies_in(std::string_view path, std::string_view folder);

}  // namespace muster
