#include "core/telemetry/nvsmi_gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <pugixml.hpp>
#include <span>

#include "base/text.h"
#include "core/telemetry/cell.h"
#include "core/telemetry/throttle_reasons.h"

namespace muster {
namespace {

constexpr int kMaxDepth = 32;  // nvidia-smi nests 6 deep

// Levels of open elements, counted without building anything.
int depth_of(std::string_view xml) {
  int depth = 0, deepest = 0;
  for (std::size_t i = xml.find('<'); i != std::string_view::npos; i = xml.find('<', i + 1)) {
    if (i + 1 >= xml.size() || xml[i + 1] == '!' || xml[i + 1] == '?') continue;
    if (xml[i + 1] == '/') {
      --depth;
      continue;
    }
    const std::size_t end = xml.find('>', i);
    const bool closed = end != std::string_view::npos && xml[end - 1] == '/';
    if (!closed) ++depth;
    deepest = std::max(deepest, depth);
  }
  return deepest;
}

// The text at `path` ("a/b/c") below `gpu`. Where a section on the way has collapsed to a text,
// that text; nothing where the path does not exist.
std::optional<std::string_view> text_at(pugi::xml_node gpu, std::string_view path) {
  pugi::xml_node node = gpu;
  for (const std::string_view part : split(path, '/')) {
    const pugi::xml_node child = node.child(std::string(part).c_str());
    if (!child) {
      const bool collapsed = node != gpu && node.first_child().type() == pugi::node_pcdata;
      if (!collapsed) return std::nullopt;
      break;
    }
    node = child;
  }
  return trim(node.text().get());
}

std::optional<Reading> reading_at(pugi::xml_node gpu, std::string_view path) {
  const auto text = text_at(gpu, path);
  if (!text) return std::nullopt;
  return parse_cell(*text);
}

using Paths = std::initializer_list<std::string_view>;

// The first path with a value; else the reason of the first that exists.
std::optional<Reading> first_of(pugi::xml_node gpu, std::span<const std::string_view> paths) {
  std::optional<Reading> first;
  for (const std::string_view path : paths) {
    const auto reading = reading_at(gpu, path);
    if (!reading) continue;
    if (reading->has_value()) return reading;
    if (!first) first = reading;
  }
  return first;
}

// The sum of those with a value; else the reason of the first that exists.
std::optional<Reading> sum_of(pugi::xml_node gpu, Paths paths) {
  std::optional<Reading> sum;
  for (const std::string_view path : paths) {
    const auto reading = reading_at(gpu, path);
    if (!reading) continue;
    const bool adds = sum && sum->has_value() && reading->has_value();
    if (adds) {
      sum = Reading::of(sum->value() + reading->value());
    } else if (!sum || reading->has_value()) {
      sum = reading;
    }
  }
  return sum;
}

struct Place {
  Metric metric;
  std::string_view paths[4];  // empty ones at the end
};
constexpr Place kPlaces[] = {
    {Metric::power_w,
     {"gpu_power_readings/average_power_draw", "gpu_power_readings/power_draw",
      "power_readings/power_draw", "gpu_power_readings/instant_power_draw"}},
    {Metric::power_instant_w, {"gpu_power_readings/instant_power_draw"}},
    {Metric::power_limit_w,
     {"gpu_power_readings/current_power_limit", "gpu_power_readings/enforced_power_limit",
      "power_readings/enforced_power_limit", "power_readings/power_limit"}},
    {Metric::power_default_limit_w,
     {"gpu_power_readings/default_power_limit", "power_readings/default_power_limit"}},
    {Metric::module_power_w,
     {"module_power_readings/average_power_draw", "module_power_readings/power_draw",
      "module_power_readings/instant_power_draw"}},
    {Metric::util_gpu_percent, {"utilization/gpu_util"}},
    {Metric::util_mem_percent, {"utilization/memory_util"}},
    {Metric::mem_used_bytes, {"fb_memory_usage/used"}},
    {Metric::mem_total_bytes, {"fb_memory_usage/total"}},
    {Metric::sm_clock_mhz, {"clocks/sm_clock"}},
    {Metric::sm_clock_max_mhz, {"max_clocks/sm_clock"}},
    {Metric::mem_clock_mhz, {"clocks/mem_clock"}},
    {Metric::temperature_c, {"temperature/gpu_temp"}},
    {Metric::mem_temperature_c, {"temperature/memory_temp"}},
    {Metric::fan_percent, {"fan_speed"}},
    {Metric::pstate, {"performance_state"}},
    {Metric::pcie_gen, {"pci/pci_gpu_link_info/pcie_gen/current_link_gen"}},
    {Metric::pcie_gen_max, {"pci/pci_gpu_link_info/pcie_gen/max_link_gen"}},
    {Metric::pcie_width, {"pci/pci_gpu_link_info/link_widths/current_link_width"}},
    {Metric::pcie_width_max, {"pci/pci_gpu_link_info/link_widths/max_link_width"}},
    {Metric::pcie_replays, {"pci/replay_counter"}},
    {Metric::remapped_corrected, {"remapped_rows/remapped_row_corr"}},
    {Metric::remapped_uncorrected, {"remapped_rows/remapped_row_unc"}},
    {Metric::remap_pending, {"remapped_rows/remapped_row_pending"}},
    {Metric::remap_failed, {"remapped_rows/remapped_row_failure"}},
};

// The mask is there as soon as one reason is readable; one that is not counts as not active.
std::optional<Reading> throttle_mask(pugi::xml_node gpu) {
  std::optional<Reading> out;
  std::uint64_t mask = 0;
  bool readable = false;
  for (const std::string_view word : {"event", "throttle"}) {
    for (const ThrottleReason& reason : kThrottleReasons) {
      const auto active = reading_at(
          gpu, fmt::format("clocks_{}_reasons/clocks_{}_reason_{}", word, word, reason.name));
      if (!active) continue;
      if (!out) out = active;
      if (!active->has_value()) continue;
      readable = true;
      if (active->value() != 0) mask |= reason.bit;
    }
  }
  return readable ? Reading::of(static_cast<double>(mask)) : out;
}

struct StateWord {
  std::string_view text;
  double value;
};

// A word of the table as its number; else what the text says of its absence.
std::optional<Reading> state_at(pugi::xml_node gpu, Paths paths, std::span<const StateWord> words) {
  for (const std::string_view path : paths) {
    const auto text = text_at(gpu, path);
    if (!text) continue;
    for (const StateWord& word : words) {
      if (equals_ignoring_case(word.text, *text)) return Reading::of(word.value);
    }
    const Reading other = parse_cell(*text);
    return other.has_value() ? Reading::absent(Absence::malformed) : other;
  }
  return std::nullopt;
}

constexpr StateWord kOnOff[] = {{"Enabled", 1}, {"Disabled", 0}};
constexpr StateWord kRecovery[] = {{"None", 0},           {"Reset", 1},       {"GPU Reset", 1},
                                   {"Reboot", 2},         {"Node Reboot", 2}, {"Drain P2P", 3},
                                   {"Drain and Reset", 4}};

void add(NvsmiGpu& out, Metric metric, const std::optional<Reading>& reading) {
  if (!reading) return;
  out.readings.push_back({metric, *reading});
  out.lost = out.lost || (!reading->has_value() && reading->absence() == Absence::lost);
}

void add_states(NvsmiGpu& out, pugi::xml_node gpu) {
  add(out, Metric::power_smoothing,
      state_at(gpu, {"power_smoothing/state", "power_smoothing/feature_state"}, kOnOff));
  add(out, Metric::throttle_mask, throttle_mask(gpu));
  add(out, Metric::ecc_corrected,
      sum_of(gpu, {"ecc_errors/volatile/sram_correctable", "ecc_errors/volatile/dram_correctable",
                   "ecc_errors/volatile/single_bit/total"}));
  add(out, Metric::ecc_uncorrected,
      sum_of(gpu,
             {"ecc_errors/volatile/sram_uncorrectable",
              "ecc_errors/volatile/sram_uncorrectable_parity",
              "ecc_errors/volatile/sram_uncorrectable_secded",
              "ecc_errors/volatile/dram_uncorrectable", "ecc_errors/volatile/double_bit/total"}));
  add(out, Metric::recovery_action, state_at(gpu, {"gpu_recovery_action"}, kRecovery));
  add(out, Metric::mig_mode, state_at(gpu, {"mig_mode/current_mig"}, kOnOff));
}

// nvidia-smi prints N/A for the utilization of a GPU that is cut into instances.
void say_mig(NvsmiGpu& out) {
  bool on = false;
  for (const MetricReading& r : out.readings) {
    on = on || (r.metric == Metric::mig_mode && r.reading.value_or(0) == 1);
  }
  for (MetricReading& r : out.readings) {
    const bool util = r.metric == Metric::util_gpu_percent || r.metric == Metric::util_mem_percent;
    if (!on || !util || r.reading.has_value()) continue;
    if (r.reading.absence() == Absence::not_reported) r.reading = Reading::absent(Absence::mig);
  }
}

}  // namespace

Result<NvsmiGpu> parse_nvsmi_gpu(std::string_view xml) {
  if (depth_of(xml) > kMaxDepth) return make_error(Errc::exhausted, "a GPU nested too deep");
  pugi::xml_document document;
  const pugi::xml_parse_result parsed =
      document.load_buffer(xml.data(), xml.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!parsed) {
    return make_error(Errc::corrupt, fmt::format("a GPU is damaged: {}", parsed.description()));
  }
  const pugi::xml_node gpu = document.child("gpu");
  NvsmiGpu out;
  out.pci = gpu.attribute("id").value();
  out.name = text_at(gpu, "product_name").value_or("");
  const std::string_view uuid = text_at(gpu, "uuid").value_or("");
  if (uuid.starts_with("GPU-")) out.uuid = uuid;
  for (const Place& place : kPlaces) {
    std::size_t n = 0;
    while (n < std::size(place.paths) && !place.paths[n].empty()) ++n;
    add(out, place.metric, first_of(gpu, {place.paths, n}));
  }
  add_states(out, gpu);
  say_mig(out);
  std::ranges::sort(out.readings, {}, &MetricReading::metric);
  return out;
}

}  // namespace muster
