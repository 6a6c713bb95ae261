#include "core/site/service_reader.h"

#include "base/text.h"

namespace muster {
namespace {

std::string_view without_bullet(std::string_view line) {
  line = trim(line);
  for (const std::string_view bullet : {"\xe2\x97\x8f", "\xe2\x97\x8b", "\xc3\x97", "*"}) {
    if (line.starts_with(bullet)) return trim(line.substr(bullet.size()));
  }
  return line;
}

bool is_unit(std::string_view word) {
  return word.size() > 8 && word.size() < 256 && word.ends_with(".service");
}

std::string name_of(std::string_view unit) {
  if (unit.ends_with(".service")) unit.remove_suffix(8);
  return std::string(unit.substr(0, 255));
}

bool is_active(std::string_view state) {
  return state == "active" || state == "activating" || state == "reloading";
}

// "Active: inactive (dead) since Tue ..." -> "inactive (dead)"
ServiceState state_of(std::string_view unit, std::string_view text) {
  const std::size_t close = text.find(')');
  if (close != std::string_view::npos) text = text.substr(0, close + 1);
  const auto words = words_of(text, 2);
  ServiceState out;
  out.name = name_of(unit);
  out.state = std::string(trim(text).substr(0, 64));
  out.active = !words.empty() && is_active(words[0]);
  return out;
}

// A block of systemctl status from its heading on; the line behind it.
std::size_t read_status(SiteText& text, std::size_t first, std::string_view unit) {
  text.claim(first);
  bool told = false, behind = false;
  std::size_t i = first + 1;
  for (; i < text.lines().size(); ++i) {
    const std::string_view line = text.line(i);
    const auto words = words_of(without_bullet(line), 2);
    if (!words.empty() && is_unit(words[0])) break;
    if (line.empty() && !told) continue;
    // Behind the details and a blank line come the last lines of the service's journal.
    if (line.empty()) behind = true;
    if (behind && !line.empty() && line.substr(0, 120).find("]: ") == std::string_view::npos) break;
    const std::string_view field = trim(line);
    text.claim(i);
    if (!told && field.starts_with("Active:")) {
      text.add(i, state_of(unit, trim(field.substr(7))));
      told = true;
    }
  }
  return i;
}

}  // namespace

void read_services(SiteText& text) {
  bool table = false;
  for (std::size_t i = 0; i < text.lines().size(); ++i) {
    const std::string_view line = without_bullet(text.line(i));
    const auto words = words_of(line, 5);
    if (words.empty()) {
      table = false;
      continue;
    }
    if (words.size() == 5 && words[0] == "UNIT" && words[1] == "LOAD" && words[2] == "ACTIVE") {
      table = true;
      text.claim(i);
    } else if (table && words.size() >= 4 && is_unit(words[0])) {
      ServiceState state{name_of(words[0]), is_active(words[2]), ""};
      state.state = std::string(words[2]) + " (" + std::string(words[3]) + ")";
      text.add(i, std::move(state));
    } else if (is_unit(words[0]) && words.size() >= 2 && words[1] == "-") {
      i = read_status(text, i, words[0]) - 1;
    } else if (is_unit(words[0]) && words.size() == 1 && i + 1 < text.lines().size() &&
               trim(text.line(i + 1)).starts_with("Loaded:")) {
      i = read_status(text, i, words[0]) - 1;
    } else if (words.size() == 5 && words[0] == "Unit" && is_unit(words[1]) &&
               line.ends_with("could not be found.")) {
      text.add(i, ServiceState{name_of(words[1]), false, "not found"});
    }
  }
  // "$ systemctl is-active nvidia-fabricmanager": one word for each unit.
  const auto asked = words_of(text.command());
  if (asked.size() < 3 || asked[0] != "systemctl" || asked[1] != "is-active") return;
  std::size_t unit = 2;
  for (std::size_t i = 0; i < text.lines().size() && unit < asked.size(); ++i) {
    if (text.claimed(i) || text.line(i).empty()) continue;
    text.add(i, state_of(asked[unit++], text.line(i)));
  }
}

}  // namespace muster
