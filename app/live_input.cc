#include "app/live_input.h"

#include <algorithm>

#include "app/source_sink.h"
#include "app/stranger.h"
#include "app/zoned_progress.h"
#include "base/utf16.h"
#include "core/progress/progress_decoder.h"
#include "edge/archive/archive_reader.h"
#include "edge/gpu/nvml.h"
#include "edge/net/exporter_source.h"
#include "edge/net/prometheus_source.h"
#include "edge/net/url.h"

namespace muster {
namespace {

constexpr std::size_t kChunkBytes = 64 * 1024;

class TailInput final : public LiveInput {
 public:
  TailInput(SourceSpec spec, bool log, SourceOptions options, Files& files, Clock& clock)
      : spec_(std::move(spec)),
        log_(log),
        options_(std::move(options)),
        files_(files),
        clock_(clock) {}
  std::string name() const override { return spec_.text; }
  std::optional<bool> undated() const override {
    if (!row_clock_ || !row_clock_->saw_any()) return std::nullopt;
    return row_clock_->saw_no_time() && !grows_;
  }

  Status poll(MonoTime deadline, RowTarget& target) override {
    if (rejected_) return *rejected_;
    if (!stream_) {
      const auto info = files_.stat(spec_.path);
      if (info && info->type == FileInfo::Type::folder) {
        return make_error(Errc::invalid_input, "a folder; to follow its files, name them");
      }
      auto opened = files_.open(spec_.path);
      if (!opened) return opened.error();
      stream_ = std::move(*opened);
      taken_ = 0;
      id_ = info ? info->id : 0;
      pipe_ = spec_.path == "-" || (info && info->type == FileInfo::Type::other);
    }
    // A pipe is never waited for, and one that is always full does not hold up the others.
    while (stream_->ready({}) && !options_.stop.stop_requested()) {
      const auto n = stream_->read(buffer_);
      if (!n) return n.error();
      if (*n == 0) return at_end();
      const std::string_view bytes = std::string_view(buffer_).substr(0, *n);
      if (taken_ == 0 && Utf16Decoder::begins(bytes)) wide_.emplace();
      taken_ += *n;
      const Status taken = wide_ ? take(wide_->feed(bytes), target) : take(bytes, target);
      if (!taken || (clock_.mono() >= last_moment(deadline))) return taken;
    }
    return {};
  }

 private:
  MonoTime last_moment(MonoTime deadline) const {
    if (pipe_) return deadline;
    return options_.end ? std::max(deadline, *options_.end) : MonoTime::max();
  }

  // Rotated or cut: the new file is read from its start at the next poll. Gone: blind until it is
  // back.
  Status at_end() {
    was_at_end_ = true;
    if (spec_.path == "-") return {};
    const auto info = files_.stat(spec_.path);
    if (info && info->id == id_ && info->bytes >= taken_) return {};
    stream_.reset();
    wide_.reset();
    head_.clear();
    decoder_.reset();
    progress_.reset();
    if (!info) return info.error();
    return {};
  }

  const TimeZone* zone() const {
    auto it = options_.zones.find(spec_.host);
    if (it == options_.zones.end()) it = options_.zones.find("");
    return it == options_.zones.end() ? nullptr : &it->second;
  }

  Status take(std::string_view bytes, RowTarget& target) {
    if (!decoder_ && !progress_) {
      head_ += bytes;
      // A first line that is not whole yet tells nothing for sure.
      const bool packed = looks_like_archive(head_);
      if (!packed && head_.find('\n') == std::string::npos && head_.size() < 8192) return {};
      if (const Status known = recognise_head(target); !known) return known;
      bytes = head_;
    }
    if (progress_) {
      ZonedProgress sink(target.log(), zone(), log_clock_);
      progress_->feed(bytes, sink);
    } else {
      RowClock& clock = *row_clock_;
      grows_ = grows_ || pipe_ || was_at_end_;
      if (grows_) clock.rows_come_at(clock_.wall());
      SourceSink sink(target, clock, spec_.text, spec_.host);
      decoder_->feed(bytes, sink);
    }
    return {};
  }

