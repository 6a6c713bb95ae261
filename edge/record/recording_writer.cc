#include "edge/record/recording_writer.h"

#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>

#include "base/check.h"
#include "core/telemetry/recording.h"
#include "edge/os/files.h"

namespace muster {
namespace {

constexpr std::size_t kFrameBytes = 256 * 1024;
constexpr int kLevel = 3;

}  // namespace

class RecordingWriter::Compressor {
 public:
  Compressor() : context_(ZSTD_createCCtx()) {
    MUSTER_CHECK(context_ != nullptr, "there is memory for one compressor");
    ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, kLevel);
    ZSTD_CCtx_setParameter(context_, ZSTD_c_checksumFlag, 1);
  }
  ~Compressor() { ZSTD_freeCCtx(context_); }
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  // One whole frame; the view is valid until the next call.
  std::string_view frame(std::string_view text) {
    out_.resize(ZSTD_compressBound(text.size()));
    const std::size_t n =
        ZSTD_compress2(context_, out_.data(), out_.size(), text.data(), text.size());
    MUSTER_CHECK(ZSTD_isError(n) == 0, "a buffer of the bound's size holds every frame");
    return std::string_view(out_).substr(0, n);
  }

 private:
  ZSTD_CCtx* context_;
  std::string out_;
};

Result<std::unique_ptr<RecordingWriter>> RecordingWriter::create(const std::string& path,
                                                                 bool force, Clock& clock) {
  const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | (force ? O_TRUNC : O_EXCL);
  const int fd = ::open(path.c_str(), flags, 0600);
  if (fd < 0 && errno == EEXIST) {
    return make_error(Errc::invalid_input, path + " is there already; --force overwrites it");
  }
  if (fd < 0) return errno_error("creating " + path, errno);
  std::unique_ptr<RecordingWriter> writer(new RecordingWriter(fd, path, clock));
  writer->add(encode_recording_head(clock.wall()));
  writer->flush();
  if (!writer->status()) return writer->status().error();
  return writer;
}

RecordingWriter::RecordingWriter(int fd, std::string path, Clock& clock)
    : fd_(fd),
      path_(std::move(path)),
      clock_(clock),
      compressor_(std::make_unique<Compressor>()),
      flushed_at_(clock.mono()) {}

RecordingWriter::~RecordingWriter() {
  if (fd_ >= 0) ::close(fd_);
}

void RecordingWriter::row(const TelemetryRow& row, std::string_view source, std::string_view host) {
  ++rows_;
  add(encode_recording_row(row, source, host));
}

void RecordingWriter::note(const TelemetryNote& note, std::string_view source) {
  add(encode_recording_note(note, source));
}

void RecordingWriter::add(std::string_view line) {
  pending_ += line;
  if (pending_.size() >= kFrameBytes) flush();
  tick();
}

void RecordingWriter::tick() {
  if (clock_.mono() - flushed_at_ >= std::chrono::seconds(1)) flush();
}

void RecordingWriter::flush() {
  flushed_at_ = clock_.mono();
  if (pending_.empty()) return;
  std::string_view frame = compressor_->frame(pending_);
  pending_.clear();
  while (status_ && !frame.empty()) {
    const ssize_t n = ::write(fd_, frame.data(), frame.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      status_ = errno_error("writing " + path_, errno);
      return;
    }
    bytes_ += static_cast<std::uint64_t>(n);
    frame.remove_prefix(static_cast<std::size_t>(n));
  }
}

Status RecordingWriter::close() {
  flush();
  // A pipe or a device cannot be synced (EINVAL) and keeps nothing that could be lost.
  if (status_ && ::fsync(fd_) != 0 && errno != EINVAL) {
    status_ = errno_error("writing " + path_, errno);
  }
  if (::close(fd_) != 0 && status_) status_ = errno_error("writing " + path_, errno);
  fd_ = -1;
  return status_;
}

}  // namespace muster
