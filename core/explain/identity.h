#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/host_name.h"
#include "core/explain/explain.h"

namespace muster {

// "0000:3b:00.0" of "0000:3B:00", "3b:00.0", "00000000:3B:00.0"; empty: no PCI address.
std::string pci_key(std::string_view pci);
// "10.0.0.7" of "10.0.0.7<43122>", "10.0.0.7:43122" and "[10.0.0.7]:43122".
std::string address_of(std::string_view peer);

// Of the machine that speaks, whichever that is: no name of a host.
bool is_loopback(std::string_view peer);
// A line of Slurm on one of its tasks ("n3: task 11: ..."), which is a rank only where each rank is
// a task.
bool names_task(const LogEvent& event);

// Who is who in an input: ranks, hosts, GPUs, processes and addresses, as its lines and facts tell.
// Two that contradict each other tell nothing.
class Identity {
 public:
  Identity() = default;
  explicit Identity(const ExplainInput& input);

  // Empty or absent: not known. Hosts are spelled as the input spells them first.
  std::string host_of_rank(std::int32_t rank) const;
  std::string pci_of_rank(std::int32_t rank) const;
  std::optional<std::int32_t> rank_of_process(std::string_view host, std::int64_t pid) const;
  std::optional<std::int32_t> rank_of_gpu(std::string_view host, std::string_view pci) const;
  // Of an address, a name or a name with the adapter behind it ("n012-ib0").
  std::string host_of_peer(std::string_view peer) const;
  std::vector<std::int32_t> ranks_on(std::string_view host) const;
  // All that the input names, in their order; a host that only a peer's address names is not one.
  const std::map<std::string, std::string>& hosts() const { return hosts_; }
  // Ranks that some line or fact names.
  const std::set<std::int32_t>& ranks() const { return ranks_; }
  // Size of the job where something tells it beside the ranks that failed.
  std::optional<std::int32_t> world() const { return world_; }

 private:
  void take_fact(const SiteFact& fact);
  void take_event(const LogEvent& event, const LogSource* source);
  std::string name(std::string_view host);

  std::map<std::string, std::string> hosts_;  // key -> spelling
  std::map<std::string, std::string> addresses_;
  std::map<std::int32_t, std::string> host_of_rank_, pci_of_rank_;
  std::map<std::pair<std::int64_t, std::string>, std::int32_t> rank_of_process_;  // by pid and host
  std::set<std::int32_t> ranks_;
  std::optional<std::int32_t> world_;
  std::size_t places_ = 0;
};

}  // namespace muster
