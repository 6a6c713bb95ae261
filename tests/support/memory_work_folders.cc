#include "tests/support/memory_work_folders.h"

#include <algorithm>
#include <cstring>

namespace muster {

class MemoryWorkFile final : public WorkFile {
 public:
  MemoryWorkFile(MemoryWorkFolders& all, std::shared_ptr<MemoryWorkFolders::File> file)
      : all_(all), file_(std::move(file)) {}

  Status append(std::string_view bytes) override {
    bool partly = false;
    const Status next = all_.next(&partly);
    if (!next && partly) file_->bytes += bytes.substr(0, bytes.size() / 2);
    if (!next) return next;
    file_->bytes += bytes;
    return {};
  }
  Status sync() override {
    if (Status next = all_.next(); !next) return next;
    file_->synced = file_->bytes;
    file_->known = true;
    return {};
  }
  Status cut(std::uint64_t bytes) override {
    if (Status next = all_.next(); !next) return next;
    if (bytes > file_->bytes.size()) return make_error(Errc::corrupt, "shorter than it was left");
    file_->bytes.resize(bytes);
    file_->synced.resize(std::min<std::size_t>(file_->synced.size(), bytes));
    return {};
  }
  Result<std::size_t> read(std::uint64_t offset, std::span<char> buffer) override {
    if (Status next = all_.next(); !next) return next.error();
    if (offset >= file_->bytes.size()) return std::size_t{0};
    const std::size_t n = std::min(buffer.size(), file_->bytes.size() - offset);
    std::memcpy(buffer.data(), file_->bytes.data() + offset, n);
    return n;
  }
  std::uint64_t bytes() const override { return file_->bytes.size(); }

 private:
  MemoryWorkFolders& all_;
  std::shared_ptr<MemoryWorkFolders::File> file_;
};

class MemoryWorkFolder final : public WorkFolder {
 public:
  MemoryWorkFolder(MemoryWorkFolders& all, std::string path)
      : all_(all), path_(std::move(path)), folder_(all.folders_.at(path_)) {
    folder_->taken = true;
  }
  ~MemoryWorkFolder() override { folder_->taken = false; }
  MemoryWorkFolder(const MemoryWorkFolder&) = delete;
  MemoryWorkFolder& operator=(const MemoryWorkFolder&) = delete;

  Result<std::unique_ptr<WorkFile>> open(const std::string& name) override {
    if (Status next = all_.next(); !next) return next.error();
    auto& file = folder_->files[name];
    if (!file) file = std::make_shared<MemoryWorkFolders::File>();
    return std::unique_ptr<WorkFile>(new MemoryWorkFile(all_, file));
  }
  bool has(const std::string& name) override { return folder_->files.contains(name); }
  Status write_whole(const std::string& name, std::string_view bytes) override {
    if (Status next = all_.next(); !next) return next;
    auto file = std::make_shared<MemoryWorkFolders::File>();
    file->bytes = file->synced = bytes;
    file->known = true;
    folder_->files[name] = file;
    return {};
  }
  Status remove(const std::string& name) override {
    if (Status next = all_.next(); !next) return next;
    folder_->files.erase(name);
    return {};
  }
  Status discard() override {
    if (Status next = all_.next(); !next) return next;
    all_.folders_.erase(path_);
    return {};
  }
  Status publish(const std::string& path) override {
    if (Status next = all_.next(); !next) return next;
    if (all_.folders_.contains(path)) return make_error(Errc::invalid_input, path + " is there");
    all_.folders_[path] = folder_;
    all_.folders_.erase(path_);
    path_ = path;
    return {};
  }

 private:
  MemoryWorkFolders& all_;
  std::string path_;
  std::shared_ptr<MemoryWorkFolders::Folder> folder_;
};

Status MemoryWorkFolders::next(bool* partly) {
  const std::uint64_t call = calls++;
  if (power_ends && call >= *power_ends) {
    if (partly != nullptr) *partly = call == *power_ends;
    return make_error(Errc::unavailable, "the disk is gone");
  }
  if (failing_call == call) {
    if (partly != nullptr) *partly = true;
    return make_error(Errc::exhausted, "the disk is full");
  }
  return {};
}

void MemoryWorkFolders::lose_power(const std::function<std::uint64_t()>& chance) {
  power_ends.reset();
  for (auto& [path, folder] : folders_) {
    folder->taken = false;
    std::erase_if(folder->files,
                  [&](const auto& one) { return !one.second->known && chance() % 2 == 0; });
    for (auto& [name, file] : folder->files) {
      // What was cut and synced before may not come back longer; what was added may.
      std::string fresh = file->bytes.substr(std::min(file->synced.size(), file->bytes.size()));
      switch (chance() % 4) {
        case 0:
          fresh.clear();
          break;
        case 1:
          fresh.resize(fresh.empty() ? 0 : chance() % fresh.size());
          break;
        case 2:
          std::fill(fresh.begin(), fresh.end(), '\0');
          break;
        default:
          break;
      }
      file->bytes = file->synced + fresh;
      file->synced = file->bytes;
      file->known = true;
    }
  }
}

Result<std::unique_ptr<WorkFolder>> MemoryWorkFolders::make(const std::string& path) {
  if (Status n = next(); !n) return n.error();
  if (folders_.contains(path)) return make_error(Errc::invalid_input, path + " is there already");
  folders_[path] = std::make_shared<Folder>();
  return std::unique_ptr<WorkFolder>(new MemoryWorkFolder(*this, path));
}

Result<std::unique_ptr<WorkFolder>> MemoryWorkFolders::take(const std::string& path) {
  if (Status n = next(); !n) return n.error();
  const auto at = folders_.find(path);
  if (at == folders_.end()) return make_error(Errc::not_found, path);
  if (at->second->taken) return make_error(Errc::unavailable, path + ": another has it");
  return std::unique_ptr<WorkFolder>(new MemoryWorkFolder(*this, path));
}

void MemoryWorkFolders::replace(const std::string& folder, const std::string& name,
                                const std::string& bytes) {
  folders_.at(folder)->files.at(name)->bytes = bytes;
}

std::string MemoryWorkFolders::text(const std::string& folder, const std::string& name) const {
  const auto at = folders_.find(folder);
  if (at == folders_.end()) return "";
  const auto file = at->second->files.find(name);
  return file == at->second->files.end() ? "" : file->second->bytes;
}

}  // namespace muster
