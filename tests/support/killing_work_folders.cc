#include "tests/support/killing_work_folders.h"

#include <signal.h>

namespace muster {
namespace {

class KillingFile final : public WorkFile {
 public:
  KillingFile(KillingWorkFolders& all, std::unique_ptr<WorkFile> file)
      : all_(all), file_(std::move(file)) {}
  Status append(std::string_view bytes) override {
    if (all_.last(false)) {
      const Status half = file_->append(bytes.substr(0, bytes.size() / 2));
      raise(half ? SIGKILL : SIGABRT);
    }
    return file_->append(bytes);
  }
  Status sync() override {
    all_.last();
    return file_->sync();
  }
  Status cut(std::uint64_t bytes) override {
    all_.last();
    return file_->cut(bytes);
  }
  Result<std::size_t> read(std::uint64_t offset, std::span<char> buffer) override {
    return file_->read(offset, buffer);
  }
  std::uint64_t bytes() const override { return file_->bytes(); }

 private:
  KillingWorkFolders& all_;
  std::unique_ptr<WorkFile> file_;
};

class KillingFolder final : public WorkFolder {
 public:
  KillingFolder(KillingWorkFolders& all, std::unique_ptr<WorkFolder> folder)
      : all_(all), folder_(std::move(folder)) {}
  Result<std::unique_ptr<WorkFile>> open(const std::string& name) override {
    all_.last();
    auto file = folder_->open(name);
    if (!file) return file.error();
    return std::unique_ptr<WorkFile>(new KillingFile(all_, std::move(*file)));
  }
  bool has(const std::string& name) override { return folder_->has(name); }
  Status write_whole(const std::string& name, std::string_view bytes) override {
    all_.last();
    return folder_->write_whole(name, bytes);
  }
  Status remove(const std::string& name) override {
    all_.last();
    return folder_->remove(name);
  }
  Status discard() override {
    all_.last();
    return folder_->discard();
  }
  Status publish(const std::string& path) override {
    all_.last();
    return folder_->publish(path);
  }

 private:
  KillingWorkFolders& all_;
  std::unique_ptr<WorkFolder> folder_;
};

}  // namespace

bool KillingWorkFolders::last(bool now) {
  const bool is_last = calls_++ == last_call_;
  if (is_last && now) raise(SIGKILL);
  return is_last;
}

Result<std::unique_ptr<WorkFolder>> KillingWorkFolders::make(const std::string& path) {
  last();
  auto folder = real_work_folders().make(path);
  if (!folder) return folder.error();
  return std::unique_ptr<WorkFolder>(new KillingFolder(*this, std::move(*folder)));
}

Result<std::unique_ptr<WorkFolder>> KillingWorkFolders::take(const std::string& path) {
  last();
  auto folder = real_work_folders().take(path);
  if (!folder) return folder.error();
  return std::unique_ptr<WorkFolder>(new KillingFolder(*this, std::move(*folder)));
}

}  // namespace muster
