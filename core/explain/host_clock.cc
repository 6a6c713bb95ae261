#include "core/explain/host_clock.h"

#include <algorithm>
#include <tuple>

#include "base/limits.h"
#include "base/text.h"

namespace muster {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;

WallTime shift_year(WallTime at, int by) {
  const std::chrono::sys_time<Duration> t(at.time_since_epoch());
  const auto day = std::chrono::floor<days>(t);
  std::chrono::year_month_day date(day);
  date += std::chrono::years(by);
  if (!date.ok()) date = date.year() / date.month() / std::chrono::last;
  return WallTime((std::chrono::sys_days(date) + (t - day)).time_since_epoch());
}

int year_of(WallTime at) {
  const std::chrono::sys_time<Duration> t(at.time_since_epoch());
  return static_cast<int>(std::chrono::year_month_day(std::chrono::floor<days>(t)).year());
}

// `clock` is a time of day; the day is chosen so that it lies in [from, from + 24 h).
WallTime on_day(WallTime clock, WallTime from) {
  const Duration day = hours(24);
  Duration ahead = (clock - from) % day;
  if (ahead < Duration::zero()) ahead += day;
  return from + ahead;
}

std::optional<WallTime> middle(std::vector<WallTime> times) {
  if (times.empty()) return std::nullopt;
  const auto mid = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), mid, times.end());
  return *mid;
}

bool is_of_job(const LogEvent& event) {
  return event.rule == "exception" || event.rule == "collective_timeout" ||
         event.rule.starts_with("progress:");
}

// What holds for a local time of a host; null: nothing is known.
const ZoneOffset* zone_of(const ExplainInput& input, const std::string& host, WallTime at) {
  const ZoneOffset* own = nullptr;
  const ZoneOffset* all = nullptr;
  for (const ZoneOffset& zone : input.zones) {
    const bool named = !host.empty() && equals_ignoring_case(zone.host, host);
    if (!named && !zone.host.empty()) continue;
    const ZoneOffset*& best = named ? own : all;
    if (best == nullptr || zone.from <= at) best = &zone;
  }
  return own != nullptr ? own : all;
}

}  // namespace

HostClock::HostClock(const ExplainInput& input, const std::vector<std::string>& hosts) {
  read(input, hosts);
  date(input);
  align_years();
  place_boots(input);
  for (Source& source : sources_) find_fold(source);
  if (fold_) unfold(*fold_);
  for (Source& source : sources_) look_for_rise(source);
  share(input);
  compare(input);
  find_begins(input);
  for (Source& source : sources_) fill(source);
  sort(input);
}

void HostClock::read(const ExplainInput& input, const std::vector<std::string>& hosts) {
  std::map<std::string, std::size_t> names, hosts_seen;
  points_.resize(input.events.size());
  stamps_.resize(input.events.size());
  for (std::size_t i = 0; i < input.events.size(); ++i) {
    const LogEvent& event = input.events[i];
    Point& p = points_[i];
    const auto [it, added] = names.emplace(event.source, sources_.size());
    if (added) sources_.emplace_back();
    p.source = it->second;
    p.place = sources_[p.source].events.size();
    sources_[p.source].events.push_back(i);
    p.rank = event.rank;
    if (!hosts[i].empty())
      p.host = hosts_seen.emplace(hosts[i], hosts_seen.size() + 1).first->second;
    stamps_[i] = event.time.at;
    if (event.above.at && event.above.has_date && !event.time.at) p.above = event.above.at;
    if (!event.time.at) continue;
    p.stamped = true;
    p.lo = event.time.at;
    p.zoned = event.time.has_zone;
    if (p.zoned || !event.time.has_date) continue;
    if (const ZoneOffset* zone = zone_of(input, hosts[i], *p.lo)) {
      *p.lo -= zone->ahead;
      p.zoned = p.told = zone->told;
      if (p.told) p.ahead = zone->ahead;
    }
  }
  tied_.assign(hosts_seen.size() + 1, false);
  std::map<std::int32_t, std::size_t> ranks_seen;
  for (Point& p : points_) {
    p.clock = p.host;
    if (p.host != 0 || !p.rank) continue;
    p.clock = ranks_seen.emplace(*p.rank, hosts_seen.size() + ranks_seen.size() + 1).first->second;
  }
  seen_.assign(hosts_seen.size() + ranks_seen.size() + 1, Seen::unknown);
}

