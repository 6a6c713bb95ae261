#include "edge/record/recording_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
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

Result<RecordingWriter::Place> RecordingWriter::open_place(const std::string& path, bool force) {
  constexpr int kFlags = O_WRONLY | O_CLOEXEC | O_NOCTTY;
  Place place;
  place.path = place.file = path;
  struct stat st{};
  const bool there = ::stat(path.c_str(), &st) == 0;
  if (there && force && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
    place.file.clear();
    place.fd = ::open(path.c_str(), kFlags);
  } else {
    if (there && force) place.file += ".part";
    place.fd = ::open(place.file.c_str(), kFlags | O_CREAT | O_EXCL, 0600);
  }
  if (place.fd < 0 && errno == EEXIST) {
    return make_error(Errc::invalid_input,
                      place.file == path
                          ? path + " is there already; --force overwrites it"
                          : place.file +
                                " is there already: another recording writes it, or left "
                                "it when it was killed (it can be read)");
  }
  if (place.fd < 0) return errno_error("creating " + place.file, errno);
  return place;
}

Result<std::unique_ptr<RecordingWriter>> RecordingWriter::create(const std::string& path,
                                                                 bool force, Clock& clock) {
  auto place = open_place(path, force);
  if (!place) return place.error();
  std::unique_ptr<RecordingWriter> writer(new RecordingWriter(std::move(*place), clock));
  writer->add(encode_recording_head(clock.wall()));
  writer->flush();
  if (!writer->status()) {
    writer->discard();
    return writer->status().error();
  }
  const Place& at = writer->place_;
  if (!at.file.empty()) writer->rest_ = "; what was written before is in " + at.file;
  if (!at.file.empty() && at.file != at.path) writer->rest_ += ", " + at.path + " is as it was";
  return writer;
}

RecordingWriter::RecordingWriter(Place place, Clock& clock)
    : place_(std::move(place)),
      clock_(clock),
      compressor_(std::make_unique<Compressor>()),
      flushed_at_(clock.mono()) {}

RecordingWriter::~RecordingWriter() {
  if (place_.fd >= 0) ::close(place_.fd);
}

void RecordingWriter::row(const TelemetryRow& row, std::string_view source, std::string_view host) {
  ++rows_;
  add(encode_recording_row(row, source, host));
}

void RecordingWriter::note(const TelemetryNote& note, std::string_view source,
                           std::string_view host) {
  add(encode_recording_note(note, source, host));
}

void RecordingWriter::step(const StepRecord& record, std::string_view source) {
  add(encode_recording_step(record, source));
}

void RecordingWriter::event(const ProgressEvent& event, std::string_view source) {
  add(encode_recording_event(event, source));
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
    const ssize_t n = ::write(place_.fd, frame.data(), frame.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail("writing", errno);
    bytes_ += static_cast<std::uint64_t>(n);
    frame.remove_prefix(static_cast<std::size_t>(n));
  }
}

// The first failure counts.
void RecordingWriter::fail(std::string_view doing, int error_number) {
  if (!status_) return;
  Error error = errno_error(std::string(doing) + " " + place_.path, error_number);
  error.context += rest_;
  status_ = std::move(error);
}

Status RecordingWriter::close() {
  flush();
  // A pipe or a device cannot be synced (EINVAL) and keeps nothing that could be lost.
  if (status_ && ::fsync(place_.fd) != 0 && errno != EINVAL) fail("writing", errno);
  if (::close(place_.fd) != 0) fail("writing", errno);
  place_.fd = -1;
  const bool beside = !place_.file.empty() && place_.file != place_.path;
  if (status_ && beside && ::rename(place_.file.c_str(), place_.path.c_str()) != 0) {
    fail("replacing", errno);
  }
  return status_;
}

void RecordingWriter::discard() {
  pending_.clear();
  if (place_.fd >= 0) ::close(place_.fd);
  place_.fd = -1;
  if (!place_.file.empty()) ::unlink(place_.file.c_str());
}

}  // namespace muster
