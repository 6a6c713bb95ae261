#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/explain/explain.h"

namespace muster {

enum class Order : std::uint8_t { unknown, before, after };

// All events of an input on one clock, as far as their clocks allow.
//
// Inside one source the order of the lines rules, also across a change of daylight saving, which
// is known by stamps that go back by an hour and stay back. A source whose stamps go back otherwise
// was put together of several: there only lines of one rank keep their order, and stamps decide the
// rest. So was one in which a traceback stands under a step that is older than what is above both.
// A line without a stamp lies between its stamped neighbours. A clock without a date gets
// that of its neighbours; where years disagree (many stamps have none) the smallest year counts.
//
// Between hosts a clock may be off by limits::kClockSkew. Collectives that time out on both hosts
// began at about one moment, which tells the offset to within kSharedDoubt; it is taken out where
// it is larger than that and two calls agree on it (one may be of another attempt). Stamps with a
// zone and stamps without one, of which nobody told the offset, differ by up to kZoneDoubt; a zone
// that was only guessed tells none. Where such a moment, or a step that several logged, shows
// stamps that are further apart than kClockSkew, clocks that none of them confirms may be off by as
// much.
class HostClock {
 public:
  static constexpr Duration kSharedDoubt = std::chrono::seconds(30);
  static constexpr Duration kZoneDoubt = std::chrono::hours(14);
  // Stamps of whole seconds, written by several processes of one host.
  static constexpr Duration kHostDoubt = std::chrono::seconds(1);
  // Processes that write into one log get their lines there late by this much.
  static constexpr Duration kJitter = std::chrono::seconds(15);

  HostClock() = default;
  // `hosts[i]` is where input.events[i] happened; empty: not known.
  HostClock(const ExplainInput& input, const std::vector<std::string>& hosts);

  // Whether event `a` happened certainly before `b`; indices into input.events.
  Order order(std::size_t a, std::size_t b) const;
  bool before(std::size_t a, std::size_t b) const { return order(a, b) == Order::before; }
  // Where the order is certain in time alone: by how much `b` is later at least; absent: not known.
  std::optional<Duration> gap(std::size_t a, std::size_t b) const;
  // Best guess, and the event's own stamp (on its own clock, absent: it has none).
  std::optional<WallTime> at(std::size_t event) const { return points_[event].lo; }
  std::optional<WallTime> own(std::size_t event) const;
  // Whether anything tells the time of both, or one log has both, or their order is certain.
  bool comparable(std::size_t a, std::size_t b) const;
  // By how much an event is certainly older than the first stamp of every log of the job; absent:
  // it is not, or nobody knows. A log is one of the job where it is a rank's, or tells of steps,
  // exceptions or time-outs.
  std::optional<Duration> before_run(std::size_t event) const;
  // Indices of all events, first to last, the same whatever the order of the sources is.
  const std::vector<std::size_t>& sorted() const { return sorted_; }

 private:
  struct Point {
    std::optional<WallTime> lo, hi;  // on the common clock
    // No earlier than this, where nothing else tells: the first stamp of its log.
    std::optional<WallTime> least;
    std::optional<WallTime> above;  // LogEvent::above
    bool stamped = false;
    bool zoned = false;
    bool told = false;  // zoned by what somebody told of its zone, not by the stamp itself
    Duration ahead{};   // that was taken off for it
    std::size_t source = 0, place = 0;  // number of its source, of its line among its events
    std::size_t host = 0;               // 0: not known
    std::size_t clock = 0;  // whose stamps these are: of the host, else of the rank; 0: not known
    std::optional<std::int32_t> rank;
  };
  struct Source {
    std::vector<std::size_t> events;
    bool rising = true;     // its stamps never go back by more than kJitter
    bool set_back = false;  // it crosses the end of daylight saving
  };
  // The hour that a clock runs through twice: from `again` to `first`.
  struct Fold {
    WallTime again, first;
  };

  void read(const ExplainInput& input, const std::vector<std::string>& hosts);
  void date(const ExplainInput& input);
  void align_years();
  void place_boots(const ExplainInput& input);
  void find_fold(Source& source);
  void unfold(const Fold& fold);
  void unfold_told(const Source& source, std::size_t k);
  void look_for_rise(Source& source);
  void fill(Source& source);
  void share(const ExplainInput& input);
  void compare(const ExplainInput& input);
  void find_begins(const ExplainInput& input);
  void sort(const ExplainInput& input);
  Duration doubt(const Point& a, const Point& b) const;

  std::vector<Point> points_;
  std::vector<Source> sources_;
  std::vector<Point> begins_;  // of the logs of the job: their first stamps
  std::vector<bool> tied_;     // of a host: its offset was measured
  // Of a clock: something that all did at one moment shows that it is right, or that it is not.
  enum class Seen : std::uint8_t { unknown, right, wrong };
  std::vector<Seen> seen_;
  bool apart_ = false;  // a clock was seen to be wrong
  std::optional<Fold> fold_;
  std::vector<std::optional<WallTime>> stamps_;
  std::vector<std::size_t> sorted_;
};

}  // namespace muster
