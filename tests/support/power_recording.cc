#include "tests/support/power_recording.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>

#include "app/sources.h"
#include "base/text.h"
#include "tests/support/shell.h"

namespace muster {
namespace {

const std::string kPowerEnd = "_node_ac_power_long.csv";
const std::string kLogHeading = "time_ms,key,step,value\n";

// Power rows into a recording; a log is not looked for here.
class Collector final : public RowTarget, public ProgressSink {
 public:
  explicit Collector(PowerRecording& out) : out_(out) {}
  void row(const TelemetryRow& row, WallTime at, std::string_view, std::string_view) override {
    for (const MetricReading& r : row.readings) {
      if (r.metric != Metric::node_power_w || !r.reading.has_value()) continue;
      out_.samples.push_back({at, std::string(row.key.host), r.reading.value()});
    }
  }
  void note(const TelemetryNote&, std::string_view, std::string_view) override {}
  void begin_log(std::string_view) override {}
  ProgressSink& log() override { return *this; }
  void step(const StepRecord&) override {}
  void event(const ProgressEvent&) override {}

 private:
  PowerRecording& out_;
};

void read_log(const std::string& path, PowerRecording& out) {
  const std::string text = testing_support::file_text(path);
  for (const std::string_view line : split(text, '\n')) {
    const auto ms = parse_int(line.substr(0, line.find(',')));
    if (ms) out.log.push_back({wall_from_ns(*ms * 1'000'000), std::string(line)});
  }
}

std::int64_t to_ms(WallTime at) {
  return wall_to_ns(at) / 1'000'000;
}

}  // namespace

Duration PowerRecording::period() const {
  std::map<std::string_view, WallTime> newest;
  std::vector<Duration> gaps;
  for (const Sample& s : samples) {
    const auto [it, first] = newest.try_emplace(s.node, s.at);
    if (!first && s.at > it->second) gaps.push_back(s.at - it->second);
    it->second = s.at;
  }
  if (gaps.empty()) return std::chrono::seconds(1);
  std::nth_element(gaps.begin(), gaps.begin() + std::ssize(gaps) / 2, gaps.end());
  return gaps[gaps.size() / 2];
}

std::string PowerRecording::power_csv() const {
  std::string out = "time_ms,node,power_w\n";
  for (const Sample& s : samples) out += fmt::format("{},{},{}\n", to_ms(s.at), s.node, s.watts);
  return out;
}

std::string PowerRecording::log_csv() const {
  std::string out = kLogHeading;
  for (const LogLine& line : log) out += line.text + "\n";
  return out;
}

std::vector<PowerRecording> read_recordings(const std::string& folder) {
  std::vector<PowerRecording> out;
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  SourceOptions options;
  options.columns = {{"time", "time_ms"}, {"host", "node"}, {"node_power_w", "power_w"}};
  for (const std::string& path : paths) {
    const std::size_t end = path.rfind(kPowerEnd);
    if (end == std::string::npos) continue;
    PowerRecording& r = out.emplace_back();
    r.name = path.substr(folder.size() + 1, end - folder.size() - 1);
    Collector collector(r);
    if (!read_sources({path}, options, real_files(), system_clock(), collector)) r.samples.clear();
    read_log(path.substr(0, end) + "_events.csv", r);
  }
  return out;
}

PowerRecording cut(const PowerRecording& whole, WallTime from, WallTime to) {
  PowerRecording out;
  out.name = whole.name;
  for (const auto& s : whole.samples) {
    if (s.at >= from && s.at < to) out.samples.push_back(s);
  }
  for (const auto& line : whole.log) {
    if (line.at >= from && line.at < to) out.log.push_back(line);
  }
  return out;
}

WallTime middle(const PowerRecording& recording) {
  const WallTime from = recording.samples.front().at;
  return from + (recording.samples.back().at - from) / 2;
}

std::vector<WaitSegment> wait_segments(const PowerRecording& recording, const Calibration& bands) {
  const double floor_w = bands.bands.at(0).wait_max_w;
  const Duration period = recording.period();
  const Duration fresh = period * 5 / 2;  // a node that fell silent is not counted
  std::map<std::string_view, PowerRecording::Sample> newest;
  std::vector<WaitSegment> out;
  WaitSegment open;
  std::vector<PowerRecording::Sample> inside;
  const auto close = [&] {
    if (inside.size() >= 4 * newest.size()) {
      open.watts.clear();
      for (const auto& s : inside) {
        const bool ramp = s.at - open.from < period || open.to - s.at < period;
        if (!ramp) open.watts[s.node].push_back(s.watts);
      }
      out.push_back(open);
    }
    inside.clear();
  };
  for (const auto& s : recording.samples) {
    newest[s.node] = s;
    std::size_t heard = 0, low = 0;
    for (const auto& [node, sample] : newest) {
      if (s.at - sample.at > fresh) continue;
      ++heard;
      low += sample.watts <= floor_w;
    }
    const std::size_t others = heard < 4 ? 0 : std::max<std::size_t>(1, heard / 10);
    if (low + others < heard) {
      close();
      continue;
    }
    if (inside.empty()) open.from = s.at;
    open.to = s.at;
    inside.push_back(s);
  }
  close();
  return out;
}

PowerRecording hold(const PowerRecording& recording, WallTime at, const WaitSegment& wait,
                    double lift_w, Duration length, std::uint64_t seed) {
  PowerRecording out = cut(recording, {}, at);
  const Duration period = recording.period();
  std::mt19937_64 rng(seed);
  std::vector<double> all;
  for (const auto& [node, watts] : wait.watts) all.insert(all.end(), watts.begin(), watts.end());
  std::map<std::string, WallTime> next;  // each node keeps its own phase
  for (const auto& s : out.samples) next[s.node] = s.at + period;
  for (const WallTime end = at + length; at < end; at += period) {
    std::vector<PowerRecording::Sample> round;
    for (auto& [node, due] : next) {
      while (due < at) due += period;
      const auto own = wait.watts.find(node);
      const std::vector<double>& from = own == wait.watts.end() ? all : own->second;
      round.push_back({due, node, from[rng() % from.size()] + lift_w});
    }
    std::sort(round.begin(), round.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
    out.samples.insert(out.samples.end(), round.begin(), round.end());
  }
  return out;
}

}  // namespace muster
