#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "edge/os/files.h"

namespace muster {

// Other files, with faults on purpose. Without a plan it is as good as what it wraps, and stands
// the same contract suite.
struct FaultPlan {
  // This call fails (0 is the first), counted over all functions and over read() of its streams.
  std::optional<std::uint64_t> failing_call;
  Errc code = Errc::unavailable;
  // read() gives at most this many bytes a call; 0 is no bound.
  std::size_t read_bytes = 0;
  // The disk is full after so many bytes; what does not fit is refused whole (Errc::exhausted).
  std::optional<std::uint64_t> space_bytes;
};

class FaultyFiles final : public Files {
 public:
  FaultyFiles(Files& under, FaultPlan plan);

  Result<std::unique_ptr<ByteStream>> open(const std::string& path) override;
  Result<std::unique_ptr<ByteStream>> open_below(const std::string& folder,
                                                 const std::string& name) override;
  Result<FileInfo> stat(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& path) override;
  Status write_atomic(const std::string& path, std::string_view bytes) override;

  std::uint64_t calls() const { return state_->calls; }

 private:
  friend class FaultyStream;
  struct State {
    FaultPlan plan;
    std::uint64_t calls = 0;
    std::uint64_t written_bytes = 0;
    Status next(std::string_view what);
  };

  Files& under_;
  std::shared_ptr<State> state_;  // a stream may outlive its files
};

}  // namespace muster
