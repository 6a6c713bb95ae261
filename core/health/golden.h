#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/health/probe.h"

// What a host is, in words that should agree on all hosts of a kind: versions, counts, settings.
// No check knows the right value; a reference that was learnt from good hosts does, or the others.

namespace muster::health {

// "driver" -> "570.86.15", "gpu" -> "8 x NVIDIA H100 80GB HBM3". A fact that the probes do not show
// is absent.
using HostFacts = std::map<std::string, std::string, std::less<>>;

HostFacts host_facts(const HostProbe& probe);

// The reference (docs/FORMATS.md, muster.golden/1): the values that good hosts have.
struct Golden {
  std::size_t hosts = 0;  // that it was learnt from
  std::map<std::string, std::set<std::string>, std::less<>> facts;

  bool operator==(const Golden&) const = default;
};

// All values that at least a quarter of the hosts that have the fact show: an odd one out in the
// crowd does not become a reference, a second kind of host does.
Golden learn_golden(std::span<const HostFacts> hosts);

std::string encode_golden(const Golden& golden);
Result<Golden> decode_golden(std::string_view bytes);

}  // namespace muster::health
