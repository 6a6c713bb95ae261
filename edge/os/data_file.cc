#include "edge/os/data_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "edge/os/files.h"

namespace muster {

class DataReader::Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { ::close(number_); }
  int number() const { return number_; }

 private:
  int number_;
};

// ---- reading -----------------------------------------------------------------------------------

DataReader::DataReader(std::shared_ptr<const Descriptor> fd, std::string path, std::uint64_t bytes)
    : fd_(std::move(fd)), path_(std::move(path)), bytes_(bytes) {}

Result<DataReader> DataReader::open(const std::string& path) {
  // A pipe would wait for its writer.
  const int number = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (number < 0) return errno_error("opening " + path, errno);
  auto fd = std::make_shared<const Descriptor>(number);
  struct stat st{};
  if (::fstat(number, &st) != 0) return errno_error("looking at " + path, errno);
  if (!S_ISREG(st.st_mode)) {
    return make_error(Errc::invalid_input, "opening " + path + ": not a regular file");
  }
  return DataReader(std::move(fd), path, static_cast<std::uint64_t>(st.st_size));
}

Status DataReader::read_at(std::uint64_t offset, std::span<char> out) const {
  while (!out.empty()) {
    const ssize_t n = ::pread(fd_->number(), out.data(), out.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno_error("reading " + path_, errno);
    if (n == 0) {
      return make_error(Errc::corrupt, "reading " + path_ + ": it ends before its size");
    }
    offset += static_cast<std::uint64_t>(n);
    out = out.subspan(static_cast<std::size_t>(n));
  }
  return {};
}

// ---- writing -----------------------------------------------------------------------------------

DataWriter::DataWriter(std::shared_ptr<const DataReader::Descriptor> fd, std::string path)
    : fd_(std::move(fd)), path_(std::move(path)) {}

Result<DataWriter> DataWriter::create(const std::string& path) {
  const int number = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0666);
  if (number < 0 && errno == EEXIST) {
    return make_error(Errc::invalid_input, path + " is there already and is not overwritten");
  }
  if (number < 0) return errno_error("writing " + path, errno);
  return DataWriter(std::make_shared<const DataReader::Descriptor>(number), path);
}

Status DataWriter::write_at(std::uint64_t offset, std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t n =
        ::pwrite(fd_->number(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno_error("writing " + path_, errno);
    offset += static_cast<std::uint64_t>(n);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

Status DataWriter::sync() const {
  if (::fsync(fd_->number()) != 0) return errno_error("writing " + path_, errno);
  return {};
}

// ---- new names ---------------------------------------------------------------------------------

namespace {

void sync_folder(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

// Some network file systems cannot rename without replacing: there the name is looked at first.
int rename_to_new(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  struct stat st{};
  if (::lstat(to.c_str(), &st) == 0) return EEXIST;
  return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

Error taken(const std::string& path) {
  return make_error(Errc::invalid_input, path + " is there already and is not overwritten");
}

}  // namespace

NewPath::NewPath(std::string path, std::string place, Kind kind)
    : path_(std::move(path)), place_(std::move(place)), kind_(kind) {}

Result<NewPath> NewPath::begin(const std::string& path, Kind kind) {
  std::string name = path;
  while (name.size() > 1 && name.back() == '/') name.pop_back();
  if (name.empty()) return make_error(Errc::invalid_input, "an output needs a name");
  struct stat st{};
  if (::lstat(name.c_str(), &st) == 0) return taken(name);
  // What a killed process left keeps its name, so the next number is tried.
  for (int i = 0; i < 1000; ++i) {
    std::string place = name + ".partial-" + std::to_string(::getpid()) + "-" + std::to_string(i);
    if (kind == Kind::folder) {
      if (::mkdir(place.c_str(), 0777) == 0)
        return NewPath(std::move(name), std::move(place), kind);
      if (errno != EEXIST) return errno_error("writing " + name, errno);
    } else if (::lstat(place.c_str(), &st) != 0) {
      return NewPath(std::move(name), std::move(place), kind);
    }
  }
  return make_error(Errc::exhausted, "writing " + name + ": remove the .partial names beside it");
}

NewPath::NewPath(NewPath&& other) noexcept
    : path_(std::move(other.path_)), place_(std::exchange(other.place_, {})), kind_(other.kind_) {}

NewPath::~NewPath() {
  if (place_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(place_, ignored);
}

Status NewPath::keep() {
  if (kind_ == Kind::folder) sync_folder(place_);
  const int fault = rename_to_new(place_, path_);
  if (fault == EEXIST || fault == ENOTEMPTY) return taken(path_);
  if (fault != 0) return errno_error("renaming to " + path_, fault);
  place_.clear();
  sync_folder(folder_of(path_));
  return {};
}

}  // namespace muster
