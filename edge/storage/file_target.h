#pragma once

#include <memory>
#include <string>

#include "edge/os/descriptor.h"
#include "edge/storage/disk.h"

namespace muster::storage {

// A file by a descriptor of it, which may have no name any more: streams open it anew by the name
// that /proc gives to the descriptor.
class FileTarget final : public ReadTarget {
 public:
  // `name` is for complaints.
  FileTarget(Descriptor file, std::string name, std::uint64_t bytes, bool compressed)
      : file_(std::move(file)), name_(std::move(name)), bytes_(bytes), compressed_(compressed) {}

  std::uint64_t bytes() const override { return bytes_; }
  std::string path() const override;
  bool compressed() const override { return compressed_; }
  Result<std::unique_ptr<ReadQueue>> open(bool direct, std::uint32_t depth) override;
  Result<double> residency(std::uint64_t bytes) override;
  Status drop_cache() override;

 private:
  Descriptor file_;
  std::string name_;
  std::uint64_t bytes_;
  bool compressed_;
};

}  // namespace muster::storage
