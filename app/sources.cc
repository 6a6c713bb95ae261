#include "app/sources.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <queue>

#include "app/folder_walk.h"
#include "app/head_stream.h"
#include "app/host_names.h"
#include "app/input_stream.h"
#include "app/stranger.h"
#include "app/telemetry_input.h"
#include "app/zoned_progress.h"
#include "base/limits.h"
#include "core/progress/progress_decoder.h"
#include "edge/archive/archive_reader.h"

namespace muster {
namespace {

constexpr std::size_t kHeadBytes = 8 * 1024;
constexpr std::string_view kStranger = "neither GPU telemetry nor a step log that is known here";
// All of them are open at one time; hidden ones are of other programs.
constexpr FolderRules kFolders{.hidden = false, .links = true, .most_files = 4096};
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

// Bytes that are held.
class HeldStream final : public ByteStream {
 public:
  explicit HeldStream(std::string bytes) : bytes_(std::move(bytes)), left_(bytes_) {}
  Result<std::size_t> read(std::span<char> buffer) override { return left_.read(buffer); }

 private:
  std::string bytes_;
  HeadStream left_;
};

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
      : options_(options),
        files_(files),
        clock_(clock),
        target_(target),
        folders_(files, kFolders) {}

  Result<SourceSummary> run(const std::vector<std::string>& sources) {
    for (const std::string& text : sources) open(parse_source(text, files_), false);
    for (const std::string& text : options_.step_logs) open({text, "", text}, true);
    tell_passed_over();
    make_inputs();
    merge();
    close_inputs();
    if (over()) {
      summary_.notes.push_back(fmt::format("{}: what had come until then was read", ended_by()));
    }
    if (summary_.telemetry == 0 && summary_.logs == 0 && last_error_) return *last_error_;
    return std::move(summary_);
  }

 private:
  void tell_passed_over() {
    for (Blind& blind : folders_.blind) summary_.blind.push_back(std::move(blind));
    for (std::string& note : folders_.notes) summary_.notes.push_back(std::move(note));
    if (strangers_ <= limits::kNotesOfLog) return;
    summary_.blind.push_back({fmt::format("{} more files", strangers_ - limits::kNotesOfLog),
                              std::string(kStranger), true});
  }

  void fail(const SourceSpec& spec, const Error& error) {
    summary_.blind.push_back({spec.text, reason_of(spec.text, error), true});
    last_error_ = error;
  }

  void open(const SourceSpec& spec, bool log) {
    const auto info = spec.path == "-" ? Result<FileInfo>(FileInfo{}) : files_.stat(spec.path);
    if (!info) return fail(spec, info.error());
    if (info->type == FileInfo::Type::folder) return open_folder(spec, log);
    auto stream = files_.open(spec.path);
    if (!stream) return fail(spec, stream.error());
    take(spec, std::move(*stream), spec.path == "-" ? clock_.wall() : info->modified, log);
  }

  void take(const SourceSpec& spec, std::unique_ptr<ByteStream> bytes, WallTime modified,
            bool log) {
    auto stream = text_of(std::move(bytes), spec.text, [this] { return over(); });
    if (!stream) return fail(spec, stream.error());
    auto head = read_head(**stream);
    if (!head) return fail(spec, head.error());
    if (head->empty()) return fail(spec, nothing_in(spec));
    Opened in{spec, std::move(*stream), std::move(*head), modified, Dialect::unknown};
    if (looks_like_archive(in.head)) return open_archive(in, log);
    if (log || is_step_log(in.head)) return read_log(in);
    in.dialect = options_.columns.empty() ? recognise(in.head) : Dialect::table_csv;
    if (in.dialect == Dialect::unknown) return pass_over(in);
    opened_.push_back(std::move(in));
  }

  // A folder of other things holds any number of such files.
  void pass_over(const Opened& in) {
    if (++strangers_ > limits::kNotesOfLog) return;
    fail(in.spec, make_error(Errc::invalid_input, in.spec.text + ": " + stranger_text(in.head)));
  }

  Error nothing_in(const SourceSpec& spec) const {
    return make_error(Errc::invalid_input,
                      spec.text + (over() ? ": stopped before it was read" : ": empty"));
  }

  bool over() const {
    return options_.stop.stop_requested() || (options_.end && clock_.mono() >= *options_.end);
  }
  std::string_view ended_by() const {
    return options_.stop.stop_requested() ? "stopped by a signal" : "the time of --for is over";
  }