  Status recognise_head(RowTarget& target) {
    if (looks_like_archive(head_)) {
      rejected_ =
          make_error(Errc::invalid_input, spec_.text +
                                              ": packed or compressed, so it does not grow; muster "
                                              "triage reads it, without --follow");
      return *rejected_;
    }
    if (log_ || is_step_log(head_)) {
      progress_ = std::make_unique<ProgressDecoder>();
      target.begin_log(spec_.text);
      return {};
    }
    const Dialect dialect = options_.columns.empty() ? recognise(head_) : Dialect::table_csv;
    if (dialect == Dialect::unknown) {
      rejected_ = make_error(Errc::invalid_input, spec_.text + ": " + stranger_text(head_));
      return *rejected_;
    }
    decoder_ = make_decoder(dialect, {options_.columns});
    row_clock_.emplace(clock_.wall(), zone());
    return {};
  }

  SourceSpec spec_;
  bool log_;
  SourceOptions options_;
  Files& files_;
  Clock& clock_;
  std::unique_ptr<ByteStream> stream_;
  std::string head_, buffer_ = std::string(kChunkBytes, '\0');
  std::optional<Utf16Decoder> wide_;
  std::unique_ptr<Decoder> decoder_;
  std::unique_ptr<ProgressDecoder> progress_;
  std::optional<RowClock> row_clock_;
  LogClockState log_clock_;
  std::uint64_t taken_ = 0, id_ = 0;
  bool pipe_ = false, was_at_end_ = false;
  bool grows_ = false;             // rows came after those that stood there at first
  std::optional<Error> rejected_;  // what it is was looked at once
};

// Says whether anything came at all.
class CountingSink final : public TelemetrySink {
 public:
  explicit CountingSink(TelemetrySink& next) : next_(next) {}
  void row(const TelemetryRow& row) override {
    any = true;
    next_.row(row);
  }
  void note(const TelemetryNote& note) override {
    any = true;
    next_.note(note);
  }
  bool any = false;

 private:
  TelemetrySink& next_;
};

class PolledInput final : public LiveInput {
 public:
  PolledInput(std::unique_ptr<TelemetrySource> source, std::string host, Clock& clock)
      : source_(std::move(source)), name_(source_->name()), host_(std::move(host)), clock_(clock) {}
  std::string name() const override { return name_; }
  std::optional<bool> undated() const override { return false; }
  Status poll(MonoTime deadline, RowTarget& target) override {
    RowClock clock(clock_.wall(), nullptr);
    SourceSink sink(target, clock, name_, host_);
    CountingSink counting(sink);
    Status status = source_->read(deadline, counting);
    // A server that knows of no GPU: nothing is known, which is not health.
    if (status && !counting.any) return make_error(Errc::unavailable, "no GPU in its answer");
    return status;
  }

 private:
  std::unique_ptr<TelemetrySource> source_;
  std::string name_, host_;
  Clock& clock_;
};

}  // namespace

std::unique_ptr<LiveInput> make_tail(SourceSpec spec, bool log, SourceOptions options, Files& files,
                                     Clock& clock) {
  return std::make_unique<TailInput>(std::move(spec), log, std::move(options), files, clock);
}

std::unique_ptr<LiveInput> make_polled(std::unique_ptr<TelemetrySource> source, std::string host,
                                       Clock& clock) {
  return std::make_unique<PolledInput>(std::move(source), std::move(host), clock);
}

bool is_live(const SourceSpec& spec) {
  return spec.path == "nvml" || spec.path.starts_with("http://") ||
         spec.path.starts_with("https://");
}

Result<std::unique_ptr<TelemetrySource>> open_live(const SourceSpec& spec) {
  if (spec.path == "nvml") return open_nvml({});
  auto url = parse_url(spec.path);
  if (!url) return url.error();
  return names_a_page(*url) ? make_exporter_source(spec.text, std::move(*url))
                            : make_prometheus_source(spec.text, std::move(*url));
}

}  // namespace muster
