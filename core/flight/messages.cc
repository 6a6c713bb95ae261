#include "core/flight/messages.h"

#include <algorithm>
#include <span>
#include <unordered_map>

namespace muster {
namespace {

// Of one stream: the first that has one end says all of those behind it. Of those that have both a
// batch may hold several.
constexpr std::size_t kHalvesOfStream = 1, kWholesOfStream = 4;
// Each of those that have both is a suspect of its own, and says no more than the first few.
constexpr std::size_t kWholesShare = 4;

struct StreamKey {
  std::uint32_t group;
  std::int32_t from, to;
  auto operator<=>(const StreamKey&) const = default;
};

// One end of a message of an open stream.
struct Post {
  std::uint32_t stream = 0;
  bool receive = false;
  std::uint32_t entry = 0;
};

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
  if (!from || !to || *from == *to) return {};
  // The text must speak of the rank that wrote it.
  if ((call.family == CallFamily::send ? *from : *to) != rank.rank()) return {};
  return StreamKey{lane.group, *from, *to};
}

template <typename See>
void each_message(const FlightFleet& fleet, See see) {
  for (const FlightRank& rank : fleet.ranks()) {
    for (const FlightLane& lane : rank.lanes()) {
      for (const std::uint32_t index : lane.messages) see(rank, lane, index);
    }
  }
}

// Streams with something unfinished at one end, sorted; nobody else is of interest.
std::vector<StreamKey> open_streams(const FlightFleet& fleet) {
  std::vector<StreamKey> open;
  each_message(fleet, [&](const FlightRank& rank, const FlightLane& lane, std::uint32_t index) {
    if (!rank.unfinished(index)) return;
    if (const auto key = key_of(fleet, rank, lane, index)) open.push_back(*key);
  });
  std::sort(open.begin(), open.end());
  open.erase(std::unique(open.begin(), open.end()), open.end());
  return open;
}

// What the rings hold of these streams: of each first the sends, then the receives, in order.
std::vector<Post> posts_of(const FlightFleet& fleet, const std::vector<StreamKey>& open) {
  std::vector<Post> posts;
  if (open.empty()) return posts;
  each_message(fleet, [&](const FlightRank& rank, const FlightLane& lane, std::uint32_t index) {
    const auto key = key_of(fleet, rank, lane, index);
    if (!key) return;
    const auto at = std::lower_bound(open.begin(), open.end(), *key);
    if (at == open.end() || *at != *key) return;
    const bool receive = rank.call(index).family == CallFamily::receive;
    posts.push_back({static_cast<std::uint32_t>(at - open.begin()), receive, index});
  });
  std::stable_sort(posts.begin(), posts.end(), [](const Post& a, const Post& b) {
    return a.stream != b.stream ? a.stream < b.stream : a.receive < b.receive;
  });
  return posts;
}

// The messages of one stream that somebody waits in, at most a few of each kind.
void pair_stream(const FlightFleet& fleet, const StreamKey& key, std::span<const Post> posts,
                 std::vector<Message>& out) {
  const FlightRank* from = fleet.find(key.from);
  const FlightRank* to = fleet.find(key.to);
  const auto whole = [](const FlightRank* rank) {
    return rank != nullptr && !rank->wrapped() && !rank->filtered() && !rank->dump().cut_at;
  };
  // Without a common start the finished ones of both ends are left out.
  const bool from_start = whole(from) && whole(to);
  std::vector<std::uint32_t> sent, received;
  for (const Post& post : posts) {
    const FlightRank& rank = post.receive ? *to : *from;
    if (!from_start && !rank.unfinished(post.entry)) continue;
    (post.receive ? received : sent).push_back(post.entry);
  }
  std::size_t halves = 0, wholes = 0;
  for (std::size_t k = 0; k < std::max(sent.size(), received.size()); ++k) {
    Message message{key.group, key.from, key.to, {}, {}};
    if (k < sent.size()) message.sent = sent[k];
    if (k < received.size()) message.received = received[k];
    const bool sent_open = message.sent && from->unfinished(*message.sent);
    const bool received_open = message.received && to->unfinished(*message.received);
    // A finished send whose receive is not posted yet was buffered: nobody waits.
    if (!sent_open && !received_open) continue;
    const bool both = message.sent && message.received;
    if (both ? ++wholes > kWholesOfStream : ++halves > kHalvesOfStream) continue;
    out.push_back(message);
  }
}

// Room that each rank has in each group.
class Room {
 public:
  explicit Room(std::size_t most) : most_(most) {}
  bool take(std::uint32_t group, std::int32_t rank) {
    const auto who = static_cast<std::uint64_t>(static_cast<std::uint32_t>(rank));
    return ++taken_[(std::uint64_t{group} << 32) | who] <= most_;
  }

 private:
  std::size_t most_;
  std::unordered_map<std::uint64_t, std::size_t> taken_;
};

}  // namespace

std::vector<Message> unfinished_messages(const FlightFleet& fleet, std::size_t most) {
  const std::vector<StreamKey> open = open_streams(fleet);
  const std::vector<Post> posts = posts_of(fleet, open);
  std::vector<Message> pairs, found;
  Room halves(most), wholes(std::max<std::size_t>(most / kWholesShare, 1));
  for (auto first = posts.begin(); first != posts.end();) {
    const auto end = std::find_if(first, posts.end(),
                                  [&](const Post& post) { return post.stream != first->stream; });
    pairs.clear();
    pair_stream(fleet, open[first->stream], {first, end}, pairs);
    for (const Message& message : pairs) {
      const bool both = message.sent && message.received;
      Room& room = both ? wholes : halves;
      const bool sends = message.sent && room.take(message.group, message.from);
      const bool receives = message.received && room.take(message.group, message.to);
      if (sends || receives) found.push_back(message);
    }
    first = end;
  }
  return found;
}

}  // namespace muster
