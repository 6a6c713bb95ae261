#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/bench_storage.h"
#include "cmd/read_progress.h"
#include "cmd/verbs.h"
#include "core/site/sizes.h"
#include "edge/os/stop_signal.h"

namespace muster {
namespace {

constexpr std::string_view kStorageEpilog =
    "Examples:\n"
    "  muster bench storage /data                     how fast is the disk below this folder?\n"
    "  muster bench storage /data/blocks.i32          of a file that is there, read only\n"
    "  muster bench storage /data --step 5 --step-bytes 4M    can it starve such steps?\n"
    "  muster bench storage /data --against-fio       each row seven times beside fio, in turn\n"
    "  muster bench storage /scratch --size 512M --seconds 1    shorter\n"
    "\n"
    "Rows: warm page cache (one thread), O_DIRECT by several streams, by 4 queues of 32 reads, by\n"
    "one stream, and cold buffered reads after the file was dropped from the page cache, proven "
    "by\n"
    "mincore. All read blocks of 1 MiB in order; GB/s are 1e9 bytes. In a folder a file without a\n"
    "name is written first: nothing stays behind, also when this is killed. What cannot be\n"
    "measured says why and is never 0.\n"
    "\n"
    "Exit status: 0 measured, 1 storage starves such steps, 3 cannot tell (nothing measured, too\n"
    "close, or not as fio has it), 64 usage, 65 no such path, 74 no space, 130 interrupted.";

constexpr double kMostSeconds = 3600;

class BenchStorageVerb final : public Verb {
 public:
  std::string_view name() const override { return "bench storage"; }
  std::string_view summary() const override {
    return "how fast is storage, what bounds it, and can it starve a step?";
  }

  void declare(VerbOptions& options) override {
    options.positionals("PATH", &paths_, "a folder to write a file into, or a file to read");
    options.text("--size", &size_, "SIZE", "of the file, or of what is read of it (4G)");
    options.integer("--streams", &streams_, "N", "readers of the row with several (8)");
    options.number("--seconds", &seconds_, "SECONDS", "each row but the cold one (3)");
    options.number("--step", &step_s_, "SECONDS", "step time of a run to judge");
    options.text("--step-bytes", &step_bytes_, "SIZE", "what this host reads for one step");
    options.flag("--against-fio", &against_fio_,
                 "the same rows by fio as well, seven pairs in turn (takes minutes)");
    options.epilog(std::string(kStorageEpilog));
  }

  ExitStatus run(Console& console) override {
    auto request = make_request();
    if (!request) {
      console.complain(request.error().context);
      return ExitStatus::usage;
    }
    const StopOnSignal signals;
    ReadProgressLine line;
    request->stop = signals.token();
    request->progress = [&line](const BenchProgress& progress) { line.show(text_of(progress)); };
    const auto answer = bench_storage(*request, storage::real_disk(), system_clock());
    line.clear();
    const bool stopped = request->stop.stop_requested();
    if (!answer) {
      console.complain(answer.error().context);
      return stopped ? ExitStatus::interrupted : status_of(answer.error());
    }
    console.print(console.json() ? storage::storage_json(*answer) + "\n"
                                 : storage::storage_text(*answer));
    return stopped ? ExitStatus::interrupted : storage::exit_status_of(*answer);
  }

 private:
  static ExitStatus status_of(const Error& error) {
    if (error.code == Errc::exhausted) return ExitStatus::storage;
    if (error.code == Errc::invalid_input) return ExitStatus::usage;
    if (error.code == Errc::timeout) return ExitStatus::cannot_tell;
    return exit_status_of(error);
  }

  static std::string text_of(const BenchProgress& progress) {
    const double bytes = static_cast<double>(progress.bytes);
    const double seconds = duration_to_seconds(progress.since);
    std::string out = fmt::format("{}: {:.0f} s", progress.what, seconds);
    if (bytes > 0 && seconds > 0) {
      out += fmt::format(", {}, {:.2f} GB/s", storage::size_text(bytes), bytes / seconds / 1e9);
    }
    return out;
  }

  Result<BenchStorageRequest> make_request() const {
    const auto wrong = [](std::string text) {
      return make_error(Errc::invalid_input, std::move(text));
    };
    BenchStorageRequest request;
    if (paths_.size() != 1) return wrong("name one folder or file (muster bench storage --help)");
    request.path = paths_.front();
    const auto size = read_size(size_);
    if (!size || !(*size >= 1 && *size <= 1e15)) return wrong("--size: such as 512M or 4G");
    request.bytes = static_cast<std::uint64_t>(*size);
    if (streams_ < 1 || streams_ > storage::kMostStreams) {
      return wrong(fmt::format("--streams: 1 to {}", storage::kMostStreams));
    }
    request.streams = static_cast<std::uint32_t>(streams_);
    if (!(seconds_ >= 0.01 && seconds_ <= kMostSeconds)) {
      return wrong(fmt::format("--seconds: 0.01 to {}", kMostSeconds));
    }
    request.length = seconds_to_duration(seconds_);
    request.against_fio = against_fio_;
    if (std::isnan(step_s_) && step_bytes_.empty()) return request;
    const auto bytes = read_size(step_bytes_);
    if (!(step_s_ > 0 && step_s_ < 1e6) || !bytes || !(*bytes > 0)) {
      return wrong("a step to judge needs both --step 5 and --step-bytes 4M");
    }
    request.demand = storage::Demand{step_s_, *bytes};
    return request;
  }

  std::vector<std::string> paths_;
  std::string size_ = "4G", step_bytes_;
  std::int64_t streams_ = 8;
  double seconds_ = 3, step_s_ = std::nan("");
  bool against_fio_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_bench_storage_verb() {
  return std::make_unique<BenchStorageVerb>();
}

}  // namespace muster
