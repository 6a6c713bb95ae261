#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "train/comm/join.h"
#include "train/comm/socket.h"

namespace muster::train {

// How ranks find one another: rank 0 listens, the others come with a card each, and when all are
// there everybody gets all cards, in the order of ranks.
struct Meeting {
  std::vector<std::string> cards;
  Descriptor passed;  // from rank 0, over a local connection
};

// Rank 0. Who says another token is sent away; a rank of ours with another world, out of range, or
// that is there already ends the meeting for all, by name. Errc::timeout names who did not come.
Result<Meeting> hold_meeting(const JoinRequest& request, const Descriptor& listener,
                             const std::string& card, int passed, MonoTime until);

// The others, over a connection to rank 0. The errors are those that rank 0 tells.
Result<Meeting> attend_meeting(const JoinRequest& request, const Descriptor& connection,
                               const std::string& card, MonoTime until);

// Without blanks, line ends and the like.
std::string plain_word(std::string_view text);

}  // namespace muster::train
