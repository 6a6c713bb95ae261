#include "core/site/site_text.h"

#include <algorithm>

#include "base/text.h"
#include "core/site/file_host.h"
#include "core/site/host_list.h"

namespace muster {

std::string short_text(std::string_view text) {
  return std::string(trim(text).substr(0, 255));
}

std::vector<std::string_view> words_of(std::string_view text, std::size_t most) {
  std::vector<std::string_view> out;
  while (true) {
    text = trim(text);
    if (text.empty()) return out;
    if (out.size() + 1 == most) {
      out.push_back(text);
      return out;
    }
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    out.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

SiteText::SiteText(std::string_view name, std::string_view bytes)
    : name_(name.substr(name.rfind('/') + 1)), host_(host_of_file_name(name)) {
  while (!bytes.empty() && lines_.size() < limits::kSiteLines) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    std::string_view line = bytes.substr(0, std::min(end, limits::kLineBytes));
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t')) {
      line.remove_suffix(1);
    }
    lines_.push_back(line);
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
  claimed_.resize(lines_.size());
  find_prompt();
}

// "[root@n03 ~]# df -h", "me@n03:~$ df -h", "$ df -h"; the last for its command only.
void SiteText::find_prompt() {
  std::size_t first = 0;
  while (first < lines_.size() && lines_[first].empty()) ++first;
  if (first == lines_.size() || lines_[first].starts_with("#")) return;
  const std::string_view line = lines_[first].substr(0, 512);
  std::size_t mark = line.find("# ");
  mark = std::min(mark, line.find("$ "));
  if (mark == std::string_view::npos) return;
  const std::string_view head = line.substr(0, mark);
  const std::size_t at = head.find('@');
  if (at != std::string_view::npos) {
    std::string_view host = head.substr(at + 1);
    host = host.substr(0, host.find_first_not_of(
                              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-."));
    const std::string_view user = head.substr(0, at);
    if (host.empty() || user.find(' ') != std::string_view::npos) return;
    if (host_.empty()) host_ = std::string(host);
  } else if (!head.empty()) {
    return;
  }
  command_ = trim(line.substr(mark + 2));
  claim(first);
}

void SiteText::add(std::size_t index, SiteValue value, std::string_view host) {
  claim(index);
  if (facts_.size() >= limits::kSiteFacts) return;
  SiteFact fact;
  fact.value = std::move(value);
  fact.host = host.empty() ? host_ : std::string(host.substr(0, 253));
  fact.line = index + 1;
  fact.text = std::string(whole_characters(trim(lines_[index]), limits::kEvidenceChars));
  facts_.push_back(std::move(fact));
}

std::vector<std::string> SiteText::hosts_of(std::string_view list) {
  if (hosts_left_ == 0) return {};
  std::vector<std::string> out = expand_host_list(list);
  if (out.size() > hosts_left_) {
    hosts_left_ = 0;
    return {};
  }
  hosts_left_ -= out.size();
  return out;
}

std::size_t SiteText::open_lines() const {
  std::size_t out = 0;
  for (std::size_t i = 0; i < lines_.size(); ++i) out += !lines_[i].empty() && !claimed_[i] ? 1 : 0;
  return out;
}

std::size_t SiteText::claimed_lines() const {
  return static_cast<std::size_t>(std::count(claimed_.begin(), claimed_.end(), true));
}

std::vector<SiteFact> SiteText::take_facts() {
  std::stable_sort(facts_.begin(), facts_.end(),
                   [](const SiteFact& a, const SiteFact& b) { return a.line < b.line; });
  return std::move(facts_);
}

}  // namespace muster
