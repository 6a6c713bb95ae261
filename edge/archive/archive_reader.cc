#include "edge/archive/archive_reader.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "base/limits.h"
#include "base/text.h"
#include "edge/os/zstd_stream.h"

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

// The file: the head that was looked at, then the rest. A failure is its end.
class Input final : public ByteStream {
 public:
  explicit Input(ByteStream& from) : from_(from) {
    while (head_ < head_bytes_.size()) {
      const auto got = pull(std::span(head_bytes_).subspan(head_));
      if (got == 0) return;
      head_ += got;
    }
  }
  std::string_view head() const { return {head_bytes_.data(), head_}; }
  std::uint64_t taken() const { return taken_; }
  const std::string& failure() const { return failure_; }

  Result<std::size_t> read(std::span<char> buffer) override {
    if (given_ == head_) return pull(buffer);
    const std::size_t n = std::min(buffer.size(), head_ - given_);
    std::copy_n(head_bytes_.data() + given_, n, buffer.data());
    given_ += n;
    return n;
  }

 private:
  std::size_t pull(std::span<char> buffer) {
    if (!failure_.empty()) return 0;
    const auto got = from_.read(buffer);
    if (!got) failure_ = got.error().context;
    taken_ += got ? *got : 0;
    return got ? *got : 0;
  }

  ByteStream& from_;
  std::array<char, 512> head_bytes_;
  std::size_t head_ = 0, given_ = 0;
  std::uint64_t taken_ = 0;
  std::string failure_;
};

// What libarchive pulls: the file with its packing taken off. What cannot be unpacked is the end,
// so that everything before it comes out; the library would drop what it had unpacked so far.
struct Unpacked {
  std::unique_ptr<UnpackedStream> stream;
  std::string damage = {};
  std::array<char, 64 * 1024> buffer = {};
  std::uint64_t given = 0;
  std::size_t ahead = 0;  // bytes of `buffer` that the library has not had yet

  // Whether it begins with a block of zeros and is more than the end of a tar: a log may begin so,
  // its machine lost power while it grew.
  bool begins_with_hole() {
    constexpr std::size_t kBlock = 512, kTarEnd = 20 * kBlock;  // what tar pads an empty one to
    const auto zeros = [this](std::size_t bytes) {
      const auto end = buffer.begin() + static_cast<std::ptrdiff_t>(bytes);
      return std::all_of(buffer.begin(), end, [](char c) { return c == '\0'; });
    };
    ahead = fill();
    if (ahead == 0 || !zeros(std::min(ahead, kBlock))) return false;
    return ahead > kTarEnd || !zeros(ahead);
  }
  std::size_t fill() {
    if (!damage.empty()) return 0;
    const auto got = stream->read(buffer);
    if (!got) damage = got.error().context;
    given += got ? *got : 0;
    return got ? *got : 0;
  }
  static la_ssize_t pull(archive*, void* self, const void** out) {
    Unpacked& unpacked = *static_cast<Unpacked*>(self);
    *out = unpacked.buffer.data();
    const std::size_t held = std::exchange(unpacked.ahead, 0);
    return static_cast<la_ssize_t>(held > 0 ? held : unpacked.fill());
  }
};

struct Free {
  void operator()(archive* a) const { archive_read_free(a); }
};
using Handle = std::unique_ptr<archive, Free>;

// Exactly the formats that the first bytes announce: a guess by the library could unpack what lies
// inside once more.
Handle open_archive(Packing packing, Unpacked& unpacked) {
  Handle handle(archive_read_new());
  archive* a = handle.get();
  archive_read_append_filter(a, ARCHIVE_FILTER_NONE);
  const bool packed = packing == Packing::gzip || packing == Packing::zstd;
  if (packing == Packing::zip) {
    archive_read_support_format_zip_streamable(a);
  } else if (!packed || !unpacked.begins_with_hole()) {
    archive_read_support_format_tar(a);
  }
  if (packed) archive_read_support_format_raw(a);
  const int got = archive_read_open(a, &unpacked, nullptr, &Unpacked::pull, nullptr);
  return got == ARCHIVE_OK ? std::move(handle) : nullptr;
}

std::string name_of(archive_entry* entry, std::uint64_t number) {
  constexpr std::size_t kNameBytes = 1024;
  const char* name = archive_entry_pathname_utf8(entry);
  if (!name) name = archive_entry_pathname(entry);
  if (!name || *name == '\0') return fmt::format("member {}", number);
  return std::string(std::string_view(name).substr(0, kNameBytes));
}

using OnMember = std::function<void(ArchiveMember, ByteStream&)>;

class Reading {
 public:
  Reading(archive* a, const Input& input, Unpacked& unpacked, bool alone, std::string alone_name,
          const OnMember& on_member)
      : archive_(a),
        input_(input),
        unpacked_(unpacked),
        alone_(alone),
        alone_name_(std::move(alone_name)),
        on_member_(on_member) {}

  ArchiveEnd run();

 private:
  enum class Step { on, stop };
  class Body;
  Step member(archive_entry* entry);
  void members();
  // Why `entry` is passed over; empty: it is read, or is a folder.
  std::string_view refused(archive_entry* entry) const;
  std::string complaint() const;
  void note(std::string text);
  void broken(std::string text);
  bool beyond_bounds();
  void look_behind();
  bool cut_in_heading() const;

  archive* archive_;
  const Input& input_;
  Unpacked& unpacked_;
  bool alone_;
  std::string alone_name_;
  const OnMember& on_member_;
  ArchiveEnd end_;
  std::uint64_t seen_ = 0, inflated_ = 0, untold_ = 0;
};

