#include "app/explain_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <thread>
#include <tuple>
#include <utility>

#include "app/gather.h"
#include "app/head_stream.h"
#include "app/input_stream.h"
#include "app/log_line_reader.h"
#include "app/log_name.h"
#include "app/path_walk.h"
#include "app/stranger.h"
#include "app/trace_input.h"
#include "app/trace_sniff.h"
#include "base/limits.h"
#include "base/text.h"
#include "core/comms/ras_reader.h"
#include "core/comms/witness_log_event.h"
#include "core/explain/run_events.h"
#include "core/site/file_host.h"
#include "core/site/site_document.h"
#include "edge/archive/archive_reader.h"

namespace muster {
namespace {

constexpr std::size_t kChunkBytes = 256 * 1024;
constexpr std::size_t kThreads = 2;

// Of text that no file system dates: when it was written at most, by its first stamp with a date.
std::optional<WallTime> latest_of_head(std::string_view head) {
  constexpr std::size_t kHead = 8 * 1024;
  constexpr Duration kLongRun = std::chrono::hours(24 * 180);
  LogLineReader reader(std::nullopt);
  for (const std::string_view line : split(head.substr(0, kHead), '\n')) {
    const LogLine read = reader.read(line);
    if (read.time.at && read.time.has_date) return *read.time.at + kLongRun;
  }
  return std::nullopt;
}

// What one path gave; each is written by one worker and read after all have ended.
struct Gained {
  std::vector<ScannedLog> logs;
  std::vector<SiteFact> facts;
  std::vector<Blind> blind;
  std::vector<std::string> notes;
  std::size_t documents = 0, dumps = 0;
  LeftOut left_out;
  std::optional<Error> failure;  // the path could not be read at all
};

// One file or member of an archive, in pieces: held until what it is shows, then a log streams on.
class SourceReader {
 public:
  SourceReader(const LogAnchors& anchors, std::string name, std::string host, WallTime modified,
               Gained& out)
      : anchors_(anchors), name_(std::move(name)), host_(std::move(host)), out_(out) {
    if (modified != WallTime{}) written_ = modified;
  }

  void bytes(std::string_view piece) {
    if (kind_ == Kind::open) {
      held_ += piece;
      if (held_.size() > limits::kSniffBytes) decide(false);
      return;
    }
    more(piece);
  }

  void end() {
    if (kind_ == Kind::open) decide(true);
    if (kind_ == Kind::log) log();
    if (kind_ == Kind::ras) ras();
    if (kind_ == Kind::document) document();
  }

 private:
  enum class Kind : std::uint8_t { open, log, ras, document, other };

  void decide(bool whole) {
    const TraceFile seen =
        sniff_trace_file(std::string_view(held_).substr(0, limits::kSniffBytes), whole);
    kind_ = Kind::other;
    if (seen == TraceFile::dump) ++out_.dumps;
    if (seen == TraceFile::archive) {
      out_.blind.push_back({name_, "an archive inside an archive is not opened", true});
    }
    if (seen == TraceFile::ras) kind_ = Kind::ras;
    const bool text = seen == TraceFile::empty || seen == TraceFile::log ||
                      seen == TraceFile::unknown || seen == TraceFile::hosts;
    if (text && !looks_like_text(held_)) {
      out_.blind.push_back({name_, "no text: not read", false});
    } else if (text) {
      // Of a large one the first whole lines tell.
      const std::size_t end = whole ? held_.size() : held_.rfind('\n') + 1;
      const bool of_site =
          read_site_document(name_, std::string_view(held_).substr(0, end)).has_value();
      kind_ = of_site ? Kind::document : Kind::log;
      if (!of_site) other_ = other_verb(held_);
      if (!of_site) begin_log();
    }
    const std::string held = std::exchange(held_, {});
    more(held);
  }

  void log() {
    out_.logs.push_back(scan_->finish());
    out_.logs.back().other = std::move(other_);
  }

