#include "edge/storage/run_program.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>

#include "base/limits.h"
#include "base/text.h"
#include "edge/os/clock.h"
#include "edge/os/files.h"
#include "edge/os/descriptor.h"

extern char** environ;

namespace muster::storage {
namespace {

struct Pipe {
  Descriptor read, write;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno_error("making a pipe", errno);
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

Result<pid_t> start(const std::string& program, const std::vector<std::string>& arguments,
                    int output, int complaints) {
  std::vector<char*> words{const_cast<char*>(program.c_str())};
  for (const std::string& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output, 1);
  posix_spawn_file_actions_adddup2(&files, complaints, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // Our threads block the ending signals (edge/os/stop_signal.h); a child must not.
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t pid = -1;
  const int error =
      ::posix_spawnp(&pid, program.c_str(), &files, &attributes, words.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error == ENOENT) return make_error(Errc::not_found, program + " is not installed");
  if (error != 0) return errno_error("starting " + program, error);
  return pid;
}

// One step of reading; whether the pipe is still open.
bool take(const pollfd& polled, std::string& text, std::size_t most) {
  if (polled.revents == 0) return true;
  std::array<char, 65536> buffer;
  const ssize_t n = ::read(polled.fd, buffer.data(), buffer.size());
  if (n < 0) return errno == EINTR || errno == EAGAIN;
  const std::size_t room = most - std::min(most, text.size());
  text.append(buffer.data(), std::min(static_cast<std::size_t>(n), room));
  return n > 0;
}

// The status of waitpid(); nothing where the process does not even die.
std::optional<int> end_of(pid_t pid, bool kill) {
  if (kill) ::kill(pid, SIGKILL);
  const MonoTime until = system_clock().mono() + std::chrono::seconds(2);
  for (;;) {
    int status = 0;
    if (::waitpid(pid, &status, WNOHANG) == pid) return status;
    if (system_clock().mono() >= until) return std::nullopt;
    system_clock().sleep_until(system_clock().mono() + std::chrono::milliseconds(2), {});
  }
}

}  // namespace

Result<std::string> run_program(const std::string& program,
                                const std::vector<std::string>& arguments, Duration patience,
                                std::stop_token stop) {
  auto output = make_pipe();
  auto complaints = make_pipe();
  if (!output) return output.error();
  if (!complaints) return complaints.error();
  const auto pid = start(program, arguments, output->write.get(), complaints->write.get());
  if (!pid) return pid.error();
  output->write = Descriptor();
  complaints->write = Descriptor();
  const MonoTime until = system_clock().mono() + patience;
  std::string text, wrong;
  bool late = false, open = true, open_too = true;
  while ((open || open_too) && !late && !stop.stop_requested()) {
    pollfd ends[] = {{open ? output->read.get() : -1, POLLIN, 0},
                     {open_too ? complaints->read.get() : -1, POLLIN, 0}};
    ::poll(ends, 2, 100);
    open = open && take(ends[0], text, limits::kContractBytes);
    open_too = open_too && take(ends[1], wrong, 4096);
    late = system_clock().mono() >= until;
  }
  const bool cut = late || stop.stop_requested();
  const auto status = end_of(*pid, cut);
  if (stop.stop_requested()) return make_error(Errc::unavailable, "stopped");
  if (cut || !status) return make_error(Errc::timeout, program + " did not end in time");
  if (WIFEXITED(*status) && WEXITSTATUS(*status) == 0) return text;
  const std::string_view said = trim(wrong.empty() ? std::string_view(text) : wrong);
  return make_error(Errc::unavailable,
                    fmt::format("{} failed: {}", program, said.substr(0, said.find('\n'))));
}

}  // namespace muster::storage
