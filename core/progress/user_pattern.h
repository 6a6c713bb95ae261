#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "core/model/progress.h"

namespace re2 {
class RE2;
}

// The user's own regular expression for step lines of a dialect that nobody knows, in RE2 syntax
// with named groups:
//   (?P<step>\d+) of (?P<total>\d+), L=(?P<loss>\S+), (?P<tps>\S+) t/s, (?P<dt>\S+) s
// step is required; total, loss, tps, dt (seconds of one step), mfu (a ratio or per cent) and epoch
// are not. RE2 takes time linear in the line, whatever the pattern, so a bad one cannot hang us.

namespace muster {

class UserPattern {
 public:
  struct Match {
    StepRecord step;
    std::optional<std::int64_t> epoch;
  };

  // Refuses a pattern without group "step", with an unknown group name, or longer than 4 KiB.
  static Result<UserPattern> compile(std::string_view pattern);

  // Looks anywhere in the line. Nothing when it does not match or the step is no number.
  std::optional<Match> read(std::string_view line) const;

 private:
  static constexpr std::size_t kGroups = 7;

  UserPattern() = default;

  std::shared_ptr<const re2::RE2> pattern_;
  int group_of_[kGroups] = {};  // 0: the pattern has no such group
};

}  // namespace muster