void HostClock::date(const ExplainInput& input) {
  std::vector<WallTime> dated;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    if (points_[i].stamped && input.events[i].time.has_date) dated.push_back(*points_[i].lo);
  }
  const auto elsewhere = middle(std::move(dated));
  for (const Source& source : sources_) {
    std::optional<WallTime> next, previous;
    const auto fresh = [&](std::size_t i) {
      return points_[i].stamped && !input.events[i].time.has_date;
    };
    std::vector<std::optional<WallTime>> nexts(source.events.size());
    for (std::size_t k = source.events.size(); k-- > 0;) {
      nexts[k] = next;
      const std::size_t i = source.events[k];
      if (points_[i].stamped && !fresh(i)) next = points_[i].lo;
    }
    for (std::size_t k = 0; k < source.events.size(); ++k) {
      Point& p = points_[source.events[k]];
      if (!p.stamped) continue;
      if (!fresh(source.events[k])) {
        previous = p.lo;
      } else if (nexts[k]) {
        p.lo = on_day(*p.lo, *nexts[k] - hours(23));
      } else if (previous) {
        p.lo = on_day(*p.lo, *previous - hours(1));
      } else if (elsewhere) {
        p.lo = on_day(*p.lo, *elsewhere - hours(12));
      }
    }
  }
}

void HostClock::align_years() {
  std::optional<int> least;
  for (const Point& p : points_) {
    if (p.lo && year_of(*p.lo) > 1970) least = std::min(least.value_or(9999), year_of(*p.lo));
  }
  if (!least) return;
  for (const Source& source : sources_) {
    std::optional<WallTime> first;
    for (const std::size_t i : source.events) {
      if (!first && points_[i].lo && year_of(*points_[i].lo) > 1970) first = points_[i].lo;
    }
    // A run over New Year has two years that are both right.
    if (!first || year_of(*first) - *least == 0) continue;
    const int by = *least - year_of(*first);
    if (by == -1) {
      const WallTime new_year(
          std::chrono::sys_days(std::chrono::year(*least + 1) / std::chrono::January / 1)
              .time_since_epoch());
      if (*first - new_year < days(60)) continue;
    }
    for (const std::size_t i : source.events) {
      if (points_[i].lo) points_[i].lo = shift_year(*points_[i].lo, by);
    }
  }
}

void HostClock::place_boots(const ExplainInput& input) {
  std::map<std::size_t, Duration> boots;  // of a host: its boot on the common clock
  std::map<std::size_t, bool> zoned;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const Point& p = points_[i];
    if (p.host == 0 || !p.lo || !input.events[i].time.since_boot) continue;
    const Duration boot = p.lo->time_since_epoch() - *input.events[i].time.since_boot;
    if (boots.emplace(p.host, boot).second) zoned[p.host] = p.zoned;
  }
  for (std::size_t i = 0; i < points_.size(); ++i) {
    Point& p = points_[i];
    const auto boot = boots.find(p.host);
    if (p.lo || boot == boots.end() || !input.events[i].time.since_boot) continue;
    p.lo = WallTime(boot->second + *input.events[i].time.since_boot);
    p.stamped = true;
    p.zoned = zoned[p.host];
  }
}

void HostClock::find_fold(Source& source) {
  std::optional<WallTime> newest;
  for (std::size_t k = 0; k < source.events.size(); ++k) {
    const Point& p = points_[source.events[k]];
    if (!p.stamped || (p.zoned && !p.told)) continue;
    const WallTime local = *p.lo + p.ahead;
    const WallTime was = newest.value_or(local);
    const Duration back = was - local;
    if (back >= minutes(45) && back <= minutes(75)) {
      // One late line comes back to the old time with the next; a clock that was set stays back.
      std::optional<bool> stays;
      for (std::size_t n = k + 1; n < source.events.size() && !stays; ++n) {
        const Point& later = points_[source.events[n]];
        if (later.stamped && (!later.zoned || later.told)) stays = *later.lo + later.ahead < was;
      }
      if (stays.value_or(false)) {
        source.set_back = true;
        if (p.told) return unfold_told(source, k);
        if (!fold_) fold_ = Fold{*p.lo, was};
        for (std::size_t n = k; n < source.events.size(); ++n) {
          Point& later = points_[source.events[n]];
          if (later.stamped && !later.zoned) *later.lo += hours(1);
        }
        return;
      }
    }
    newest = std::max(was, local);
  }
}

