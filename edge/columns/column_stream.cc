#include "edge/columns/column_stream.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/limits.h"
#include "core/model/json_reader.h"
#include "edge/columns/column_frames.h"

extern char** environ;

namespace muster {
namespace {

// $MUSTER_COLUMNS, else the one that lies beside this program; empty: there is none.
std::string columns_program() {
  if (const char* named = std::getenv("MUSTER_COLUMNS"); named != nullptr) return named;
  std::array<char, 4096> self{};
  const ssize_t n = ::readlink("/proc/self/exe", self.data(), self.size());
  if (n <= 0) return "";
  const std::string path(self.data(), static_cast<std::size_t>(n));
  const std::string beside = path.substr(0, path.rfind('/') + 1) + "muster-columns";
  return ::access(beside.c_str(), X_OK) == 0 ? beside : "";
}

// Whether state.json beside the file says that rows are chosen or reordered by other files.
bool has_indices(Files& files, const std::string& path) {
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  const auto bytes = read_whole(files, folder + "state.json", limits::kContractBytes);
  const auto state = bytes ? parse_json(*bytes) : Result<JsonNode>(JsonNode());
  for (const char* key : {"_indices_data_files", "_indices_files"}) {
    const JsonNode* node = state ? state->find(key) : nullptr;
    const auto* list = node == nullptr ? nullptr : node->get<JsonNode::Array>();
    if (list != nullptr && !list->empty()) return true;
  }
  return false;
}

// The child that reads the table, and what it says.
class ColumnStream final : public ByteStream {
 public:
  ColumnStream(pid_t child, int pipe, std::string path)
      : child_(child), pipe_(pipe), path_(std::move(path)) {}
  ~ColumnStream() override {
    ::close(pipe_);
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  ColumnStream(const ColumnStream&) = delete;
  ColumnStream& operator=(const ColumnStream&) = delete;

  // The first frame.
  Status opened() {
    const auto kind = next_frame();
    if (!kind) return kind.error();
    return *kind == ColumnFrame::opened ? Status() : died();
  }

  Result<std::size_t> read(std::span<char> buffer) override {
    while (left_ == 0) {
      if (ended_) return std::size_t{0};
      const auto kind = next_frame();
      if (!kind) return kind.error();
      ended_ = *kind == ColumnFrame::end;
    }
    const std::size_t n = std::min(buffer.size(), left_);
    if (Status got = receive(buffer.first(n)); !got) return got.error();
    left_ -= n;
    return n;
  }

 private:
  Error died() const {
    return make_error(Errc::corrupt, "reading " + path_ + ": its reader (muster-columns) died");
  }

  Status receive(std::span<char> buffer) {
    while (!buffer.empty()) {
      const ssize_t n = ::read(pipe_, buffer.data(), buffer.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return died();
      buffer = buffer.subspan(static_cast<std::size_t>(n));
    }
    return {};
  }

  // A refusal is an Error; of rows, `left_` says how many bytes follow.
  Result<ColumnFrame> next_frame() {
    std::array<char, kFrameHeadBytes> head{};
    if (Status got = receive(head); !got) return got.error();
    const auto kind = static_cast<ColumnFrame>(head[0]);
    const std::size_t bytes = frame_bytes({head.data(), head.size()});
    if (bytes > kFrameBytes) return died();
    if (kind == ColumnFrame::rows) {
      left_ = bytes;
      return kind;
    }
    std::string text(bytes, '\0');
    if (Status got = receive(text); !got) return got.error();
    if (kind == ColumnFrame::unsupported) return make_error(Errc::unsupported, text);
    if (kind == ColumnFrame::corrupt) return make_error(Errc::corrupt, text);
    return kind;
  }

  pid_t child_;
  int pipe_;
  std::string path_;
  std::size_t left_ = 0;
  bool ended_ = false;
};

// Starts the program with its standard output in a pipe; -1 where it could not be.
pid_t start(const std::string& program, const std::string& path, const std::string& field,
            int output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  // Signals that we block or ignore are its own again: it dies with its pipe.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, pipe;
  sigemptyset(&none);
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &pipe);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::string words[] = {program, path, field};
  char* argv[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  pid_t child = -1;
  const int failed = posix_spawn(&child, program.c_str(), &actions, &attributes, argv, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failed == 0 ? child : -1;
}

}  // namespace

bool looks_like_columns(std::string_view head) {
  return head.starts_with("PAR1") || head.starts_with("ARROW1") ||
         head.starts_with("\xFF\xFF\xFF\xFF");
}

Result<std::unique_ptr<ByteStream>> open_columns(Files& files, const std::string& path,
                                                 const std::string& field) {
  const std::string program = columns_program();
  if (program.empty()) {
    return make_error(
        Errc::unsupported,
        "this is a table of Parquet or Arrow, and the program that reads them was not "
        "built: cmake -DMUSTER_ARROW=DIR takes the folder of the pyarrow wheel");
  }
  if (has_indices(files, path)) {
    return make_error(
        Errc::unsupported,
        "state.json says that the rows are chosen by indices: flatten_indices() first");
  }
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno_error("opening a pipe", errno);
  const pid_t child = start(program, path, field, ends[1]);
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    return make_error(Errc::unavailable, program + " could not be started");
  }
  auto stream = std::make_unique<ColumnStream>(child, ends[0], path);
  if (Status opened = stream->opened(); !opened) return opened.error();
  return std::unique_ptr<ByteStream>(std::move(stream));
}

}  // namespace muster
