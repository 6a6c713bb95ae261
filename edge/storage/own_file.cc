#include "edge/storage/own_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "core/storage/starvation.h"
#include "edge/os/files.h"
#include "edge/storage/file_target.h"

namespace muster::storage {
namespace {

constexpr std::size_t kChunkBytes = 4 * 1024 * 1024;
// Written pages go to the device in steps, so that the progress tells of the device and little
// memory is dirty at a time.
constexpr std::uint64_t kSyncBytes = 64 * 1024 * 1024;

Status check_space(const std::string& folder, std::uint64_t bytes) {
  struct statvfs st{};
  if (::statvfs(folder.c_str(), &st) != 0) return errno_error("looking at " + folder, errno);
  const std::uint64_t free = st.f_bavail * st.f_frsize;
  const std::uint64_t reserve = reserve_bytes(st.f_blocks * st.f_frsize);
  if (free >= reserve && free - reserve >= bytes) return {};
  const auto text = [](std::uint64_t n) { return size_text(static_cast<double>(n)); };
  return make_error(Errc::exhausted,
                    fmt::format("{}: a file of {} would leave less than {} free ({} are); a "
                                "smaller one: --size",
                                folder, text(bytes), text(reserve), text(free)));
}

// A file that is gone with its last descriptor. Where the file system has no files without a name,
// it has one for a moment.
Result<Descriptor> nameless_file(const std::string& folder) {
  Descriptor file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file) return file;
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) {
    return errno_error("making a file in " + folder, errno);
  }
  std::string name = folder + "/.muster-bench-XXXXXX";
  file = Descriptor(::mkostemp(name.data(), O_CLOEXEC));
  if (!file) return errno_error("making a file in " + folder, errno);
  if (::unlink(name.c_str()) != 0) return errno_error("removing " + name, errno);
  return file;
}

Status write_all(int fd, std::span<const std::byte> bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return errno_error("writing the file to be read", n < 0 ? errno : ENOSPC);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
  return {};
}

Status settle(int fd) {
  if (::fdatasync(fd) != 0) return errno_error("writing the file to be read", errno);
  ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  return {};
}

}  // namespace

std::uint64_t reserve_bytes(std::uint64_t file_system_bytes) {
  constexpr std::uint64_t kMost = 1024 * 1024 * 1024;
  return std::min(kMost, file_system_bytes / 20);
}

void fill_incompressible(std::span<std::uint64_t> words, std::uint64_t block) {
  // SplitMix64 (Steele, Lea, Flood 2014) over a counter: gigabytes a second, no state.
  std::uint64_t counter = block * words.size();
  for (std::uint64_t& word : words) {
    std::uint64_t z = ++counter * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    word = z ^ (z >> 31);
  }
}

Result<std::shared_ptr<ReadTarget>> make_own_file(const std::string& folder, std::uint64_t bytes,
                                                  std::stop_token stop,
                                                  const Disk::Progress& progress) {
  if (Status space = check_space(folder, bytes); !space) return space.error();
  auto file = nameless_file(folder);
  if (!file) return file.error();
  const int fd = file->get();
  std::vector<std::uint64_t> words(kChunkBytes / sizeof(std::uint64_t));
  std::uint64_t settled = 0;
  for (std::uint64_t at = 0; at < bytes; at += kChunkBytes) {
    if (stop.stop_requested()) return make_error(Errc::unavailable, "stopped");
    fill_incompressible(words, at / kChunkBytes);
    const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(kChunkBytes, bytes - at));
    const Status written = write_all(fd, std::as_bytes(std::span(words)).first(length), at);
    if (!written) return written.error();
    if (at + length - settled < kSyncBytes && at + length < bytes) continue;
    if (Status synced = settle(fd); !synced) return synced.error();
    settled = at + length;
    progress(settled);
  }
  // Sizes and block maps too: reads would wait for the journal otherwise.
  if (::fsync(fd) != 0) return errno_error("writing the file to be read", errno);
  return std::make_shared<FileTarget>(std::move(*file), "the file to be read", bytes, false);
}

}  // namespace muster::storage
