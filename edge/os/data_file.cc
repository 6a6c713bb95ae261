#include "edge/os/data_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "edge/os/files.h"

namespace muster {

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
    const ssize_t n = ::pread(fd_->get(), out.data(), out.size(), static_cast<off_t>(offset));
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

}  // namespace muster