  void begin_log() {
    if (!written_) written_ = latest_of_head(held_);
    scan_ = std::make_unique<LogScan>(
        anchors_, LogScan::Options{.name = name_,
                                   .host = host_.empty() ? host_of_file_name(name_) : host_,
                                   .rank = log_rank_of(name_),
                                   .written = written_});
  }

  void more(std::string_view piece) {
    if (kind_ == Kind::log) scan_->feed(piece);
    if (kind_ != Kind::ras && kind_ != Kind::document) return;
    held_ += piece.substr(0, limits::kDocumentBytes - held_.size());
    if (held_.size() == limits::kDocumentBytes && !std::exchange(cut_, true)) {
      out_.blind.push_back({name_,
                            fmt::format("only the first {} MiB of this document were read",
                                        limits::kDocumentBytes >> 20),
                            false});
    }
  }

  // What the first lines promised the rest may not keep.
  void document() {
    if (auto facts = read_site_document(name_, held_)) {
      ++out_.documents;
      std::move(facts->begin(), facts->end(), std::back_inserter(out_.facts));
      return;
    }
    begin_log();
    scan_->feed(held_);
    log();
  }

  void ras() {
    auto reading = read_ras(held_, name_);
    if (!reading) {
      out_.blind.push_back({name_, reading.error().context, false});
      return;
    }
    ScannedLog log;
    log.source.name = name_;
    for (RankWitness& witness : reading->witnesses) {
      log.events.push_back(log_event_of({.value = std::move(witness), .placed = true}));
    }
    log.known = true;
    log.notes = std::move(reading->notes);
    out_.logs.push_back(std::move(log));
  }

  const LogAnchors& anchors_;
  std::string name_, host_;
  std::optional<WallTime> written_;
  Gained& out_;
  Kind kind_ = Kind::open;
  std::string held_, other_;
  bool cut_ = false;
  std::unique_ptr<LogScan> scan_;
};

// ---- all of them -------------------------------------------------------------------------------

class Progress {
 public:
  Progress(std::size_t files, const std::function<void(const ReadProgress&)>& tell)
      : now_{.files = 0, .of_files = files, .bytes = 0}, tell_(tell) {}

  void bytes(std::size_t count) {
    const std::lock_guard lock(mutex_);
    now_.bytes += count;
    if (tell_) tell_(now_);
  }
  void file() {
    const std::lock_guard lock(mutex_);
    ++now_.files;
    if (tell_) tell_(now_);
  }

 private:
  std::mutex mutex_;
  ReadProgress now_;
  const std::function<void(const ReadProgress&)>& tell_;
};

// Puts together what the files gave, in their order whichever is read first, and holds no more of
// it than one run may.
class Merge {
 public:
  explicit Merge(ExplainReading& out) : out_(out) {}

  // A worker that is far ahead of a slow file waits: what it would give lies in memory until then.
  void turn(std::size_t file) {
    std::unique_lock lock(mutex_);
    moved_.wait(lock, [&] { return file < next_ + kAhead; });
  }
  void done(std::size_t file, const std::string& path, Gained gained) {
    const std::lock_guard lock(mutex_);
    waiting_.emplace(file, std::pair(path, std::move(gained)));
    for (auto it = waiting_.find(next_); it != waiting_.end(); it = waiting_.find(next_)) {
      take(it->second.first, it->second.second);
      waiting_.erase(it);
      ++next_;
    }
    moved_.notify_all();
  }
  // After the last file.
  void finish() {
    shed(limits::kRunEvents);
    if (events_.events > 0) {
      out_.blind.push_back(
          {"events",
           fmt::format("{} more had no room; the gravest and earliest were kept", events_.events),
           events_.grave});
    }
    if (facts_ > 0) {
      out_.blind.push_back(
          {"listings", fmt::format("{} more of their lines had no room", facts_), false});
    }
  }

  std::optional<Error> failure;  // the first
  std::size_t failed = 0;

 private:
  static constexpr std::size_t kAhead = 8;

