#include "train/run/run_output.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "edge/os/clock.h"
#include "edge/os/files.h"
#include "edge/os/host_name.h"
#include "train/run/event_file_writer.h"

namespace muster::train {
namespace {

void print(std::FILE* to, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), to);
  std::fflush(to);
}

}  // namespace

Result<AppendedFile> AppendedFile::open(const std::string& path, bool lines) {
  AppendedFile file;
  file.path_ = path;
  file.fd_ =
      Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666));
  if (!file.fd_) return errno_error("writing " + path, errno);
  const off_t end = lines ? ::lseek(file.fd_.get(), 0, SEEK_END) : 0;
  char last = '\n';
  if (end > 0 && ::pread(file.fd_.get(), &last, 1, end - 1) == 1 && last != '\n') {
    if (const Status ended = file.append("\n"); !ended) return ended.error();
  }
  return file;
}

Status AppendedFile::append(std::string_view bytes) const {
  while (fd_ && !bytes.empty()) {
    const ssize_t n = ::write(fd_.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno_error("writing " + path_, errno);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

Status RunOutput::open(const std::string& out_folder) {
  const std::string boards = out_folder + "/tensorboard";
  std::error_code fault;
  std::filesystem::create_directories(boards, fault);
  if (fault) return errno_error("making " + boards, fault.value());
  auto metrics = AppendedFile::open(out_folder + "/metrics.jsonl", true);
  if (!metrics) return metrics.error();
  metrics_ = std::move(*metrics);
  const WallTime now = system_clock().wall();
  auto events = AppendedFile::open(
      fmt::format("{}/events.out.tfevents.{}.{}.{}", boards, wall_to_ns(now) / 1'000'000'000,
                  own_host_name().value_or("host"), ::getpid()),
      false);
  if (!events) return events.error();
  events_ = std::move(*events);
  append(events_, event_file_head(now));
  return {};
}

void RunOutput::append(AppendedFile& to, std::string_view bytes) {
  const Status written = to.append(bytes);
  if (written) return;
  complain(written.error().context + "; what follows is not kept");
  to = AppendedFile();
}

void RunOutput::step(const StepReport& report) {
  if (rank_ != 0) return;
  print(stdout, step_line(report));
  append(metrics_, step_metrics(report));
  append(events_, step_event(report));
}

void RunOutput::event(const RunEvent& event) {
  if (rank_ != 0) return;
  print(stdout, event_line(event));
  append(metrics_, event_metrics(event));
}

void RunOutput::complain(std::string_view text) {
  const std::string who = world_ > 1 ? fmt::format("rank {}: ", rank_) : "";
  print(stderr, fmt::format("muster train: {}{}\n", who, escape_controls(text, 2000)));
}

void RunOutput::warn(const std::vector<std::string>& warnings) {
  if (rank_ != 0) return;
  for (const std::string& warning : warnings) complain("WARN " + warning);
}

void RunOutput::say(std::string_view text) {
  if (rank_ == 0) print(stdout, fmt::format("{}\n", escape_controls(text, 2000)));
}

}  // namespace muster::train