// A stamp of the hour that comes twice was read as of one of both: all before event `k` of the
// source have the offset of summer, and the clock ran on.
void HostClock::unfold_told(const Source& source, std::size_t k) {
  Duration summer = Duration::min(), winter = Duration::max();
  for (const std::size_t i : source.events) {
    if (!points_[i].told) continue;
    summer = std::max(summer, points_[i].ahead);
    winter = std::min(winter, points_[i].ahead);
  }
  for (std::size_t n = 0; n < source.events.size(); ++n) {
    Point& p = points_[source.events[n]];
    if (!p.told) continue;
    *p.lo += p.ahead - summer + (n < k ? Duration::zero() : hours(1));
    // Where all lie in that hour nobody knows which offset this is.
    p.zoned = summer != winter;
  }
}

// Sources that do not show the change themselves: after it they are an hour on, and within the
// doubled hour nobody knows which of the two it was.
void HostClock::unfold(const Fold& fold) {
  for (const Source& source : sources_) {
    if (source.set_back) continue;
    for (const std::size_t i : source.events) {
      Point& p = points_[i];
      if (!p.stamped || p.zoned || *p.lo < fold.again || *p.lo > fold.first + days(1)) continue;
      if (*p.lo >= fold.first) {
        *p.lo += hours(1);
      } else {
        p.hi = *p.lo + hours(1);
      }
    }
  }
}

void HostClock::look_for_rise(Source& source) {
  std::optional<WallTime> newest;
  for (const std::size_t i : source.events) {
    const Point& p = points_[i];
    if (!p.stamped && p.above && newest && *newest - *p.above > kJitter) source.rising = false;
    if (!p.stamped) continue;
    if (newest && *newest - *p.lo > kJitter) source.rising = false;
    newest = std::max(newest.value_or(*p.lo), *p.lo);
  }
}

void HostClock::fill(Source& source) {
  std::optional<WallTime> previous;
  for (const std::size_t i : source.events) {
    Point& p = points_[i];
    if (p.stamped) {
      if (!p.hi) p.hi = p.lo;
      previous = p.lo;
    } else {
      p.lo = p.above && (!source.rising || !previous) ? p.above : previous;
    }
  }
  std::optional<WallTime> next;
  for (std::size_t k = source.events.size(); k-- > 0;) {
    Point& p = points_[source.events[k]];
    if (p.stamped) {
      next = p.hi;
    } else {
      p.hi = next;
    }
  }
}

namespace {

// When a host began to wait in a collective, by all lines that tell of it.
struct Began {
  WallTime first, last;
};

struct Moment {
  std::string name;
  WallTime at;
};

// When a call began, by the line that tells how long it ran.
std::optional<Moment> call_of(const LogEvent& event, WallTime at) {
  const auto ran = parse_int(event.word("ran_ms"));
  if (!ran || event.word("seq").empty() || *ran < 0 || *ran > 86'400'000) return std::nullopt;
  return Moment{std::string(event.word("group")) + '/' + std::string(event.word("seq")) + '/' +
                    std::string(event.word("op")),
                at - std::chrono::milliseconds(*ran)};
}

// The same, or when a step ended.
std::optional<Moment> moment_of(const LogEvent& event, WallTime at) {
  if (event.rule == "progress:last_step" && event.time.has_date && !event.word("step").empty()) {
    return Moment{"step " + std::string(event.word("step")), at};
  }
  return call_of(event, at);
}

// Of a call, by host. A host that began twice tells of two attempts, nobody knows which is meant.
std::vector<std::pair<std::size_t, WallTime>> begins_of(const std::map<std::size_t, Began>& call) {
  std::vector<std::pair<std::size_t, WallTime>> out;
  for (const auto& [host, began] : call) {
    if (began.last - began.first <= HostClock::kSharedDoubt) out.emplace_back(host, began.first);
  }
  return out;
}

// How many calls agree on an offset.
std::size_t agreeing(const std::vector<WallTime>& offsets, WallTime with) {
  return static_cast<std::size_t>(std::count_if(offsets.begin(), offsets.end(), [&](WallTime one) {
    return one - with <= HostClock::kSharedDoubt && with - one <= HostClock::kSharedDoubt;
  }));
}

}  // namespace

