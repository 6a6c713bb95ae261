#include "edge/os/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "edge/os/descriptor.h"
#include "edge/os/work_file.h"

namespace muster {
namespace {

// A file system holds times beyond the year 2262, where nanoseconds end: those are the last there.
WallTime wall_of(const timespec& time) {
  constexpr std::int64_t kNs = 1'000'000'000;
  constexpr std::int64_t kMost = INT64_MAX / kNs - 1;
  const std::int64_t seconds = std::clamp<std::int64_t>(time.tv_sec, -kMost, kMost);
  return wall_from_ns(seconds * kNs + time.tv_nsec);
}

class RealStream final : public ByteStream {
 public:
  RealStream(int fd, std::string path) : fd_(fd), path_(std::move(path)) {
    struct stat st{};
    pipe_ = ::fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
  }
  ~RealStream() override {
    if (fd_.get() <= STDERR_FILENO) fd_.release();  // standard input is left open
  }
  RealStream(const RealStream&) = delete;
  RealStream& operator=(const RealStream&) = delete;
  Result<std::size_t> read(std::span<char> buffer) override {
    while (!ended_) {
      // Before its first writer a pipe would read as ended.
      while (pipe_ && !ready(std::chrono::seconds(10))) continue;
      const ssize_t n = ::read(fd_.get(), buffer.data(), buffer.size());
      // Of a terminal one Ctrl-D is the end: the next read would wait for another.
      ended_ = n == 0 && ::isatty(fd_.get()) == 1;
      if (n >= 0) return static_cast<std::size_t>(n);
      if (errno != EINTR) return errno_error("reading " + path_, errno);
    }
    return std::size_t{0};
  }
  bool ready(Duration wait) override {
    if (ended_) return true;
    pollfd input{fd_.get(), POLLIN, 0};
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(std::max(wait, Duration{}));
    const int n = ::poll(&input, 1, static_cast<int>(std::min<std::int64_t>(ms.count(), 60'000)));
    return n > 0 || (n < 0 && errno != EINTR);  // what cannot be waited for is read
  }

 private:
  Descriptor fd_;
  std::string path_;
  bool pipe_ = false, ended_ = false;
};

// A pipe is opened without waiting for its writer; everything else as ever.
int open_to_read(const std::string& path) {
  struct stat st{};
  const bool pipe = ::stat(path.c_str(), &st) == 0 && S_ISFIFO(st.st_mode);
  const int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY;
  if (!pipe) return ::open(path.c_str(), flags);
  const int fd = ::open(path.c_str(), flags | O_NONBLOCK);
  if (fd >= 0) ::fcntl(fd, F_SETFL, 0);
  return fd;
}

// One part of the name after the other, so that none can be a link. Does not wait for a writer of
// what turns out to be a pipe.
int open_without_links(const std::string& folder, std::string_view name) {
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  int at = ::open(folder.c_str(), kFlags | O_DIRECTORY);
  while (at >= 0 && !name.empty()) {
    const std::size_t slash = std::min(name.find('/'), name.size());
    const std::string part(name.substr(0, slash));
    name.remove_prefix(std::min(slash + 1, name.size()));
    const int next =
        ::openat(at, part.c_str(), kFlags | O_NOFOLLOW | (name.empty() ? 0 : O_DIRECTORY));
    const int error_number = errno;
    ::close(at);
    errno = error_number;
    at = next;
  }
  return at;
}

bool raise_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return false;
  limit.rlim_cur = limit.rlim_max;
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

Error too_many_files(const std::string& path) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return make_error(Errc::exhausted,
                    "opening " + path + ": this process may hold no more than " +
                        std::to_string(limit.rlim_max) +
                        " files; raise `ulimit -Hn`, or join inputs first (muster record)");
}

Status write_all(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno_error("writing " + path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

class RealFiles final : public Files {
 public:
  Result<std::unique_ptr<ByteStream>> open(const std::string& path) override {
    if (path == "-") return std::unique_ptr<ByteStream>(new RealStream(0, "standard input"));
    int fd = open_to_read(path);
    if (fd < 0 && errno == EMFILE && raise_file_limit()) fd = open_to_read(path);
    if (fd < 0 && errno == EMFILE) return too_many_files(path);
    if (fd < 0) return errno_error("opening " + path, errno);
    struct stat st{};
    if (::fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
      ::close(fd);
      return errno_error("opening " + path, EISDIR);
    }
    return std::unique_ptr<ByteStream>(new RealStream(fd, path));
  }

  Result<std::unique_ptr<ByteStream>> open_below(const std::string& folder,
                                                 const std::string& name) override {
    const std::string path = folder.ends_with('/') ? folder + name : folder + "/" + name;
    int fd = open_without_links(folder, name);
    if (fd < 0 && errno == EMFILE && raise_file_limit()) fd = open_without_links(folder, name);
    if (fd < 0 && errno == EMFILE) return too_many_files(path);
    if (fd < 0 && (errno == ELOOP || errno == ENOTDIR)) {
      return make_error(Errc::invalid_input, "opening " + path + ": a link by now, not followed");
    }
    if (fd < 0) return errno_error("opening " + path, errno);
    struct stat st{};
    if (::fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
      ::close(fd);
      return make_error(Errc::invalid_input, "opening " + path + ": no file any more, not read");
    }
    ::fcntl(fd, F_SETFL, 0);
    return std::unique_ptr<ByteStream>(new RealStream(fd, path));
  }

  Result<FileInfo> stat(const std::string& path) override {
    struct stat st{};
    if (::stat(path.c_str(), &st) != 0) return errno_error("looking at " + path, errno);
    FileInfo info;
    if (S_ISREG(st.st_mode)) info.type = FileInfo::Type::file;
    if (S_ISDIR(st.st_mode)) info.type = FileInfo::Type::folder;
    info.id = static_cast<std::uint64_t>(st.st_ino);
    info.bytes = static_cast<std::uint64_t>(st.st_size);
    info.modified = wall_of(st.st_mtim);
    struct stat self{};
    info.link = ::lstat(path.c_str(), &self) == 0 && S_ISLNK(self.st_mode);
    const auto trusted = [](uid_t owner) { return owner == 0 || owner == ::geteuid(); };
    if ((st.st_mode & S_IWOTH) != 0) info.writer = FileInfo::Writer::anybody;
    if (!trusted(st.st_uid) || (info.link && !trusted(self.st_uid))) {
      info.writer = FileInfo::Writer::another_user;
    }
    return info;
  }

  Result<std::vector<std::string>> list(const std::string& path) override {
    DIR* dir = ::opendir(path.c_str());
    if (dir == nullptr) return errno_error("listing " + path, errno);
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = ::readdir(dir)) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
    }
    const int error_number = errno;
    ::closedir(dir);
    if (error_number != 0) return errno_error("listing " + path, error_number);
    std::sort(names.begin(), names.end());
    return names;
  }

  Status write_atomic(const std::string& path, std::string_view bytes) override {
    struct stat st{};
    if (::stat(path.c_str(), &st) == 0 && !S_ISREG(st.st_mode)) return write_into(path, bytes);
    std::string temporary = path + ".XXXXXX";
    const int fd = ::mkostemp(temporary.data(), O_CLOEXEC);
    if (fd < 0) return errno_error("writing " + path, errno);
    Status written = write_all(fd, bytes, path);
    if (written && ::fsync(fd) != 0) written = errno_error("writing " + path, errno);
    if (::close(fd) != 0 && written) written = errno_error("writing " + path, errno);
    if (written && ::rename(temporary.c_str(), path.c_str()) != 0) {
      written = errno_error("renaming to " + path, errno);
    }
    if (!written) {
      ::unlink(temporary.c_str());
      return written;
    }
    // The rename itself must survive a power loss; a file system that refuses this loses nothing
    // else.
    (void)sync_name(path);
    return {};
  }

 private:
  // A device or pipe cannot be replaced by a rename: that would put a file in its place.
  static Status write_into(const std::string& path, std::string_view bytes) {
    const Descriptor fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
    if (fd.get() < 0) return errno_error("writing " + path, errno);
    return write_all(fd.get(), bytes, path);
  }
};

}  // namespace

Files& real_files() {
  static RealFiles files;
  return files;
}

Result<std::string> read_whole(Files& files, const std::string& path, std::size_t max_bytes,
                               std::optional<Duration> patience) {
  auto stream = files.open(path);
  if (!stream) return stream.error();
  std::string out;
  std::array<char, 65536> buffer;
  for (;;) {
    if (patience && !(*stream)->ready(*patience)) {
      return make_error(Errc::timeout, "reading " + path + ": a pipe, and nothing comes from it");
    }
    const auto n = (*stream)->read(buffer);
    if (!n) return n.error();
    if (*n == 0) return out;
    if (out.size() + *n > max_bytes) {
      return make_error(Errc::exhausted, "reading " + path + ": longer than the limit");
    }
    out.append(buffer.data(), *n);
  }
}

Error errno_error(std::string_view while_doing, int error_number) {
  Errc code = Errc::unavailable;
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      code = Errc::not_found;
      break;
    case EACCES:
    case EPERM:
    case EROFS:
      code = Errc::permission;
      break;
    case EISDIR:
    case EINVAL:
      code = Errc::invalid_input;
      break;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
      code = Errc::exhausted;
      break;
    case ETIMEDOUT:
      code = Errc::timeout;
      break;
    default:
      break;
  }
  return make_error(code, std::string(while_doing) + ": " + std::strerror(error_number));
}

}  // namespace muster
