#include "edge/os/new_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <utility>

namespace muster {
namespace {

constexpr std::size_t kHeldBytes = 4 * 1024 * 1024;

}  // namespace

NewFile::NewFile(std::string path, std::string place, std::unique_ptr<WorkFile> file)
    : path_(std::move(path)), place_(std::move(place)), file_(std::move(file)) {}

Result<NewFile> NewFile::begin(const std::string& path) {
  if (path.empty()) return make_error(Errc::invalid_input, "an output needs a name");
  struct stat st{};
  if (::lstat(path.c_str(), &st) == 0) {
    return make_error(Errc::invalid_input, path + " is there already and is not overwritten");
  }
  // What a killed process left keeps its name, so the next number is tried.
  for (int i = 0; i < 1000; ++i) {
    std::string place = path + ".partial-" + std::to_string(::getpid()) + "-" + std::to_string(i);
    auto file = open_work_file(place, true);
    if (file) return NewFile(path, std::move(place), std::move(*file));
    if (file.error().code != Errc::invalid_input) return file.error();
  }
  return make_error(Errc::exhausted, "writing " + path + ": remove the .partial names beside it");
}

NewFile::NewFile(NewFile&& other) noexcept
    : path_(std::move(other.path_)),
      place_(std::exchange(other.place_, {})),
      file_(std::move(other.file_)),
      held_(std::move(other.held_)) {}

NewFile::~NewFile() {
  if (!place_.empty()) ::unlink(place_.c_str());
}

Status NewFile::append(std::string_view bytes) {
  held_ += bytes;
  return held_.size() < kHeldBytes ? Status() : flush();
}

Status NewFile::flush() {
  Status written = file_->append(held_);
  held_.clear();
  return written;
}

Status NewFile::keep() {
  if (Status written = flush(); !written) return written;
  if (Status synced = file_->sync(); !synced) return synced;
  if (Status named = rename_to_new(place_, path_); !named) return named;
  place_.clear();
  return sync_name(path_);
}

}  // namespace muster