  void take(const std::string& path, Gained& one) {
    if (one.failure) {
      ++failed;
      if (!failure) failure = one.failure;
      out_.blind.push_back({path, one.failure->context, true});
    }
    events_.add(one.left_out);
    for (const ScannedLog& log : one.logs) held_ += log.events.size();
    move_into(out_.logs, one.logs);
    const std::size_t room = limits::kRunFacts - std::min(limits::kRunFacts, out_.facts.size());
    if (one.facts.size() > room) {
      facts_ += one.facts.size() - room;
      one.facts.resize(room);
    }
    move_into(out_.facts, one.facts);
    move_into(out_.blind, one.blind);
    move_into(out_.notes, one.notes);
    out_.documents += one.documents;
    out_.dumps += one.dumps;
    if (held_ > 2 * limits::kRunEvents) shed(limits::kRunEvents);
  }

  void shed(std::size_t most) {
    std::vector<std::vector<LogEvent>*> logs;
    for (ScannedLog& log : out_.logs) logs.push_back(&log.events);
    events_.add(keep_gravest(logs, most));
    held_ = std::min(held_, most);
  }

  std::mutex mutex_;
  std::condition_variable moved_;
  ExplainReading& out_;
  std::map<std::size_t, std::pair<std::string, Gained>> waiting_;
  std::size_t next_ = 0, held_ = 0;
  LeftOut events_;
  std::uint64_t facts_ = 0;
};

// Reads files one after another; its buffer is used again.
class Worker {
 public:
  Worker(const LogAnchors& anchors, Files& files, Progress& progress)
      : anchors_(anchors), files_(files), progress_(progress) {}

  void read(const PathWalk::Item& item, const std::string& host, Gained& out);

 private:
  void archive(ByteStream& stream, const PathWalk::Item& item, Gained& out);
  Status pour(ByteStream& stream, SourceReader& reader);

