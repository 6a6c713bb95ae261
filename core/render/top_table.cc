#include "core/render/top_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "core/render/cells.h"

namespace muster {
namespace {

constexpr std::size_t kBarsPerHost = 8;
constexpr std::size_t kPhase = 15;  // "checkpoint wait"
constexpr std::size_t kOddBesideBars = 6;

struct Host {
  std::string name;
  std::vector<const GpuView*> gpus;
};

std::string value_cell(const GpuView& g, const Reading& reading) {
  return g.stale ? "-" : number_cell(reading);
}

std::string memory_cell(const GpuView& g) {
  if (g.stale || !g.mem_used_bytes.has_value() || !g.mem_total_bytes.has_value()) return "-";
  const double total = g.mem_total_bytes.value();
  return total > 0 ? number_cell(Reading::of(100 * g.mem_used_bytes.value() / total)) : "-";
}

std::string age_cell(Duration age) {
  const double s = std::max(0.0, duration_to_seconds(age));
  if (s < 1000) return fmt::format("{:.0f}s", s);
  if (s < 1000 * 60) return fmt::format("{:.0f}m", s / 60);
  return s < 9999 * 3600.0 ? fmt::format("{:.0f}h", s / 3600) : "old";
}

std::string bar(const GpuView& g, std::size_t width) {
  if (g.stale || !g.power_ratio.has_value()) return std::string(width, '-');
  const double ratio = g.power_ratio.value();
  if (!std::isfinite(ratio)) return std::string(width, '-');
  const double full = std::round(std::clamp(ratio, 0.0, 1.0) * static_cast<double>(width));
  const auto filled = static_cast<std::size_t>(full);
  return std::string(filled, '#') + std::string(width - filled, '.');
}

// The smaller comes first. Missing and stale values before all others.
double rank_of(const GpuView& g, TopSort sort) {
  if (sort == TopSort::age) return -duration_to_seconds(g.age);
  const Reading& reading = sort == TopSort::power ? g.power_w : g.util_percent;
  if (g.stale || !reading.has_value() || !std::isfinite(reading.value())) return -1e300;
  return reading.value();
}

double rank_of(const Host& host, TopSort sort) {
  double least = rank_of(*host.gpus.front(), sort);
  for (const GpuView* g : host.gpus) least = std::min(least, rank_of(*g, sort));
  return least;
}

void add_span(FrameLine& line, std::size_t from, std::size_t to, FrameStyle style) {
  to = std::min(to, line.text.size());
  if (from < to) line.spans.push_back({from, to, style});
}

// What a host does is what its worst GPU does: most urgent first. A GPU that stands idle or says
// nothing while others work holds them up.
Phase worst_phase(const Host& host) {
  constexpr Phase kWorstFirst[] = {Phase::hang_suspected,  Phase::starved,      Phase::waiting,
                                   Phase::checkpoint_wait, Phase::idle,         Phase::context_idle,
                                   Phase::unknown,         Phase::communication};
  for (const Phase phase : kWorstFirst) {
    for (const GpuView* g : host.gpus) {
      if (g->phase == phase) return phase;
    }
  }
  return Phase::compute;
}

// "3 11", as many as fit, and how many more: "3 +2".
std::string odd_cell(const Host& host, std::size_t width) {
  std::vector<std::string> labels;
  for (const GpuView* g : host.gpus) {
    if (g->odd) labels.push_back(plain_cell(g->label, width));
  }
  std::string out;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::size_t behind = labels.size() - i - 1;
    const std::string rest = behind > 0 ? fmt::format(" +{}", behind) : "";
    const std::string next = out + (out.empty() ? "" : " ") + labels[i];
    if (i > 0 && next.size() + rest.size() > width) {
      return plain_cell(fmt::format("{} +{}", out, behind + 1), width);
    }
    out = next;
  }
  return plain_cell(out, width);
}

class Table {
 public:
  Table(const FleetView& view, std::size_t columns, std::size_t most_gpus) : columns_(columns) {
    for (const GpuView& g : view.gpus) {
      host_ = std::max(host_, plain_cell(g.host, 16).size());
      label_ = std::max(label_, plain_cell(g.label, 16).size());
    }
    fit_columns();
    // Bars of more GPUs than eight would be too narrow to say anything.
    const std::size_t used = host_ + 41;
    const std::size_t room = columns > used ? columns - used : 0;
    bars_ = most_gpus <= kBarsPerHost;
    host_narrow_ = room < kOddBesideBars;
    odd_ = bars_ ? kOddBesideBars : std::max(room, kOddBesideBars);
    const std::size_t each = room > odd_ + 1 ? (room - odd_ - 1) / kBarsPerHost : 0;
    host_bar_ = std::clamp<std::size_t>(each, 3, 9) - 1;
  }

