#include "train/comm/rendezvous.h"

#include <fmt/core.h>

#include <optional>
#include <utility>

#include "base/text.h"
#include "edge/os/clock.h"
#include "train/comm/call_signature.h"

namespace muster::train {
namespace {

constexpr std::string_view kGreeting = "muster-join/1";
// A stranger that says nothing holds the others up for so long.
constexpr Duration kGreetingPatience = std::chrono::seconds(2);
// Rank 0 began a moment later, and tells who is missing when its own time is out.
constexpr Duration kAnswerPatience = std::chrono::seconds(2);

struct Guest {
  Descriptor connection;
  std::string card;
};

struct Greeting {
  std::string_view token, card;
  int rank = 0, world = 0;
};

std::optional<Greeting> parse_greeting(std::string_view text) {
  const std::vector<std::string_view> words = split(text, '\n');
  if (words.size() != 5 || words[0] != kGreeting) return std::nullopt;
  const auto rank = parse_int(words[2]), world = parse_int(words[3]);
  if (!rank || !world || *rank < INT32_MIN || *rank > INT32_MAX || *world < 0 ||
      *world > INT32_MAX) {
    return std::nullopt;
  }
  return Greeting{words[1], words[4], static_cast<int>(*rank), static_cast<int>(*world)};
}

Error send_away(const std::vector<Guest>& guests, Error error) {
  const std::string text = fmt::format("no\n{}\n{}", static_cast<int>(error.code), error.context);
  const MonoTime until = system_clock().mono() + kGreetingPatience;
  for (const Guest& guest : guests) {
    if (guest.connection) (void)send_frame(guest.connection, text, until).has_value();
  }
  return error;
}

std::string why_not(const JoinRequest& request, const Greeting& greeting,
                    const std::vector<Guest>& guests) {
  if (greeting.world != request.world) {
    return fmt::format("rank {} says there are {} ranks, rank 0 says {}", greeting.rank,
                       greeting.world, request.world);
  }
  if (greeting.rank <= 0 || greeting.rank >= request.world) {
    return fmt::format("a process says it is rank {} of {}", greeting.rank, request.world);
  }
  if (guests[static_cast<std::size_t>(greeting.rank)].connection) {
    return fmt::format("two processes say they are rank {}", greeting.rank);
  }
  return "";
}

Error nobody(const JoinRequest& request, const std::vector<Guest>& guests) {
  std::vector<int> missing;
  for (int rank = 1; rank < request.world; ++rank) {
    if (!guests[static_cast<std::size_t>(rank)].connection) missing.push_back(rank);
  }
  return make_error(Errc::timeout, fmt::format("{} of {} did not come in time",
                                               describe_ranks(missing), request.world));
}

}  // namespace

std::string plain_word(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) <= ' ' || c == '\x7f') c = '_';
  }
  return out;
}

Result<Meeting> hold_meeting(const JoinRequest& request, const Descriptor& listener,
                             const std::string& card, int passed, MonoTime until) {
  std::vector<Guest> guests(static_cast<std::size_t>(request.world));
  for (int there = 1; there < request.world;) {
    auto connection = accept_from(listener, until);
    if (!connection) return send_away(guests, nobody(request, guests));
    const auto text = receive_frame(*connection, system_clock().mono() + kGreetingPatience);
    const auto greeting = text ? parse_greeting(*text) : std::nullopt;
    if (!greeting) continue;
    Guest guest = {std::move(*connection), std::string(greeting->card)};
    if (greeting->token != plain_word(request.token)) {
      std::vector<Guest> stranger;
      stranger.push_back(std::move(guest));
      send_away(stranger, make_error(Errc::invalid_input, "another run meets at this place"));
      continue;
    }
    const std::string why = why_not(request, *greeting, guests);
    if (!why.empty()) {
      guests.push_back(std::move(guest));
      return send_away(guests, make_error(Errc::invalid_input, why));
    }
    guests[static_cast<std::size_t>(greeting->rank)] = std::move(guest);
    ++there;
  }
  guests[0].card = card;
  Meeting meeting;
  std::string answer = "ok";
  for (const Guest& guest : guests) {
    meeting.cards.push_back(guest.card);
    answer += '\n' + guest.card;
  }
  for (int rank = 1; rank < request.world; ++rank) {
    const Descriptor& connection = guests[static_cast<std::size_t>(rank)].connection;
    const Status sent = send_frame(connection, answer, until, passed);
    if (!sent) return within(fmt::format("answering rank {}", rank), sent.error());
  }
  return meeting;
}

Result<Meeting> attend_meeting(const JoinRequest& request, const Descriptor& connection,
                               const std::string& card, MonoTime until) {
  const std::string greeting =
      fmt::format("{}\n{}\n{}\n{}\n{}", kGreeting, plain_word(request.token), request.rank,
                  request.world, card);
  const Status sent = send_frame(connection, greeting, until);
  if (!sent) return within("greeting rank 0", sent.error());
  Meeting meeting;
  const auto answer = receive_frame(connection, until + kAnswerPatience, &meeting.passed);
  if (!answer) return within("waiting for rank 0", answer.error());
  const std::vector<std::string_view> lines = split(*answer, '\n');
  if (lines[0] == "no" && lines.size() == 3) {
    const auto code = parse_int(lines[1]).value_or(0);
    const bool late = code == static_cast<int>(Errc::timeout);
    return make_error(late ? Errc::timeout : Errc::invalid_input, std::string(lines[2]));
  }
  if (lines[0] != "ok" || lines.size() != static_cast<std::size_t>(request.world) + 1) {
    return make_error(Errc::invalid_input, "what listens there is no rank 0 of ours");
  }
  for (std::size_t i = 1; i < lines.size(); ++i) meeting.cards.emplace_back(lines[i]);
  return meeting;
}

}  // namespace muster::train
