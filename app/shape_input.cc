#include "app/shape_input.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <span>
#include <utility>

#include "app/input_stream.h"
#include "app/path_walk.h"
#include "base/limits.h"
#include "base/line_splitter.h"
#include "core/progress/event_file.h"
#include "core/progress/progress_decoder.h"
#include "core/progress/step_metrics.h"

namespace muster {
namespace {

constexpr std::size_t kChunkBytes = 256 * 1024;

// ---- one file ----------------------------------------------------------------------------------

struct Series {
  std::string source;
  shape::CurveBuilder builder;
};

// Remembers which lines told a step: nothing else has to be looked for in them.
class StepLines final : public ProgressSink {
 public:
  explicit StepLines(shape::CurveBuilder& builder) : builder_(builder) {}
  void step(const StepRecord& record) override {
    lines_.push_back(record.line);
    builder_.step(record);
  }
  void event(const ProgressEvent& event) override { builder_.event(event); }

  // Lines are asked for in rising order.
  bool holds(std::uint64_t line) {
    while (!lines_.empty() && lines_.front() < line) lines_.pop_front();
    return !lines_.empty() && lines_.front() == line;
  }

 private:
  shape::CurveBuilder& builder_;
  std::deque<std::uint64_t> lines_;
};

class Reader {
 public:
  Reader(Files& files, const ShapeInputOptions& options, ShapeInput& out)
      : files_(files), options_(options), out_(out) {}

  // Fails where the file cannot be read at all.
  Status read(const PathWalk::Item& item) {
    const std::string& path = item.path;
    auto file = item.open(files_);
    if (!file) return file.error();
    if (const Status speaks = wait_for_pipe(**file, path); !speaks) return speaks.error();
    auto stream = text_of(std::move(*file), path, [] { return false; });
    if (!stream) return stream.error();
    std::string head;
    while (head.size() < limits::kSniffBytes) {
      const auto got = (*stream)->read(chunk_);
      if (!got) return got.error();
      if (*got == 0) break;
      head.append(chunk_.data(), *got);
    }
    if (head.empty()) {
      out_.notes.push_back(path + ": empty");
      return {};
    }
    if (looks_like_event_file(head)) return event_file(path, head, **stream);
    if (looks_like_step_metrics(head)) return metrics(path, std::move(head), **stream);
    if (!options_.columns.empty() || looks_like_step_table(head))
      return table(path, head, **stream);
    return text(path, head, **stream);
  }

  std::vector<Series> series;

 private:
  // Shows the rest of the stream to `take`, `head` first.
  template <typename Take>
  void drain(const std::string& path, std::string_view head, ByteStream& stream, Take&& take) {
    take(head);
    for (;;) {
      const auto got = stream.read(chunk_);
      if (!got) out_.blind.push_back({path, got.error().context, false});
      if (!got || *got == 0) return;
      take(std::string_view(chunk_).substr(0, *got));
    }
  }

  Status table(const std::string& path, std::string_view head, ByteStream& stream) {
    Series one{path, {}};
    StepTableDecoder decoder(options_.columns);
    drain(path, head, stream, [&](std::string_view bytes) { decoder.feed(bytes, one.builder); });
    decoder.finish(one.builder);
    if (!decoder.complaint().empty()) {
      return make_error(Errc::invalid_input, path + ": " + decoder.complaint());
    }
    if (decoder.bad_rows() > 0) {
      out_.notes.push_back(
          fmt::format("{}: {} rows without a step were passed over", path, decoder.bad_rows()));
    }
    series.push_back(std::move(one));
    return {};
  }

  Status event_file(const std::string& path, std::string_view head, ByteStream& stream) {
    Series one{path, {}};
    EventFileDecoder decoder;
    drain(path, head, stream, [&](std::string_view bytes) { decoder.feed(bytes, one.builder); });
    if (decoder.damaged() > 0) {
      out_.notes.push_back(
          fmt::format("{}: {} damaged records were passed over", path, decoder.damaged()));
    }
    series.push_back(std::move(one));
    return {};
  }

  Status metrics(const std::string& path, std::string document, ByteStream& stream) {
    drain(path, {}, stream, [&](std::string_view bytes) {
      if (document.size() <= limits::kDocumentBytes) document += bytes;
    });
    Series one{path, {}};
    const auto read = read_step_metrics(document, one.builder);
    if (!read) return within(path, read.error());
    if (read->records == 0) {
      return make_error(Errc::invalid_input,
                        path +
                            ": no metric of training steps is among its series; the query must "
                            "keep the names (no rate(), no sum())");
    }
    series.push_back(std::move(one));
    return {};
  }

  Status text(const std::string& path, std::string_view head, ByteStream& stream) {
    Series one{path, {}};
    ProgressDecoder decoder(options_.pattern);
    StepLines steps(one.builder);
    shape::SurroundingsReader around(out_.around, path);
    LineSplitter lines;
    std::uint64_t number = 0;
    const auto line = [&](std::string_view text, std::uint64_t) {
      ++number;
      if (!steps.holds(number + lines.dropped())) around.line(text, number + lines.dropped());
    };
    drain(path, head, stream, [&](std::string_view bytes) {
      decoder.feed(bytes, steps);
      lines.feed(bytes, line);
    });
    decoder.finish(steps);
    lines.finish(line);
    if (lines.dropped() > 0) {
      out_.notes.push_back(fmt::format("{}: {} lines are longer than {} KiB and were passed over",
                                       path, lines.dropped(), limits::kLineBytes / 1024));
    }
    series.push_back(std::move(one));
    return {};
  }

  Files& files_;
  const ShapeInputOptions& options_;
  ShapeInput& out_;
  std::string chunk_ = std::string(kChunkBytes, '\0');
};

// "out/train-2.log" and "out/train-3.log" are alike.
std::string without_digits(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c < '0' || c > '9') out += c;
  }
  return out;
}

// Attempts of one run that have a log each become one curve, in the order of the paths.
void join_attempts(std::vector<Series>& series, std::vector<std::string>& notes) {
  for (std::size_t i = 0; i + 1 < series.size();) {
    Series& one = series[i];
    Series& next = series[i + 1];
    if (without_digits(one.source) != without_digits(next.source) ||
        !one.builder.continued_by(next.builder)) {
      ++i;
      continue;
    }
    notes.push_back(next.source + ": read as the next attempt of " + one.source);
    one.builder.append(std::move(next.builder));
    one.source = next.source;
    series.erase(series.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
}

}  // namespace

Result<ShapeInput> read_shape_inputs(const std::vector<std::string>& paths,
                                     const ShapeInputOptions& options, Files& files) {
  ShapeInput out;
  PathWalk walk(files);
  for (const std::string& path : paths) walk.path(path);
  walk.finish();
  out.blind = std::move(walk.blind);
  out.notes = std::move(walk.notes);
  Reader reader(files, options, out);
  std::optional<Error> failure = walk.failure;
  std::size_t failed = 0;
  for (const PathWalk::Item& item : walk.items) {
    const Status read = reader.read(item);
    if (read) continue;
    ++failed;
    if (!failure) failure = read.error();
    out.blind.push_back({item.path, read.error().context, true});
  }
  if (failure && failed == walk.items.size()) return *failure;
  join_attempts(reader.series, out.notes);
  for (Series& one : reader.series) {
    shape::Curve curve = one.builder.finish(one.source, out.around.restart_steps);
    if (!curve.points.empty()) {
      out.curves.push_back(std::move(curve));
    } else if (!curve.events.empty()) {
      out.stepless.push_back(std::move(curve));
    }
  }
  return out;
}

}  // namespace muster