  FrameLine gpu_head() const {
    return cut(fmt::format(
        " {} {}{}", pad_right("host", host_), pad_right("gpu", label_),
        cells({"rank", "phase", "power", "W/limit", "util", "MHz", "C", "mem%", "age"})));
  }
  FrameLine gpu_row(const GpuView& g) const {
    const std::string watts = value_cell(g, g.power_w) + "/" + value_cell(g, g.power_limit_w);
    FrameLine line = cut(fmt::format(
        "{}{} {}{}", g.odd ? "*" : " ", pad_right(plain_cell(g.host, host_), host_),
        pad_right(plain_cell(g.label, label_), label_),
        cells({plain_cell(g.rank ? std::to_string(*g.rank) : "-", 4),
               std::string(phase_name(g.phase)), bar(g, width_[kBar]), plain_cell(watts, 9),
               value_cell(g, g.util_percent), value_cell(g, g.sm_clock_mhz),
               value_cell(g, g.temperature_c), memory_cell(g), age_cell(g.age)})));
    const std::size_t rank = width_[kRank] > 0 ? width_[kRank] + 1 : 0;
    mark(line, g.odd, g.stale, host_ + label_ + 3 + rank, phase_style(g.phase));
    return line;
  }

  FrameLine host_head() const {
    return cut(fmt::format(" {}{} {:<15} {:>5} util{}  {}{}", pad_right("host", host_),
                           host_narrow_ ? "" : " gpus", "phase", "W", host_narrow_ ? "" : "   age",
                           pad_right("odd", odd_), bars_ ? " power of each GPU" : ""));
  }
  FrameLine host_row(const Host& host) const;

 private:
  // Behind host and GPU. Where the window is narrow some are left out, the least telling first.
  enum Column : std::uint8_t { kRank, kPhaseName, kBar, kWatts, kUtil, kClock, kHeat, kMem, kAge };
  static constexpr std::size_t kCells = 9, kLeastBar = 5, kMostBar = 24;

  void fit_columns() {
    const auto all = [&] {
      std::size_t sum = 2 + host_ + label_;
      for (const std::size_t width : width_) sum += width > 0 ? width + 1 : 0;
      return sum;
    };
    for (const Column out : {kBar, kMem, kHeat, kClock, kRank, kAge}) {
      if (all() > columns_) width_[out] = 0;
    }
    if (width_[kBar] == 0) return;
    width_[kBar] = std::min(kLeastBar + columns_ - all(), kMostBar);
  }

  std::string cells(const std::array<std::string, kCells>& texts) const {
    std::string out;
    for (std::size_t i = 0; i < kCells; ++i) {
      if (width_[i] == 0) continue;
      const bool left = i == kPhaseName || i == kBar;
      out += left ? fmt::format(" {:<{}}", texts[i], width_[i])
                  : fmt::format(" {:>{}}", texts[i], width_[i]);
    }
    return out;
  }

  FrameLine cut(const std::string& text) const { return {plain_cell(text, columns_), {}}; }
  static void mark(FrameLine& line, bool odd, bool stale, std::size_t phase, FrameStyle style) {
    if (stale) {
      add_span(line, 0, line.text.size(), FrameStyle::dim);
      return;
    }
    if (odd) add_span(line, 0, phase - 1, FrameStyle::warning);
    add_span(line, phase, phase + kPhase, style);
  }

