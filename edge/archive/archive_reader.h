#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "edge/os/files.h"

// Archives of dumps and logs as people send them: .tar, .tar.gz, .tar.zst, .zip, and one file
// packed alone as .gz or .zst. Members come out one after another, whole in memory or as they are
// unpacked. Nothing is ever written and no name in an archive is ever opened: "../../etc/passwd" is
// a label.
//
// Passed over with a note: links, devices, pipes, encrypted members, and of those that come out
// whole, members larger than limits::kArchiveMemberBytes. Archives inside an archive come out as
// the bytes that they are.
//
// Bounded: limits::kArchiveMembers, limits::kArchiveBytes inflated in all, and
// limits::kArchiveRatio bytes out of each byte in (a bomb); beyond them reading ends with a note.

namespace muster {

struct ArchiveMember {
  std::string name;
  std::string bytes;
  bool cut = false;     // the archive ends or is damaged inside this member; `bytes` is its begin
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
// failure of `stream` ends it like a cut.
Result<ArchiveEnd> read_archive(ByteStream& stream, const std::string& name,
                                const std::function<void(ArchiveMember&&)>& on_member);

// Takes members of any size in pieces: for each begin(), bytes() as often as there are some, end().
// Where begin() or bytes() say false, no more of the member comes, and it is noted as too large.
class ArchiveSink {
 public:
  virtual ~ArchiveSink() = default;
  // `claimed_bytes` is what the archive says, 0 where it does not.
  virtual bool begin(const std::string& name, WallTime modified, std::uint64_t claimed_bytes) = 0;
  virtual bool bytes(std::string_view piece) = 0;
  // `cut`: the archive ends, is damaged or goes beyond a bound inside this member. `refused`: it
  // was not given whole.
  virtual void end(bool cut, bool refused) = 0;
};
// The same in pieces; memory does not grow with the members.
Result<ArchiveEnd> stream_archive(ByteStream& stream, const std::string& name, ArchiveSink& sink);

}  // namespace muster
