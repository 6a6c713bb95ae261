#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "edge/os/files.h"

// Archives of dumps and logs as people send them: .tar, .tar.gz, .tar.zst, .zip, and one file
// packed alone as .gz or .zst. Members come out one at a time, as streams. Nothing is ever written
// and no name in an archive is ever opened: "../../etc/passwd" is a label.
//
// Passed over with a note: links, devices, pipes, encrypted members. Archives inside an archive
// come out as the bytes that they are. Of an archive that is cut or damaged everything that stands
// before that place comes out.
//
// Bounded: limits::kArchiveMembers, limits::kArchiveBytes inflated in all, and
// limits::kArchiveRatio bytes out of each byte in (a bomb); beyond them reading ends with a note.

namespace muster {

struct ArchiveMember {
  std::string name;
  WallTime modified{};  // the epoch: not told
};

struct ArchiveEnd {
  std::uint64_t members = 0;  // handed out
  bool whole = true;          // false: what came after is lost, `notes` says why
  std::vector<std::string> notes;
};

// The first bytes of a file: 512 are enough.
bool looks_like_archive(std::string_view head);

// `name` is the file's, for the member of a file that was packed alone ("a.log.gz": "a.log").
// Errc::invalid_input where it is no archive; otherwise whatever could be read comes out, and a
// failure of `stream` ends it like a cut. The member's stream is good until `on_member` returns,
// which need not read it to its end; where the archive ends or is damaged inside of it, its last
// read() is Errc::corrupt.
Result<ArchiveEnd> read_archive(ByteStream& stream, const std::string& name,
                                const std::function<void(ArchiveMember, ByteStream&)>& on_member);

}  // namespace muster
