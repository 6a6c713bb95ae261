#include "app/input_stream.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/limits.h"
#include "base/utf16.h"
#include "edge/os/zstd_stream.h"

namespace muster {
namespace {

constexpr Duration kGlance = std::chrono::milliseconds(100);  // between two looks at `over`

class Stoppable final : public ByteStream {
 public:
  Stoppable(std::unique_ptr<ByteStream> stream, std::function<bool()> over)
      : stream_(std::move(stream)), over_(std::move(over)) {}
  Result<std::size_t> read(std::span<char> buffer) override {
    while (!over_()) {
      if (stream_->ready(kGlance)) return stream_->read(buffer);
    }
    return std::size_t{0};
  }

 private:
  std::unique_ptr<ByteStream> stream_;
  std::function<bool()> over_;
};

// UTF-16 where the first two bytes say so, anything else as it is.
class Text final : public ByteStream {
 public:
  explicit Text(std::unique_ptr<ByteStream> stream) : stream_(std::move(stream)) {}

  Result<std::size_t> read(std::span<char> buffer) override {
    if (!known_) {
      if (const Status looked = look(); !looked) return looked.error();
    }
    if (!wide_ && pending_.empty()) return stream_->read(buffer);
    while (pending_.empty()) {
      const auto n = stream_->read(buffer);
      if (!n || *n == 0) return n;
      pending_ = decoder_.feed(std::string_view(buffer.data(), *n));
    }
    const std::size_t n = std::min(buffer.size(), pending_.size());
    std::copy_n(pending_.begin(), n, buffer.begin());
    pending_.erase(0, n);
    return n;
  }

 private:
  Status look() {
    std::string head(2, '\0');
    std::size_t have = 0;
    while (have < head.size()) {
      const auto n = stream_->read(std::span(head).subspan(have));
      if (!n) return n.error();
      if (*n == 0) break;
      have += *n;
    }
    head.resize(have);
    known_ = true;
    wide_ = Utf16Decoder::begins(head);
    pending_ = wide_ ? decoder_.feed(head) : head;
    return {};
  }

  std::unique_ptr<ByteStream> stream_;
  Utf16Decoder decoder_;
  std::string pending_;
  bool known_ = false, wide_ = false;
};

}  // namespace

Status wait_for_pipe(ByteStream& stream, const std::string& path) {
  if (path == "-" || stream.ready(limits::kPipePatience)) return {};
  return make_error(Errc::timeout,
                    fmt::format("reading {}: a pipe, and nothing came from it for {} s", path,
                                limits::kPipePatience.count()));
}

Result<std::unique_ptr<ByteStream>> text_of(std::unique_ptr<ByteStream> stream,
                                            const std::string& name, std::function<bool()> over) {
  auto plain = decompressed(std::make_unique<Stoppable>(std::move(stream), std::move(over)), name);
  if (!plain) return plain.error();
  return std::unique_ptr<ByteStream>(new Text(std::move(*plain)));
}

}  // namespace muster
