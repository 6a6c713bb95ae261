#include "core/render/phase_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <vector>

#include "base/timestamp.h"
#include "core/render/cells.h"
#include "core/render/moment_text.h"

namespace muster {
namespace {

constexpr std::size_t kHostsShown = 16;
constexpr std::size_t kSegmentsShown = 6;
constexpr std::size_t kGpusPerLine = 8;

struct HostRows {
  std::string name;
  std::vector<const GpuView*> gpus;
  bool plain = true;  // nothing odd, old or missing
};

Reading shown(const GpuView& g, const Reading& reading) {
  return g.stale ? Reading() : reading;
}

std::vector<HostRows> by_host(const FleetView& view) {
  std::vector<HostRows> hosts;
  for (const GpuView& g : view.gpus) {
    if (hosts.empty() || hosts.back().name != g.host) hosts.push_back({g.host, {}, true});
    HostRows& host = hosts.back();
    host.gpus.push_back(&g);
    if (g.odd || g.stale || !g.power_w.has_value() || !g.util_percent.has_value()) {
      host.plain = false;
    }
  }
  return hosts;
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

std::string head_line(const FleetView& view, const std::vector<HostRows>& hosts,
                      std::size_t width) {
  std::string names;
  for (std::size_t i = 0; i < hosts.size() && i < 4; ++i) {
    names += (i == 0 ? "" : " ") + plain_cell(hosts[i].name, 20);
  }
  if (hosts.size() > 4) names = fmt::format("{} hosts", hosts.size());
  std::set<std::string> models;
  for (const GpuView& g : view.gpus) {
    if (!g.model.empty()) models.insert(g.model);
  }
  std::string line = fmt::format("{}  {}  {} GPU{}", moment_text(view), names, view.gpus.size(),
                                 view.gpus.size() == 1 ? "" : "s");
  if (models.size() == 1) line += "  " + plain_cell(*models.begin(), 24);
  if (models.size() > 1) line += fmt::format("  {} models", models.size());
  if (view.step) {
    line += fmt::format("  step {}", *view.step);
    if (view.target_step) line += fmt::format(" of {}", *view.target_step);
  }
  if (!view.bands_source.empty()) line += "  bands: " + view.bands_source;
  return plain_cell(line, width) + "\n";
}

std::string segment_line(const PhaseSegment& s, std::size_t width) {
  std::string line =
      fmt::format("  phase   {} UTC  {:<15} {:>5} W median  util {:>3} %  {}", format_clock(s.from),
                  upper(phase_name(s.phase)), number_cell(s.power_w_median),
                  number_cell(s.util_percent_median), format_duration(s.to - s.from));
  std::string what;
  // Who was odd for a moment of a stretch that ends even is not worth a line.
  if (s.shape != Shape::none && s.shape != Shape::uniform) {
    if (!s.odd.empty()) what = plain_cell(s.odd, 30) + ": ";
    what += shape_name(s.shape);
  }
  line = plain_cell(line, width) + "\n";
  if (!what.empty()) line += plain_cell("          " + what, width) + "\n";
  return line;
}

std::string segment_lines(const FleetView& view, std::size_t width) {
  std::string out;
  const std::size_t skipped =
      view.segments.size() > kSegmentsShown ? view.segments.size() - kSegmentsShown : 0;
  if (skipped > 0) out += fmt::format("  phase   {} earlier not shown\n", skipped);
  for (std::size_t i = skipped; i < view.segments.size(); ++i) {
    out += segment_line(view.segments[i], width);
  }
  return out;
}

// Which hosts stand in the grid: the ones with something to see first, in their order.
std::vector<const HostRows*> choose(const std::vector<HostRows>& hosts) {
  std::set<std::size_t> taken;
  for (const bool plain : {false, true}) {
    for (std::size_t i = 0; i < hosts.size() && taken.size() < kHostsShown; ++i) {
      if (hosts[i].plain == plain) taken.insert(i);
    }
  }
  std::vector<const HostRows*> out;
  for (const std::size_t i : taken) out.push_back(&hosts[i]);
  return out;
}

class Grid {
 public:
  Grid(const std::vector<const HostRows*>& hosts, std::size_t width) {
    for (const HostRows* host : hosts) {
      name_ = std::max(name_, plain_cell(host->name, 24).size());
      for (const GpuView* g : host->gpus) {
        cell_ = std::max(cell_, plain_cell(g->label, 15).size() + 2);
      }
    }
    per_line_ = std::clamp<std::size_t>((width - name_ - 6) / cell_, 1, kGpusPerLine);
    for (const HostRows* host : hosts) add(*host);
  }
  std::string take() { return std::move(out_); }

 private:
  void add(const HostRows& host) {
    for (std::size_t at = 0; at < host.gpus.size(); at += per_line_) {
      const std::size_t end = std::min(host.gpus.size(), at + per_line_);
      std::string head = "  " + pad_right("GPU", name_ + 2);
      std::string watts = "  " + pad_right(plain_cell(host.name, 24), name_) + " W";
      std::string percent = "  " + pad_right(plain_cell(host.name, 24), name_) + " %";
      for (std::size_t i = at; i < end; ++i) {
        const GpuView& g = *host.gpus[i];
        const char* mark = g.odd ? "*" : " ";
        head += pad_left(plain_cell(g.label, 15) + " ", cell_);
        watts += pad_left(number_cell(shown(g, g.power_w)) + " ", cell_);
        percent += pad_left(number_cell(shown(g, g.util_percent)) + mark, cell_);
      }
      if (head != last_head_) append(head);
      last_head_ = head;
      append(watts);
      append(percent);
    }
  }
  void append(std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    out_ += line + "\n";
  }

  std::size_t name_ = 3, cell_ = 5, per_line_ = 1;
  std::string last_head_, out_;
};

// "  -       power of 3 GPUs: GPU lost (2), timeout (1)": the most frequent reason first.
std::string missing_line(const FleetView& view, std::string_view what, Reading GpuView::* member) {
  constexpr std::size_t kOld = static_cast<std::size_t>(Absence::mig) + 1;
  std::array<std::size_t, kOld + 1> counts{};
  std::size_t total = 0;
  for (const GpuView& g : view.gpus) {
    const Reading& reading = g.*member;
    if (!g.stale && reading.has_value()) continue;
    ++counts[g.stale ? kOld : static_cast<std::size_t>(reading.absence())];
    ++total;
  }
  if (total == 0) return {};
  const auto most = std::max_element(counts.begin(), counts.end());
  const auto reason = static_cast<std::size_t>(most - counts.begin());
  const std::string_view name =
      reason == kOld ? "too old to be judged" : absence_name(static_cast<Absence>(reason));
  std::string line = fmt::format("  -       {} of {} GPU{}: ", what, total, total == 1 ? "" : "s");
  if (*most == total) return line + std::string(name) + "\n";
  if (*most * 2 > total) return line + fmt::format("{} ({} of them)\n", name, *most);
  return line + "several reasons\n";
}

}  // namespace

std::string render_phase_text(const FleetView& view, std::size_t width) {
  width = std::max<std::size_t>(width, 60);
  if (view.gpus.empty() && view.segments.empty()) return {};
  const std::vector<HostRows> hosts = by_host(view);
  const std::vector<const HostRows*> chosen = choose(hosts);
  std::string out = head_line(view, hosts, width);
  out += segment_lines(view, width);
  if (!chosen.empty()) out += Grid(chosen, width).take();
  if (hosts.size() > chosen.size()) {
    const auto all = static_cast<std::size_t>(
        std::count_if(hosts.begin(), hosts.end(), [](const HostRows& h) { return !h.plain; }));
    const std::size_t more = hosts.size() - chosen.size();
    out += fmt::format("  and {} more host{}, {}\n", more, more == 1 ? "" : "s",
                       all <= kHostsShown ? std::string("all alike")
                                          : fmt::format("{} with something odd, old or missing",
                                                        all - kHostsShown));
  }
  out += missing_line(view, "power", &GpuView::power_w);
  out += missing_line(view, "utilization", &GpuView::util_percent);
  return out;
}

}  // namespace muster
