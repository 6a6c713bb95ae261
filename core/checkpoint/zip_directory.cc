#include "core/checkpoint/zip_directory.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/memory_bytes.h"

namespace muster::checkpoint {
namespace {

constexpr std::size_t kEndBytes = 22, kLocatorBytes = 20, kWideEndBytes = 56;
constexpr std::size_t kEntryBytes = 46, kLocalBytes = 30;
constexpr std::uint64_t kWideCount = 0xffff, kWideSize = 0xffffffff;

// Numbers of a record, one after the other.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : bytes_(bytes) {}
  template <typename T>
  T take() {
    T value{};
    if (bytes_.size() >= sizeof value) std::memcpy(&value, bytes_.data(), sizeof value);
    skip(sizeof value);
    return value;
  }
  void skip(std::size_t bytes) { bytes_.remove_prefix(std::min(bytes, bytes_.size())); }

 private:
  std::string_view bytes_;
};

Error damaged(std::string text) {
  return make_error(Errc::corrupt, std::move(text));
}

struct Told {
  std::uint64_t entries = 0, bytes = 0, begin = 0;  // as the record has them
};

// Numbers of an end record from `from` on; the wide one of large files has 64 bits for each.
template <typename Count, typename Size>
Told read_told(std::string_view record, std::size_t from) {
  Fields fields(record.substr(from));
  Told out;
  out.entries = fields.take<Count>();
  out.bytes = fields.take<Size>();
  out.begin = fields.take<Size>();
  return out;
}

Told read_end(std::string_view record) {
  return read_told<std::uint16_t, std::uint32_t>(record, 10);
}

Told read_wide_end(std::string_view record) {
  return read_told<std::uint64_t, std::uint64_t>(record, 32);
}

// The place in `tail` of the record whose comment ends where the file ends.
std::optional<std::size_t> place_of_end(std::string_view tail) {
  if (tail.size() < kEndBytes) return std::nullopt;
  for (std::size_t at = tail.size() - kEndBytes + 1; at-- > 0;) {
    if (tail.substr(at, 4) != "PK\5\6") continue;
    std::uint16_t comment = 0;
    std::memcpy(&comment, tail.data() + at + 20, sizeof comment);
    if (at + kEndBytes + comment == tail.size()) return at;
  }
  return std::nullopt;
}

}  // namespace

Result<ZipEnd> find_zip_end(std::string_view tail, std::uint64_t file_bytes) {
  const auto at = place_of_end(tail);
  if (!at) return damaged("it has no end record: it was cut, or is no zip file");
  Told told = read_end(tail.substr(*at));
  std::size_t records = *at;  // where the records after the directory begin
  const bool located = *at >= kLocatorBytes + kWideEndBytes &&
                       tail.substr(*at - kLocatorBytes, 4) == "PK\6\7" &&
                       tail.substr(*at - kLocatorBytes - kWideEndBytes, 4) == "PK\6\6";
  const bool wide =
      told.entries == kWideCount || told.bytes == kWideSize || told.begin == kWideSize;
  if (located) {
    records = *at - kLocatorBytes - kWideEndBytes;
    told = read_wide_end(tail.substr(records));
  } else if (wide) {
    return damaged("the second part of its end record is missing");
  }
  const std::uint64_t before = file_bytes - tail.size() + records;  // the directory ends here
  if (told.bytes > before || told.begin > before - told.bytes) {
    return damaged(fmt::format("its end record tells of {} bytes before it, and there are {}",
                               told.begin, before));
  }
  ZipEnd out;
  out.entries = told.entries;
  out.directory_begin = before - told.bytes;
  out.directory_bytes = told.bytes;
  out.archive_begin = out.directory_begin - told.begin;
  if (out.entries > out.directory_bytes / kEntryBytes) {
    return damaged("its directory is shorter than its entries");
  }
  return out;
}

namespace {

// Sizes and place that did not fit into 32 bits, in the order in which they were left out.
void read_wide(std::string_view extra, std::uint64_t& plain, std::uint64_t& packed,
               std::uint64_t& begin) {
  while (extra.size() >= 4) {
    Fields head(extra);
    const auto id = head.take<std::uint16_t>();
    const auto bytes = head.take<std::uint16_t>();
    extra.remove_prefix(4);
    if (id == 1) {
      Fields fields(extra.substr(0, bytes));
      for (std::uint64_t* const value : {&plain, &packed, &begin}) {
        if (*value == kWideSize) *value = fields.take<std::uint64_t>();
      }
      return;
    }
    extra.remove_prefix(std::min<std::size_t>(bytes, extra.size()));
  }
}

}  // namespace

Status check_zip_directory(std::string_view directory, const ZipEnd& end) {
  const std::uint64_t room = end.directory_begin - end.archive_begin;
  for (std::uint64_t i = 0; i < end.entries; ++i) {
    if (directory.size() < kEntryBytes || directory.substr(0, 4) != "PK\1\2") {
      return damaged(fmt::format("its directory breaks off at entry {} of {}", i, end.entries));
    }
    Fields fields(directory.substr(20));
    std::uint64_t packed = fields.take<std::uint32_t>();
    std::uint64_t plain = fields.take<std::uint32_t>();
    const std::size_t name = fields.take<std::uint16_t>();
    const std::size_t extra = fields.take<std::uint16_t>();
    const std::size_t comment = fields.take<std::uint16_t>();
    fields.skip(8);
    std::uint64_t begin = fields.take<std::uint32_t>();
    if (directory.size() < kEntryBytes + name + extra + comment) {
      return damaged(fmt::format("its directory breaks off at entry {} of {}", i, end.entries));
    }
    read_wide(directory.substr(kEntryBytes + name, extra), plain, packed, begin);
    const std::uint64_t least = kLocalBytes + name;
    if (begin > room || room - begin < least || room - begin - least < packed) {
      return damaged(fmt::format("entry {} of {} lies outside of the file", i + 1, end.entries));
    }
    directory.remove_prefix(kEntryBytes + name + extra + comment);
  }
  return {};
}

}  // namespace muster::checkpoint
