#include "core/site/listener_reader.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace muster {
namespace {

// "*:29517", "[::]:29517", "0.0.0.0:29517"
std::optional<int> port_of(std::string_view address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto port = parse_uint(address.substr(colon + 1));
  if (!port || *port == 0 || *port > 65535) return std::nullopt;
  return static_cast<int>(*port);
}

std::optional<std::int64_t> pid_of(std::string_view text) {
  const auto pid = parse_uint(text);
  if (!pid || *pid == 0 || *pid > (1u << 30)) return std::nullopt;
  return static_cast<std::int64_t>(*pid);
}

// 'users:(("torchrun",pid=77,fd=3),("torchrun",pid=78,fd=3))': the first.
void read_users(std::string_view text, Listener& out) {
  const std::size_t open = text.find("((\"");
  if (open == std::string_view::npos) return;
  text.remove_prefix(open + 3);
  const std::size_t close = text.find("\",pid=");
  if (close == std::string_view::npos) return;
  out.process = std::string(text.substr(0, std::min<std::size_t>(close, 255)));
  text.remove_prefix(close + 6);
  out.pid = pid_of(text.substr(0, text.find_first_not_of("0123456789")));
}

// Rows of ss, with a Netid in front where not only TCP was asked for.
std::optional<Listener> ss_row(const std::vector<std::string_view>& words) {
  std::size_t state = 0;
  if (words[0] == "tcp" || words[0] == "tcp6") state = 1;
  if (words.size() < state + 5 || words[state] != "LISTEN" || !parse_uint(words[state + 1]) ||
      !parse_uint(words[state + 2])) {
    return std::nullopt;
  }
  const auto port = port_of(words[state + 3]);
  if (!port) return std::nullopt;
  Listener out{*port, "", std::nullopt};
  if (words.size() > state + 5) read_users(words.back(), out);
  return out;
}

// "tcp 0 0 0.0.0.0:29517 0.0.0.0:* LISTEN 77/python"
std::optional<Listener> netstat_row(const std::vector<std::string_view>& words) {
  if (words.size() < 6 || !words[0].starts_with("tcp") || words[5] != "LISTEN") {
    return std::nullopt;
  }
  const auto port = port_of(words[3]);
  if (!port) return std::nullopt;
  Listener out{*port, "", std::nullopt};
  const auto program = std::find_if(words.begin() + 6, words.end(), [](std::string_view word) {
    return word.find('/') != std::string_view::npos;
  });
  if (program != words.end()) {
    const std::size_t slash = program->find('/');
    out.pid = pid_of(program->substr(0, slash));
    if (out.pid) out.process = std::string(program->substr(slash + 1, 255));
  }
  return out;
}

std::optional<Listener> lsof_row(const std::vector<std::string_view>& words) {
  if (words.size() < 9 || words.back() != "(LISTEN)") return std::nullopt;
  const auto port = port_of(words[words.size() - 2]);
  const auto pid = pid_of(words[1]);
  if (!port || !pid) return std::nullopt;
  return Listener{*port, std::string(words[0].substr(0, 255)), pid};
}

std::optional<Listener> fuser_row(const std::vector<std::string_view>& words) {
  if (words.size() < 2 || !words[0].ends_with("/tcp:")) return std::nullopt;
  const auto port = parse_uint(words[0].substr(0, words[0].size() - 5));
  const auto pid = pid_of(words[1].substr(0, words[1].find_first_not_of("0123456789")));
  if (!port || *port == 0 || *port > 65535 || !pid) return std::nullopt;
  return Listener{static_cast<int>(*port), "", pid};
}

bool is_heading(std::string_view line) {
  const auto has = [&](std::string_view word) { return line.find(word) != std::string_view::npos; };
  return (has("Recv-Q") && has("Send-Q")) || line.starts_with("Active Internet connections") ||
         (line.starts_with("COMMAND") && has(" PID ") && has("NAME") && has("FD"));
}

}  // namespace

void read_listeners(SiteText& text) {
  bool table = false;
  for (std::size_t i = 0; i < text.lines().size(); ++i) {
    const auto words = words_of(text.line(i));
    if (words.empty()) continue;
    if (is_heading(text.line(i))) {
      table = true;
      text.claim(i);
      continue;
    }
    std::optional<Listener> found;
    for (const auto read : {ss_row, netstat_row, lsof_row, fuser_row}) {
      if (!found) found = read(words);
    }
    if (found) {
      text.add(i, std::move(*found));
    } else if (table &&
               (words[0] == "ESTAB" || words[0] == "TIME-WAIT" || words[0] == "CLOSE-WAIT" ||
                words[0] == "tcp" || words[0] == "tcp6" || words[0] == "udp")) {
      text.claim(i);  // a connection, no listener
    }
  }
}

}  // namespace muster
