#include "core/comms/log_envelope.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/timestamp.h"
#include "core/comms/scan.h"

namespace muster {
namespace {

using namespace comms;

// Prefixes one inside another: no real line has more than six.
constexpr int kMaxPieces = 12;

bool take_rank_tag(std::string_view& text, LogEnvelope& out) {
  std::string_view rest = text;
  if (!take(rest, "[rank")) return false;
  const auto rank = take_rank(rest);
  if (!rank || !take(rest, "]")) return false;
  take(rest, ":");
  take(rest, " ");
  out.rank = rank;
  text = rest;
  return true;
}

// "[default3]:", where the word is a role of the user's choice.
bool take_local_tag(std::string_view& text, LogEnvelope& out) {
  std::string_view rest = text;
  if (!take(rest, "[")) return false;
  std::size_t word = 0;
  while (word < rest.size() && (is_letter(rest[word]) || rest[word] == '_')) ++word;
  if (word == 0) return false;
  rest.remove_prefix(word);
  const auto local = take_rank(rest);
  if (!local || !take(rest, "]:")) return false;
  take(rest, " ");
  out.local = local;
  text = rest;
  return true;
}

// "3: " or " 3: " (srun pads to the widest).
bool take_task(std::string_view& text, LogEnvelope& out) {
  std::string_view rest = text;
  skip_blanks(rest);
  if (rest.empty() || !is_digit(rest.front())) return false;
  const auto task = take_rank(rest);
  if (!task || !take(rest, ": ")) return false;
  out.task = task;
  text = rest;
  return true;
}

// "(RayTrainWorker pid=123, ip=10.0.0.3) "
bool take_ray(std::string_view& text, LogEnvelope& out) {
  if (!text.starts_with('(')) return false;
  std::string_view rest = text.substr(1);
  const auto inside = take_until(rest, ")");
  if (!inside) return false;
  const auto pid = int_behind(*inside, "pid=");
  if (!pid) return false;
  out.pid = pid;
  if (auto ip = behind(*inside, "ip=")) out.host = std::string(ip->substr(0, ip->find(',')));
  take(rest, " ");
  text = rest;
  return true;
}

void set_time(LogEnvelope& out, const std::optional<ParsedTime>& time) {
  if (!time) return;
  if (!time->has_date) {
    out.clock = time->at.time_since_epoch();
    return;
  }
  out.at = time->at;
  out.at_has_zone = time->has_zone;
}

// "2026-08-01T10:00:00.123Z stderr F ", "2026-08-01 10:00:00,123 ", "[2026-08-01 10:00:00] ".
bool take_stamp(std::string_view& text, LogEnvelope& out) {
  std::string_view rest = text;
  const bool bracket = take(rest, "[");
  if (rest.empty() || !is_digit(rest.front())) return false;
  std::optional<ParsedTime> time;
  if (bracket) {
    const auto inside = take_until(rest, "]");
    if (!inside) return false;
    time = parse_timestamp(*inside);
    // Seconds since the boot of the kernel: "[ 8123.551] " is no date, and no message either.
    if (!time && !parse_double(*inside)) return false;
  } else {
    const std::size_t first = rest.find(' ');
    if (first == std::string_view::npos) return false;
    const std::size_t second = std::min(rest.find(' ', first + 1), rest.size());
    time = parse_timestamp(rest.substr(0, second));
    std::size_t end = second;
    if (!time) {
      time = parse_timestamp(rest.substr(0, first));
      end = first;
    }
    if (!time) return false;
    rest.remove_prefix(end);
  }
  take(rest, " ");
  for (const std::string_view stream : {"stdout F ", "stderr F ", "stdout P ", "stderr P "}) {
    if (take(rest, stream)) break;
  }
  set_time(out, time);
  text = rest;
  return true;
}

// "Aug  1 11:28:41 n3 python[1234]: "
bool take_syslog(std::string_view& text, LogEnvelope& out, WallTime written) {
  std::string_view rest = text;
  const auto month = parse_month(rest);
  if (!month) return false;
  rest.remove_prefix(3);
  if (!take(rest, " ")) return false;
  skip_blanks(rest);
  const auto day = take_int(rest);
  if (!day || *day < 1 || *day > 31 || !take(rest, " ")) return false;
  const auto clock = take_until(rest, " ");
  if (!clock || clock->find(':') == std::string_view::npos) return false;
  const auto host = take_until(rest, " ");
  if (!host) return false;
  const std::size_t colon = rest.find(": ");
  if (colon == std::string_view::npos || rest.substr(0, colon).find(' ') != std::string_view::npos)
    return false;
  out.host = std::string(*host);
  out.at = in_year_before(written, *month, static_cast<int>(*day), *clock);
  out.at_has_zone = false;
  text = rest.substr(colon + 2);
  return true;
}

// "E0801 11:28:41.123000 1234 torch/distributed/x.py:874] " and "[E801 11:28:40.118203377
// ProcessGroupNCCL.cpp:629] "; the old form has neither date nor time.
bool take_glog(std::string_view& text, LogEnvelope& out, WallTime written) {
  std::string_view rest = text;
  const bool bracket = take(rest, "[");
  if (rest.empty() || std::string_view("IWEF").find(rest.front()) == std::string_view::npos) {
    return false;
  }
  rest.remove_prefix(1);
  std::optional<WallTime> at;
  if (!rest.empty() && is_digit(rest.front())) {
    const auto date = take_int(rest);
    if (!date || *date < 101 || *date > 1231 || !take(rest, " ")) return false;
    const auto clock = take_until(rest, " ");
    if (!clock) return false;
    at = in_year_before(written, static_cast<int>(*date / 100), static_cast<int>(*date % 100),
                        *clock);
  } else if (!bracket || !take(rest, " ")) {
    return false;
  }
  const auto place = take_until(rest, "]");
  const std::size_t colon = place ? place->rfind(':') : std::string_view::npos;
  if (colon == std::string_view::npos || !parse_int(place->substr(colon + 1))) return false;
  if (at) {
    out.at = at;
    out.at_has_zone = false;
  }
  out.native = true;
  skip_blanks(rest);
  text = rest;
  return true;
}

// "[Rank 3] ", "[PG 0 Rank 3] ", "[PG 0 (default_pg) Rank 3] ", "[PG ID 1 PG GUID 5(tp) Rank 3] ".
bool take_group_tag(std::string_view& text, LogEnvelope& out) {
  if (!text.starts_with("[PG ") && !text.starts_with("[Rank ")) return false;
  std::string_view rest = text.substr(1);
  const auto inside = take_until(rest, "]");
  if (!inside) return false;
  std::string_view tag = *inside;
  const std::size_t last = tag.rfind("Rank ");
  if (last == std::string_view::npos) return false;
  std::string_view number = tag.substr(last + 5);
  const auto in_group = take_rank(number);
  if (!in_group || !number.empty()) return false;
  tag = trim(tag.substr(0, last));
  std::string_view description;
  if (tag.ends_with(')') && tag.find('(') != std::string_view::npos) {
    description = tag.substr(tag.find('(') + 1);
    description.remove_suffix(1);
    tag = trim(tag.substr(0, tag.find('(')));
  }
  std::string_view name;
  if (const auto guid = behind(tag, "PG GUID ")) {
    name = trim(*guid);
  } else if (!description.empty()) {
    name = description;
  } else if (tag == "PG 0") {
    name = "0";  // the first group of a process; later numbers differ from process to process
  }
  out.in_group = in_group;
  if (!name.empty()) out.group = std::string(name);
  out.default_group = name == "0" || name == "default_pg" || description == "default_pg";
  skip_blanks(rest);
  text = rest;
  return true;
}

// "host:pid:tid [dev] file:line NCCL WARN text" or "... [dev] NCCL INFO text".
bool take_nccl(std::string_view& text, LogEnvelope& out) {
  const std::size_t warn = text.find(" NCCL WARN ");
  const std::size_t info = text.find(" NCCL INFO ");
  const std::size_t mark = std::min(warn, info);
  if (mark == std::string_view::npos || mark > 256) return false;
  std::string_view head = text.substr(0, mark);
  const auto host = take_until(head, ":");
  const auto pid = take_int(head);
  if (!host || host->empty() || host->find(' ') != std::string_view::npos || !pid) return false;
  if (!take(head, ":") || !take_int(head) || !take(head, " [")) return false;
  out.host = std::string(*host);
  out.pid = pid;
  out.nccl_warn = warn < info;
  out.native = true;
  text.remove_prefix(mark + 11);
  return true;
}

// Lines that another one's progress bar runs into: the tag stands in the middle.
void seek_rank_tag(LogEnvelope& out) {
  std::size_t at = out.message.find("[rank");
  for (int tries = 0; at != std::string_view::npos && tries < 4; ++tries) {
    std::string_view rest = out.message.substr(at);
    const std::size_t end = rest.find(']');
    const bool tag = end != std::string_view::npos && rest.substr(end).starts_with("]:");
    if (tag && take_rank_tag(rest, out)) {
      out.message = rest;
      return;
    }
    at = out.message.find("[rank", at + 1);
  }
}

}  // namespace

LogEnvelope read_log_envelope(std::string_view line, WallTime written) {
  LogEnvelope out;
  std::string_view text = line;
  const auto pieces = [&] {
    for (int i = 0; i < kMaxPieces; ++i) {
      const bool found = take_rank_tag(text, out) || take_group_tag(text, out) ||
                         take_glog(text, out, written) || take_local_tag(text, out) ||
                         take_task(text, out) || take_stamp(text, out) || take_ray(text, out) ||
                         take_syslog(text, out, written) || take(text, "[TC] ") ||
                         take_nccl(text, out);
      if (!found) break;
    }
    out.message = text;
  };
  pieces();
  if (!out.rank) {
    seek_rank_tag(out);
    text = out.message;
    if (out.rank) pieces();
  }
  return out;
}

std::optional<std::string> read_docker_line(std::string_view line) {
  if (!take(line, "{\"log\":\"")) return std::nullopt;
  std::string out;
  for (std::size_t i = 0; i < line.size() && line[i] != '"'; ++i) {
    if (line[i] != '\\' || i + 1 == line.size()) {
      out += line[i];
      continue;
    }
    const char c = line[++i];
    if (c == 'n' || c == 'r') {
      continue;  // the end of the message
    } else if (c == 't') {
      out += '\t';
    } else if (c == 'u') {
      const auto code = parse_hex(fmt::format("0x{}", line.substr(i + 1, 4)));
      out += code && *code < 0x80 ? static_cast<char>(*code) : '?';
      i += std::min<std::size_t>(4, line.size() - i - 1);
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace muster
