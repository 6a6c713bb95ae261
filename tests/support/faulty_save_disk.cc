#include "tests/support/faulty_save_disk.h"

#include <utility>

namespace muster::train {
namespace {

class FaultySaveFile final : public SaveFile {
 public:
  FaultySaveFile(FaultySaveDisk& disk, std::unique_ptr<SaveFile> under)
      : disk_(disk), under_(std::move(under)) {}
  Status append(std::string_view bytes) override {
    if (Status fine = disk_.next(); !fine) {
      (void)under_->append(bytes.substr(0, bytes.size() / 2));  // as a full disk does
      return fine;
    }
    return under_->append(bytes);
  }
  Status sync() override {
    if (Status fine = disk_.next(); !fine) return fine;
    return disk_.syncs ? under_->sync() : Status();
  }

 private:
  FaultySaveDisk& disk_;
  std::unique_ptr<SaveFile> under_;
};

class FaultyLoadFile final : public LoadFile {
 public:
  FaultyLoadFile(FaultySaveDisk& disk, std::unique_ptr<LoadFile> under)
      : disk_(disk), under_(std::move(under)) {}
  std::uint64_t bytes() const override { return under_->bytes(); }
  Status read_at(std::uint64_t offset, std::span<char> out) override {
    if (Status fine = disk_.next(); !fine) return fine;
    return under_->read_at(offset, out);
  }

 private:
  FaultySaveDisk& disk_;
  std::unique_ptr<LoadFile> under_;
};

}  // namespace

Status FaultySaveDisk::next() {
  if (before_call) before_call();
  if (calls_++ == failing_call) return make_error(Errc::unavailable, "the disk fails on purpose");
  return {};
}

Result<std::vector<std::string>> FaultySaveDisk::list(const std::string& folder) {
  if (Status fine = next(); !fine) return fine.error();
  return under_.list(folder);
}
Status FaultySaveDisk::make_folder(const std::string& path) {
  if (Status fine = next(); !fine) return fine;
  return under_.make_folder(path);
}
Result<std::unique_ptr<SaveFile>> FaultySaveDisk::create(const std::string& path) {
  if (Status fine = next(); !fine) return fine.error();
  auto file = under_.create(path);
  if (!file) return file.error();
  return std::unique_ptr<SaveFile>(new FaultySaveFile(*this, std::move(*file)));
}
Result<std::unique_ptr<LoadFile>> FaultySaveDisk::open(const std::string& path) {
  if (Status fine = next(); !fine) return fine.error();
  auto file = under_.open(path);
  if (!file) return file.error();
  return std::unique_ptr<LoadFile>(new FaultyLoadFile(*this, std::move(*file)));
}
Status FaultySaveDisk::write_whole(const std::string& path, std::string_view bytes) {
  if (Status fine = next(); !fine) return fine;
  return under_.write_whole(path, bytes);
}
Status FaultySaveDisk::rename(const std::string& from, const std::string& to) {
  if (Status fine = next(); !fine) return fine;
  return under_.rename(from, to);
}
Status FaultySaveDisk::exchange(const std::string& one, const std::string& other) {
  if (Status fine = next(); !fine) return fine;
  if (!exchanges) return make_error(Errc::unsupported, "exchanging names");
  return under_.exchange(one, other);
}
Status FaultySaveDisk::remove(const std::string& path) {
  if (Status fine = next(); !fine) return fine;
  return under_.remove(path);
}
Status FaultySaveDisk::sync_folder(const std::string& path) {
  if (Status fine = next(); !fine) return fine;
  return syncs ? under_.sync_folder(path) : Status();
}
Result<std::uint64_t> FaultySaveDisk::room(const std::string& folder) {
  if (Status fine = next(); !fine) return fine.error();
  if (room_bytes) return *room_bytes;
  return under_.room(folder);
}

}  // namespace muster::train