  void open_folder(const SourceSpec& spec, bool log) {
    std::size_t taken = 0;
    folders_.walk(spec.path, [&](const std::string& path, const FileInfo&) {
      ++taken;
      open({path, spec.host, path}, log);
    });
    if (folders_.failure) last_error_ = folders_.failure;
    if (taken == 0) fail(spec, make_error(Errc::not_found, spec.text + ": no files in it"));
  }

  // Members stay in memory until the merge: it wants all inputs at once.
  void open_archive(Opened& in, bool log) {
    HeadStream from_start(in.head, in.stream.get());
    std::size_t taken = 0;
    const auto on_member = [&](const ArchiveMember& member, ByteStream& body) {
      if (member.name.substr(member.name.rfind('/') + 1).starts_with('.')) return;
      ++taken;
      const SourceSpec spec{in.spec.text + ":" + member.name, in.spec.host, member.name};
      auto bytes = hold(body);
      if (!bytes) return fail(spec, bytes.error());
      take(spec, std::make_unique<HeldStream>(std::move(*bytes)), member.modified, log);
    };
    const auto end = read_archive(from_start, in.spec.text, on_member);
    if (!end) return fail(in.spec, end.error());
    for (const std::string& note : end->notes) {
      if (end->whole) summary_.notes.push_back(in.spec.text + ": " + note);
      if (!end->whole) fail(in.spec, make_error(Errc::invalid_input, note));
    }
    if (taken == 0) fail(in.spec, make_error(Errc::not_found, in.spec.text + ": no files in it"));
  }

  // What is left of `stream`, within the bound on all that is held. Where an archive ends inside of
  // a member, its own notes say so: what came before counts.
  Result<std::string> hold(ByteStream& stream) {
    std::string bytes, buffer(kHeadBytes * 8, '\0');
    for (;;) {
      const auto n = stream.read(buffer);
      if (!n || *n == 0) return bytes;
      kept_bytes_ += *n;
      if (kept_bytes_ > limits::kArchiveKeptBytes) break;
      bytes.append(buffer, 0, *n);
    }
    return make_error(
        Errc::exhausted,
        fmt::format("archives hold more than {} MiB: unpack them (tar xf) and name the folder",
                    limits::kArchiveKeptBytes >> 20));
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
    summary_.notes.push_back(in.spec.text + ": step log");
    ++summary_.logs;
  }

  const TimeZone* zone_of(const std::string& host) const {
    auto it = options_.zones.find(host);
    if (it == options_.zones.end()) it = options_.zones.find("");
    return it == options_.zones.end() ? nullptr : &it->second;
  }

  // Two files of one dialect that name no host come from two hosts; their names tell them apart.
  void name_hosts() {
    std::map<Dialect, std::vector<Opened*>> alike;
    for (Opened& in : opened_) {
      if (in.spec.host.empty()) alike[in.dialect].push_back(&in);
    }
    for (const auto& [dialect, inputs] : alike) {
      if (inputs.size() < 2) continue;
      std::vector<std::string> paths;
      for (const Opened* in : inputs) paths.push_back(in->spec.path);
      const std::vector<std::string> hosts = host_names(paths);
      for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i]->spec.host = hosts[i];
    }
  }

  void make_inputs() {
    name_hosts();
    const std::size_t chunk_bytes = std::clamp(
        kChunksBytes / std::max<std::size_t>(opened_.size(), 1), kLeastChunkBytes, kMostChunkBytes);
    for (Opened& in : opened_) {
      const std::string host = in.spec.host;
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
        summary_.undated += input->rows() > 0;
        summary_.blind.push_back(
            {input->spec().text,
             "rows carry no time: no duration can be told; add timestamp to --query-gpu", true});
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
  FolderWalk folders_;
  SourceSummary summary_;
  std::uint64_t kept_bytes_ = 0;  // of archives
  std::size_t strangers_ = 0;     // files that nobody recognised
  std::vector<Opened> opened_;
  std::vector<std::unique_ptr<TelemetryInput>> inputs_;
  std::optional<Error> last_error_;
  bool no_zone_ = false;
};

}  // namespace

std::string reason_of(const std::string& source, const Error& error) {
  const std::string front = source + ": ";
  return error.context.starts_with(front) ? error.context.substr(front.size()) : error.context;
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
