#include "core/site/counter_reader.h"

#include <map>
#include <optional>
#include <tuple>

#include "base/text.h"

namespace muster {
namespace {

struct Port {
  std::string device;
  std::optional<int> number;
};

std::optional<int> small_number(std::string_view text) {
  const auto value = parse_uint(text);
  if (!value || *value > 65535) return std::nullopt;
  return static_cast<int>(*value);
}

// "mlx5_2 port 1", "mlx5_2/1", "mlx5_2:1" somewhere in a heading.
std::optional<Port> port_in(std::string_view line) {
  const auto words = words_of(line, 32);
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string_view word = words[i];
    while (word.ends_with(',') || word.ends_with(':') || word.ends_with(')')) word.remove_suffix(1);
    while (word.starts_with('(')) word.remove_prefix(1);
    const std::size_t mark = word.find_first_of("/:");
    const std::string_view device = word.substr(0, mark);
    const bool named = device.size() >= 3 && device.size() <= 64 &&
                       device.find_first_of("0123456789") != std::string_view::npos &&
                       device.find_first_not_of("0123456789") != std::string_view::npos;
    if (!named || (device.find('_') == std::string_view::npos && !device.starts_with("ib") &&
                   !device.starts_with("roce") && !device.starts_with("irdma"))) {
      continue;
    }
    Port out{std::string(device), std::nullopt};
    if (mark != std::string_view::npos) out.number = small_number(word.substr(mark + 1));
    if (i + 2 < words.size() && words[i + 1] == "port") {
      std::string_view number = words[i + 2];
      number = number.substr(0, number.find_first_not_of("0123456789"));
      out.number = small_number(number);
    }
    return out;
  }
  return std::nullopt;
}

bool is_counter_name(std::string_view text) {
  return text.size() >= 3 && text.size() <= 80 &&
         text.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") ==
             std::string_view::npos &&
         (text.front() < '0' || text.front() > '9');
}

// "symbol_error 0 -> 4", "symbol_error: 0 -> 4"
std::optional<PortCounter> arrow_row(std::string_view line) {
  const auto words = words_of(line, 8);
  if (words.size() != 4 || (words[2] != "->" && words[2] != "=>")) return std::nullopt;
  std::string_view name = words[0];
  if (name.ends_with(':')) name.remove_suffix(1);
  const auto before = parse_uint(words[1]), after = parse_uint(words[3]);
  if (!is_counter_name(name) || !before || !after) return std::nullopt;
  return PortCounter{"", std::nullopt, std::string(name), static_cast<double>(*before),
                     static_cast<double>(*after)};
}

// "# host n07 (rank 1) mlx5_1 before after" -> "n07"
std::string host_in(std::string_view line) {
  const auto words = words_of(line, 16);
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == "host" || words[i] == "node") return std::string(words[i + 1].substr(0, 253));
  }
  return "";
}

void read_pairs(SiteText& text) {
  Port port;
  std::string host;
  bool table = false;
  for (std::size_t i = 0; i < text.lines().size(); ++i) {
    const std::string_view line = trim(text.line(i));
    const auto words = words_of(line, 8);
    if (words.empty()) continue;
    auto row = arrow_row(line);
    if (!row && table && words.size() == 3 && is_counter_name(words[0])) {
      const auto before = parse_uint(words[1]), after = parse_uint(words[2]);
      if (before && after) {
        row = PortCounter{"", std::nullopt, std::string(words[0]), static_cast<double>(*before),
                          static_cast<double>(*after)};
      }
    }
    if (row) {
      row->device = port.device;
      row->port = port.number;
      text.add(i, std::move(*row), host);
      continue;
    }
    const bool heading = line.find("before") != std::string_view::npos &&
                         line.find("after") != std::string_view::npos;
    if (heading) table = words.size() == 3 || line.starts_with('#');
    if (heading) host = host_in(line);
    if (const auto found = port_in(line);
        found && (heading || line.starts_with('#') || words.size() <= 4)) {
      port = *found;
      text.claim(i);
    } else if (heading) {
      text.claim(i);
    }
  }
}

// ---- readings at two times ---------------------------------------------------------------------

struct Reading {
  double value = 0;
  std::size_t line = 0;
};
using Key = std::tuple<std::string, int, std::string>;  // device, port, counter

class Twice {
 public:
  void value(SiteText& text, std::size_t index, const Key& key, double value) {
    text.claim(index);
    if (first_.size() >= 65536) return;
    const auto [found, fresh] = first_.try_emplace(key, Reading{value, index});
    if (!fresh) last_[key] = Reading{value, index};
  }
  void give(SiteText& text) const {
    for (const auto& [key, last] : last_) {
      const auto& [device, port, name] = key;
      PortCounter out{device, std::nullopt, name, first_.at(key).value, last.value};
      if (port >= 0) out.port = port;
      text.add(last.line, std::move(out));
    }
  }

 private:
  std::map<Key, Reading> first_, last_;
};

void read_perfquery(SiteText& text) {
  Twice twice;
  std::optional<std::string> device;
  int port = -1;
  for (std::size_t i = 0; i < text.lines().size(); ++i) {
    const std::string_view line = text.line(i);
    if (line.starts_with("# Port counters: ") || line.starts_with("# Port extended counters: ")) {
      const auto words = words_of(line, 16);
      device.emplace();
      port = -1;
      for (std::size_t w = 0; w + 1 < words.size(); ++w) {
        if (words[w] == "Lid") *device = "lid" + std::string(words[w + 1].substr(0, 8));
        if (words[w] == "port") port = small_number(words[w + 1]).value_or(-1);
      }
      text.claim(i);
      continue;
    }
    const std::size_t dots = line.find(":.");
    if (!device || dots == std::string_view::npos) continue;
    const std::size_t number = line.find_first_not_of('.', dots + 1);
    if (number == std::string_view::npos || !is_counter_name(line.substr(0, dots))) continue;
    const auto value = parse_uint(line.substr(number));
    if (value) {
      twice.value(text, i, {*device, port, std::string(line.substr(0, dots))},
                  static_cast<double>(*value));
    } else {
      text.claim(i);  // "CounterSelect:...0x0000"
    }
  }
  twice.give(text);
}

// "link mlx5_2/1 rx_write_requests 0 rx_read_requests 0 ..."
void read_rdma(SiteText& text) {
  Twice twice;
  for (std::size_t i = 0; i < text.lines().size(); ++i) {
    if (!text.line(i).starts_with("link ")) continue;
    const auto words = words_of(text.line(i), 512);
    if (words.size() < 4) continue;
    const std::size_t slash = words[1].find('/');
    const int port = slash == std::string_view::npos
                         ? -1
                         : small_number(words[1].substr(slash + 1)).value_or(-1);
    for (std::size_t w = 2; w + 1 < words.size(); w += 2) {
      const auto value = parse_uint(words[w + 1]);
      if (!value || !is_counter_name(words[w])) break;
      twice.value(text, i, {std::string(words[1].substr(0, slash)), port, std::string(words[w])},
                  static_cast<double>(*value));
    }
  }
  twice.give(text);
}

}  // namespace

void read_counters(SiteText& text) {
  read_pairs(text);
  read_perfquery(text);
  read_rdma(text);
}

}  // namespace muster
