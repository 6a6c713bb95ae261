#include "edge/engine/probe_child.h"

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
#include <cstring>
#include <string_view>

#include "base/text.h"
#include "edge/os/clock.h"

extern char** environ;

namespace muster {
namespace {

using health::ProbeAnswer;
using health::ProbeEnd;

constexpr std::size_t kComplaintBytes = 4096;

class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_, O_CLOEXEC) != 0) ends_[0] = ends_[1] = -1;
  }
  ~Pipe() {
    close(0);
    close(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  bool made() const { return ends_[0] >= 0; }
  int reads() const { return ends_[0]; }
  int writes() const { return ends_[1]; }
  void close(int end) {
    if (ends_[end] >= 0) ::close(ends_[end]);
    ends_[end] = -1;
  }

 private:
  int ends_[2] = {-1, -1};
};

std::vector<std::string> plain_environment() {
  std::vector<std::string> out = {"LC_ALL=C"};
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    if (!std::string_view(*at).starts_with("LC_ALL=")) out.emplace_back(*at);
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
  const char* const path = ::getenv("PATH");
  for (const std::string_view folder : split(path == nullptr ? "" : path, ':')) {
    if (::access((std::string(folder) + "/" + program).c_str(), F_OK) == 0) return true;
  }
  return false;
}

// 0, or the error of starting it.
int start(const std::vector<std::string>& words, int output, int complaints, pid_t& pid) {
  const std::vector<std::string> variables = plain_environment();
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output, 1);
  posix_spawn_file_actions_adddup2(&files, complaints, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  const int error = ::posix_spawnp(&pid, words.front().c_str(), &files, &attributes,
                                   pointers(words).data(), pointers(variables).data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return error;
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

int wait_ms(MonoTime until) {
  const auto left = until - system_clock().mono();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(left).count();
  return static_cast<int>(std::clamp<std::int64_t>(ms, 0, 60'000));
}

// Waits for the end of the process, not longer than a second after it was killed.
void end_of(pid_t pid, ProbeAnswer& answer) {
  if (answer.end != ProbeEnd::done) ::kill(-pid, SIGKILL);
  const MonoTime until = system_clock().mono() + std::chrono::seconds(1);
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(pid, &status, WNOHANG);
    if (ended == pid) {
      answer.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
      return;
    }
    if (ended < 0 && errno != EINTR) return;
    if (system_clock().mono() >= until) break;
    system_clock().sleep_until(system_clock().mono() + std::chrono::milliseconds(2), {});
  }
  ::kill(-pid, SIGKILL);
  if (answer.end == ProbeEnd::done) answer.end = ProbeEnd::timeout;
}

}  // namespace

ProbeAnswer run_probe_child(const std::vector<std::string>& words, Duration deadline,
                            std::size_t max_bytes) {
  ProbeAnswer answer;
  answer.end = ProbeEnd::failed;
  Pipe output, complaints;
  if (!output.made() || !complaints.made()) {
    answer.complaint = std::strerror(errno);
    return answer;
  }
  pid_t pid = -1;
  const int error = start(words, output.writes(), complaints.writes(), pid);
  if (error != 0) {
    const bool missing = error == ENOENT || (error == EACCES && !in_path(words.front()));
    answer.end = missing           ? ProbeEnd::missing
                 : error == EACCES ? ProbeEnd::denied
                                   : ProbeEnd::failed;
    answer.complaint = std::strerror(error);
    return answer;
  }
  output.close(1);
  complaints.close(1);
  answer.end = ProbeEnd::done;
  answer.parts.resize(1);
  const MonoTime until = system_clock().mono() + deadline;
  bool reading = true, hearing = true, cut = false, cut_words = false;
  while (reading || hearing) {
    pollfd polled[2] = {{reading ? output.reads() : -1, POLLIN, 0},
                        {hearing ? complaints.reads() : -1, POLLIN, 0}};
    const int left = wait_ms(until);
    const int ready = ::poll(polled, 2, left);
    if (ready < 0 && errno != EINTR) break;
    if (ready == 0 && wait_ms(until) == 0) {
      answer.end = ProbeEnd::timeout;
      break;
    }
    if (polled[0].revents != 0) {
      reading = take(output.reads(), answer.parts[0].bytes, max_bytes, cut);
    }
    if (polled[1].revents != 0) {
      hearing = take(complaints.reads(), answer.complaint, kComplaintBytes, cut_words);
    }
  }
  end_of(pid, answer);
  if (answer.end == ProbeEnd::done && cut) answer.end = ProbeEnd::truncated;
  return answer;
}

}  // namespace muster
