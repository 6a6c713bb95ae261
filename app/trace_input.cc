#include "app/trace_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <iterator>
#include <memory>
#include <span>
#include <thread>
#include <tuple>
#include <utility>

#include "app/gather.h"
#include "app/head_stream.h"
#include "app/path_walk.h"
#include "app/trace_sniff.h"
#include "base/limits.h"
#include "base/line_splitter.h"
#include "base/text.h"
#include "core/comms/host_map.h"
#include "core/comms/ras_reader.h"
#include "core/comms/witness_join.h"
#include "core/flight/dump_reader.h"
#include "edge/archive/archive_reader.h"

namespace muster {
namespace {

enum class Taken : std::uint8_t { by_content, as_log, as_ras, as_hosts };

// What one path gave; each is written by one worker and read after all have ended.
struct Gained {
  std::vector<FlightDump> dumps;
  std::vector<LogReading> logs;
  std::vector<RasReading> ras;
  std::vector<HostMap> maps;
  std::vector<Blind> blind;
  std::vector<std::string> notes;
  std::optional<Error> failure;  // the path could not be read at all
};

// ---- one file ----------------------------------------------------------------------------------

// What a reader of dumps pulls. A failure is the end of the file.
class DumpRest final : public FlightInput {
 public:
  explicit DumpRest(ByteStream& stream) : stream_(stream) {}
  std::size_t read(std::span<char> buffer) override {
    const auto got = stream_.read(buffer);
    if (!got) failure = got.error();
    return got ? *got : 0;
  }
  std::optional<Error> failure;

 private:
  ByteStream& stream_;
};

// What the workers share.
struct Shared {
  std::size_t files = 0;
  std::atomic<std::uint64_t> dump_bytes{0};  // memory of the dumps that are kept
};

// Reads files one after another; its buffers are used again.
class Worker {
 public:
  Worker(Files& files, Shared& shared) : files_(files), shared_(shared) {}
  void read(const PathWalk::Item& item, Gained& out);

 private:
  // One file, or one member of an archive: then its `source` is not the item's path.
  struct Piece {
    std::string source;
    Taken taken = Taken::by_content;
    WallTime modified{};
    bool member = false;
  };
  Status piece(ByteStream& stream, const Piece& piece, Gained& out);
  void dump(ByteStream& rest, const Piece& piece, bool empty, Gained& out);
  void keep(FlightDump&& dump, Gained& out);
  void document(ByteStream& rest, const Piece& piece, TraceFile kind, Gained& out);
  void log(ByteStream& stream, const Piece& piece, Gained& out);
  void archive(ByteStream& stream, const Piece& piece, Gained& out);
  Status fill(ByteStream& stream, std::size_t most);

