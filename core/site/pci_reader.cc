#include "core/site/pci_reader.h"

#include <fmt/core.h>

#include <map>
#include <optional>

#include "base/text.h"

namespace muster {
namespace {

bool is_hex(std::string_view text, std::size_t size) {
  return text.size() == size &&
         text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

// A bus on which a branch stands, and the bridge that leads to it.
struct Bus {
  std::string domain = "0000", bus;
  std::string port;  // empty: a root
};

// "[0000:00]" a root, "[04]" or "[05-0a]" behind `from`; taken off the front.
std::optional<Bus> take_bus(std::string_view& text, const Bus& from, std::string_view bridge) {
  const std::size_t close = text.find(']');
  if (!text.starts_with('[') || close == std::string_view::npos) return std::nullopt;
  const std::string_view inside = text.substr(1, close - 1);
  Bus out;
  const std::size_t colon = inside.find(':');
  if (colon != std::string_view::npos) {
    const std::string_view domain = inside.substr(0, colon);
    if ((!is_hex(domain, 4) && !is_hex(domain, 8)) || !is_hex(inside.substr(colon + 1), 2)) {
      return std::nullopt;
    }
    out.domain = std::string(domain);
    out.bus = std::string(inside.substr(colon + 1));
  } else {
    if (!is_hex(inside.substr(0, 2), 2) || bridge.empty()) return std::nullopt;
    out.domain = from.domain;
    out.bus = std::string(inside.substr(0, 2));
    out.port = std::string(bridge);
  }
  text.remove_prefix(close + 1);
  return out;
}

class Tree {
 public:
  // False: the line is no part of a tree.
  bool line(SiteText& text, std::size_t index) {
    std::string_view rest = text.line(index);
    const auto column = [&] { return text.line(index).size() - rest.size(); };
    const std::size_t start = rest.find_first_not_of(" |");
    if (start == std::string_view::npos) return false;
    const char c = rest[start];
    if (c != '-' && c != '+' && c != '\\') return false;
    Bus bus;
    if (c != '-') {
      const auto found = branches_.find(start);
      if (found == branches_.end()) return false;
      bus = found->second;
    }
    if (c == '-' && start != 0) return false;
    rest.remove_prefix(start);
    std::string device;
    bool good = false;
    while (!rest.empty() && rest.front() != ' ') {
      if (rest.front() == '+' || rest.front() == '\\') {
        if (branches_.size() < 4096) branches_[column()] = bus;
        rest.remove_prefix(1);
      } else if (rest.front() == '-') {
        rest.remove_prefix(1);
      } else if (auto next = take_bus(rest, bus, device)) {
        bus = std::move(*next);
        device.clear();
        good = true;
      } else if (rest.size() >= 4 && is_hex(rest.substr(0, 2), 2) && rest[2] == '.' &&
                 is_hex(rest.substr(3, 1), 1)) {
        if (bus.bus.empty()) return false;
        device = fmt::format("{}:{}:{}", bus.domain, bus.bus, rest.substr(0, 4));
        rest.remove_prefix(4);
        good = true;
      } else {
        return false;
      }
    }
    if (!good) return false;
    text.claim(index);
    if (!device.empty() && !bus.port.empty()) {
      text.add(index, PciBridge{bus.port, device, std::string(trim(rest).substr(0, 128))});
    }
    return true;
  }

 private:
  std::map<std::size_t, Bus> branches_;  // by the column of their '+' or '\'
};

}  // namespace

void read_pci_tree(SiteText& text) {
  std::optional<Tree> tree;
  for (std::size_t i = 0; i < text.lines().size(); ++i) {
    if (text.line(i).starts_with("-[") || text.line(i).starts_with("-+-[")) tree.emplace();
    if (tree && !tree->line(text, i)) tree.reset();
  }
}

}  // namespace muster
