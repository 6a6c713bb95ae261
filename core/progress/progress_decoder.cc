#include "core/progress/progress_decoder.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "base/line_splitter.h"
#include "base/text.h"
#include "core/progress/bar.h"
#include "core/progress/composer_record.h"
#include "core/progress/event_line.h"
#include "core/progress/json_line.h"
#include "core/progress/line_head.h"
#include "core/progress/mlperf_row.h"
#include "core/progress/number.h"
#include "core/progress/step_line.h"

namespace muster {

using progress::LineHead;

class ProgressDecoder::Impl {
 public:
  explicit Impl(std::optional<UserPattern> pattern) : pattern_(std::move(pattern)) {}

  void feed(std::string_view chunk, ProgressSink& sink) {
    const auto take = [&](std::string_view text, std::uint64_t) { line(text, sink); };
    for (;;) {
      const std::size_t redraw = chunk.find('\r');
      if (redraw == std::string_view::npos) break;
      lines_.feed(chunk.substr(0, redraw), take);
      ends_line_ = false;
      lines_.feed("\n", take);
      ends_line_ = true;
      chunk.remove_prefix(redraw + 1);
    }
    lines_.feed(chunk, take);
  }

  void finish(ProgressSink& sink) {
    lines_.finish([&](std::string_view text, std::uint64_t) { line(text, sink); });
    flush_pending(sink);
  }

  std::uint64_t dropped_lines() const { return lines_.dropped(); }

 private:
  void line(std::string_view text, ProgressSink& sink) {
    if (!text.empty()) read(progress::strip_ansi(text, plain_), sink);
    if (ends_line_) ++number_;
  }

  // Every reader in turn, until one knows the line.
  void read(std::string_view text, ProgressSink& sink) {
    if (pattern_ && read_pattern(text, sink)) return;
    if (read_mlperf(text, sink)) return;
    LineHead head = progress::parse_line_head(text);
    if (pending_ && progress::add_composer_line(head.body, *pending_)) return;
    flush_pending(sink);
    if (is_code(head.body) || head.body.empty()) return;
    const char first = head.body.front();
    if (first == '[' && read_composer(head, text, sink)) return;
    if (first == '{' && read_json(head, text, sink)) return;
    if (read_bar_or_dict(head, text, sink)) return;
    read_plain(head, text, sink);
  }

  void read_plain(const LineHead& head, std::string_view text, ProgressSink& sink) {
    StepRecord record;
    switch (progress::read_step_line(head.body, record)) {
      case progress::StepLineKind::step:
        emit(record, head, sink);
        return;
      case progress::StepLineKind::evaluation: {
        ProgressEvent event = event_of(ProgressKind::eval_end, head, text);
        event.step = record.step;
        sink.event(event);
        return;
      }
      case progress::StepLineKind::none:
        break;
    }
    const auto kind = progress::classify_event(head.body);
    if (kind) read_event(*kind, head, text, sink);
  }

  bool read_pattern(std::string_view text, ProgressSink& sink) {
    auto match = pattern_->read(text);
    if (!match) return false;
    const LineHead head = progress::parse_line_head(text);
    if (match->epoch && epoch_ && *match->epoch > *epoch_) {
      sink.event(event_of(ProgressKind::epoch_end, head, text));
    }
    if (match->epoch) epoch_ = match->epoch;
    emit(match->step, head, sink);
    return true;
  }

  bool read_mlperf(std::string_view text, ProgressSink& sink) {
    auto row = progress::parse_mlperf_row(text);
    if (!row) return false;
    if (row->event) {
      ProgressEvent event = event_of(*row->event, {}, text);
      event.at = row->at;
      event.at_has_zone = true;
      event.step = row->event_step;
      sink.event(event);
    }
    if (row->step) emit(*row->step, {}, sink);
    return true;
  }

  // A record over several lines is complete when another line follows.
  void flush_pending(ProgressSink& sink) {
    if (pending_) sink.step(*pending_);
    pending_.reset();
  }

