#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/check.h"
#include "base/limits.h"
#include "edge/archive/archive_reader.h"

namespace {

// The input in pieces: where they end must not matter.
class Piecewise final : public muster::ByteStream {
 public:
  Piecewise(std::string_view bytes, std::size_t piece) : bytes_(bytes), piece_(piece) {}
  muster::Result<std::size_t> read(std::span<char> buffer) override {
    const std::size_t n = std::min({buffer.size(), bytes_.size(), piece_});
    std::memcpy(buffer.data(), bytes_.data(), n);
    bytes_.remove_prefix(n);
    return n;
  }

 private:
  std::string_view bytes_;
  std::size_t piece_;
};

struct Seen {
  bool archive = false, opened = false, whole = false;
  std::uint64_t members = 0, bytes = 0;
  bool operator==(const Seen&) const = default;
};

// `most`: bytes taken of each member, as a reader does that has seen enough.
Seen read(std::string_view bytes, std::size_t piece, std::size_t most) {
  Piecewise stream(bytes, piece);
  Seen seen;
  const auto on_member = [&](const muster::ArchiveMember& member, muster::ByteStream& body) {
    MUSTER_CHECK(member.name.size() <= 1024, "a name is bounded");
    ++seen.members;
    std::array<char, 1000> buffer;
    for (std::size_t taken = 0; taken < most;) {
      const auto got = body.read(buffer);
      if (!got || *got == 0) return;
      taken += *got;
      seen.bytes += *got;
    }
  };
  const auto end = muster::read_archive(stream, "in/x.tar.gz", on_member);
  seen.opened = end.has_value();
  seen.archive = seen.opened || end.error().code != muster::Errc::invalid_input;
  if (!end) return seen;
  seen.whole = end->whole;
  MUSTER_CHECK(end->members == seen.members, "each member is handed out");
  MUSTER_CHECK(end->whole || !end->notes.empty(), "what is lost is said");
  MUSTER_CHECK(end->notes.size() <= muster::limits::kNotesOfLog + 2, "notes are bounded");
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Seen whole = read(bytes, 64 * 1024, SIZE_MAX);
  MUSTER_CHECK(whole.archive == muster::looks_like_archive(bytes), "its begin tells");
  if (!whole.opened) return 0;
  // How much of a damaged frame is passed over depends on where the pieces end.
  const Seen pieces = read(bytes, 1 + size % 97, SIZE_MAX);
  MUSTER_CHECK(pieces.whole == whole.whole, "pieces do not change what is damaged");
  MUSTER_CHECK(!whole.whole || pieces == whole, "pieces change nothing");
  const Seen some = read(bytes, 4096, 1);
  MUSTER_CHECK(some.whole == whole.whole && (!whole.whole || some.members == whole.members),
               "what is not taken of a member changes nothing");
  return 0;
}
