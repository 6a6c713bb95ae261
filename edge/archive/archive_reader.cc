#include "edge/archive/archive_reader.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <memory>
#include <optional>
#include <utility>

#include "base/limits.h"
#include "base/text.h"

namespace muster {
namespace {

enum class Packing : std::uint8_t { none, tar, zip, gzip, zstd };

Packing packing_of(std::string_view head) {
  constexpr std::size_t kTarMagic = 257;
  if (head.starts_with("\x1f\x8b")) return Packing::gzip;
  if (head.starts_with("\x28\xb5\x2f\xfd")) return Packing::zstd;
  if (head.starts_with("PK\x03\x04")) return Packing::zip;
  if (head.size() > kTarMagic && head.substr(kTarMagic).starts_with("ustar")) return Packing::tar;
  return Packing::none;
}

// What libarchive pulls: the head that was looked at, then the rest of the stream.
struct Input {
  explicit Input(ByteStream& from) : stream(from) {}

  ByteStream& stream;
  std::array<char, 64 * 1024> buffer;
  std::size_t head = 0;
  bool head_given = false;
  std::uint64_t taken = 0;
  std::string failure;

  // At least 512 bytes where the stream has them.
  void fill_head() {
    while (head < 512) {
      const auto got = stream.read(std::span(buffer).subspan(head));
      if (!got) failure = got.error().context;
      if (!got || *got == 0) return;
      head += *got;
    }
  }

  static la_ssize_t pull(archive* a, void* self, const void** out) {
    Input& input = *static_cast<Input*>(self);
    *out = input.buffer.data();
    if (!std::exchange(input.head_given, true)) {
      input.taken += input.head;
      return static_cast<la_ssize_t>(input.head);
    }
    const auto got =
        input.failure.empty() ? input.stream.read(input.buffer) : Result<std::size_t>(0);
    if (!got) {
      input.failure = got.error().context;
      archive_set_error(a, EIO, "%s", "the file cannot be read on");
      return ARCHIVE_FATAL;
    }
    input.taken += *got;
    return static_cast<la_ssize_t>(*got);
  }
};

struct Free {
  void operator()(archive* a) const { archive_read_free(a); }
};
using Handle = std::unique_ptr<archive, Free>;

// Exactly the one filter and the formats that the first bytes announce: a guess by the library
// could unpack what lies inside once more.
Handle open_archive(Packing packing, Input& input) {
  Handle handle(archive_read_new());
  archive* a = handle.get();
  if (packing == Packing::gzip) archive_read_append_filter(a, ARCHIVE_FILTER_GZIP);
  if (packing == Packing::zstd) archive_read_append_filter(a, ARCHIVE_FILTER_ZSTD);
  if (packing == Packing::tar) archive_read_append_filter(a, ARCHIVE_FILTER_NONE);
  if (packing == Packing::zip) {
    archive_read_append_filter(a, ARCHIVE_FILTER_NONE);
    archive_read_support_format_zip_streamable(a);
  } else {
    archive_read_support_format_tar(a);
  }
  if (packing == Packing::gzip || packing == Packing::zstd) archive_read_support_format_raw(a);
  if (archive_read_open(a, &input, nullptr, &Input::pull, nullptr) != ARCHIVE_OK) return nullptr;
  return handle;
}

std::string complaint_of(archive* a, const Input& input) {
  if (!input.failure.empty()) return input.failure;
  const char* text = archive_error_string(a);
  return text ? text : "damaged";
}

std::string name_of(archive_entry* entry, std::uint64_t number) {
  constexpr std::size_t kNameBytes = 1024;
  const char* name = archive_entry_pathname_utf8(entry);
  if (!name) name = archive_entry_pathname(entry);
  if (!name || *name == '\0') return fmt::format("member {}", number);
  return std::string(std::string_view(name).substr(0, kNameBytes));
}

class Reading {
 public:
  Reading(archive* a, Input& input, bool alone, std::string alone_name, ArchiveSink& sink)
      : archive_(a),
        input_(input),
        alone_(alone),
        alone_name_(std::move(alone_name)),
        sink_(sink) {}

  ArchiveEnd run();

 private:
  enum class Step { on, stop };
  Step member(archive_entry* entry);
  Step contents(const std::string& name, bool refused);
  // Why `entry` is passed over; empty: it is read, or is a folder.
  std::string_view refused(archive_entry* entry) const;
  void note(std::string text);
  void broken(std::string text);
  bool beyond_bounds();

