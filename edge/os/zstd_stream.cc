#include "edge/os/zstd_stream.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/check.h"

namespace muster {
namespace {

constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";
constexpr std::string_view kGzipMagic = "\x1f\x8b";
constexpr std::size_t kChunkBytes = 128 * 1024;
constexpr std::size_t kHeldBytes = 4 * 1024 * 1024;

// Bytes that wait to be handed out from the front.
class Pending {
 public:
  bool empty() const { return at_ == bytes_.size(); }
  std::size_t take(std::span<char> buffer) {
    const std::size_t n = std::min(buffer.size(), bytes_.size() - at_);
    std::memcpy(buffer.data(), bytes_.data() + at_, n);
    at_ += n;
    if (empty()) {
      bytes_.clear();
      at_ = 0;
    }
    return n;
  }
  void add(std::string_view more) { bytes_ += more; }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

// The bytes that were looked at, then the rest.
class Plain final : public UnpackedStream {
 public:
  Plain(std::unique_ptr<ByteStream> stream, std::string_view head) : stream_(std::move(stream)) {
    head_.add(head);
  }
  Result<std::size_t> read(std::span<char> buffer) override {
    return head_.empty() ? stream_->read(buffer) : head_.take(buffer);
  }
  bool cut() const override { return false; }

 private:
  std::unique_ptr<ByteStream> stream_;
  Pending head_;
};

// What both formats share: input by chunks, output that waits, the error at the end.
class Inflating : public UnpackedStream {
 public:
  Inflating(std::unique_ptr<ByteStream> stream, std::string_view head, std::string name)
      : stream_(std::move(stream)), name_(std::move(name)), input_(head) {}

  Result<std::size_t> read(std::span<char> buffer) override {
    if (buffer.empty()) return std::size_t{0};
    while (out_.empty() && !done_) {
      if (!input_.empty()) {
        decode();
        continue;
      }
      if (Status more = refill(); !more) return more.error();
    }
    if (!out_.empty()) return out_.take(buffer);
    if (!damage_) return std::size_t{0};
    const std::string why = *damage_;
    damage_.reset();
    return make_error(Errc::corrupt, "decompressing " + name_ + ": " + why);
  }
  bool cut() const override { return open_; }

 protected:
  // Takes from input_, adds to out_; may set done_ and damage_.
  virtual void decode() = 0;
  // The input has ended.
  virtual void end() {}

  std::unique_ptr<ByteStream> stream_;
  std::string name_;
  std::string input_;
  Pending out_;
  std::optional<std::string> damage_;
  bool done_ = false;
  bool open_ = true;  // a frame has begun and not ended

 private:
  Status refill() {
    input_.resize(kChunkBytes);
    const auto n = stream_->read(input_);
    input_.resize(n ? *n : 0);
    if (!n) return n.error();
    if (*n == 0) {
      end();
      done_ = true;
    }
    return {};
  }
};

struct ZstdFree {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

class Zstd final : public Inflating {
 public:
  Zstd(std::unique_ptr<ByteStream> stream, std::string_view head, std::string name)
      : Inflating(std::move(stream), head, std::move(name)), context_(ZSTD_createDCtx()) {
    MUSTER_CHECK(context_ != nullptr, "there is memory for one decompressor");
    ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, 27);
    buffer_.resize(ZSTD_DStreamOutSize());
  }

 private:
  void decode() override {
    if (seeking_ && !seek()) return;
    ZSTD_inBuffer in{input_.data(), input_.size(), 0};
    while (in.pos < in.size) {
      ZSTD_outBuffer out{buffer_.data(), buffer_.size(), 0};
      const std::size_t left = ZSTD_decompressStream(context_.get(), &out, &in);
      if (ZSTD_isError(left) != 0) return lose(ZSTD_getErrorName(left), in.pos);
      held_.append(buffer_.data(), out.pos);
      open_ = left != 0;
      if (left == 0 || held_.size() > kHeldBytes) release();
      if (!out_.empty()) break;
      // Output that did not fit comes at the next call, even without input.
      if (out.pos == out.size && in.pos == in.size) {
        drain();
        break;
      }
    }
    input_.erase(0, in.pos);
  }