void HostClock::share(const ExplainInput& input) {
  std::map<std::string, std::map<std::size_t, Began>> calls;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const LogEvent& event = input.events[i];
    const Point& p = points_[i];
    const auto call = p.host != 0 && p.stamped ? call_of(event, *p.lo) : std::nullopt;
    if (!call) continue;
    const auto [it, added] = calls[call->name].emplace(p.host, Began{call->at, call->at});
    if (added) continue;
    it->second.first = std::min(it->second.first, call->at);
    it->second.last = std::max(it->second.last, call->at);
  }
  std::map<std::size_t, std::vector<WallTime>> offsets;  // as points on the epoch
  for (const auto& [key, call] : calls) {
    const auto begins = begins_of(call);
    if (begins.size() < 2) continue;
    std::vector<WallTime> all;
    for (const auto& [host, at] : begins) all.push_back(at);
    const WallTime common = *middle(std::move(all));
    for (const auto& [host, at] : begins) offsets[host].emplace_back(at - common);
  }
  std::vector<Duration> ahead(tied_.size(), Duration::zero());
  for (const auto& [host, times] : offsets) {
    const WallTime by = *middle(times);
    const bool large =
        by.time_since_epoch() > kSharedDoubt || -by.time_since_epoch() > kSharedDoubt;
    // One call may be of another attempt that hung at the same place.
    if (large && (times.size() < 2 || agreeing(times, by) < times.size())) continue;
    tied_[host] = true;
    if (large) ahead[host] = by.time_since_epoch();
  }
  for (Point& p : points_) {
    if (p.stamped) *p.lo -= ahead[p.host];
    if (p.stamped && p.hi) *p.hi -= ahead[p.host];
  }
}

// What all ranks do at one moment, a call that they began and a step that they ended, shows whose
// clock is wrong, and that clocks of this pile are not to be relied on.
void HostClock::compare(const ExplainInput& input) {
  std::map<std::string, std::map<std::size_t, Began>> moments;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const LogEvent& event = input.events[i];
    const Point& p = points_[i];
    if (p.clock == 0 || !p.stamped) continue;
    const auto began = moment_of(event, *p.lo);
    if (!began) continue;
    const auto [it, added] = moments[began->name].emplace(p.clock, Began{began->at, began->at});
    if (added) continue;
    it->second.first = std::min(it->second.first, began->at);
    it->second.last = std::max(it->second.last, began->at);
  }
  for (const auto& [name, moment] : moments) {
    const auto begins = begins_of(moment);
    if (begins.size() < 2) continue;
    std::vector<WallTime> all;
    for (const auto& [clock, at] : begins) all.push_back(at);
    const WallTime common = *middle(std::move(all));
    for (const auto& [clock, at] : begins) {
      const bool wrong = at - common > limits::kClockSkew || common - at > limits::kClockSkew;
      apart_ = apart_ || wrong;
      if (wrong || seen_[clock] == Seen::unknown) seen_[clock] = wrong ? Seen::wrong : Seen::right;
    }
  }
}

