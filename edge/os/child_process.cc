#include "edge/os/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "base/text.h"
#include "edge/os/clock.h"
#include "edge/os/descriptor.h"

extern char** environ;

namespace muster {
namespace {

// How often a stop is looked for while nothing comes.
constexpr std::chrono::milliseconds kLook{100};
// Until a process that closed its output, or was killed, is given up.
constexpr std::chrono::seconds kGrace{1};

struct Pipe {
  Descriptor read, write;
};

// 0, or errno.
int make_pipe(Pipe& pipe) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno;
  pipe.read = Descriptor(ends[0]);
  pipe.write = Descriptor(ends[1]);
  return 0;
}

std::vector<std::string> environment_with(const std::vector<std::string>& variables) {
  std::vector<std::string> out = variables;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view variable = *at;
    const std::string_view head = variable.substr(0, variable.find('=') + 1);
    const bool ours = std::any_of(variables.begin(), variables.end(),
                                  [head](const auto& own) { return own.starts_with(head); });
    if (!ours) out.emplace_back(variable);
  }
  return out;
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> out;
  for (const std::string& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

// Where a folder of PATH is closed to us, a program that is nowhere is "permission denied" as well.
bool in_path(const std::string& program) {
  if (program.find('/') != std::string::npos) return true;
  const char* const path = ::getenv("PATH");
  for (const std::string_view folder : split(path == nullptr ? "" : path, ':')) {
    if (::access((std::string(folder) + "/" + program).c_str(), F_OK) == 0) return true;
  }
  return false;
}

// 0, or errno.
int start(const ChildRequest& request, int output, int errors, pid_t& pid) {
  const std::vector<std::string> variables = environment_with(request.variables);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output, 1);
  posix_spawn_file_actions_adddup2(&files, errors, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // Our threads block the ending signals (edge/os/stop_signal.h); a child must not.
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  const int group = request.own_group ? POSIX_SPAWN_SETPGROUP : 0;
  posix_spawnattr_setflags(&attributes, static_cast<short>(POSIX_SPAWN_SETSIGMASK | group));
  const int error = ::posix_spawnp(&pid, request.words.front().c_str(), &files, &attributes,
                                   pointers(request.words).data(), pointers(variables).data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return error == EACCES && !in_path(request.words.front()) ? ENOENT : error;
}

// Reads what is there; whether the pipe is still open. What is beyond `most` is dropped and said.
bool take(int from, std::string& text, std::size_t most, bool& cut) {
  std::array<char, 65536> buffer;
  const ssize_t n = ::read(from, buffer.data(), buffer.size());
  if (n < 0) return errno == EINTR || errno == EAGAIN;
  const std::size_t got = static_cast<std::size_t>(n);
  const std::size_t room = most - std::min(most, text.size());
  text.append(buffer.data(), std::min(got, room));
  cut = cut || got > room;
  return n > 0;
}

int wait_ms(const ChildRequest& request, MonoTime until) {
  Duration left = until - system_clock().mono();
  if (request.stop.stop_possible()) left = std::min<Duration>(left, kLook);
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(left).count();
  return static_cast<int>(std::clamp<std::int64_t>(ms, 0, 60'000));
}

// Until both pipes are closed, or it is killed for its time or for a stop.
void read_all(const ChildRequest& request, const Pipe& output, const Pipe& errors, ChildRun& run) {
  const MonoTime until = system_clock().mono() + request.patience;
  bool open = true, open_too = true, errors_cut = false;
  while (open || open_too) {
    run.stopped = request.stop.stop_requested();
    pollfd ends[] = {{open ? output.read.get() : -1, POLLIN, 0},
                     {open_too ? errors.read.get() : -1, POLLIN, 0}};
    const int ready = run.stopped ? 0 : ::poll(ends, 2, wait_ms(request, until));
    if (ready > 0 && ends[0].revents != 0) {
      open = take(ends[0].fd, run.output, request.most_output, run.cut);
    }
    if (ready > 0 && ends[1].revents != 0) {
      open_too = take(ends[1].fd, run.errors, request.most_errors, errors_cut);
    }
    run.late = (open || open_too) && system_clock().mono() >= until;
    if (run.stopped || run.late) return;
  }
}

void end(pid_t pid, bool kill, bool own_group, ChildRun& run) {
  const pid_t whom = own_group ? -pid : pid;
  if (kill) ::kill(whom, SIGKILL);
  const MonoTime until = system_clock().mono() + kGrace;
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(pid, &status, WNOHANG);
    if (ended == pid) {
      run.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
      return;
    }
    if (ended < 0 && errno != EINTR) return;
    if (system_clock().mono() >= until) break;
    system_clock().sleep_until(system_clock().mono() + std::chrono::milliseconds(2), {});
  }
  ::kill(whom, SIGKILL);
}

}  // namespace

ChildRun run_child(const ChildRequest& request) {
  ChildRun run;
  Pipe output, errors;
  pid_t pid = -1;
  run.start_error = make_pipe(output);
  if (run.start_error == 0) run.start_error = make_pipe(errors);
  if (run.start_error == 0) {
    run.start_error = start(request, output.write.get(), errors.write.get(), pid);
  }
  if (run.start_error != 0) return run;
  output.write = Descriptor();
  errors.write = Descriptor();
  read_all(request, output, errors, run);
  end(pid, run.late || run.stopped, request.own_group, run);
  return run;
}

}  // namespace muster