  bool read_composer(const LineHead& head, std::string_view text, ProgressSink& sink) {
    if (const auto eval = progress::parse_composer_eval(head.body)) {
      if (!composer_eval_) sink.event(event_of(ProgressKind::eval_begin, head, text));
      composer_eval_ = !eval->last;
      if (eval->last) sink.event(event_of(ProgressKind::eval_end, head, text));
      return true;
    }
    const auto record = progress::parse_composer_head(head.body);
    if (!record) return false;
    composer_eval_ = false;
    pending_ = *record;
    place(*pending_, head);
    return true;
  }

  bool read_json(const LineHead& head, std::string_view text, ProgressSink& sink) {
    if (head.body.find('"') == std::string_view::npos) return false;  // Python prints '
    auto json = json_.read(head.body);
    if (!json) return false;
    LineHead place_of = head;
    if (json->time) place_of.time = json->time;
    if (json->step) emit(*json->step, place_of, sink);
    if (json->event) {
      ProgressEvent event = event_of(*json->event, place_of, text);
      event.step = json->event_step;
      event.duration = json->duration;
      sink.event(event);
    }
    if (!json->message.empty()) {
      place_of.body = json->message;
      read_plain(place_of, text, sink);
    }
    return true;
  }

  // A dictionary may follow its bar on one line: the bar goes to standard error.
  bool read_bar_or_dict(const LineHead& head, std::string_view text, ProgressSink& sink) {
    if (head.body.find("%|") == std::string_view::npos && head.body.front() != '{') return false;
    const std::size_t dict = std::min(head.body.find("{'"), head.body.size());
    bool known = false;
    if (const auto bar = progress::parse_bar(head.body.substr(0, dict))) {
      tell(bars_.on_bar(*bar), head, text, sink);
      known = true;
    }
    if (dict < head.body.size()) {
      tell(bars_.on_dict(head.body.substr(dict)), head, text, sink);
      known = true;
    }
    return known;
  }

  void tell(progress::BarNews news, const LineHead& head, std::string_view text,
            ProgressSink& sink) {
    if (news.first_event) {
      ProgressEvent event = event_of(*news.first_event, head, text);
      event.duration = news.duration;
      sink.event(event);
    }
    if (news.step) emit(*news.step, head, sink);
    if (news.second_event) sink.event(event_of(*news.second_event, head, text));
  }

  // Frames of a traceback quote source code, which may say anything.
  bool is_code(std::string_view body) {
    const bool indented = body.starts_with("  ") || body.starts_with('\t');
    if (indented && trim(body).starts_with("File \"")) in_traceback_ = true;
    if (in_traceback_ && indented) return true;
    in_traceback_ = body.starts_with("Traceback (most recent call");
    return false;
  }

  void read_event(ProgressKind kind, const LineHead& head, std::string_view text,
                  ProgressSink& sink) {
    if (kind == ProgressKind::save_known) {
      std::string_view rest = head.body;
      while (const auto save = progress::take_known_save(rest)) {
        ProgressEvent event = event_of(kind, head, text);
        event.step = save->step;
        event.duration = save->duration;
        sink.event(event);
      }
      return;
    }
    if (kind == ProgressKind::restarted) bars_.restart();
    ProgressEvent event = event_of(kind, head, text);
    // The compiler's own "Step 3" is a stage.
    if (kind != ProgressKind::compile) event.step = progress::find_step(head.body);
    if (kind == ProgressKind::save_end || kind == ProgressKind::eval_end) {
      event.duration = progress::find_duration(head.body, progress::WhichDuration::last);
    } else if (kind == ProgressKind::monitor_stuck) {
      event.duration = progress::find_duration(head.body, progress::WhichDuration::first);
    }
    sink.event(event);
  }

  void emit(StepRecord& record, const LineHead& head, ProgressSink& sink) {
    place(record, head);
    sink.step(record);
  }

  void place(StepRecord& record, const LineHead& head) const {
    if (head.time) {
      record.at = head.time->at;
      record.at_has_zone = head.time->has_zone;
      record.at_has_date = head.time->has_date;
    }
    if (head.rank) record.rank = head.rank;
    record.line = line_number();
  }

