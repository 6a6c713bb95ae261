#include "app/other_verb.h"

#include <algorithm>

#include "base/text.h"

namespace muster {
namespace {

bool has_one(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view w) { return text.find(w) != std::string_view::npos; });
}

}  // namespace

std::string other_verb(std::string_view head) {
  head = head.substr(0, 4096);
  const std::string line = to_lower(head.substr(0, head.find('\n')));
  const auto cells = split(line, ',');
  const bool gpus = has_one(line, {"utilization.gpu", "power.draw", "power_draw", "gpu_util"});
  // nvidia-smi --format=csv,noheader: units or the name of the product stand in its rows.
  const bool rows = (has_one(line, {" w,"}) && has_one(line, {" %", " mib"})) ||
                    (cells.size() >= 6 && has_one(line, {", nvidia "}));
  if ((cells.size() >= 3 && (gpus || rows)) || has_one(head, {"DCGM_FI_"})) {
    return "GPU telemetry: ask muster triage";
  }
  const bool steps =
      cells.size() >= 2 && std::any_of(cells.begin(), cells.end(), [](auto cell) {
        cell = trim(cell);
        return cell == "step" || cell == "global_step" || cell == "iteration" || cell == "iter";
      });
  return steps ? "a table of steps: ask muster shape" : "";
}

}  // namespace muster
