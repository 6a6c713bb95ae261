#include "train/comm/shared_memory.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "edge/os/files.h"

namespace muster::train {

Result<std::unique_ptr<SharedMemory>> SharedMemory::create(std::size_t bytes) {
  const int descriptor = memfd_create("muster-ranks", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) return errno_error("making memory that ranks share", errno);
  if (ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) {
    const Error error = errno_error("making memory that ranks share", errno);
    close(descriptor);
    return error;
  }
  return map(descriptor, bytes);
}

Result<std::unique_ptr<SharedMemory>> SharedMemory::map(int descriptor, std::size_t bytes) {
  struct stat about = {};
  // A shorter one would end this process at its first touch.
  if (fstat(descriptor, &about) != 0 || about.st_size != static_cast<off_t>(bytes)) {
    close(descriptor);
    return make_error(Errc::invalid_input, "memory that ranks share has another size than ours");
  }
  void* data =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  if (data == MAP_FAILED) {
    const Error error = errno_error("mapping memory that ranks share", errno);
    close(descriptor);
    return error;
  }
  return std::unique_ptr<SharedMemory>(
      new SharedMemory(descriptor, static_cast<std::byte*>(data), bytes));
}

SharedMemory::~SharedMemory() {
  munmap(data_, size_);
  close(descriptor_);
}

}  // namespace muster::train
