#include "core/telemetry/tool_text.h"

#include "base/text.h"

namespace muster {
namespace {

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
    {"error setting watches", NoteKind::source_error},
    {"is not a valid field to query", NoteKind::source_error},
    {"unrecoverable error", NoteKind::source_error},
};

bool is_hex_or(char c, std::string_view more) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') ||
         more.find(c) != std::string_view::npos;
}

// "... for GPU3: 0000:04:00.0: Unknown Error" and "... for GPU 0000:18:00.0: GPU is lost."
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
  for (const Phrase& phrase : kPhrases) {
    if (contains_ignoring_case(line, phrase.text)) return &phrase;
  }
  return nullptr;
}

}  // namespace

bool note_tool_text(std::string_view line, std::uint64_t number, TelemetrySink& sink) {
  // A row of a table has many cells; its "[GPU is lost]" cell is a cell, not a text.
  if (line.size() > 1000 || line.find(", ") != std::string_view::npos) return false;
  const Phrase* phrase = find_phrase(line);
  if (phrase == nullptr) return false;
  TelemetryNote note{phrase->kind, trim(line), number, {}, {}};
  if (phrase->kind == NoteKind::gpu_lost) find_gpu(line, note);
  sink.note(note);
  return true;
}

bool looks_like_tool_failure(std::string_view head) {
  std::size_t lines = 0;
  for (const std::string_view line : split(head.substr(0, 2048), '\n')) {
    if (trim(line).empty()) continue;
    if (find_phrase(line) != nullptr) return true;
    if (++lines == 3) break;
  }
  return false;
}

}  // namespace muster
