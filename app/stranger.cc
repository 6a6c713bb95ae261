#include "app/stranger.h"

#include <fmt/core.h>

#include <algorithm>
#include <initializer_list>
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

bool has_one(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](auto word) { return holds(text, word); });
}

// A row of nvidia-smi --format=csv,noheader: units or the name of the product stand in it.
bool is_gpu_row(std::string_view line) {
  const std::string low = to_lower(line);
  const auto cells = split(low, ',');
  return cells.size() >= 3 && ((has_one(low, {" w,"}) && has_one(low, {" %", " mib"})) ||
                               (cells.size() >= 6 && has_one(low, {", nvidia "})));
}

// "2027/02/03 04:05:06.789, 0, NVIDIA H100 80GB HBM3, 512.10": values where names should stand.
bool is_row_of_values(std::string_view line) {
  if (is_gpu_row(line)) return true;
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

std::string other_verb(std::string_view head) {
  head = head.substr(0, 4096);
  const std::string line = to_lower(head.substr(0, head.find('\n')));
  const auto cells = split(line, ',');
  const bool gpus = has_one(line, {"utilization.gpu", "power.draw", "power_draw", "gpu_util"});
  if ((cells.size() >= 3 && gpus) || is_gpu_row(line) || holds(head, "DCGM_FI_")) {
    return "GPU telemetry: ask muster triage";
  }
  const bool steps =
      cells.size() >= 2 && std::any_of(cells.begin(), cells.end(), [](auto cell) {
        cell = trim(cell);
        return cell == "step" || cell == "global_step" || cell == "iteration" || cell == "iter";
      });
  return steps ? "a table of steps: ask muster shape" : "";
}

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
