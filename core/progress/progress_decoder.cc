#include "core/progress/progress_decoder.h"

#include <algorithm>
#include <string>

#include "base/line_splitter.h"
#include "base/text.h"
#include "core/progress/event_line.h"
#include "core/progress/line_head.h"
#include "core/progress/number.h"
#include "core/progress/step_line.h"

namespace muster {

using progress::LineHead;

class ProgressDecoder::Impl {
 public:
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
  }

  std::uint64_t dropped_lines() const { return lines_.dropped(); }

 private:
  void line(std::string_view text, ProgressSink& sink) {
    if (!text.empty()) read(progress::strip_ansi(text, plain_), sink);
    if (ends_line_) ++number_;
  }

  void read(std::string_view text, ProgressSink& sink) {
    const LineHead head = progress::parse_line_head(text);
    if (is_code(head.body)) return;
    StepRecord record;
    switch (progress::read_step_line(head.body, record)) {
      case progress::StepLineKind::step:
        emit(record, head, sink);
        return;
      case progress::StepLineKind::evaluation: {
        ProgressEvent event = event_of(ProgressKind::eval_end, head, text);
        event.step = record.step;
        emit(event, sink);
        return;
      }
      case progress::StepLineKind::none:
        break;
    }
    const auto kind = progress::classify_event(head.body);
    if (kind) read_event(*kind, head, text, sink);
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
        emit(event, sink);
      }
      return;
    }
    ProgressEvent event = event_of(kind, head, text);
    // The compiler's own "Step 3" is a stage.
    if (kind != ProgressKind::compile) event.step = progress::find_step(head.body);
    if (kind == ProgressKind::save_end || kind == ProgressKind::eval_end) {
      event.duration = progress::find_duration(head.body, progress::WhichDuration::last);
    } else if (kind == ProgressKind::monitor_stuck) {
      event.duration = progress::find_duration(head.body, progress::WhichDuration::first);
    }
    emit(event, sink);
  }

  void emit(StepRecord& record, const LineHead& head, ProgressSink& sink) {
    if (head.time) {
      record.at = head.time->at;
      record.at_has_zone = head.time->has_zone;
      record.at_has_date = head.time->has_date;
    }
    if (head.rank) record.rank = head.rank;
    record.line = line_number();
    sink.step(record);
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

  static void emit(const ProgressEvent& event, ProgressSink& sink) { sink.event(event); }

  LineSplitter lines_;
  std::string plain_;
  std::uint64_t number_ = 1;
  bool ends_line_ = true;
  bool in_traceback_ = false;
};

ProgressDecoder::ProgressDecoder() : impl_(std::make_unique<Impl>()) {}
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
    return line.size() > 2 && progress::is_digit(line[1]) && line.find('>') < 5;
  }
  if (!line.starts_with('[')) return false;
  const std::size_t close = std::min(line.find(']'), line.size());
  const std::string_view inside = trim(line.substr(1, close - 1));
  return inside.size() >= 8 && inside.find('.') != std::string_view::npos &&
         inside.find_first_not_of("0123456789.") == std::string_view::npos;
}

}  // namespace

bool looks_like_progress(std::string_view head) {
  head = head.substr(0, kHeadBytes);
  std::size_t lines = 0, kernel = 0;
  LineSplitter splitter;
  const auto count = [&](std::string_view line, std::uint64_t) {
    if (line.empty()) return;
    ++lines;
    if (is_kernel_line(line)) ++kernel;
  };
  splitter.feed(head, count);
  splitter.finish(count);
  if (kernel * 2 > lines) return false;
  ProgressDecoder decoder;
  Witness witness;
  decoder.feed(head, witness);
  decoder.finish(witness);
  return witness.claims;
}

}  // namespace muster