// The bytes of one member.
class Reading::Body final : public ByteStream {
 public:
  Body(Reading& reading, const std::string& name) : reading_(reading), name_(name) {}

  Result<std::size_t> read(std::span<char> buffer) override {
    if (ended_ || buffer.empty()) return std::size_t{0};
    la_ssize_t got = ARCHIVE_RETRY;
    for (int tries = 0; got == ARCHIVE_RETRY && tries < 16; ++tries) {
      got = archive_read_data(reading_.archive_, buffer.data(), buffer.size());
    }
    if (got < 0) {
      reading_.broken(fmt::format("{}: {}", name_, reading_.complaint()));
      return stop();
    }
    ended_ = got == 0;
    reading_.inflated_ += static_cast<std::uint64_t>(got);
    if (reading_.beyond_bounds()) return stop();
    return static_cast<std::size_t>(got);
  }

  // Reads on to the next member, so that the bounds see all that comes out.
  void finish() {
    std::array<char, 64 * 1024> chunk;
    for (;;) {
      const auto got = read(chunk);
      if (!got || *got == 0) return;
    }
  }
  bool stopped() const { return stopped_; }

 private:
  Error stop() {
    ended_ = stopped_ = true;
    return make_error(Errc::corrupt, "the archive ends or is damaged here");
  }

  Reading& reading_;
  const std::string& name_;
  bool ended_ = false, stopped_ = false;
};

std::string Reading::complaint() const {
  if (!input_.failure().empty()) return input_.failure();
  if (!unpacked_.damage.empty()) return unpacked_.damage;
  const char* text = archive_error_string(archive_);
  return text ? text : "damaged";
}

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
  if (inflated_ > limits::kArchiveRatioFrom && inflated_ / limits::kArchiveRatio > input_.taken()) {
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

Reading::Step Reading::member(archive_entry* entry) {
  ArchiveMember member;
  member.name = alone_ ? alone_name_ : name_of(entry, seen_);
  if (archive_entry_filetype(entry) == AE_IFDIR) return Step::on;
  if (const std::string_view why = refused(entry); !why.empty()) {
    note(fmt::format("{}: {}", member.name, why));
    return Step::on;
  }
  if (archive_entry_mtime_is_set(entry)) {
    constexpr std::int64_t kSane = 1LL << 33;  // seconds; beyond 2242 nanoseconds overflow
    const std::int64_t seconds = archive_entry_mtime(entry);
    if (seconds > 0 && seconds < kSane) member.modified = wall_from_ns(seconds * 1'000'000'000);
  }
  const std::string name = member.name;
  Body body(*this, name);
  ++end_.members;
  on_member_(std::move(member), body);
  body.finish();
  return body.stopped() ? Step::stop : Step::on;
}

void Reading::members() {
  for (;;) {
    archive_entry* entry = nullptr;
    const int got = archive_read_next_header(archive_, &entry);
    if (got == ARCHIVE_EOF) return;
    if (got == ARCHIVE_RETRY && ++seen_ <= limits::kArchiveMembers) continue;
    if (got != ARCHIVE_OK && got != ARCHIVE_WARN) {
      return broken(fmt::format("after {} members: {}", end_.members, complaint()));
    }
    if (++seen_ > limits::kArchiveMembers) {
      return broken(fmt::format("it has more than {} members: the rest is not read",
                                limits::kArchiveMembers));
    }
    alone_ = alone_ && archive_format(archive_) == ARCHIVE_FORMAT_RAW;
    if (alone_ && cut_in_heading()) return broken("the end of the file is missing");
    if (member(entry) == Step::stop) return;
  }
}

// Less than the first heading of a tar looks like a file that was packed alone.
bool Reading::cut_in_heading() const {
  constexpr std::uint64_t kHeading = 512;
  const std::string name = to_lower(alone_name_);
  const bool tar = name.ends_with(".tar") || name.ends_with(".tgz") || name.ends_with(".tzst");
  return tar && unpacked_.given < kHeading && unpacked_.stream->cut();
}

// A cut may lie behind the last member, where the library does not look.
void Reading::look_behind() {
  constexpr int kChunks = 16;  // a tar is padded to 10 KiB
  for (int i = 0; i < kChunks; ++i) {
    if (unpacked_.fill() > 0) continue;
    if (!input_.failure().empty()) return broken(input_.failure());
    if (!unpacked_.damage.empty()) return broken(unpacked_.damage);
    if (unpacked_.stream->cut()) broken("the end of the file is missing");
    return;
  }
}

ArchiveEnd Reading::run() {
  members();
  if (end_.whole) look_behind();
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

}  // namespace

bool looks_like_archive(std::string_view head) {
  return packing_of(head) != Packing::none;
}

Result<ArchiveEnd> read_archive(ByteStream& stream, const std::string& name,
                                const std::function<void(ArchiveMember, ByteStream&)>& on_member) {
  auto input = std::make_unique<Input>(stream);
  const Input& file = *input;
  const Packing packing = packing_of(file.head());
  if (packing == Packing::none) return make_error(Errc::invalid_input, name + ": no archive");
  auto plain = decompressed(std::move(input), name);
  if (!plain) return plain.error();
  const auto unpacked = std::make_unique<Unpacked>(Unpacked{std::move(*plain)});
  const Handle handle = open_archive(packing, *unpacked);
  if (!handle && !unpacked->stream->cut()) {
    return make_error(Errc::corrupt, name + ": the archive cannot be opened");
  }
  if (!handle) return ArchiveEnd{0, false, {"the end of the file is missing"}};
  const bool alone = packing == Packing::gzip || packing == Packing::zstd;
  return Reading(handle.get(), file, *unpacked, alone, unpacked_name(name), on_member).run();
}

}  // namespace muster
