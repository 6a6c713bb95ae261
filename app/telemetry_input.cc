#include "app/telemetry_input.h"

#include "app/source_sink.h"

namespace muster {

namespace {

// Tells the series of one input apart.
std::size_t identity_of(const SeriesKey& key) {
  const std::hash<std::string_view> text;
  return text(key.host) * 31 + text(key.uuid) * 37 + text(key.pci) * 41 + text(key.device) * 43 +
         static_cast<std::size_t>(key.index.value_or(-1)) * 47 +
         static_cast<std::size_t>(key.rank.value_or(-1)) * 53;
}

}  // namespace

WallTime RowClock::stamp(const TelemetryRow& row) {
  any_ = true;
  if (!row.at) {
    // Rows without any time keep their order and nothing else: durations stay zero.
    return fallback_ + Duration(++undated_);
  }
  if (row.at_has_zone) return *row.at;
  if (!zoneless_) first_ = identity_of(row.key);
  zoneless_ = true;
  const WallTime at = zone_ != nullptr ? zone_->to_utc(*row.at) : *row.at;
  const bool older = folded_.is_older(at);
  return folded_.on(at, older && identity_of(row.key) == first_);
}

// Hands rows on, or keeps them until their turn.
class TelemetryInput::Sink final : public SourceSink {
 public:
  Sink(TelemetryInput& input, RowTarget& target, bool keep)
      : SourceSink(target, input.clock_, input.spec_.text, input.default_host_),
        input_(input),
        keep_(keep) {}

 private:
  void stamped(const TelemetryRow& row, WallTime at) override {
    ++input_.rows_;
    if (keep_) {
      input_.waiting_.emplace_back(row, at);
    } else {
      SourceSink::stamped(row, at);
    }
  }

  TelemetryInput& input_;
  bool keep_;
};

TelemetryInput::TelemetryInput(SourceSpec spec, std::string default_host,
                               std::unique_ptr<ByteStream> stream, std::string head,
                               std::unique_ptr<Decoder> decoder, RowClock clock,
                               std::size_t chunk_bytes)
    : spec_(std::move(spec)),
      default_host_(std::move(default_host)),
      stream_(std::move(stream)),
      head_(std::move(head)),
      decoder_(std::move(decoder)),
      clock_(clock) {
  buffer_.resize(chunk_bytes);
}

bool TelemetryInput::read_chunk(TelemetrySink& sink) {
  if (ended_) return false;
  if (!head_.empty()) {
    decoder_->feed(head_, sink);
    head_.clear();
    return true;
  }
  const auto n = stream_->read(buffer_);
  if (!n) failure_ = n.error();
  if (!n || *n == 0) {
    decoder_->finish(sink);
    ended_ = true;
  } else {
    decoder_->feed(std::string_view(buffer_).substr(0, *n), sink);
  }
  return true;
}

const OwnedRow* TelemetryInput::front(RowTarget& target) {
  Sink sink(*this, target, true);
  while (waiting_.empty()) {
    if (!read_chunk(sink)) return nullptr;
  }
  return &waiting_.front();
}

void TelemetryInput::drain(RowTarget& target) {
  Sink sink(*this, target, false);
  while (read_chunk(sink)) {
  }
}

}  // namespace muster