  Files& files_;
  Shared& shared_;
  FlightReaderScratch scratch_;
  std::string bytes_;  // of the piece under way: its begin, or all of it
  std::string chunk_ = std::string(256 * 1024, '\0');
};

TraceFile kind_of(Taken taken, std::string_view head, bool whole) {
  const TraceFile seen = sniff_trace_file(head, whole);
  if (seen == TraceFile::archive || seen == TraceFile::empty) return seen;
  if (taken == Taken::as_log) return TraceFile::log;
  if (taken == Taken::as_ras) return TraceFile::ras;
  if (taken == Taken::as_hosts) return TraceFile::hosts;
  return seen;
}

// "comm_lib_trace_rank_3", "nccl_trace_rank_3.json", "_dump_3"; not "rank3.log".
bool named_like_dump(std::string_view source) {
  const std::string base = to_lower(source.substr(source.find_last_of("/:") + 1));
  const auto has = [&base](std::string_view word) { return base.find(word) != std::string::npos; };
  const bool text = base.ends_with(".log") || base.ends_with(".txt") || base.ends_with(".out") ||
                    base.ends_with(".err");
  return !text && flight_rank_of(base) && (has("trace") || has("dump") || has("rank"));
}

// bytes_ up to `most`, or to the end of the stream.
Status Worker::fill(ByteStream& stream, std::size_t most) {
  while (bytes_.size() < most) {
    const auto got =
        stream.read(std::span(chunk_).first(std::min(chunk_.size(), most - bytes_.size())));
    if (!got) return got.error();
    if (*got == 0) break;
    bytes_.append(chunk_.data(), *got);
  }
  return {};
}

void Worker::log(ByteStream& stream, const Piece& piece, Gained& out) {
  WatchdogReader reader(
      {.source = piece.source, .rank = log_rank_of(piece.source), .written = piece.modified});
  LineSplitter lines;
  std::uint64_t number = 0;
  const auto line = [&](std::string_view text, std::uint64_t) {
    ++number;
    reader.line(text, number + lines.dropped());
  };
  for (;;) {
    const auto got = stream.read(chunk_);
    if (!got && !piece.member) out.blind.push_back({piece.source, got.error().context, false});
    if (!got || *got == 0) break;
    lines.feed(std::string_view(chunk_).substr(0, *got), line);
  }
  lines.finish(line);
  out.logs.push_back(reader.finish());
  if (lines.dropped() > 0) {
    out.notes.push_back(fmt::format("{}: {} lines are longer than {} KiB and were passed over",
                                    piece.source, lines.dropped(), limits::kLineBytes / 1024));
  }
}

// An estimate, of what grows with the input.
std::uint64_t memory_of(const FlightDump& dump) {
  constexpr std::uint64_t kHeap = 32;  // of one allocation
  constexpr std::uint64_t kVector = sizeof(std::vector<int>);
  std::uint64_t bytes = sizeof(dump) + dump.entries.size() * sizeof(FlightEntry);
  for (const FlightSignature& signature : dump.signatures) {
    bytes += sizeof(signature) + kHeap * (signature.input_dtypes.size() * 2 + 4) +
             kHeap * signature.output_dtypes.size() * 2;
    for (const auto* sizes : {&signature.input_sizes, &signature.output_sizes}) {
      for (const auto& tensor : *sizes) bytes += kVector + kHeap + tensor.size() * 8;
    }
  }
  for (const FlightStack& stack : dump.stacks) bytes += kVector + kHeap + stack.size() * 4;
  for (const FlightFrame& frame : dump.frames) {
    bytes += sizeof(frame) + frame.function.size() + frame.file.size();
  }
  for (const FlightGroup& group : dump.groups) {
    bytes += sizeof(group) + kHeap + group.name.size() + group.description.size() +
             (group.ranks ? group.ranks->size() * 4 : 0);
  }
  return bytes;
}

void Worker::keep(FlightDump&& dump, Gained& out) {
  const std::uint64_t bytes = memory_of(dump);
  if (shared_.dump_bytes.fetch_add(bytes) + bytes <= limits::kFlightRunBytes) {
    out.dumps.push_back(std::move(dump));
    return;
  }
  shared_.dump_bytes -= bytes;
  out.blind.push_back({dump.source,
                       fmt::format("more than {} GiB of dumps: this one is left out",
                                   limits::kFlightRunBytes >> 30),
                       true});
}

void Worker::dump(ByteStream& rest, const Piece& piece, bool empty, Gained& out) {
  // How many members an archive has is not known before its end.
  constexpr std::size_t kMembersUsual = 1024;
  const std::size_t files = std::max(shared_.files, piece.member ? kMembersUsual : 1);
  DumpRest pull(rest);
  const FlightSource source = {piece.source, bytes_,
                               bytes_.size() > limits::kSniffBytes ? &pull : nullptr,
                               std::clamp(limits::kFlightEntriesOfRun / files,
                                          limits::kFlightEntriesLeast, limits::kFlightEntries)};
  auto dump = read_flight_dump(source, scratch_);
  if (pull.failure && !piece.member) {
    out.blind.push_back({piece.source, pull.failure->context, true});
  }
  if (!dump) {
    std::string reason = dump.error().context;  // begins with the source
    if (reason.starts_with(piece.source + ": ")) reason.erase(0, piece.source.size() + 2);
    out.blind.push_back({piece.source, reason, true});
    return;
  }
  // A record that knows its own time is mapped memory: the time of its file tells nothing.
  if (!dump->written_at && piece.modified != WallTime{}) dump->written_at = piece.modified;
  if (empty) out.blind.push_back({piece.source, "the dump was not finished on this rank", true});
  keep(std::move(*dump), out);
}

// What must be known whole.
void Worker::document(ByteStream& rest, const Piece& piece, TraceFile kind, Gained& out) {
  const auto blind = [&](const std::string& reason) {
    out.blind.push_back({piece.source, reason, false});
  };
  const Status filled = fill(rest, limits::kDocumentBytes + 1);
  if (!filled && !piece.member) blind(filled.error().context);
  if (bytes_.size() > limits::kDocumentBytes) {
    return blind(fmt::format("larger than {} MiB: not read", limits::kDocumentBytes >> 20));
  }
  if (kind == TraceFile::ras) {
    auto ras = read_ras(bytes_, piece.source);
    if (!ras) return blind(ras.error().context);
    out.ras.push_back(std::move(*ras));
  } else {
    HostMap map = parse_host_map(bytes_);
    for (const std::string& complaint : map.complaints) blind(complaint);
    out.maps.push_back(std::move(map));
  }
}

void Worker::archive(ByteStream& stream, const Piece& piece, Gained& out) {
  const auto end =
      read_archive(stream, piece.source, [&](const ArchiveMember& member, ByteStream& body) {
        Piece inner = {piece.source + ":" + member.name, piece.taken, piece.modified, true};
        if (member.modified != WallTime{}) inner.modified = member.modified;
        // Where the archive ends inside of a member, its own notes say so.
        std::ignore = this->piece(body, inner, out);
      });
  if (!end) {
    out.failure = end.error();
    return;
  }
  tell_end(*end, piece.source, out.blind, out.notes);
}

Status Worker::piece(ByteStream& stream, const Piece& piece, Gained& out) {
  const auto blind = [&](const std::string& reason, bool hides) {
    out.blind.push_back({piece.source, reason, hides});
  };
  bytes_.clear();
  // One byte more tells whether the head is all.
  const Status filled = fill(stream, limits::kSniffBytes + 1);
  if (!filled && (!piece.member || bytes_.empty())) return filled.error();
  const bool all = bytes_.size() <= limits::kSniffBytes;
  const TraceFile kind =
      kind_of(piece.taken, std::string_view(bytes_).substr(0, limits::kSniffBytes), all);
  switch (kind) {
    case TraceFile::empty:
      if (!named_like_dump(piece.source)) {
        blind("empty", false);
        break;
      }
      [[fallthrough]];
    case TraceFile::dump:
      dump(stream, piece, kind == TraceFile::empty, out);
      break;
    case TraceFile::ras:
    case TraceFile::hosts:
      document(stream, piece, kind, out);
      break;
    case TraceFile::unknown:
      blind("neither a dump nor a log", false);
      break;
    case TraceFile::log:
    case TraceFile::archive: {
      const std::string head = std::exchange(bytes_, {});
      HeadStream from_start(head, &stream);
      if (kind == TraceFile::log) {
        log(from_start, piece, out);
      } else if (piece.member) {
        blind("an archive inside an archive is not opened", true);
      } else {
        archive(from_start, piece, out);
      }
    }
  }
  return {};
}

void Worker::read(const PathWalk::Item& item, Gained& out) {
  auto stream = item.open(files_);
  if (!stream) {
    out.failure = stream.error();
    return;
  }
  constexpr std::size_t kKeptBytes = 4 * 1024 * 1024;  // of the buffer, after a large document
  if (bytes_.capacity() > kKeptBytes) bytes_ = {};
  const Status got =
      piece(**stream, {item.path, static_cast<Taken>(item.mark), item.modified, false}, out);
  if (!got) out.failure = got.error();
}

// ---- all of them -------------------------------------------------------------------------------

std::vector<Gained> read_all(const std::vector<PathWalk::Item>& items, std::size_t threads,
                             Files& files) {
  std::vector<Gained> gained(items.size());
  std::atomic<std::size_t> next{0};
  Shared shared;
  shared.files = items.size();
  const auto work = [&] {
    Worker worker(files, shared);
    for (std::size_t i = next++; i < items.size(); i = next++) worker.read(items[i], gained[i]);
  };
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  threads = std::min(threads, items.size());
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < threads; ++i) others.emplace_back(work);
  work();
  others.clear();  // waits for them
  return gained;
}

// A folder of 65,536 files of something else would fill megabytes.
void count_the_rest(TraceInput& out) {
  if (out.blind.size() > limits::kInputsNamed) {
    const auto rest = out.blind.begin() + static_cast<std::ptrdiff_t>(limits::kInputsNamed);
    const bool hides =
        std::any_of(rest, out.blind.end(), [](const Blind& b) { return b.hides_critical; });
    const std::size_t more = out.blind.size() - limits::kInputsNamed;
    out.blind.erase(rest, out.blind.end());
    out.blind.push_back({fmt::format("{} more", more), "could not be read as a whole", hides});
  }
  if (out.notes.size() > limits::kInputsNamed) {
    const std::size_t more = out.notes.size() - limits::kInputsNamed;
    out.notes.resize(limits::kInputsNamed);
    out.notes.push_back(fmt::format("and {} more notes", more));
  }
}

}  // namespace

