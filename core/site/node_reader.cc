#include "core/site/node_reader.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace muster {
namespace {

std::optional<std::size_t> column(const std::vector<std::string_view>& words,
                                  std::string_view name) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == name) return i;
  }
  return std::nullopt;
}

// "Kill task failed [root@2026-04-09T05:17:42]" -> "Kill task failed"
std::string reason_of(std::string_view text) {
  const std::size_t open = text.rfind(" [");
  if (open != std::string_view::npos && text.ends_with(']')) text = text.substr(0, open);
  return short_text(text);
}

void read_scontrol(SiteText& text) {
  NodeState node;
  bool open = false;
  std::size_t at = 0;
  const auto end = [&] {
    if (!node.host.empty()) text.add(at, std::move(node));
    node = {};
    open = false;
  };
  for (std::size_t i = 0; i < text.lines().size(); ++i) {
    const std::string_view line = trim(text.line(i));
    if (line.starts_with("NodeName=")) {
      end();
      open = true;
      at = i;
    }
    if (!open) continue;
    if (line.empty()) {
      end();
      continue;
    }
    if (line.starts_with("Reason=")) {
      node.reason = reason_of(line.substr(7));
      at = i;
      text.claim(i);
      continue;
    }
    if (line.find('=') == std::string_view::npos) continue;
    text.claim(i);
    for (const std::string_view word : words_of(line)) {
      if (word.starts_with("NodeName=")) node.host = short_text(word.substr(9));
      if (word.starts_with("State=")) node.state = short_text(word.substr(6));
    }
    // With -o all stands in one line.
    const std::size_t reason = line.find(" Reason=");
    if (reason != std::string_view::npos) node.reason = reason_of(line.substr(reason + 8));
  }
  end();
}

// The reason may hold blanks; user, time and nodes are the last three words.
void read_reasons(SiteText& text) {
  bool table = false;
  for (std::size_t i = 0; i < text.lines().size(); ++i) {
    const auto words = words_of(text.line(i));
    if (words.size() == 4 && words[0] == "REASON" && words[3] == "NODELIST") {
      table = true;
      text.claim(i);
    } else if (words.empty()) {
      table = false;
    } else if (table && words.size() >= 4) {
      const std::string_view line = text.line(i);
      const auto end = static_cast<std::size_t>(words[words.size() - 3].data() - line.data());
      text.add(i, NodeState{short_text(words.back()), "", short_text(line.substr(0, end))});
    }
  }
}

void read_table(SiteText& text, std::string_view host_column, std::string_view state_column,
                std::string_view also) {
  std::size_t host = 0, state = 0, columns = 0;  // none, while there are no columns
  for (std::size_t i = 0; i < text.lines().size(); ++i) {
    const auto words = words_of(text.line(i));
    const auto of_host = column(words, host_column), of_state = column(words, state_column);
    if (of_host && of_state && column(words, also)) {
      host = *of_host;
      state = *of_state;
      columns = words.size();
      text.claim(i);
    } else if (words.empty()) {
      columns = 0;
    } else if (columns > 0 && words.size() >= std::min(columns, std::max(host, state) + 1)) {
      text.add(i, NodeState{short_text(words[host]), short_text(words[state]), ""});
    }
  }
}

}  // namespace

void read_nodes(SiteText& text) {
  read_scontrol(text);
  read_reasons(text);
  read_table(text, "NODELIST", "STATE", "PARTITION");
  read_table(text, "NAME", "STATUS", "ROLES");
}

}  // namespace muster
