#include "app/pack_reader.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/limits.h"
#include "base/text.h"
#include "core/blocks/block_hash.h"
#include "core/records/jsonl_records.h"
#include "edge/columns/column_stream.h"
#include "edge/os/zstd_stream.h"

namespace muster {
namespace {

constexpr std::size_t kReadBytes = 1024 * 1024;
constexpr std::size_t kHeadBytes = 4096;
constexpr Duration kGlance = std::chrono::milliseconds(100);  // between two looks at `stop`
constexpr std::string_view kMark = "\xEF\xBB\xBF";

struct Magic {
  std::string_view bytes;
  std::size_t at;
  std::string_view words;
};
constexpr Magic kMagics[] = {
    {"PK\x03\x04", 0, "a zip archive: unpack it first"},
    {"ustar", 257, "a tar archive: unpack it first"},
    {"BZh", 0, "compressed with bzip2: pipe it through bzcat, and name -"},
    {"\xFD"
     "7zXZ",
     0, "compressed with xz: pipe it through xzcat, and name -"},
    {"\x93NUMPY", 0, "an array of numpy (muster pack convert reads those)"},
    {"\xFF\xFE", 0, "UTF-16: iconv -f UTF-16 -t UTF-8 makes UTF-8 of it"},
    {"\xFE\xFF", 0, "UTF-16: iconv -f UTF-16 -t UTF-8 makes UTF-8 of it"},
};

// Counts and hashes what comes from the disk; ends with an error once it is stopped.
class Counted final : public ByteStream {
 public:
  Counted(std::unique_ptr<ByteStream> stream, std::stop_token stop, std::uint64_t& bytes,
          blocks::RunningHash& hash)
      : stream_(std::move(stream)), stop_(std::move(stop)), bytes_(bytes), hash_(hash) {}

  Result<std::size_t> read(std::span<char> buffer) override {
    while (!stream_->ready(kGlance)) {
      if (stop_.stop_requested()) break;
    }
    if (stop_.stop_requested()) return make_error(Errc::unavailable, "interrupted");
    const auto n = stream_->read(buffer);
    if (!n) return n.error();
    bytes_ += *n;
    hash_.add(std::string_view(buffer.data(), *n));
    return n;
  }

