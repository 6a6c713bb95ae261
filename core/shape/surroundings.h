#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

// What stands beside a curve: settings of the run, environments of ranks, NCCL's INFO lines, notes
// of restarts and of what was looked at. Any text is read for them line by line; what says nothing
// is passed over. Words decide, never one fixed sentence.

namespace muster::shape {

struct SeenAt {
  std::string source;
  std::uint64_t line = 0;
  std::string text;  // at most limits::kEvidenceChars
};

struct Setting {
  std::string key, value;            // as written
  std::optional<std::int32_t> rank;  // whose environment it is
  SeenAt seen;
};

// One host's own words on its network.
struct HostNetwork {
  std::optional<SeenAt> socket;      // uses TCP sockets
  std::optional<SeenAt> no_device;   // finds no InfiniBand device
  std::optional<SeenAt> infiniband;  // uses InfiniBand
  std::optional<SeenAt> direct;      // a channel over GPUDirect RDMA
  std::optional<SeenAt> staged;      // a channel over InfiniBand without it
  std::optional<SeenAt> forced;      // an environment variable that turns InfiniBand off
};

struct Surroundings {
  std::vector<Setting> settings;
  std::map<std::string, HostNetwork> hosts;
  std::set<std::int64_t> restart_steps;  // at most limits::kCurveEvents
  std::optional<SeenAt> restart_note;
  std::optional<SeenAt> clocks_fine;   // "no throttle reasons", "clocks flat"
  std::optional<SeenAt> network_fine;  // "IB counters clean"
  std::optional<SeenAt> throttled;     // a hardware slowdown is active
  std::string throttled_host, throttled_gpu;
  std::optional<SeenAt> data_place;  // where the data lies
  std::string data_path;
  // Cores that a task may use, the fewest told, and how it was told.
  std::optional<std::int64_t> cores;
  std::optional<SeenAt> cores_seen;
  std::optional<SeenAt> cpus_unset;  // "SLURM_CPUS_PER_TASK=" without a value
  std::optional<double> compile_min_s, compile_max_s;
  std::optional<SeenAt> compile_seen;
  // Ranks that said anything, with the host where it is told, and how many there are.
  std::map<std::int32_t, SeenAt> ranks;
  std::map<std::int32_t, std::string> rank_hosts;
  std::optional<std::int64_t> world_size;

  // The first setting whose lower-case words have all of `words`, for example {"eval"} with one of
  // the words of an interval: see interval_of.
  const Setting* find(std::string_view a, std::string_view b = {}) const;
  // "eval_every=500", "save_interval: 2000", "eval_steps = 500"; whole numbers above 1.
  const Setting* interval_of(std::string_view what) const;
};

class SurroundingsReader {
 public:
  SurroundingsReader(Surroundings& out, std::string source)
      : out_(out), source_(std::move(source)) {}
  void line(std::string_view text, std::uint64_t number);

 private:
  void settings(std::string_view text, const SeenAt& seen);
  void setting(std::string_view key, std::string_view value, const SeenAt& seen);
  void nccl(std::string_view text, const SeenAt& seen);
  void notes(std::string_view text, const SeenAt& seen);
  // `low`: the text in lower case.
  void clocks(std::string_view text, std::string_view low, const SeenAt& seen);
  void network(std::string_view low, const SeenAt& seen);
  void cores(std::string_view text, const SeenAt& seen);
  void rank_of(std::string_view text, const SeenAt& seen);

  Surroundings& out_;
  std::string source_;
  std::optional<std::int32_t> file_rank_, line_rank_;
};

// Words of a name: "evalEvery" and "--eval-every" are "eval" and "every".
std::vector<std::string> name_words(std::string_view name);

}  // namespace muster::shape
