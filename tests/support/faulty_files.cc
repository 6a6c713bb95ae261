#include "tests/support/faulty_files.h"

#include <fmt/core.h>

#include <algorithm>

namespace muster {

Status FaultyFiles::State::next(std::string_view what) {
  if (plan.failing_call == calls++) {
    return make_error(plan.code, fmt::format("{}: failed on purpose", what));
  }
  return {};
}

class FaultyStream final : public ByteStream {
 public:
  FaultyStream(std::unique_ptr<ByteStream> under, std::shared_ptr<FaultyFiles::State> state)
      : under_(std::move(under)), state_(std::move(state)) {}

  Result<std::size_t> read(std::span<char> buffer) override {
    if (const Status ok = state_->next("reading"); !ok) return ok.error();
    const std::size_t most = state_->plan.read_bytes;
    return under_->read(most == 0 ? buffer : buffer.first(std::min(most, buffer.size())));
  }

 private:
  std::unique_ptr<ByteStream> under_;
  std::shared_ptr<FaultyFiles::State> state_;
};

FaultyFiles::FaultyFiles(Files& under, FaultPlan plan)
    : under_(under), state_(std::make_shared<State>()) {
  state_->plan = plan;
}

Result<std::unique_ptr<ByteStream>> FaultyFiles::open(const std::string& path) {
  if (const Status ok = state_->next("opening " + path); !ok) return ok.error();
  auto stream = under_.open(path);
  if (!stream) return stream.error();
  return std::unique_ptr<ByteStream>(std::make_unique<FaultyStream>(std::move(*stream), state_));
}

Result<std::unique_ptr<ByteStream>> FaultyFiles::open_below(const std::string& folder,
                                                            const std::string& name) {
  if (const Status ok = state_->next("opening " + name); !ok) return ok.error();
  auto stream = under_.open_below(folder, name);
  if (!stream) return stream.error();
  return std::unique_ptr<ByteStream>(std::make_unique<FaultyStream>(std::move(*stream), state_));
}

Result<FileInfo> FaultyFiles::stat(const std::string& path) {
  if (const Status ok = state_->next("stat of " + path); !ok) return ok.error();
  return under_.stat(path);
}

Result<std::vector<std::string>> FaultyFiles::list(const std::string& path) {
  if (const Status ok = state_->next("listing " + path); !ok) return ok.error();
  return under_.list(path);
}

Status FaultyFiles::write_atomic(const std::string& path, std::string_view bytes) {
  if (Status ok = state_->next("writing " + path); !ok) return ok;
  const auto space = state_->plan.space_bytes;
  if (space && bytes.size() > *space - state_->written_bytes) {
    return make_error(Errc::exhausted, fmt::format("writing {}: No space left on device", path));
  }
  Status done = under_.write_atomic(path, bytes);
  if (done) state_->written_bytes += bytes.size();
  return done;
}

}  // namespace muster
