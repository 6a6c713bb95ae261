#include "core/telemetry/tool_text.h"

#include "base/line_splitter.h"
#include "base/text.h"

namespace muster {
namespace {

// The tools say early what failed: "Failed to initialize NVML: Driver/library version mismatch".
constexpr std::size_t kPhraseWithin = 100;

struct Phrase {
  std::string_view text;
  NoteKind kind;
};
// The first that is contained in the line wins.
constexpr Phrase kPhrases[] = {
    {"driver/library version mismatch", NoteKind::driver_mismatch},
    {"unable to determine the device handle", NoteKind::gpu_lost},
    {"gpu is lost", NoteKind::gpu_lost},
    {"couldn't communicate with the nvidia driver", NoteKind::driver_missing},
    {"could not communicate with the nvidia driver", NoteKind::driver_missing},
    {"failed to initialize nvml: driver not loaded", NoteKind::driver_missing},
    {"nvml shared library not found", NoteKind::driver_missing},
    {"couldn't find libnvidia-ml", NoteKind::driver_missing},
    {"failed to initialize nvml", NoteKind::device_access},
    {"no devices were found", NoteKind::no_devices},
    {"no devices found", NoteKind::no_devices},
    {"host engine is not running", NoteKind::driver_missing},
    {"unable to connect to host engine", NoteKind::driver_missing},
    {"error setting watches", NoteKind::source_error},
    {"profiling module", NoteKind::source_error},
    {"insufficient permissions", NoteKind::device_access},
    {"is not a valid field to query", NoteKind::source_error},
    {"unable to retrieve", NoteKind::source_error},
    {"unrecoverable error", NoteKind::source_error},
};

bool is_hex_or(char c, std::string_view more) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') ||
         more.find(c) != std::string_view::npos;
}

// "... for GPU3: 0000:5e:00.0: Unknown Error" and "... for GPU 0000:18:00.0: GPU is lost."
void find_gpu(std::string_view line, TelemetryNote& note) {
  const std::size_t at = line.find("GPU");
  if (at == std::string_view::npos) return;
  std::string_view rest = trim(line.substr(at + 3));
  std::size_t digits = 0;
  while (digits < rest.size() && rest[digits] >= '0' && rest[digits] <= '9') ++digits;
  if (digits > 0 && digits <= 3 && digits < rest.size() && rest[digits] == ':' &&
      digits + 1 < rest.size() && rest[digits + 1] == ' ') {
    note.index = static_cast<int>(parse_int(rest.substr(0, digits)).value_or(0));
    rest = trim(rest.substr(digits + 1));
  }
  std::size_t end = 0;
  while (end < rest.size() && is_hex_or(rest[end], ":.")) ++end;
  std::string_view pci = rest.substr(0, end);
  while (pci.ends_with(':')) pci.remove_suffix(1);
  if (pci.find(':') != std::string_view::npos) note.pci = pci;
}

const Phrase* find_phrase(std::string_view line) {
  // A row of a table has many cells; its "[GPU is lost]" cell is a cell, not a text.
  if (line.size() > 1000 || line.find(", ") != std::string_view::npos) return nullptr;
  for (const Phrase& phrase : kPhrases) {
    if (contains_ignoring_case(line, phrase.text)) return &phrase;
  }
  return nullptr;
}

class ToolFailureDecoder final : public Decoder {
 public:
  void feed(std::string_view chunk, TelemetrySink& sink) override {
    lines_.feed(chunk, [&](std::string_view line, std::uint64_t) { on_line(line, sink); });
  }
  void finish(TelemetrySink& sink) override {
    lines_.finish([&](std::string_view line, std::uint64_t) { on_line(line, sink); });
  }

 private:
  void on_line(std::string_view line, TelemetrySink& sink) {
    note_tool_text(line, ++seen_ + lines_.dropped(), sink);
  }

  LineSplitter lines_;
  std::uint64_t seen_ = 0;
};

}  // namespace

bool note_tool_text(std::string_view line, std::uint64_t number, TelemetrySink& sink) {
  const Phrase* phrase = find_phrase(line);
  if (phrase == nullptr) return false;
  TelemetryNote note{phrase->kind, trim(line), number, {}, {}};
  if (phrase->kind == NoteKind::gpu_lost) find_gpu(line, note);
  sink.note(note);
  return true;
}

bool is_tool_text(std::string_view line) {
  return find_phrase(line) != nullptr;
}

bool looks_like_tool_failure(std::string_view head) {
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  for (const std::string_view line : split(head.substr(0, 2048), '\n')) {
    const std::string_view text = trim(line);
    if (text.empty()) continue;
    if (text[0] < 'A' || text[0] > 'Z') return false;
    const Phrase* phrase = find_phrase(text);
    return phrase != nullptr && text.size() < 300 &&
           contains_ignoring_case(text.substr(0, kPhraseWithin), phrase->text);
  }
  return false;
}

std::unique_ptr<Decoder> make_tool_failure_decoder(const DecoderOptions&) {
  return std::make_unique<ToolFailureDecoder>();
}

}  // namespace muster
