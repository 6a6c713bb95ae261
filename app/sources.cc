#include "app/sources.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <queue>

#include "app/input_stream.h"
#include "app/telemetry_input.h"
#include "app/zoned_progress.h"
#include "base/text.h"
#include "core/progress/progress_decoder.h"

namespace muster {
namespace {

constexpr std::size_t kHeadBytes = 8 * 1024;
constexpr std::size_t kFolderFiles = 4096;
// What is read at a time, over all inputs together and for each: the rows of a chunk wait in
// memory, where they take about four times its size.
constexpr std::size_t kChunksBytes = 32 * 1024 * 1024;
constexpr std::size_t kLeastChunkBytes = 8 * 1024, kMostChunkBytes = 256 * 1024;

// An input that is open, with its first bytes.
struct Opened {
  SourceSpec spec;
  std::unique_ptr<ByteStream> stream;
  std::string head;
  WallTime modified{};
  Dialect dialect = Dialect::unknown;
};

Result<std::string> read_head(ByteStream& stream) {
  std::string head(kHeadBytes, '\0');
  std::size_t have = 0;
  while (have < head.size()) {
    const auto n = stream.read(std::span(head).subspan(have));
    if (!n) return n.error();
    if (*n == 0) break;
    have += *n;
  }
  head.resize(have);
  return head;
}

// An input's oldest row that waits. Of rows of one moment the first input's comes first.
struct Turn {
  WallTime at;
  std::size_t input;
  bool operator>(const Turn& other) const {
    return at != other.at ? at > other.at : input > other.input;
  }
};

class Reader {
 public:
  Reader(const SourceOptions& options, Files& files, Clock& clock, RowTarget& target)
      : options_(options), files_(files), clock_(clock), target_(target) {}

  Result<SourceSummary> run(const std::vector<std::string>& sources) {
    for (const std::string& text : sources) open(parse_source(text, files_), false);
    for (const std::string& text : options_.step_logs) open({text, "", text}, true);
    make_inputs();
    merge();
    close_inputs();
    if (options_.stop.stop_requested()) {
      summary_.notes.push_back("stopped by a signal: what had come until then was read");
    }
    if (summary_.telemetry == 0 && summary_.logs == 0 && last_error_) return *last_error_;
    return std::move(summary_);
  }

 private:
  void fail(const SourceSpec& spec, const Error& error) {
    summary_.blind.push_back({spec.text, error.context, true});
    last_error_ = error;
  }

  void open(const SourceSpec& spec, bool log) {
    const auto info = spec.path == "-" ? Result<FileInfo>(FileInfo{}) : files_.stat(spec.path);
    if (!info) return fail(spec, info.error());
    if (info->type == FileInfo::Type::folder) return open_folder(spec, log);
    auto stream = open_text(files_, spec.path, spec.text, options_.stop);
    if (!stream) return fail(spec, stream.error());
    auto head = read_head(**stream);
    if (!head) return fail(spec, head.error());
    if (head->empty()) return fail(spec, nothing_in(spec));
    Opened in{spec, std::move(*stream), std::move(*head),
              spec.path == "-" ? clock_.wall() : info->modified, Dialect::unknown};
    if (log || is_step_log(in.head)) return read_log(in);
    in.dialect = options_.columns.empty() ? recognise(in.head) : Dialect::table_csv;
    if (in.dialect == Dialect::unknown) {
      return fail(spec,
                  make_error(Errc::invalid_input,
                             spec.text + ": neither GPU telemetry nor a step log that is "
                                         "known here (--columns names the columns of a CSV)"));
    }
    opened_.push_back(std::move(in));
  }

  Error nothing_in(const SourceSpec& spec) const {
    const bool stopped = options_.stop.stop_requested();
    return make_error(Errc::invalid_input,
                      spec.text + (stopped ? ": stopped before it was read" : ": empty"));
  }

  void open_folder(const SourceSpec& spec, bool log) {
    const auto names = files_.list(spec.path);
    if (!names) return fail(spec, names.error());
    std::size_t taken = 0;
    for (const std::string& name : *names) {
      const std::string path = spec.path + "/" + name;
      const auto info = files_.stat(path);
      if (name.starts_with('.') || !info || info->type != FileInfo::Type::file) continue;
      if (++taken > kFolderFiles) {
        return fail(spec, make_error(Errc::exhausted,
                                     fmt::format("{}: more than {} files, the rest is not read",
                                                 spec.text, kFolderFiles)));
      }
      open({path, spec.host, path}, log);
    }
    if (taken == 0) fail(spec, make_error(Errc::not_found, spec.text + ": no files in it"));
  }

