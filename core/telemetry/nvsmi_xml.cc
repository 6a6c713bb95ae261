#include "core/telemetry/nvsmi_xml.h"

#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "base/timestamp.h"
#include "core/telemetry/nvsmi_gpu.h"

namespace muster {
namespace {

constexpr std::size_t kMaxGpuBytes = 1024 * 1024;
constexpr std::size_t kMaxGpus = 1024;  // of one document
constexpr std::string_view kGpuBegin = "<gpu ";
constexpr std::string_view kGpuEnd = "</gpu>";
constexpr std::string_view kRootBegin = "<nvidia_smi_log";
constexpr std::string_view kRootEnd = "</nvidia_smi_log>";

// The text of a tag that stands before the first GPU.
std::string_view head_value(std::string_view head, std::string_view tag) {
  const std::string open = "<" + std::string(tag) + ">";
  const std::size_t begin = head.rfind(open);
  if (begin == std::string_view::npos) return {};
  const std::string_view rest = head.substr(begin + open.size());
  return trim(rest.substr(0, std::min(rest.find('<'), rest.size())));
}

class NvsmiXmlDecoder : public Decoder {
 public:
  void feed(std::string_view chunk, TelemetrySink& sink) override {
    // In pieces, so that the buffer stays within one GPU and a piece however large `chunk` is.
    constexpr std::size_t kPiece = 64 * 1024;
    for (; !chunk.empty(); chunk.remove_prefix(std::min(kPiece, chunk.size()))) {
      buffer_ += chunk.substr(0, kPiece);
      while (step(sink)) {
      }
    }
  }

  void finish(TelemetrySink& sink) override {
    const bool torn = in_document_ || in_gpu_ || buffer_.find('<') != std::string::npos;
    if (torn) sink.note({NoteKind::truncated, "the document has no end", 0, {}, {}});
    end_document(false, sink);
    buffer_.clear();
  }

 private:
  // Takes one thing off the buffer; false where more bytes are needed.
  bool step(TelemetrySink& sink) { return in_gpu_ ? take_gpu(sink) : take_between(sink); }

  bool take_gpu(TelemetrySink& sink) {
    // A GPU that begins inside another one: the end of the first was lost.
    const std::size_t end = buffer_.find(kGpuEnd, searched_);
    const std::size_t limit = std::min(end, buffer_.size());
    const std::size_t again = std::string_view(buffer_).substr(0, limit).find(kGpuBegin, 1);
    if (again != std::string::npos) {
      damaged("a GPU has no end", again, sink);
      return true;
    }
    if (end == std::string::npos) {
      searched_ = buffer_.size() < kGpuEnd.size() ? 0 : buffer_.size() - kGpuEnd.size();
      if (buffer_.size() <= kMaxGpuBytes) return false;
      damaged("a GPU is above the limit", buffer_.size(), sink);
      return true;
    }
    const std::size_t size = end + kGpuEnd.size();
    auto gpu = parse_nvsmi_gpu(std::string_view(buffer_).substr(0, size));
    ++listed_;
    if (!gpu) {
      damaged(gpu.error().context, size, sink);
      return true;
    }
    drop(size);
    if (gpus_.size() == kMaxGpus) end_document(false, sink);
    gpus_.push_back({listed_ - 1, std::move(*gpu)});
    return true;
  }

  // Up to the next GPU or the end of the document.
  bool take_between(TelemetrySink& sink) {
    const std::size_t gpu = buffer_.find(kGpuBegin);
    const std::size_t end = buffer_.find(kRootEnd);
    if (end < gpu) {
      read_head(std::string_view(buffer_).substr(0, end), sink);
      drop(end + kRootEnd.size());
      end_document(true, sink);
      return true;
    }
    if (gpu == std::string::npos) return shorten(sink);
    read_head(std::string_view(buffer_).substr(0, gpu), sink);
    drop(gpu);
    in_gpu_ = true;
    return true;
  }

  // Text between GPUs means little: what is read of it is kept short, the end stays for a tag that
  // is torn between two chunks.
  bool shorten(TelemetrySink& sink) {
    constexpr std::size_t kKeep = 4096;
    if (buffer_.size() <= 16 * kKeep) return false;
    const std::size_t size = buffer_.size() - kKeep;
    read_head(std::string_view(buffer_).substr(0, size), sink);
    drop(size);
    return false;
  }

  void read_head(std::string_view head, TelemetrySink& sink) {
    const std::size_t root = head.rfind(kRootBegin);
    if (root != std::string_view::npos) {
      // A document that begins inside another one: the end of the first was lost.
      if (in_document_) {
        sink.note({NoteKind::truncated, "a document has no end", 0, {}, {}});
        end_document(false, sink);
      }
      in_document_ = true;
      head = head.substr(root);
    }
    const auto time = parse_timestamp(head_value(head, "timestamp"));
    if (time && time->has_date) at_ = *time;
    if (const auto attached = parse_uint(head_value(head, "attached_gpus"))) attached_ = *attached;
  }

  void end_document(bool whole, TelemetrySink& sink) {
    const bool all = whole && attached_ && *attached_ == listed_;
    for (const Listed& listed : gpus_) {
      const NvsmiGpu& gpu = listed.gpu;
      TelemetryRow row;
      row.key.pci = gpu.pci;
      row.key.uuid = gpu.uuid;
      row.key.name = gpu.name;
      if (all) row.key.index = static_cast<int>(listed.place);
      if (at_) row.at = at_->at;
      row.at_has_zone = at_ && at_->has_zone;
      row.readings = gpu.readings;
      sink.row(row);
      if (gpu.lost) sink.note({NoteKind::gpu_lost, "GPU is lost", 0, gpu.pci, row.key.index});
    }
    gpus_.clear();
    if (!whole && in_gpu_) return;  // only the list was too long: the document goes on
    listed_ = 0;
    at_.reset();
    attached_.reset();
    in_document_ = false;
  }

  void damaged(std::string_view why, std::size_t size, TelemetrySink& sink) {
    sink.note({NoteKind::damaged_line, why, 0, {}, {}});
    drop(size);
  }

  void drop(std::size_t size) {
    buffer_.erase(0, size);
    searched_ = 0;
    in_gpu_ = false;
  }

  struct Listed {
    std::size_t place;
    NvsmiGpu gpu;
  };

  std::string buffer_;
  std::size_t searched_ = 0;  // no end of a GPU begins before
  bool in_gpu_ = false;
  bool in_document_ = false;
  std::optional<ParsedTime> at_;
  std::optional<std::uint64_t> attached_;
  std::size_t listed_ = 0;
  std::vector<Listed> gpus_;
};

}  // namespace

bool looks_like_nvsmi_xml(std::string_view head) {
  head = trim(head.substr(0, std::min<std::size_t>(head.size(), 4096)));
  while (head.starts_with('\n')) head = trim(head.substr(1));
  if (!head.starts_with("<?xml") && !head.starts_with("<!DOCTYPE") &&
      !head.starts_with(kRootBegin)) {
    return false;
  }
  return head.find("nvidia_smi_log") != std::string_view::npos;
}

std::unique_ptr<Decoder> make_nvsmi_xml_decoder(const DecoderOptions&) {
  return std::make_unique<NvsmiXmlDecoder>();
}

}  // namespace muster
