#include "app/stranger.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "base/timestamp.h"

namespace muster {
namespace {

constexpr std::string_view kNotKnown =
    "neither GPU telemetry nor a step log that is known here (--columns names the columns of a "
    "CSV)";

bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// "2027/02/03 04:05:06.789, 0, NVIDIA H100 80GB HBM3, 512.10": values where names should stand.
bool is_row_of_values(std::string_view line) {
  const std::vector<std::string_view> cells = split(line, ',');
  if (cells.size() < 3) return false;
  const bool all_short = std::all_of(cells.begin(), cells.end(),
                                     [](std::string_view cell) { return trim(cell).size() <= 48; });
  return all_short && std::any_of(cells.begin(), cells.end(), [](std::string_view cell) {
           const std::string_view text = trim(cell);
           return text.starts_with("NVIDIA ") || text.starts_with("GPU-") ||
                  (text.size() >= 19 && parse_timestamp(text).has_value());
         });
}

// "[ 1234.567890] ..." of dmesg.
bool is_dmesg_line(std::string_view line) {
  if (!line.starts_with('[')) return false;
  const std::string_view inside = trim(line.substr(1, std::min(line.find(']'), line.size()) - 1));
  return inside.size() >= 8 && holds(inside, ".") &&
         inside.find_first_not_of("0123456789.") == std::string_view::npos;
}

std::string_view kind_of_log(std::string_view head) {
  if (holds(head, "| NVIDIA-SMI ")) return "the table of nvidia-smi";
  for (const std::string_view line : split(head.substr(0, 4096), '\n')) {
    if (holds(line, "NVRM: ") || holds(line, " kernel: ") || is_dmesg_line(line)) {
      return "a kernel log";
    }
  }
  for (const std::string_view mark : {"ProcessGroupNCCL", "NCCL INFO", "NCCL WARN", "torchrun",
                                      "torch.distributed", "Traceback (most recent"}) {
    if (holds(head, mark)) return "a log of a training job";
  }
  return {};
}

}  // namespace

std::string stranger_text(std::string_view head) {
  const std::string_view first = trim(head.substr(0, head.find('\n')));
  if (is_row_of_values(first)) {
    return "no header line; sample without noheader (muster triage --print-sampler)";
  }
  const std::string_view kind = kind_of_log(head);
  if (kind.empty()) return std::string(kNotKnown);
  return fmt::format("this looks like {}: ask muster explain", kind);
}

}  // namespace muster
