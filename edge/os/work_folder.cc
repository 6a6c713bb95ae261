#include "edge/os/work_folder.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <set>

#include "edge/os/files.h"

namespace muster {
namespace {

constexpr const char* kLockName = "lock";
// Written out in the background from time to time, so that sync() finds little left to wait for.
constexpr std::uint64_t kBehindBytes = 8 * 1024 * 1024;

class RealWorkFile final : public WorkFile {
 public:
  RealWorkFile(int fd, std::string path, std::uint64_t bytes)
      : fd_(fd), path_(std::move(path)), bytes_(bytes) {}
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
  std::uint64_t begun_ = 0;  // until here the system was asked to write
};

Status sync_folder(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return errno_error("opening " + path, errno);
  const int result = ::fsync(fd);
  const int error_number = errno;
  ::close(fd);
  // A file system without it loses nothing else.
  if (result != 0 && error_number != EINVAL) return errno_error("writing " + path, error_number);
  return {};
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

// Where the kernel or file system has no rename that leaves others alone, an empty folder that was
// made just now by another may be replaced, and nothing else.
int rename_to_new(const char* from, const char* to) {
  const long done = ::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to,
                              static_cast<unsigned>(RENAME_NOREPLACE));
  if (done == 0 || (errno != EINVAL && errno != ENOSYS)) return static_cast<int>(done);
  struct stat st{};
  if (::lstat(to, &st) == 0) {
    errno = EEXIST;
    return -1;
  }
  return std::rename(from, to);
}

class RealWorkFolder final : public WorkFolder {
 public:
  RealWorkFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  ~RealWorkFolder() override { ::close(lock_); }
  RealWorkFolder(const RealWorkFolder&) = delete;
  RealWorkFolder& operator=(const RealWorkFolder&) = delete;

  Result<std::unique_ptr<WorkFile>> open(const std::string& name) override {
    const std::string path = path_ + "/" + name;
    names_.insert(name);
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    struct stat st{};
    if (fd < 0 || ::fstat(fd, &st) != 0) return errno_error("opening " + path, errno);
    return std::unique_ptr<WorkFile>(
        new RealWorkFile(fd, path, static_cast<std::uint64_t>(st.st_size)));
  }

  bool has(const std::string& name) override {
    struct stat st{};
    return ::lstat((path_ + "/" + name).c_str(), &st) == 0;
  }

  Status write_whole(const std::string& name, std::string_view bytes) override {
    const std::string temporary = name + ".new";
    if (Status removed = remove(temporary); !removed) return removed;
    {
      auto file = open(temporary);
      if (!file) return file.error();
      if (Status written = (*file)->append(bytes); !written) return written;
      if (Status synced = (*file)->sync(); !synced) return synced;
    }
    names_.insert(name);
    if (std::rename((path_ + "/" + temporary).c_str(), (path_ + "/" + name).c_str()) != 0) {
      return errno_error("renaming to " + path_ + "/" + name, errno);
    }
    return sync_folder(path_);
  }

  Status remove(const std::string& name) override {
    const std::string path = path_ + "/" + name;
    if (::unlink(path.c_str()) != 0 && errno != ENOENT)
      return errno_error("removing " + path, errno);
    return {};
  }

  Status discard() override {
    for (const std::string& name : names_) {
      if (Status removed = remove(name); !removed) return removed;
    }
    if (Status removed = remove(kLockName); !removed) return removed;
    if (::rmdir(path_.c_str()) != 0) return errno_error("removing " + path_, errno);
    return {};
  }

  Status publish(const std::string& path) override {
    if (Status removed = remove(kLockName); !removed) return removed;
    if (Status synced = sync_folder(path_); !synced) return synced;
    if (rename_to_new(path_.c_str(), path.c_str()) != 0) {
      if (errno == EEXIST || errno == ENOTEMPTY) {
        return make_error(Errc::invalid_input, path + " is there already; it is left as it is");
      }
      return errno_error("renaming " + path_ + " to " + path, errno);
    }
    path_ = path;
    return sync_folder(folder_of(path));
  }

 private:
  std::string path_;
  int lock_;
  std::set<std::string> names_;
};

class RealWorkFolders final : public WorkFolders {
 public:
  bool has(const std::string& path) override {
    struct stat st{};
    return ::lstat(path.c_str(), &st) == 0;
  }

  Result<std::unique_ptr<WorkFolder>> make(const std::string& path) override {
    if (::mkdir(path.c_str(), 0755) != 0) {
      if (errno == EEXIST) return make_error(Errc::invalid_input, path + " is there already");
      return errno_error("making " + path, errno);
    }
    return take(path);
  }

  Result<std::unique_ptr<WorkFolder>> take(const std::string& path) override {
    const std::string lock = path + "/" + kLockName;
    const int fd = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0) return errno_error("opening " + lock, errno);
    // A file system without locks: then nobody can tell.
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      ::close(fd);
      return make_error(Errc::unavailable, path + ": another process is working in it");
    }
    return std::unique_ptr<WorkFolder>(new RealWorkFolder(path, fd));
  }
};

}  // namespace

WorkFolders& real_work_folders() {
  static RealWorkFolders folders;
  return folders;
}

}  // namespace muster
