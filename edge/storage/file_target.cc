#include "edge/storage/file_target.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "core/storage/read_plan.h"
#include "edge/os/files.h"
#include "edge/storage/mapping.h"

namespace muster::storage {
namespace {

// Since Linux 5.2 mincore() tells the truth to those alone who own the file or may write it; to
// others every page is resident.
bool told_residency(int fd) {
  struct stat st{};
  if (::geteuid() == 0) return true;
  if (::fstat(fd, &st) == 0 && st.st_uid == ::geteuid()) return true;
  return ::access(fmt::format("/proc/self/fd/{}", fd).c_str(), W_OK) == 0;
}

}  // namespace

std::string FileTarget::path() const {
  return fmt::format("/proc/{}/fd/{}", ::getpid(), file_.get());
}

Result<std::unique_ptr<ReadQueue>> FileTarget::open(bool direct, std::uint32_t depth) {
  const int flags = O_RDONLY | O_CLOEXEC | (direct ? O_DIRECT : 0);
  const int fd = ::open(path().c_str(), flags);
  if (fd < 0 && direct && (errno == EINVAL || errno == EOPNOTSUPP)) {
    return make_error(Errc::unsupported, "this file system refuses O_DIRECT");
  }
  if (fd < 0) return errno_error("opening " + name_ + " once more", errno);
  // A buffered read is not in flight after its call: only O_DIRECT makes a queue of it.
  return depth == 1 ? open_single_queue(fd, kBlockBytes) : open_deep_queue(fd, depth, kBlockBytes);
}

Result<double> FileTarget::residency(std::uint64_t bytes) {
  if (!told_residency(file_.get())) {
    return make_error(Errc::permission,
                      "the kernel tells only the owner, or who may write the file, what of it is "
                      "in the page cache");
  }
  constexpr std::uint64_t kChunk = 256 * 1024 * 1024;
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages;
  std::uint64_t resident = 0, all = 0;
  bytes = std::min(bytes, bytes_);
  for (std::uint64_t at = 0; at < bytes; at += kChunk) {
    const std::uint64_t length = std::min(kChunk, bytes - at);
    const Mapping mapped(length, PROT_READ, MAP_SHARED, file_.get(), static_cast<off_t>(at));
    if (!mapped) return errno_error("mapping " + name_, errno);
    pages.assign((length + page - 1) / page, 0);
    if (::mincore(mapped.at(), length, pages.data()) != 0) {
      return errno_error("asking for cached pages of " + name_, errno);
    }
    all += pages.size();
    resident += static_cast<std::uint64_t>(
        std::count_if(pages.begin(), pages.end(), [](unsigned char p) { return (p & 1) != 0; }));
  }
  return all == 0 ? 0 : static_cast<double>(resident) / static_cast<double>(all);
}

Status FileTarget::drop_cache() {
  // Pages that are not on the device yet cannot be dropped; whether it helped, residency() tells.
  static_cast<void>(::fdatasync(file_.get()));
  const int error = ::posix_fadvise(file_.get(), 0, 0, POSIX_FADV_DONTNEED);
  if (error != 0) return errno_error("dropping cached pages of " + name_, error);
  return {};
}

}  // namespace muster::storage