  // What the decompressor still holds after the last byte of this chunk.
  void drain() {
    for (;;) {
      ZSTD_inBuffer none{nullptr, 0, 0};
      ZSTD_outBuffer out{buffer_.data(), buffer_.size(), 0};
      const std::size_t left = ZSTD_decompressStream(context_.get(), &out, &none);
      if (ZSTD_isError(left) != 0) return lose(ZSTD_getErrorName(left), 0);
      held_.append(buffer_.data(), out.pos);
      open_ = open_ && left != 0;
      if (left == 0 || held_.size() > kHeldBytes) release();
      if (out.pos < out.size) return;
    }
  }

  // A frame that was cut off: its whole blocks are good as far as anybody can tell.
  void end() override { release(); }

  void release() {
    out_.add(held_);
    held_.clear();
  }

  void lose(std::string_view why, std::size_t used) {
    if (!damage_) damage_ = "damaged in the middle: " + std::string(why);
    held_.clear();
    out_.add("\n");
    ZSTD_DCtx_reset(context_.get(), ZSTD_reset_session_only);
    input_.erase(0, std::min(std::max<std::size_t>(used, 1), input_.size()));
    seeking_ = true;
  }

  // Drops everything before the next start of a frame.
  bool seek() {
    const std::size_t at = input_.find(kZstdMagic);
    if (at != std::string::npos) {
      input_.erase(0, at);
      seeking_ = false;
      return true;
    }
    // A magic number may be cut by the end of the chunk.
    const std::size_t keep = std::min(input_.size(), kZstdMagic.size() - 1);
    std::string more(kChunkBytes, '\0');
    const auto n = stream_->read(more);
    if (!n || *n == 0) {
      input_.clear();
      done_ = true;
      return false;
    }
    input_ = input_.substr(input_.size() - keep) + more.substr(0, *n);
    return false;
  }

  std::unique_ptr<ZSTD_DCtx, ZstdFree> context_;
  std::string buffer_, held_;
  bool seeking_ = false;
};

class Gzip final : public Inflating {
 public:
  Gzip(std::unique_ptr<ByteStream> stream, std::string_view head, std::string name)
      : Inflating(std::move(stream), head, std::move(name)) {
    // 15 bits of window, 16: a gzip heading is expected.
    MUSTER_CHECK(inflateInit2(&z_, 15 + 16) == Z_OK, "there is memory for one decompressor");
    buffer_.resize(kChunkBytes);
  }
  ~Gzip() override { inflateEnd(&z_); }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

 private:
  void decode() override {
    if (between_ && skip_padding()) return;
    z_.next_in = reinterpret_cast<Bytef*>(input_.data());
    z_.avail_in = static_cast<uInt>(input_.size());
    z_.next_out = reinterpret_cast<Bytef*>(buffer_.data());
    z_.avail_out = static_cast<uInt>(buffer_.size());
    const int result = inflate(&z_, Z_NO_FLUSH);
    out_.add(std::string_view(buffer_).substr(0, buffer_.size() - z_.avail_out));
    input_.erase(0, input_.size() - z_.avail_in);
    open_ = result != Z_STREAM_END;
    if (result == Z_STREAM_END) {
      inflateReset(&z_);
      between_ = true;  // gzip files may be joined with cat
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      damage_ = std::string("damaged in the middle: ") + (z_.msg != nullptr ? z_.msg : "gzip");
      done_ = true;
    }
  }

  // Zeros behind a member are padding (tapes, some writers).
  bool skip_padding() {
    input_.erase(0, std::min(input_.find_first_not_of('\0'), input_.size()));
    if (input_.empty()) return true;
    between_ = false;
    return false;
  }

  z_stream z_{};
  std::string buffer_;
  bool between_ = false;
};

}  // namespace

Result<std::unique_ptr<UnpackedStream>> decompressed(std::unique_ptr<ByteStream> stream,
                                                     std::string name) {
  std::string head(kZstdMagic.size(), '\0');
  std::size_t have = 0;
  while (have < head.size()) {
    const auto n = stream->read(std::span(head).subspan(have));
    if (!n) return n.error();
    if (*n == 0) break;
    have += *n;
  }
  head.resize(have);
  if (head == kZstdMagic) {
    return std::unique_ptr<UnpackedStream>(new Zstd(std::move(stream), head, std::move(name)));
  }
  if (head.starts_with(kGzipMagic)) {
    return std::unique_ptr<UnpackedStream>(new Gzip(std::move(stream), head, std::move(name)));
  }
  return std::unique_ptr<UnpackedStream>(new Plain(std::move(stream), head));
}

}  // namespace muster