  archive* archive_;
  Input& input_;
  bool alone_;
  std::string alone_name_;
  ArchiveSink& sink_;
  ArchiveEnd end_;
  std::uint64_t seen_ = 0, inflated_ = 0, untold_ = 0;
};

void Reading::note(std::string text) {
  if (end_.notes.size() < limits::kNotesOfLog) {
    end_.notes.push_back(std::move(text));
  } else {
    ++untold_;
  }
}

void Reading::broken(std::string text) {
  end_.whole = false;
  end_.notes.push_back(std::move(text));
}

bool Reading::beyond_bounds() {
  if (inflated_ > limits::kArchiveBytes) {
    broken(fmt::format("it holds more than {} GiB: the rest is not read",
                       limits::kArchiveBytes >> 30));
    return true;
  }
  if (inflated_ > limits::kArchiveRatioFrom && inflated_ / limits::kArchiveRatio > input_.taken) {
    broken(fmt::format("each byte of it becomes more than {}: the rest is not read",
                       limits::kArchiveRatio));
    return true;
  }
  return false;
}

std::string_view Reading::refused(archive_entry* entry) const {
  if (archive_entry_hardlink(entry) || archive_entry_filetype(entry) == AE_IFLNK) {
    return "a link, not followed";
  }
  if (archive_entry_is_encrypted(entry)) return "encrypted";
  const bool file = archive_entry_filetype(entry) == AE_IFREG;
  return file || alone_ ? "" : "a device or pipe, not read";
}

// What the sink refuses is read to its end all the same, so that the bounds see all that comes out.
Reading::Step Reading::contents(const std::string& name, bool refused) {
  bool cut = false;
  std::array<char, 64 * 1024> chunk;
  for (;;) {
    const la_ssize_t got = archive_read_data(archive_, chunk.data(), chunk.size());
    if (got == 0) break;
    if (got == ARCHIVE_RETRY) continue;
    if (got < 0) {
      cut = true;
      broken(fmt::format("{}: {}", name, complaint_of(archive_, input_)));
      break;
    }
    inflated_ += static_cast<std::uint64_t>(got);
    if (beyond_bounds()) {
      sink_.end(true, true);
      return Step::stop;
    }
    if (refused) continue;
    refused = !sink_.bytes(std::string_view(chunk.data(), static_cast<std::size_t>(got)));
  }
  if (refused) {
    note(name + ": too large");
  } else {
    ++end_.members;
  }
  sink_.end(cut, refused);
  return cut ? Step::stop : Step::on;
}

Reading::Step Reading::member(archive_entry* entry) {
  const std::string name = alone_ ? alone_name_ : name_of(entry, seen_);
  if (archive_entry_filetype(entry) == AE_IFDIR) return Step::on;
  if (const std::string_view why = refused(entry); !why.empty()) {
    note(fmt::format("{}: {}", name, why));
    return Step::on;
  }
  WallTime modified{};
  if (archive_entry_mtime_is_set(entry)) {
    constexpr std::int64_t kSane = 1LL << 33;  // seconds; beyond 2242 nanoseconds overflow
    const std::int64_t seconds = archive_entry_mtime(entry);
    if (seconds > 0 && seconds < kSane) modified = wall_from_ns(seconds * 1'000'000'000);
  }
  const bool claims = archive_entry_size_is_set(entry) && archive_entry_size(entry) > 0;
  const bool wanted = sink_.begin(
      name, modified, claims ? static_cast<std::uint64_t>(archive_entry_size(entry)) : 0);
  return contents(name, !wanted);
}

ArchiveEnd Reading::run() {
  for (;;) {
    archive_entry* entry = nullptr;
    const int got = archive_read_next_header(archive_, &entry);
    if (got == ARCHIVE_EOF) break;
    if (got == ARCHIVE_RETRY && ++seen_ <= limits::kArchiveMembers) continue;
    if (got != ARCHIVE_OK && got != ARCHIVE_WARN) {
      broken(fmt::format("after {} members: {}", end_.members, complaint_of(archive_, input_)));
      break;
    }
    if (++seen_ > limits::kArchiveMembers) {
      broken(fmt::format("it has more than {} members: the rest is not read",
                         limits::kArchiveMembers));
      break;
    }
    alone_ = alone_ && archive_format(archive_) == ARCHIVE_FORMAT_RAW;
    if (member(entry) == Step::stop) break;
  }
  if (seen_ == 0 && end_.whole) note("it holds nothing");
  if (untold_ > 0) end_.notes.push_back(fmt::format("{} more members were passed over", untold_));
  return std::move(end_);
}

// "dumps/a.log.gz" -> "a.log"
std::string unpacked_name(const std::string& name) {
  std::string_view out = std::string_view(name).substr(name.rfind('/') + 1);
  for (const std::string_view ending : {".gz", ".zst"}) {
    if (out.size() > ending.size() && out.ends_with(ending)) out.remove_suffix(ending.size());
  }
  return std::string(out);
}

// Members whole in memory.
class Collector final : public ArchiveSink {
 public:
  explicit Collector(const std::function<void(ArchiveMember&&)>& on_member)
      : on_member_(on_member) {}

  bool begin(const std::string& name, WallTime modified, std::uint64_t claimed_bytes) override {
    member_ = {.name = name, .bytes = {}, .cut = false, .modified = modified};
    return claimed_bytes <= limits::kArchiveMemberBytes;
  }
  bool bytes(std::string_view piece) override {
    if (member_.bytes.size() + piece.size() > limits::kArchiveMemberBytes) {
      member_.bytes = {};
      return false;
    }
    member_.bytes += piece;
    return true;
  }
  void end(bool cut, bool refused) override {
    member_.cut = cut;
    if (!refused) on_member_(std::move(member_));
  }

 private:
  const std::function<void(ArchiveMember&&)>& on_member_;
  ArchiveMember member_;
};

}  // namespace

bool looks_like_archive(std::string_view head) {
  return packing_of(head) != Packing::none;
}

Result<ArchiveEnd> read_archive(ByteStream& stream, const std::string& name,
                                const std::function<void(ArchiveMember&&)>& on_member) {
  Collector collector(on_member);
  return stream_archive(stream, name, collector);
}

Result<ArchiveEnd> stream_archive(ByteStream& stream, const std::string& name, ArchiveSink& sink) {
  const auto input = std::make_unique<Input>(stream);
  input->fill_head();
  const Packing packing = packing_of(std::string_view(input->buffer.data(), input->head));
  if (packing == Packing::none) return make_error(Errc::invalid_input, name + ": no archive");
  const Handle handle = open_archive(packing, *input);
  if (!handle) return make_error(Errc::corrupt, name + ": the archive cannot be opened");
  const bool alone = packing == Packing::gzip || packing == Packing::zstd;
  return Reading(handle.get(), *input, alone, unpacked_name(name), sink).run();
}

}  // namespace muster