std::optional<std::int32_t> log_rank_of(std::string_view name) {
  const std::string base = to_lower(name.substr(name.find_last_of("/:") + 1));
  std::size_t at = base.find("rank");
  for (; at != std::string::npos; at = base.find("rank", at + 1)) {
    if (at > 0 && base[at - 1] >= 'a' && base[at - 1] <= 'z') continue;  // "frank5"
    std::size_t i = at + 4;
    if (i < base.size() && (base[i] == '_' || base[i] == '-' || base[i] == '.')) ++i;
    std::size_t end = i;
    while (end < base.size() && base[end] >= '0' && base[end] <= '9') ++end;
    const bool text = base.find(".log", end) != std::string::npos ||
                      base.find(".txt", end) != std::string::npos ||
                      base.find(".out", end) != std::string::npos ||
                      base.find(".err", end) != std::string::npos;
    const auto rank = parse_int(std::string_view(base).substr(i, end - i));
    if (rank && *rank <= (1 << 24) && text) return static_cast<std::int32_t>(*rank);
  }
  return std::nullopt;
}

Result<TraceInput> read_trace_inputs(const std::vector<std::string>& paths,
                                     const TraceInputOptions& options, Files& files) {
  TraceInput out;
  PathWalk walk(files);
  const auto give = [&walk](const std::string& path, Taken taken) {
    walk.path(path, static_cast<int>(taken));
  };
  // What is said to be something comes first: a path counts once.
  for (const std::string& path : options.logs) give(path, Taken::as_log);
  for (const std::string& path : options.ras) give(path, Taken::as_ras);
  if (options.hosts) give(*options.hosts, Taken::as_hosts);
  for (const std::string& path : paths) give(path, Taken::by_content);
  walk.finish();
  out.blind = std::move(walk.blind);
  out.notes = std::move(walk.notes);

  const std::vector<PathWalk::Item>& items = walk.items;
  std::vector<Gained> gained = read_all(items, options.threads, files);
  std::optional<Error> failure = walk.failure;
  std::size_t failed = 0;
  std::vector<LogReading> logs;
  std::map<std::int32_t, std::string> ras_hosts;
  for (std::size_t i = 0; i < gained.size(); ++i) {
    Gained& one = gained[i];
    if (one.failure) {
      ++failed;
      if (!failure) failure = one.failure;
      out.blind.push_back({items[i].path, one.failure->context, true});
    }
    move_into(out.dumps, one.dumps);
    move_into(logs, one.logs);
    move_into(out.blind, one.blind);
    move_into(out.notes, one.notes);
    for (RasReading& ras : one.ras) {
      move_into(out.witnesses, ras.witnesses);
      move_into(out.notes, ras.notes);
      ras_hosts.merge(ras.hosts);
    }
    for (HostMap& map : one.maps) out.hosts.merge(map.hosts);
  }
  if (failure && failed == gained.size()) return *failure;
  out.hosts.merge(ras_hosts);
  out.logs = logs.size();
  JoinedWitnesses joined = join_witnesses(std::move(logs));
  move_into(out.witnesses, joined.witnesses);
  move_into(out.notes, joined.notes);
  count_the_rest(out);
  return out;
}

}  // namespace muster