  std::size_t columns_, host_ = 4, label_ = 3, odd_ = 0, host_bar_ = 2;
  std::array<std::size_t, kCells> width_ = {4, kPhase, kLeastBar, 9, 4, 5, 4, 4, 5};
  bool bars_ = true;
  bool host_narrow_ = false;  // without the count of GPUs and the age
};

// The median of what is there, and absent where nothing is.
Reading median(const Host& host, Reading GpuView::* member) {
  std::vector<double> values;
  for (const GpuView* g : host.gpus) {
    const Reading& reading = g->*member;
    if (!g->stale && reading.has_value() && std::isfinite(reading.value()))
      values.push_back(reading.value());
  }
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return Reading::of(values[values.size() / 2]);
}

FrameLine Table::host_row(const Host& host) const {
  bool odd = false, stale = true;
  Duration age{};
  for (const GpuView* g : host.gpus) {
    odd = odd || g->odd;
    stale = stale && g->stale;
    age = std::max(age, g->age);
  }
  const Phase phase = worst_phase(host);
  const std::string count = host_narrow_ ? "" : fmt::format(" {:>4}", host.gpus.size());
  const std::string old = host_narrow_ ? "" : fmt::format(" {:>5}", age_cell(age));
  std::string text = fmt::format("{}{}{} {:<15} {:>5} {:>4}{}  {}", odd ? "*" : " ",
                                 pad_right(plain_cell(host.name, host_), host_), count,
                                 phase_name(phase), number_cell(median(host, &GpuView::power_w)),
                                 number_cell(median(host, &GpuView::util_percent)), old,
                                 pad_right(odd_cell(host, odd_), odd_));
  if (bars_) text += " ";
  for (std::size_t i = 0; bars_ && i < host.gpus.size(); ++i) {
    text += bar(*host.gpus[i], host_bar_) + (host.gpus[i]->odd ? "*" : " ");
  }
  FrameLine line = cut(text);
  mark(line, odd, stale, host_ + 2 + count.size(), phase_style(phase));
  return line;
}

std::vector<Host> by_host(const FleetView& view) {
  std::vector<Host> hosts;
  for (const GpuView& g : view.gpus) {
    if (hosts.empty() || hosts.back().name != g.host) hosts.push_back({g.host, {}});
    hosts.back().gpus.push_back(&g);
  }
  return hosts;
}

}  // namespace

FrameStyle phase_style(Phase phase) {
  switch (phase) {
    case Phase::compute:
    case Phase::communication:
      return FrameStyle::good;
    case Phase::checkpoint_wait:
    case Phase::waiting:
      return FrameStyle::notice;
    case Phase::starved:
      return FrameStyle::warning;
    case Phase::hang_suspected:
      return FrameStyle::alarm;
    case Phase::unknown:
    case Phase::idle:
    case Phase::context_idle:
      break;
  }
  return FrameStyle::dim;
}

TopTable make_top_table(const FleetView& view, TopSort sort, std::size_t columns,
                        std::size_t room) {
  std::vector<Host> hosts = by_host(view);
  std::size_t most = 0;
  for (const Host& host : hosts) most = std::max(most, host.gpus.size());
  const Table table(view, columns, most);
  const bool condensed = view.gpus.size() > room;
  TopTable out{condensed ? table.host_head() : table.gpu_head(), {}};
  // A row of the GPU table is a host of one GPU here, so both are sorted by the same rule.
  if (!condensed) {
    hosts.clear();
    for (const GpuView& g : view.gpus) hosts.push_back({g.host, {&g}});
  }
  if (sort != TopSort::host) {
    std::stable_sort(hosts.begin(), hosts.end(), [&](const Host& a, const Host& b) {
      return rank_of(a, sort) < rank_of(b, sort);
    });
  }
  for (const Host& host : hosts) {
    out.rows.push_back(condensed ? table.host_row(host) : table.gpu_row(*host.gpus.front()));
  }
  return out;
}

}  // namespace muster