  void read_log(Opened& in) {
    target_.begin_log(in.spec.text);
    LogClockState clock;
    ZonedProgress sink(target_.log(), zone_of(in.spec.host), clock);
    ProgressDecoder decoder;
    decoder.feed(in.head, sink);
    std::string buffer(kHeadBytes * 8, '\0');
    for (;;) {
      const auto n = in.stream->read(buffer);
      if (!n) fail(in.spec, n.error());
      if (!n || *n == 0) break;
      decoder.feed(std::string_view(buffer).substr(0, *n), sink);
    }
    decoder.finish(sink);
    ++summary_.logs;
  }

  const TimeZone* zone_of(const std::string& host) const {
    auto it = options_.zones.find(host);
    if (it == options_.zones.end()) it = options_.zones.find("");
    return it == options_.zones.end() ? nullptr : &it->second;
  }

  void make_inputs() {
    // Two files of one dialect that name no host come from two hosts; their names tell them apart.
    std::map<Dialect, std::size_t> alike;
    for (const Opened& in : opened_) alike[in.dialect] += in.spec.host.empty();
    const std::size_t chunk_bytes = std::clamp(
        kChunksBytes / std::max<std::size_t>(opened_.size(), 1), kLeastChunkBytes, kMostChunkBytes);
    for (Opened& in : opened_) {
      std::string host = in.spec.host;
      if (host.empty() && alike[in.dialect] > 1) host = stem_of(in.spec.path);
      inputs_.push_back(
          std::make_unique<TelemetryInput>(in.spec, host, std::move(in.stream), std::move(in.head),
                                           make_decoder(in.dialect, {options_.columns}),
                                           RowClock(in.modified, zone_of(host)), chunk_bytes));
      summary_.notes.push_back(fmt::format("{}: {}{}", in.spec.text, dialect_name(in.dialect),
                                           host.empty() ? "" : ", host " + host));
    }
  }

  // The input whose next row is the oldest goes first.
  void merge() {
    if (inputs_.size() == 1) return inputs_[0]->drain(target_);
    std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
    const auto queue = [&](std::size_t i) {
      if (const OwnedRow* front = inputs_[i]->front(target_)) turns.push({front->at(), i});
    };
    for (std::size_t i = 0; i < inputs_.size(); ++i) queue(i);
    while (!turns.empty()) {
      const Turn turn = turns.top();
      turns.pop();
      TelemetryInput& input = *inputs_[turn.input];
      const TelemetryRow row = input.front(target_)->view();
      target_.row(row, turn.at, row.source.empty() ? input.spec().text : row.source,
                  input.default_host());
      input.pop();
      queue(turn.input);
    }
  }

  void close_inputs() {
    for (const auto& input : inputs_) {
      if (input->failure()) fail(input->spec(), *input->failure());
      if (input->rows() > 0) {
        ++summary_.telemetry;
      } else {
        summary_.blind.push_back({input->spec().text, "no row of telemetry in it", true});
        last_error_ =
            make_error(Errc::invalid_input, input->spec().text + ": no row of telemetry in it");
      }
      if (input->clock().saw_no_time()) {
        summary_.notes.push_back(input->spec().text +
                                 ": rows without a time; nothing that needs "
                                 "a duration can be told");
      }
      if (input->clock().saw_no_zone()) no_zone_ = true;
      if (input->clock().folded()) {
        summary_.notes.push_back(input->spec().text +
                                 ": its clock shows an hour twice (end of summer time); times are "
                                 "counted on from there");
      }
    }
    if (!no_zone_) return;
    const TimeZone* zone = zone_of("");
    summary_.notes.push_back(fmt::format("times without a zone were read in {} (--tz HOST=ZONE)",
                                         zone != nullptr ? zone->name() : "UTC"));
  }

  const SourceOptions& options_;
  Files& files_;
  Clock& clock_;
  RowTarget& target_;
  SourceSummary summary_;
  std::vector<Opened> opened_;
  std::vector<std::unique_ptr<TelemetryInput>> inputs_;
  std::optional<Error> last_error_;
  bool no_zone_ = false;
};

}  // namespace

std::string stem_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  return name.substr(0, std::max<std::size_t>(1, name.find('.')));
}

bool is_step_log(std::string_view head) {
  return recognise(head) != Dialect::recording && looks_like_progress(head);
}

SourceSpec parse_source(const std::string& text, Files& files) {
  const std::size_t equals = text.find('=');
  const bool host_like =
      equals != std::string::npos && equals > 0 &&
      text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_") ==
          equals;
  if (!host_like || files.stat(text)) return {text, "", text};
  return {text, text.substr(0, equals), text.substr(equals + 1)};
}

Result<SourceSummary> read_sources(const std::vector<std::string>& sources,
                                   const SourceOptions& options, Files& files, Clock& clock,
                                   RowTarget& target) {
  return Reader(options, files, clock, target).run(sources);
}

}  // namespace muster
