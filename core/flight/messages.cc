#include "core/flight/messages.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace muster {
namespace {

struct StreamKey {
  std::uint32_t group;
  std::int32_t from, to;
  auto operator<=>(const StreamKey&) const = default;
};

struct Stream {
  std::vector<std::uint32_t> sent, received;  // all that the rings hold, in order
};

using Streams = std::map<StreamKey, Stream>;

std::optional<StreamKey> key_of(const FlightFleet& fleet, const FlightRank& rank,
                                const FlightLane& lane, std::uint32_t index) {
  const FleetGroup& group = fleet.groups()[lane.group];
  const Call& call = rank.call(index);
  if (!group.members_told || !call.from || !call.to) return {};
  const auto global = [&](std::int32_t local) -> std::optional<std::int32_t> {
    if (static_cast<std::size_t>(local) >= group.ranks.size()) return {};
    return group.ranks[static_cast<std::size_t>(local)];
  };
  const auto from = global(*call.from);
  const auto to = global(*call.to);
  if (!from || !to) return {};
  // The text must speak of the rank that wrote it.
  if ((call.family == CallFamily::send ? *from : *to) != rank.rank()) return {};
  return StreamKey{lane.group, *from, *to};
}

// Streams with something unfinished at one end; nobody else is of interest.
Streams open_streams(const FlightFleet& fleet, std::size_t most) {
  Streams streams;
  for (const FlightRank& rank : fleet.ranks()) {
    for (const FlightLane& lane : rank.lanes()) {
      std::size_t open = 0;
      for (const std::uint32_t index : lane.messages) {
        if (!rank.unfinished(index) || open == most) continue;
        const auto key = key_of(fleet, rank, lane, index);
        if (!key) continue;
        ++open;
        streams[*key];
      }
    }
  }
  if (streams.empty()) return streams;
  for (const FlightRank& rank : fleet.ranks()) {
    for (const FlightLane& lane : rank.lanes()) {
      for (const std::uint32_t index : lane.messages) {
        const auto key = key_of(fleet, rank, lane, index);
        const auto at = key ? streams.find(*key) : streams.end();
        if (at == streams.end()) continue;
        const bool send = rank.call(index).family == CallFamily::send;
        (send ? at->second.sent : at->second.received).push_back(index);
      }
    }
  }
  return streams;
}

// Without a common start: drop the finished ones of both ends.
void drop_finished(const FlightRank* rank, std::vector<std::uint32_t>& entries) {
  if (rank == nullptr) return;
  std::erase_if(entries, [&](std::uint32_t index) { return !rank->unfinished(index); });
}

}  // namespace

std::vector<Message> unfinished_messages(const FlightFleet& fleet, std::size_t most) {
  std::vector<Message> found;
  for (auto& [key, stream] : open_streams(fleet, most)) {
    const FlightRank* from = fleet.find(key.from);
    const FlightRank* to = fleet.find(key.to);
    const auto whole = [](const FlightRank* rank) {
      return rank != nullptr && !rank->wrapped() && !rank->dump().cut_at;
    };
    if (!whole(from) || !whole(to)) {
      drop_finished(from, stream.sent);
      drop_finished(to, stream.received);
    }
    const std::size_t count = std::max(stream.sent.size(), stream.received.size());
    std::size_t added = 0;
    for (std::size_t k = 0; k < count && added < most; ++k) {
      Message message{key.group, key.from, key.to, {}, {}};
      if (k < stream.sent.size()) message.sent = stream.sent[k];
      if (k < stream.received.size()) message.received = stream.received[k];
      const bool sent_open = message.sent && from->unfinished(*message.sent);
      const bool received_open = message.received && to->unfinished(*message.received);
      // A finished send whose receive is not posted yet was buffered: nobody waits.
      if (!sent_open && !received_open) continue;
      found.push_back(message);
      ++added;
    }
  }
  return found;
}

}  // namespace muster
