#include "train/ckpt/save_disk.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "edge/os/data_file.h"
#include "edge/os/files.h"
#include "edge/os/work_file.h"

namespace muster::train {
namespace {

class RealSaveFile final : public SaveFile {
 public:
  explicit RealSaveFile(std::unique_ptr<WorkFile> file) : file_(std::move(file)) {}
  Status append(std::string_view bytes) override { return file_->append(bytes); }
  Status sync() override { return file_->sync(); }

 private:
  std::unique_ptr<WorkFile> file_;
};

class RealLoadFile final : public LoadFile {
 public:
  explicit RealLoadFile(DataReader reader) : reader_(std::move(reader)) {}
  std::uint64_t bytes() const override { return reader_.bytes(); }
  Status read_at(std::uint64_t offset, std::span<char> out) override {
    return reader_.read_at(offset, out);
  }

 private:
  DataReader reader_;
};

Status of(const std::error_code& error, const std::string& doing) {
  if (!error) return {};
  return errno_error(doing, error.value());
}

class RealSaveDisk final : public SaveDisk {
 public:
  Result<std::vector<std::string>> list(const std::string& folder) override {
    return real_files().list(folder);
  }
  bool has(const std::string& path) override {
    struct stat st{};
    return ::lstat(path.c_str(), &st) == 0;
  }
  Status make_folder(const std::string& path) override {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    return of(error, "making the folder " + path);
  }
  Result<std::unique_ptr<SaveFile>> create(const std::string& path) override {
    auto file = open_work_file(path, true);
    if (!file) return file.error();
    return std::unique_ptr<SaveFile>(new RealSaveFile(std::move(*file)));
  }
  Result<std::unique_ptr<LoadFile>> open(const std::string& path) override {
    auto reader = DataReader::open(path);
    if (!reader) return reader.error();
    return std::unique_ptr<LoadFile>(new RealLoadFile(std::move(*reader)));
  }
  Status write_whole(const std::string& path, std::string_view bytes) override {
    return real_files().write_atomic(path, bytes);
  }
  Status rename(const std::string& from, const std::string& to) override {
    return rename_to_new(from, to);
  }
  Status exchange(const std::string& one, const std::string& other) override {
    if (::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0) {
      return {};
    }
    const std::string doing = "exchanging " + one + " and " + other;
    if (errno == EINVAL || errno == ENOSYS) return make_error(Errc::unsupported, doing);
    return errno_error(doing, errno);
  }
  Status remove(const std::string& path) override {
    std::error_code error;
    std::filesystem::remove_all(path, error);
    return of(error, "removing " + path);
  }
  Status sync_folder(const std::string& path) override { return muster::sync_folder(path); }
  Result<std::uint64_t> room(const std::string& folder) override {
    struct statvfs st{};
    if (::statvfs(folder.c_str(), &st) != 0) return errno_error("looking at " + folder, errno);
    return static_cast<std::uint64_t>(st.f_bavail) * static_cast<std::uint64_t>(st.f_frsize);
  }
};

}  // namespace

SaveDisk& real_save_disk() {
  static RealSaveDisk disk;
  return disk;
}

Result<std::string> read_small(SaveDisk& disk, const std::string& path, std::uint64_t most) {
  auto file = disk.open(path);
  if (!file) return file.error();
  if ((*file)->bytes() > most) {
    return make_error(Errc::exhausted, "reading " + path + ": longer than the limit");
  }
  std::string out((*file)->bytes(), '\0');
  if (const Status read = (*file)->read_at(0, out); !read) return read.error();
  return out;
}

}  // namespace muster::train
