#include "core/telemetry/lspci.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/line_splitter.h"
#include "base/text.h"

namespace muster {
namespace {

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// "65:00.0" or "0000:65:00.0" at the start of a line, before a blank; else empty.
std::string_view take_address(std::string_view line) {
  const std::size_t end = line.find(' ');
  if (end == std::string_view::npos) return {};
  std::string_view rest = line.substr(0, end);
  if (rest.size() > 7 && rest[rest.size() - 8] == ':') {
    const std::string_view domain = rest.substr(0, rest.size() - 8);
    if (domain.size() < 4 || !std::ranges::all_of(domain, is_hex)) return {};
    rest = rest.substr(rest.size() - 7);
  }
  const bool shaped = rest.size() == 7 && rest[2] == ':' && rest[5] == '.' && is_hex(rest[0]) &&
                      is_hex(rest[1]) && is_hex(rest[3]) && is_hex(rest[4]) && is_hex(rest[6]);
  return shaped ? line.substr(0, end) : std::string_view{};
}

bool is_gpu(std::string_view line) {
  const bool display = line.find("VGA compatible controller") != std::string_view::npos ||
                       line.find("3D controller") != std::string_view::npos;
  return display &&
         (contains_ignoring_case(line, "nvidia") || line.find("[10de:") != std::string_view::npos);
}

// The word after `label`, up to a blank, comma or the end.
std::string_view word_after(std::string_view line, std::string_view label) {
  const std::size_t at = line.find(label);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = line.substr(at + label.size());
  return rest.substr(0, std::min(rest.find_first_of(" ,\t("), rest.size()));
}

Reading parse_speed(std::string_view word) {
  constexpr std::string_view kSpeeds[] = {"2.5GT/s", "5GT/s",  "8GT/s",
                                          "16GT/s",  "32GT/s", "64GT/s"};
  for (int i = 0; i < 6; ++i) {
    if (word == kSpeeds[i]) return Reading::of(i + 1);
  }
  return Reading::absent(word.empty() ? Absence::not_reported : Absence::malformed);
}

Reading parse_width(std::string_view word) {
  if (word.empty()) return Reading::absent(Absence::not_reported);
  const auto lanes = word.starts_with('x') ? parse_uint(word.substr(1)) : std::nullopt;
  if (!lanes || *lanes > 32) return Reading::absent(Absence::malformed);
  return Reading::of(static_cast<double>(*lanes));
}

class LspciDecoder : public Decoder {
 public:
  void feed(std::string_view chunk, TelemetrySink& sink) override {
    lines_.feed(chunk, [&](std::string_view line, std::uint64_t) { on_line(line, sink); });
  }

  void finish(TelemetrySink& sink) override {
    lines_.finish([&](std::string_view line, std::uint64_t) {
      if (line.ends_with(')')) return on_line(line, sink);
      if (trim(line).empty()) return;
      sink.note({NoteKind::truncated, "the last line has no end", number_ + 1, {}, {}});
    });
    end_device(sink);
  }

 private:
  void on_line(std::string_view line, TelemetrySink& sink) {
    ++number_;
    if (!line.empty() && line[0] != '\t' && line[0] != ' ') {
      end_device(sink);
      const std::string_view address = take_address(line);
      if (!address.empty() && is_gpu(line)) {
        pci_ = address;
        line_ = number_;
      }
      return;
    }
    if (pci_.empty()) return;
    line = trim(line);
    if (line.starts_with("LnkCap:")) {
      add(Metric::pcie_gen_max, Metric::pcie_width_max, line);
    } else if (line.starts_with("LnkSta:")) {
      add(Metric::pcie_gen, Metric::pcie_width, line);
    } else if (line.starts_with("Capabilities: <access denied>")) {
      sink.note({NoteKind::device_access, line, number_, pci_, {}});
    }
  }

  void add(Metric gen, Metric width, std::string_view line) {
    for (const MetricReading& r : readings_) {
      if (r.metric == gen) return;  // the first link of a device is its own
    }
    readings_.push_back({gen, parse_speed(word_after(line, "Speed "))});
    readings_.push_back({width, parse_width(word_after(line, "Width "))});
  }

  void end_device(TelemetrySink& sink) {
    if (!pci_.empty() && !readings_.empty()) {
      std::ranges::sort(readings_, {}, &MetricReading::metric);
      TelemetryRow row;
      row.key.pci = pci_;
      row.readings = readings_;
      row.line = line_;
      sink.row(row);
    }
    pci_.clear();
    readings_.clear();
  }

  LineSplitter lines_;
  std::uint64_t number_ = 0, line_ = 0;
  std::string pci_;  // of the GPU whose lines follow; empty: some other device
  std::vector<MetricReading> readings_;
};

}  // namespace

bool looks_like_lspci(std::string_view head) {
  for (std::string_view line : split(head, '\n')) {
    if (trim(line).empty()) continue;
    return !take_address(line).empty() && line.find(": ") != std::string_view::npos;
  }
  return false;
}

std::unique_ptr<Decoder> make_lspci_decoder(const DecoderOptions&) {
  return std::make_unique<LspciDecoder>();
}

}  // namespace muster
