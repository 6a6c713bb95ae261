#include "edge/os/work_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "edge/os/files.h"

namespace muster {
namespace {

// Written out in the background from time to time, so that sync() finds little left to wait for.
constexpr std::uint64_t kBehindBytes = 8 * 1024 * 1024;

class RealWorkFile final : public WorkFile {
 public:
  RealWorkFile(int fd, std::string path, std::uint64_t bytes)
      : fd_(fd), path_(std::move(path)), bytes_(bytes), begun_(bytes) {}
  ~RealWorkFile() override { ::close(fd_); }
  RealWorkFile(const RealWorkFile&) = delete;
  RealWorkFile& operator=(const RealWorkFile&) = delete;

  Status append(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t n = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(bytes_));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return errno_error("writing " + path_, errno);
      bytes_ += static_cast<std::uint64_t>(n);
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    if (bytes_ - begun_ >= kBehindBytes) {
      // Where it fails, sync() tells.
      ::sync_file_range(fd_, static_cast<off_t>(begun_), static_cast<off_t>(bytes_ - begun_),
                        SYNC_FILE_RANGE_WRITE);
      begun_ = bytes_;
    }
    return {};
  }

  Status sync() override {
    if (::fdatasync(fd_) != 0) return errno_error("writing " + path_, errno);
    return {};
  }

  Status cut(std::uint64_t bytes) override {
    if (bytes > bytes_) {
      return make_error(Errc::corrupt, path_ + " is shorter than it was left");
    }
    if (::ftruncate(fd_, static_cast<off_t>(bytes)) != 0) {
      return errno_error("cutting " + path_, errno);
    }
    bytes_ = bytes;
    begun_ = std::min(begun_, bytes);
    return {};
  }

  Result<std::size_t> read(std::uint64_t offset, std::span<char> buffer) override {
    std::size_t have = 0;
    while (have < buffer.size()) {
      const ssize_t n = ::pread(fd_, buffer.data() + have, buffer.size() - have,
                                static_cast<off_t>(offset + have));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return errno_error("reading " + path_, errno);
      if (n == 0) break;
      have += static_cast<std::size_t>(n);
    }
    return have;
  }

  std::uint64_t bytes() const override { return bytes_; }

 private:
  int fd_;
  std::string path_;
  std::uint64_t bytes_;
  std::uint64_t begun_;  // until here the system was asked to write
};

Error taken(const std::string& path) {
  return make_error(Errc::invalid_input, path + " is there already and is not overwritten");
}

}  // namespace

Result<std::unique_ptr<WorkFile>> open_work_file(const std::string& path, bool must_be_new) {
  const int how = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK |
                  (must_be_new ? O_EXCL : 0);
  const int fd = ::open(path.c_str(), how, 0666);
  if (fd < 0 && errno == EEXIST) return taken(path);
  if (fd < 0) return errno_error("opening " + path, errno);
  struct stat st{};
  if (::fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
    ::close(fd);
    return make_error(Errc::invalid_input, "opening " + path + ": not a regular file");
  }
  return std::unique_ptr<WorkFile>(
      new RealWorkFile(fd, path, static_cast<std::uint64_t>(st.st_size)));
}

Status sync_folder(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return errno_error("opening " + folder, errno);
  const int result = ::fsync(fd);
  const int error_number = errno;
  ::close(fd);
  if (result != 0 && error_number != EINVAL) return errno_error("writing " + folder, error_number);
  return {};
}

Status sync_name(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return sync_folder(slash == std::string::npos ? "." : path.substr(0, slash + 1));
}

Status rename_to_new(const std::string& from, const std::string& to) {
  int fault =
      ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0 ? 0 : errno;
  if (fault == EINVAL || fault == ENOSYS) {
    struct stat st{};
    if (::lstat(to.c_str(), &st) == 0) return taken(to);
    fault = ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
  }
  if (fault == EEXIST || fault == ENOTEMPTY) return taken(to);
  if (fault != 0) return errno_error("renaming " + from + " to " + to, fault);
  return {};
}

}  // namespace muster
