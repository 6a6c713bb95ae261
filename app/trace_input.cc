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
#include <utility>

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

struct Item {
  std::string path;
  Taken taken = Taken::by_content;
  WallTime modified{};

  explicit Item(const PathWalk::Item& item)
      : path(item.path), taken(static_cast<Taken>(item.mark)), modified(item.modified) {}
};

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

class HeadStream final : public ByteStream {
 public:
  HeadStream(std::string_view head, ByteStream& rest) : head_(head), rest_(rest) {}
  Result<std::size_t> read(std::span<char> buffer) override {
    if (head_.empty()) return rest_.read(buffer);
    const std::size_t n = std::min(buffer.size(), head_.size());
    std::memcpy(buffer.data(), head_.data(), n);
    head_.remove_prefix(n);
    return n;
  }

 private:
  std::string_view head_;
  ByteStream& rest_;
};

// Reads files one after another; its buffers are used again.
class Worker {
 public:
  explicit Worker(Files& files) : files_(files) {}
  void read(const Item& item, Gained& out);

 private:
  void whole(std::string_view bytes, const std::string& source, const Item& item, TraceFile kind,
             Gained& out);
  void log(ByteStream& stream, const std::string& source, WallTime written, Gained& out);
  void archive(ByteStream& stream, const Item& item, Gained& out);
  Status fill(ByteStream& stream, std::size_t most);

  Files& files_;
  FlightReaderScratch scratch_;
  std::string bytes_;
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

void Worker::log(ByteStream& stream, const std::string& source, WallTime written, Gained& out) {
  WatchdogReader reader({.source = source, .rank = log_rank_of(source), .written = written});
  LineSplitter lines;
  std::uint64_t number = 0;
  const auto line = [&](std::string_view text, std::uint64_t) {
    ++number;
    reader.line(text, number + lines.dropped());
  };
  for (;;) {
    const auto got = stream.read(chunk_);
    if (!got) out.blind.push_back({source, got.error().context, false});
    if (!got || *got == 0) break;
    lines.feed(std::string_view(chunk_).substr(0, *got), line);
  }
  lines.finish(line);
  out.logs.push_back(reader.finish());
  if (lines.dropped() > 0) {
    out.notes.push_back(fmt::format("{}: {} lines are longer than {} KiB and were passed over",
                                    source, lines.dropped(), limits::kLineBytes / 1024));
  }
}

void Worker::whole(std::string_view bytes, const std::string& source, const Item& item,
                   TraceFile kind, Gained& out) {
  const auto blind = [&](const std::string& reason, bool hides) {
    out.blind.push_back({source, reason, hides});
  };
  if (kind == TraceFile::dump || kind == TraceFile::empty) {
    if (kind == TraceFile::empty && !named_like_dump(source)) return blind("empty", false);
    auto dump = read_flight_dump(bytes, source, scratch_);
    if (!dump) return blind(dump.error().context, true);
    if (item.modified != WallTime{}) dump->written_at = item.modified;
    if (kind == TraceFile::empty) blind("the dump was not finished on this rank", true);
    out.dumps.push_back(std::move(*dump));
  } else if (kind == TraceFile::ras) {
    auto ras = read_ras(bytes, source);
    if (!ras) return blind(ras.error().context, false);
    out.ras.push_back(std::move(*ras));
  } else if (kind == TraceFile::hosts) {
    HostMap map = parse_host_map(bytes);
    for (const std::string& complaint : map.complaints) blind(complaint, false);
    out.maps.push_back(std::move(map));
  } else if (kind == TraceFile::archive) {
    blind("an archive inside an archive is not opened", true);
  } else if (kind == TraceFile::unknown) {
    blind("neither a dump nor a log", false);
  } else {
    struct Nothing final : ByteStream {
      Result<std::size_t> read(std::span<char>) override { return std::size_t{0}; }
    } nothing;
    HeadStream all(bytes, nothing);
    log(all, source, item.modified, out);
  }
}

void Worker::archive(ByteStream& stream, const Item& item, Gained& out) {
  const auto end = read_archive(stream, item.path, [&](ArchiveMember&& member) {
    const std::string source = item.path + ":" + member.name;
    const std::string_view bytes = member.bytes;
    Item inner = item;
    if (member.modified != WallTime{}) inner.modified = member.modified;
    const std::string_view head = bytes.substr(0, limits::kSniffBytes);
    whole(bytes, source, inner, kind_of(item.taken, head, head.size() == bytes.size()), out);
  });
  if (!end) {
    out.failure = end.error();
    return;
  }
  for (const std::string& note : end->notes) {
    if (end->whole) {
      out.notes.push_back(item.path + ": " + note);
    } else {
      out.blind.push_back({item.path, note, true});
    }
  }
}

void Worker::read(const Item& item, Gained& out) {
  auto stream = files_.open(item.path);
  if (!stream) {
    out.failure = stream.error();
    return;
  }
  constexpr std::size_t kKeptBytes = 64 * 1024 * 1024;  // of the buffer, after a giant
  bytes_.clear();
  if (bytes_.capacity() > kKeptBytes) bytes_.shrink_to_fit();
  // One byte more tells whether the head is all.
  if (const Status got = fill(**stream, limits::kSniffBytes + 1); !got) {
    out.failure = got.error();
    return;
  }
  const bool all = bytes_.size() <= limits::kSniffBytes;
  const TraceFile kind =
      kind_of(item.taken, std::string_view(bytes_).substr(0, limits::kSniffBytes), all);
  if (kind == TraceFile::archive || kind == TraceFile::log) {
    HeadStream from_start(bytes_, **stream);
    if (kind == TraceFile::archive) return archive(from_start, item, out);
    return log(from_start, item.path, item.modified, out);
  }
  if (kind != TraceFile::unknown) {
    if (const Status got = fill(**stream, limits::kFlightBytes + 1); !got) {
      out.blind.push_back({item.path, got.error().context, true});
    }
  }
  whole(bytes_, item.path, item, kind, out);
}

// ---- all of them -------------------------------------------------------------------------------

std::vector<Gained> read_all(const std::vector<Item>& items, std::size_t threads, Files& files) {
  std::vector<Gained> gained(items.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    Worker worker(files);
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

template <typename T>
void move_into(std::vector<T>& to, std::vector<T>& from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
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

  out.blind = std::move(walk.blind);
  out.notes = std::move(walk.notes);

  std::vector<Item> items(walk.items.begin(), walk.items.end());
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
  return out;
}

}  // namespace muster
