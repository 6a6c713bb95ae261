#include "tests/support/memory_files.h"

#include <algorithm>
#include <cerrno>
#include <set>

namespace muster {
namespace {

class MemoryStream final : public ByteStream {
 public:
  explicit MemoryStream(std::string bytes) : bytes_(std::move(bytes)) {}
  Result<std::size_t> read(std::span<char> buffer) override {
    const std::size_t n = std::min(buffer.size(), bytes_.size() - at_);
    std::copy_n(bytes_.data() + at_, n, buffer.data());
    at_ += n;
    return n;
  }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

}  // namespace

void MemoryFiles::add(const std::string& path, std::string bytes, WallTime modified) {
  files_[path] = {std::move(bytes), modified};
}

void MemoryFiles::add_folder(const std::string& path) {
  folders_.push_back(path);
}

bool MemoryFiles::is_folder(const std::string& path) const {
  if (std::find(folders_.begin(), folders_.end(), path) != folders_.end()) return true;
  const auto first = files_.lower_bound(path + "/");
  return first != files_.end() && first->first.starts_with(path + "/");
}

Result<std::unique_ptr<ByteStream>> MemoryFiles::open(const std::string& path) {
  {
    const std::lock_guard lock(opened_mutex_);
    opened_.push_back(path);
  }
  const auto it = files_.find(path);
  if (it != files_.end()) {
    return std::unique_ptr<ByteStream>(new MemoryStream(it->second.bytes));
  }
  return errno_error("opening " + path, is_folder(path) ? EISDIR : ENOENT);
}

Result<std::unique_ptr<ByteStream>> MemoryFiles::open_below(const std::string& folder,
                                                            const std::string& name) {
  return open(folder + "/" + name);
}

Result<FileInfo> MemoryFiles::stat(const std::string& path) {
  const auto it = files_.find(path);
  if (it != files_.end()) {
    return FileInfo{FileInfo::Type::file, it->second.bytes.size(), 1, it->second.modified};
  }
  if (is_folder(path)) return FileInfo{FileInfo::Type::folder, 0, 0, {}};
  return errno_error("looking at " + path, ENOENT);
}

Result<std::vector<std::string>> MemoryFiles::list(const std::string& path) {
  if (!is_folder(path)) {
    return errno_error("listing " + path, files_.contains(path) ? ENOTDIR : ENOENT);
  }
  std::set<std::string> names;
  const auto take = [&](const std::string& entry) {
    if (!entry.starts_with(path + "/")) return;
    const std::string rest = entry.substr(path.size() + 1);
    names.insert(rest.substr(0, rest.find('/')));
  };
  for (const auto& [name, file] : files_) take(name);
  for (const std::string& folder : folders_) take(folder);
  return std::vector<std::string>(names.begin(), names.end());
}

Status MemoryFiles::write_atomic(const std::string& path, std::string_view bytes) {
  const std::size_t slash = path.rfind('/');
  if (slash != std::string::npos && slash > 0 && !is_folder(path.substr(0, slash))) {
    return errno_error("writing " + path, ENOENT);
  }
  if (is_folder(path)) return errno_error("renaming to " + path, EISDIR);
  files_[path].bytes = std::string(bytes);
  return {};
}

}  // namespace muster
