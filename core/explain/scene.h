#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/explain/explain.h"
#include "core/explain/host_clock.h"
#include "core/explain/identity.h"

namespace muster {

// An input with everything filled in that its parts tell of each other: where each event happened,
// on which rank, in which order. Borrows the input. All events are named by their index in it.
class Scene {
 public:
  explicit Scene(const ExplainInput& input);

  const ExplainInput& input() const { return *input_; }
  const Identity& identity() const { return identity_; }
  const HostClock& clock() const { return clock_; }
  const LogEvent& event(std::size_t i) const { return input_->events[i]; }

  // Empty, absent: not known.
  const std::string& host(std::size_t i) const { return hosts_[i]; }
  std::optional<std::int32_t> rank(std::size_t i) const { return ranks_[i]; }
  // As its reader says, but an exception that only tells of the end of another process is a
  // cascade, whoever read it.
  EventRole role(std::size_t i) const { return roles_[i]; }

  // In the order of time.
  const std::vector<std::size_t>& sorted() const { return clock_.sorted(); }
  // Where an event stands in that order.
  std::size_t place(std::size_t i) const { return places_[i]; }
  std::vector<std::size_t> with_role(EventRole role) const;
  std::vector<std::size_t> with_cause(Cause cause) const;
  std::vector<std::size_t> with_rule(std::string_view rule) const;

  // The text of an event has one of these, case ignored.
  bool says(std::size_t i, std::initializer_list<std::string_view> words) const;

  // A fact of this host. Where the input tells of one host at most, a fact that names none holds
  // for it; an empty host takes facts of any, if all of them are of one host.
  bool applies(const SiteFact& fact, std::string_view host) const;
  // Certainly one host: the same name, or a missing one where the input tells of one host at most.
  bool same_host(std::string_view a, std::string_view b) const;
  // True where the input tells of one host at most.
  bool one_host() const { return identity_.hosts().size() <= 1; }

  // Spelled as findings spell them (core/model/culprit.h).
  Culprit host_culprit(std::string_view host) const;
  Culprit gpu_culprit(std::string_view host, std::string_view gpu) const;
  Culprit process_culprit(std::string_view host, std::string_view process) const;
  // Of the hardware that an event is about: its GPU, else that of its rank, else its host.
  Culprit hardware_of(std::size_t i) const;

 private:
  bool is_rank_of(std::int32_t rank, std::string_view host) const;

  const ExplainInput* input_;
  Identity identity_;
  HostClock clock_;
  std::vector<std::string> hosts_;
  std::vector<std::optional<std::int32_t>> ranks_;
  std::vector<EventRole> roles_;
  std::vector<std::size_t> places_;
  bool facts_of_one_host_ = true;
};

}  // namespace muster