void HostClock::sort(const ExplainInput& input) {
  sorted_.resize(points_.size());
  for (std::size_t i = 0; i < sorted_.size(); ++i) sorted_[i] = i;
  const auto key = [&](std::size_t i) {
    const Point& p = points_[i];
    const WallTime at = p.lo ? *p.lo : p.hi ? *p.hi : WallTime::max();
    return std::tuple(at, std::string_view(input.events[i].source), p.place);
  };
  std::sort(sorted_.begin(), sorted_.end(),
            [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
}

// After the shifts of years and clocks, which are those of the first stamped event of a log.
void HostClock::find_begins(const ExplainInput& input) {
  std::map<std::string_view, const LogSource*> named;
  for (const LogSource& source : input.sources) named.emplace(source.name, &source);
  for (const Source& source : sources_) {
    const auto found = named.find(input.events[source.events.front()].source);
    const LogSource* log = found == named.end() ? nullptr : found->second;
    Point begin;
    bool of_job = log != nullptr && log->rank;
    for (const std::size_t i : source.events) {
      const Point& p = points_[i];
      of_job = of_job || is_of_job(input.events[i]);
      if (!p.stamped || !p.lo) continue;
      const bool told = log != nullptr && log->first.at && log->first.has_date && stamps_[i] &&
                        input.events[i].time.has_date &&
                        log->first.has_zone == input.events[i].time.has_zone;
      const WallTime at = told ? *log->first.at + (*p.lo - *stamps_[i]) : *p.lo;
      if (begin.lo && *begin.lo <= at) continue;
      begin = p;
      begin.lo = begin.hi = std::min(at, *p.lo);
    }
    if (!begin.lo && log != nullptr && log->first.at && log->first.has_date) {
      begin = points_[source.events.front()];
      begin.lo = begin.hi = log->first.at;
      begin.zoned = log->first.has_zone;
      begin.stamped = true;
    }
    if (!begin.lo) continue;
    for (const std::size_t i : source.events) {
      if (points_[i].stamped) continue;
      points_[i].least = begin.lo;
      points_[i].zoned = begin.zoned;
    }
    if (of_job) begins_.push_back(begin);
  }
}

bool HostClock::comparable(std::size_t a, std::size_t b) const {
  const auto timed = [](const Point& p) { return p.lo || p.hi; };
  return points_[a].source == points_[b].source || (timed(points_[a]) && timed(points_[b])) ||
         order(a, b) != Order::unknown;
}

std::optional<Duration> HostClock::before_run(std::size_t event) const {
  const Point& p = points_[event];
  std::optional<Duration> least;
  for (const Point& begin : begins_) {
    if (!p.hi || !begin.lo) return std::nullopt;
    const Duration by = *begin.lo - *p.hi - doubt(p, begin);
    least = std::min(least.value_or(by), by);
  }
  if (!least || *least <= Duration::zero()) return std::nullopt;
  return least;
}

std::optional<WallTime> HostClock::own(std::size_t event) const {
  return stamps_[event];
}

Duration HostClock::doubt(const Point& a, const Point& b) const {
  if (a.zoned != b.zoned) return kZoneDoubt;
  if (a.host == b.host && a.host != 0) return kHostDoubt;
  const bool one_log = a.source == b.source;
  // In one log lines of which nobody knows the writer have the clock of the others.
  const bool alike = a.clock == 0 || b.clock == 0 ? one_log : a.clock == b.clock;
  const bool right = seen_[a.clock] == Seen::right && seen_[b.clock] == Seen::right;
  if (apart_ && !alike && !right) return kZoneDoubt;
  if (one_log) return kJitter;
  if (tied_[a.host] && tied_[b.host]) return kSharedDoubt;
  return limits::kClockSkew;
}

Order HostClock::order(std::size_t ia, std::size_t ib) const {
  const Point& a = points_[ia];
  const Point& b = points_[ib];
  if (ia == ib) return Order::unknown;
  if (a.source == b.source) {
    const bool first = a.place < b.place;
    const bool same_writer = (a.rank && a.rank == b.rank) || (a.host != 0 && a.host == b.host);
    // Stamps that contradict the lines: written late by another process. Two hosts of one second
    // came to one log in whatever order the network had.
    const Duration apart = a.host != 0 && b.host != 0 ? kHostDoubt : Duration(-1);
    const bool torn =
        a.stamped && b.stamped && (first ? *b.lo - *a.lo <= apart : *a.lo - *b.lo <= apart);
    if (sources_[a.source].rising ? (same_writer || !torn) : (a.rank && a.rank == b.rank)) {
      return first ? Order::before : Order::after;
    }
  }
  const Duration by = doubt(a, b);
  const auto a_lo = a.lo ? a.lo : a.least, b_lo = b.lo ? b.lo : b.least;
  if (a.hi && b_lo && *a.hi + by < *b_lo) return Order::before;
  if (b.hi && a_lo && *b.hi + by < *a_lo) return Order::after;
  return Order::unknown;
}

std::optional<Duration> HostClock::gap(std::size_t a, std::size_t b) const {
  const Point& first = points_[a];
  const Point& then = points_[b];
  const auto least = then.lo ? then.lo : then.least;
  if (!first.hi || !least) return std::nullopt;
  const Duration most = doubt(first, then);
  const bool one_log = first.source == then.source && most <= kJitter;
  const Duration by = one_log ? Duration::zero() : most;
  return *least - *first.hi - by;
}

}  // namespace muster
