#include "edge/os/work_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <set>

#include "edge/os/files.h"

namespace muster {
namespace {

constexpr const char* kLockName = "lock";

class RealWorkFolder final : public WorkFolder {
 public:
  RealWorkFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  ~RealWorkFolder() override { ::close(lock_); }
  RealWorkFolder(const RealWorkFolder&) = delete;
  RealWorkFolder& operator=(const RealWorkFolder&) = delete;

  Result<std::unique_ptr<WorkFile>> open(const std::string& name) override {
    names_.insert(name);
    return open_work_file(path_ + "/" + name, false);
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

  // The lock goes last: until the folder has its name nobody else may take it.
  Status publish(const std::string& path) override {
    if (Status synced = sync_folder(path_); !synced) return synced;
    if (Status named = rename_to_new(path_, path); !named) return named;
    path_ = path;
    if (Status removed = remove(kLockName); !removed) return removed;
    return sync_name(path);
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
    // Whoever had it may have published or removed it between the two calls.
    struct stat mine{}, there{};
    if (::fstat(fd, &mine) != 0 || ::lstat(lock.c_str(), &there) != 0 ||
        mine.st_ino != there.st_ino || mine.st_dev != there.st_dev) {
      ::close(fd);
      return make_error(Errc::unavailable, path + ": another process has just finished with it");
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