  ProgressEvent event_of(ProgressKind kind, const LineHead& head, std::string_view text) const {
    ProgressEvent event;
    event.kind = kind;
    event.text = text;
    event.line = line_number();
    if (head.time) {
      event.at = head.time->at;
      event.at_has_zone = head.time->has_zone;
      event.at_has_date = head.time->has_date;
    }
    return event;
  }

  // Lines too long to be read were lines all the same.
  std::uint64_t line_number() const { return number_ + lines_.dropped(); }

  LineSplitter lines_;
  std::optional<UserPattern> pattern_;
  std::optional<std::int64_t> epoch_;  // as the pattern read it last
  progress::BarTracker bars_;
  progress::JsonLineReader json_;
  std::optional<StepRecord> pending_;  // of Composer
  bool composer_eval_ = false;
  std::string plain_;
  std::uint64_t number_ = 1;
  bool ends_line_ = true;
  bool in_traceback_ = false;
};

ProgressDecoder::ProgressDecoder(std::optional<UserPattern> pattern)
    : impl_(std::make_unique<Impl>(std::move(pattern))) {}
ProgressDecoder::ProgressDecoder(ProgressDecoder&&) noexcept = default;
ProgressDecoder& ProgressDecoder::operator=(ProgressDecoder&&) noexcept = default;
ProgressDecoder::~ProgressDecoder() = default;

void ProgressDecoder::feed(std::string_view chunk, ProgressSink& sink) {
  impl_->feed(chunk, sink);
}
void ProgressDecoder::finish(ProgressSink& sink) {
  impl_->finish(sink);
}
std::uint64_t ProgressDecoder::dropped_lines() const {
  return impl_->dropped_lines();
}

namespace {

constexpr std::size_t kHeadBytes = 64 * 1024;

class Witness : public ProgressSink {
 public:
  void step(const StepRecord&) override { claims = true; }
  void event(const ProgressEvent& event) override {
    switch (event.kind) {
      case ProgressKind::error:  // any program may fail; a traceback is Python's
        claims = claims || event.text.find("Traceback (most") != std::string_view::npos;
        return;
      case ProgressKind::startup:  // "Loaded: ..." or "world_size=8" of a settings file
        claims = claims || event.at.has_value();
        return;
      default:
        claims = true;
        return;
    }
  }
  bool claims = false;
};

// "[ 1234.567890] ", "<6>", "Aug  1 10:00:00 host kernel: ", "... NVRM: Xid".
bool is_kernel_line(std::string_view line) {
  if (line.find(" kernel: ") != std::string_view::npos) return true;
  if (line.find("NVRM: ") != std::string_view::npos) return true;
  if (line.starts_with('<')) {
    return line.size() > 2 && is_digit(line[1]) && line.find('>') < 5;
  }
  if (!line.starts_with('[')) return false;
  const std::size_t close = std::min(line.find(']'), line.size());
  const std::string_view inside = trim(line.substr(1, close - 1));
  return inside.size() >= 8 && inside.find('.') != std::string_view::npos &&
         inside.find_first_not_of("0123456789.") == std::string_view::npos;
}

// Transformers without its bar: rows of loss that name no step, for many pages.
bool is_trainer_line(std::string_view line) {
  const std::string_view body = progress::parse_line_head(line).body;
  return body.starts_with("{'loss': ") || body.starts_with("***** Running training *****");
}

}  // namespace

bool looks_like_progress(std::string_view head) {
  head = head.substr(0, kHeadBytes);
  std::size_t lines = 0, kernel = 0;
  bool trainer = false;
  LineSplitter splitter;
  const auto count = [&](std::string_view line, std::uint64_t) {
    if (line.empty()) return;
    ++lines;
    if (is_kernel_line(line)) ++kernel;
    trainer = trainer || is_trainer_line(line);
  };
  splitter.feed(head, count);
  splitter.finish(count);
  if (kernel * 2 > lines) return false;
  if (trainer) return true;
  ProgressDecoder decoder;
  Witness witness;
  decoder.feed(head, witness);
  decoder.finish(witness);
  return witness.claims;
}

}  // namespace muster
