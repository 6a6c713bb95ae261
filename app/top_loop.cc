#include "app/top_loop.h"

#include <algorithm>
#include <optional>

#include "core/render/top_frame.h"
#include "edge/os/terminal.h"

namespace muster {
namespace {

constexpr Duration kGlance = std::chrono::milliseconds(100);  // between two looks at `stop`

std::string_view code_of(FrameStyle style) {
  constexpr std::string_view kCodes[] = {"\x1b[1m",  "\x1b[32m",   "\x1b[36m",
                                         "\x1b[33m", "\x1b[1;31m", "\x1b[2m"};
  return kCodes[static_cast<int>(style)];
}

std::string painted(const FrameLine& line, bool colour) {
  if (!colour) return line.text;
  std::string out;
  std::size_t at = 0;
  for (const StyleSpan& span : line.spans) {
    out += line.text.substr(at, span.from - at);
    out += code_of(span.style);
    out += line.text.substr(span.from, span.to - span.from) + "\x1b[0m";
    at = span.to;
  }
  return out + line.text.substr(at);
}

class Screen {
 public:
  Screen(Terminal& terminal, const TopOptions& options, Clock& clock, const std::stop_token& stop)
      : terminal_(terminal), options_(options), clock_(clock), stop_(stop) {}

  // False where the loop is over.
  bool take(const TriageAnswer& answer) {
    if (!state_.paused || !answer_) answer_ = answer;
    return draw();
  }

  bool rest(MonoTime until) {
    while (!stop_.stop_requested()) {
      const MonoTime now = clock_.mono();
      if (now >= until) return true;
      const auto keys = terminal_.read_keys(std::min<Duration>(until - now, kGlance));
      if (!keys) return fail(keys.error());
      for (const Key key : *keys) state_ = after_key(state_, key, scroll_max_);
      if (state_.quit) return false;
      const bool due = terminal_.continued() || !keys->empty() || terminal_.size() != size_;
      if (due && !draw()) return false;
    }
    return false;
  }

  const std::optional<Error>& failure() const { return failure_; }

 private:
  bool fail(Error error) {
    failure_ = std::move(error);
    return false;
  }

  bool draw() {
    const TerminalSize size = terminal_.size();
    if (size != size_) terminal_.forget_screen();
    size_ = size;
    state_.columns = size.columns;
    state_.rows = size.rows;
    const TopFrame frame = render_top(answer_->view, answer_->report, state_);
    if (!state_.help) scroll_max_ = frame.scroll_max;
    std::vector<std::string> lines;
    for (const FrameLine& line : frame.lines) lines.push_back(painted(line, options_.colour));
    const Status shown = terminal_.show(lines);
    return shown ? true : fail(shown.error());
  }

  Terminal& terminal_;
  const TopOptions& options_;
  Clock& clock_;
  std::stop_token stop_;
  TopState state_;
  TerminalSize size_;
  std::size_t scroll_max_ = 0;
  std::optional<TriageAnswer> answer_;
  std::optional<Error> failure_;
};

}  // namespace

Result<TriageAnswer> top_loop(const TriageRequest& request, const TopOptions& options, Files& files,
                              Clock& clock, const std::stop_token& stop) {
  auto terminal = Terminal::take();
  if (!terminal) return terminal.error();
  Screen screen(**terminal, options, clock, stop);
  LiveOptions live;
  live.interval = options.interval;
  live.follow = true;
  live.rest = [&](MonoTime until) { return screen.rest(until); };
  auto last = triage_live(request, live, files, clock, stop,
                          [&](const TriageAnswer& answer) { return screen.take(answer); });
  if (last && screen.failure()) return *screen.failure();
  return last;
}

Result<std::string> top_once(const TriageRequest& request, std::size_t columns, Files& files,
                             Clock& clock, const std::stop_token& stop) {
  const auto answer =
      triage_live(request, {}, files, clock, stop, [](const TriageAnswer&) { return false; });
  if (!answer) return answer.error();
  TopState state;
  state.columns = std::max<std::size_t>(columns, 40);
  state.rows = answer->view.gpus.size() + 10;
  TopFrame frame = render_top(answer->view, answer->report, state);
  frame.lines.pop_back();
  std::string out;
  for (FrameLine& line : frame.lines) {
    line.text.erase(line.text.find_last_not_of(' ') + 1);
    out += line.text + "\n";
  }
  return out;
}

}  // namespace muster