  const LogAnchors& anchors_;
  Files& files_;
  Progress& progress_;
  std::string chunk_ = std::string(kChunkBytes, '\0');
};

void Worker::archive(ByteStream& stream, const PathWalk::Item& item, Gained& out) {
  std::size_t held = 0;  // events of its members
  const auto end = read_archive(stream, item.path, [&](const auto& member, ByteStream& body) {
    const std::size_t before = out.logs.size();
    const WallTime modified = member.modified == WallTime{} ? item.modified : member.modified;
    SourceReader reader(anchors_, item.path + ":" + member.name, "", modified, out);
    // Where the archive ends inside of a member, its own notes say so.
    std::ignore = pour(body, reader);
    reader.end();
    if (out.logs.size() > before) held += out.logs.back().events.size();
    if (held <= 2 * limits::kRunEvents) return;
    std::vector<std::vector<LogEvent>*> logs;
    for (ScannedLog& log : out.logs) logs.push_back(&log.events);
    out.left_out.add(keep_gravest(logs, limits::kRunEvents));
    held = limits::kRunEvents;
  });
  if (!end) {
    out.failure = end.error();
    return;
  }
  tell_end(*end, item.path, out.blind, out.notes);
}

Status Worker::pour(ByteStream& stream, SourceReader& reader) {
  for (;;) {
    const auto got = stream.read(chunk_);
    if (!got) return got.error();
    if (*got == 0) return {};
    progress_.bytes(*got);
    reader.bytes(std::string_view(chunk_).substr(0, *got));
  }
}

void Worker::read(const PathWalk::Item& item, const std::string& host, Gained& out) {
  auto stream = item.open(files_);
  if (!stream) {
    out.failure = stream.error();
    return;
  }
  if (const Status speaks = wait_for_pipe(**stream, item.path); !speaks) {
    out.failure = speaks.error();
    return;
  }
  const auto got = (*stream)->read(chunk_);
  if (!got) {
    out.failure = got.error();
    return;
  }
  const std::string head = chunk_.substr(0, *got);
  HeadStream from_start(head, stream->get());
  if (looks_like_archive(head)) return archive(from_start, item, out);
  SourceReader reader(anchors_, item.path, host, item.modified, out);
  if (const Status poured = pour(from_start, reader); !poured) {
    out.blind.push_back({item.path, poured.error().context, true});
  }
  reader.end();
}

// Within a family of rotated files from old to new.
std::vector<PathWalk::Item> in_order(std::vector<PathWalk::Item> items) {
  std::vector<std::string> paths;
  for (const PathWalk::Item& item : items) paths.push_back(item.path);
  std::vector<PathWalk::Item> out;
  for (const std::size_t i : rotated_order(paths)) out.push_back(items[i]);
  return out;
}

// The path of a source, members of an archive as if it were a folder.
std::string as_path(std::string source) {
  const std::size_t colon = source.rfind(':');
  if (colon != std::string::npos) source[colon] = '/';
  return source;
}

std::string folder_of(const std::string& source) {
  const std::string path = as_path(source);
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

// Whether one rank at most speaks in a log: that of a whole job lies on one host and tells of all.
bool of_one_rank(const ScannedLog& log) {
  std::optional<std::int32_t> rank = log.source.rank;
  return std::all_of(log.events.begin(), log.events.end(), [&](const LogEvent& event) {
    if (event.rank && !rank) rank = event.rank;
    return !event.rank || event.rank == rank;
  });
}

// Documents that do not say whose they are lie in the folder of their host, where folders side by
// side are named like hosts. So do logs, where a document or a machine's own log lies beside them.
void place_by_folder(ExplainReading& reading) {
  std::vector<std::string> folders;  // with one file each, which is one machine's by its name
  std::set<std::string> of_machines;
  const auto add = [&](const std::string& source, bool machine) {
    const std::string folder = folder_of(source);
    if (folder.empty()) return;
    folders.push_back(folder + "/dmesg.txt");
    if (machine) of_machines.insert(folder);
  };
  for (const ScannedLog& log : reading.logs) {
    add(log.source.name, is_machine_file(as_path(log.source.name)));
  }
  for (const SiteFact& fact : reading.facts) add(fact.source, true);
  std::sort(folders.begin(), folders.end());
  folders.erase(std::unique(folders.begin(), folders.end()), folders.end());
  const auto hosts = hosts_of_folders(folders);
  const auto place = [&](std::string& host, const std::string& folder) {
    const auto found = !host.empty() ? hosts.end() : hosts.find(folder + "/dmesg.txt");
    if (found != hosts.end()) host = found->second;
  };
  for (SiteFact& fact : reading.facts) place(fact.host, folder_of(fact.source));
  for (ScannedLog& log : reading.logs) {
    const std::string folder = folder_of(log.source.name);
    if (of_machines.contains(folder) && of_one_rank(log)) place(log.source.host, folder);
  }
}

}  // namespace

Result<ExplainReading> read_explain_inputs(
    const std::vector<std::string>& paths, const LogAnchors& anchors, Files& files,
    const std::function<void(const ReadProgress&)>& on_progress) {
  PathWalk walk(files);
  for (const std::string& path : paths) walk.path(path);
  walk.finish();
  const std::vector<PathWalk::Item> items = in_order(std::move(walk.items));
  std::vector<std::string> names;
  for (const PathWalk::Item& item : items) names.push_back(item.path);
  const auto hosts = hosts_of_folders(names);

  ExplainReading out;
  out.blind = std::move(walk.blind);
  out.notes = std::move(walk.notes);
  Merge merge(out);
  merge.failure = walk.failure;
  Progress progress(items.size(), on_progress);
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    Worker worker(anchors, files, progress);
    for (std::size_t i = next++; i < items.size(); i = next++) {
      merge.turn(i);
      const auto host = hosts.find(items[i].path);
      Gained gained;
      worker.read(items[i], host == hosts.end() ? "" : host->second, gained);
      merge.done(i, items[i].path, std::move(gained));
      progress.file();
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < std::min(kThreads, items.size()); ++i) others.emplace_back(work);
    work();
  }
  merge.finish();
  place_by_folder(out);
  if (merge.failure && merge.failed == items.size()) return *merge.failure;
  if (items.empty()) return make_error(Errc::not_found, "no file in what was named");
  return out;
}

}  // namespace muster