 private:
  std::unique_ptr<ByteStream> stream_;
  std::stop_token stop_;
  std::uint64_t& bytes_;
  blocks::RunningHash& hash_;
};

std::uint64_t newlines(std::string_view bytes) {
  return static_cast<std::uint64_t>(std::count(bytes.begin(), bytes.end(), '\n'));
}

}  // namespace

struct PackReader::Open {
  std::size_t input = 0;
  std::uint64_t bytes = 0;
  blocks::RunningHash hash;
  std::unique_ptr<ByteStream> stream;
  const UnpackedStream* unpacked = nullptr;  // the stream, where it is one of bytes
  std::string waiting;                       // read, not in a chunk yet
  bool ended = false;
  std::string damage;  // why the last record is torn; empty: it is not
  PackFormat format = PackFormat::json_lines;
  std::string mark;  // behind each record; empty: the file is one record
  std::uint64_t line = 1;
};

PackReader::PackReader(Files& files, std::vector<std::string> paths, PackReaderOptions options,
                       std::stop_token stop)
    : files_(files),
      paths_(std::move(paths)),
      options_(std::move(options)),
      stop_(std::move(stop)) {}
PackReader::~PackReader() = default;

Result<bool> PackReader::open_next() {
  if (ended_.size() == paths_.size()) return false;
  const std::string& path = paths_[ended_.size()];
  auto stream = files_.open(path);
  if (!stream) return stream.error();
  open_ = std::make_unique<Open>();
  open_->input = ended_.size();
  auto plain = decompressed(
      std::make_unique<Counted>(std::move(*stream), stop_, open_->bytes, open_->hash), path);
  if (!plain) return plain.error();
  open_->unpacked = plain->get();
  open_->stream = std::move(*plain);
  if (Status filled = fill(kHeadBytes); !filled) return filled.error();
  if (Status known = know_format(); !known) return within(path, known.error());
  return true;
}

// Until so many bytes wait, or the input has ended.
Status PackReader::fill(std::size_t bytes) {
  std::string& waiting = open_->waiting;
  while (waiting.size() < bytes && !open_->ended) {
    const std::size_t have = waiting.size();
    waiting.resize(have + kReadBytes);
    const auto n = open_->stream->read(std::span(waiting).subspan(have));
    waiting.resize(have + (n ? *n : 0));
    if (!n && n.error().code != Errc::corrupt) return n.error();
    open_->ended = !n || *n == 0;
    if (!n) {
      open_->damage = n.error().context;
    } else if (open_->ended && open_->unpacked != nullptr && open_->unpacked->cut()) {
      open_->damage = "it ends in the middle of a compressed frame; what follows is missing";
    }
  }
  return {};
}

Status PackReader::know_format() {
  open_->format = PackFormat::text;
  if (options_.split) {
    open_->mark = options_.split->mark();
    return {};
  }
  if (looks_like_columns(open_->waiting)) return open_columns_here();
  const auto format = pack_format(std::string_view(open_->waiting).substr(0, kHeadBytes));
  if (!format) return format.error();
  open_->format = *format;
  if (*format == PackFormat::json_lines) open_->mark = "\n";
  return {};
}

// The bytes are read once for their hash; the rows come from the file itself.
Status PackReader::open_columns_here() {
  while (!open_->ended) {
    open_->waiting.clear();
    if (Status filled = fill(1); !filled) return filled;
  }
  auto rows = open_columns(files_, paths_[open_->input], options_.field);
  if (!rows) return rows.error();
  open_->waiting.clear();
  open_->ended = false;
  open_->unpacked = nullptr;
  open_->stream = std::move(*rows);
  open_->format = PackFormat::json_lines;
  open_->mark = "\n";
  return {};
}

Result<std::optional<PackChunk>> PackReader::next() {
  PackChunk chunk;
  while (chunk.bytes.size() < options_.chunk_bytes) {
    if (!open_) {
      const auto more = open_next();
      if (!more) return more.error();
      if (!*more) break;
      if (open_->waiting.starts_with(kMark)) {
        open_->waiting.erase(0, kMark.size());
        chunk.faults.push_back({open_->input, 1, records::Fault::byte_order_mark, ""});
      }
    }
    if (Status taken = take_piece(chunk); !taken) {
      return within(paths_[open_->input], taken.error());
    }
    if (open_->ended && open_->waiting.empty()) close();
  }
  if (chunk.pieces.empty() && chunk.faults.empty()) return std::optional<PackChunk>();
  chunk.index = chunks_++;
  chunk.file_bytes = file_bytes_ + (open_ ? open_->bytes : 0);
  chunk.text_bytes = chunk.bytes.size();
  chunk.bytes.append(records::kRecordPadding, '\0');
  return std::optional(std::move(chunk));
}

// Records of the open input until the chunk is full: up to the first mark that ends there or
// beyond.
Status PackReader::take_piece(PackChunk& chunk) {
  Open& in = *open_;
  const std::size_t budget = options_.chunk_bytes - chunk.bytes.size();
  const std::size_t most = budget + limits::kRecordBytes;
  std::size_t found = std::string::npos;
  const std::size_t mark = in.mark.size();
  std::size_t from = budget > mark ? budget - mark : 0;
  for (std::size_t want = budget; found == std::string::npos; want += kReadBytes) {
    if (Status filled = fill(std::min(want, most)); !filled) return filled;
    const std::string_view seen = std::string_view(in.waiting).substr(0, most);
    if (mark > 0) found = seen.find(in.mark, from);
    if (found != std::string::npos || (in.ended && in.waiting.size() <= most)) break;
    if (seen.size() == most) return skip_record(chunk);
    from = std::max(from, seen.size() - std::min(seen.size(), mark));
  }
  if (found == std::string::npos) drop_torn_end(chunk);
  cut_off(found == std::string::npos ? in.waiting.size() : found + mark, chunk);
  return {};
}

// The first bytes that wait become a piece.
void PackReader::cut_off(std::size_t bytes, PackChunk& chunk) {
  Open& in = *open_;
  // An empty file is a record without a text; what a dropped record leaves behind is none.
  const bool whole_file = in.line == 1 && in.mark.empty() && in.damage.empty();
  if (bytes == 0 && !whole_file) return;
  const std::string_view taken = std::string_view(in.waiting).substr(0, bytes);
  const std::size_t begin = chunk.bytes.size();
  chunk.bytes += taken;
  chunk.pieces.push_back({in.input, in.format, begin, chunk.bytes.size(), in.line});
  in.line += newlines(taken);
  in.waiting.erase(0, bytes);
}

void PackReader::drop_torn_end(PackChunk& chunk) {
  Open& in = *open_;
  if (in.damage.empty()) return;
  const std::size_t at = in.mark.empty() ? std::string::npos : in.waiting.rfind(in.mark);
  const std::size_t keep = at == std::string::npos ? 0 : at + in.mark.size();
  const std::uint64_t line = in.line + newlines(std::string_view(in.waiting).substr(0, keep));
  chunk.faults.push_back({in.input, line, records::Fault::cut, in.damage});
  in.waiting.resize(keep);
}

// A record longer than the bound: what stands before it becomes a piece, it goes.
Status PackReader::skip_record(PackChunk& chunk) {
  Open& in = *open_;
  const std::size_t budget = options_.chunk_bytes - chunk.bytes.size();
  const std::size_t at = in.mark.empty()
                             ? std::string::npos
                             : std::string_view(in.waiting).substr(0, budget).rfind(in.mark);
  if (at != std::string::npos) cut_off(at + in.mark.size(), chunk);
  chunk.faults.push_back({in.input, in.line, records::Fault::too_long,
                          in.mark.empty() ? "a whole file; is it to be split (--split)?" : ""});
  for (;;) {
    const std::size_t end = in.mark.empty() ? std::string::npos : in.waiting.find(in.mark);
    const std::size_t keep = in.mark.empty() || in.ended ? 0 : in.mark.size() - 1;
    const std::size_t gone = end != std::string::npos
                                 ? end + in.mark.size()
                                 : in.waiting.size() - std::min(keep, in.waiting.size());
    in.line += newlines(std::string_view(in.waiting).substr(0, gone));
    in.waiting.erase(0, gone);
    if (end != std::string::npos || in.ended) return {};
    if (Status filled = fill(in.waiting.size() + 1); !filled) return filled;
  }
}

void PackReader::close() {
  ended_.push_back({open_->bytes, hash_text(open_->hash.value())});
  file_bytes_ += open_->bytes;
  open_.reset();
}

Result<PackFormat> pack_format(std::string_view head) {
  for (const Magic& magic : kMagics) {
    if (head.size() < magic.at || !head.substr(magic.at).starts_with(magic.bytes)) continue;
    return make_error(Errc::unsupported, fmt::format("this is {}", magic.words));
  }
  if (head.starts_with(kMark)) head.remove_prefix(kMark.size());
  const std::string_view text = trim(head);
  const std::size_t newline = text.find('\n');
  if (newline != std::string_view::npos && trim(text.substr(0, newline)) == "{") {
    return make_error(Errc::unsupported,
                      "this is JSON over several lines; jq -c . makes a line of each record");
  }
  if (text.starts_with('{')) return PackFormat::json_lines;
  if (text.starts_with('[') && trim(text.substr(1)).starts_with('{')) {
    return make_error(Errc::unsupported,
                      "this is one JSON array; jq -c '.[]' makes a line of each record");
  }
  return PackFormat::text;
}

Status check_pack_inputs(Files& files, const std::vector<std::string>& paths,
                         const PackReaderOptions& options) {
  for (const std::string& path : paths) {
    const auto info = path == "-" ? Result<FileInfo>(FileInfo{}) : files.stat(path);
    if (!info) return info.error();
    if (info->type != FileInfo::Type::file || options.split) continue;
    auto stream = files.open(path);
    if (!stream) return stream.error();
    auto plain = decompressed(std::move(*stream), path);
    if (!plain) return plain.error();
    std::string head(kHeadBytes, '\0');
    std::size_t have = 0;
    while (have < head.size()) {
      const auto n = (*plain)->read(std::span(head).subspan(have));
      if (!n && n.error().code != Errc::corrupt) return n.error();
      if (!n || *n == 0) break;
      have += *n;
    }
    head.resize(have);
    if (looks_like_columns(head)) {
      const auto rows = open_columns(files, path, options.field);
      if (!rows) return within(path, rows.error());
      continue;
    }
    if (const auto format = pack_format(head); !format) return within(path, format.error());
  }
  return {};
}

}  // namespace muster
