#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "core/model/site_fact.h"

namespace muster {

// A small document while readers take lines out of it. A reader claims the lines that it
// understands, so that what remains tells whether the document is one, and adds a fact for what
// they say. Bounded by limits::kSiteLines and limits::kSiteFacts: beyond them nothing is read.
class SiteText {
 public:
  // Views of `bytes`, which must outlive this. Colours must be out already.
  SiteText(std::string_view name, std::string_view bytes);

  // Of the file, behind its last '/': "env_n03.txt".
  std::string_view name() const { return name_; }
  // "env_n03.txt" and "[root@n03 ~]# df -h" tell it; empty: not told.
  const std::string& host() const { return host_; }
  // Without line ends and blanks behind.
  std::span<const std::string_view> lines() const { return lines_; }
  std::string_view line(std::size_t index) const { return lines_[index]; }
  // Behind a shell's prompt, where the document begins with one: "df -h".
  std::string_view command() const { return command_; }

  void claim(std::size_t index) { claimed_[index] = true; }
  bool claimed(std::size_t index) const { return claimed_[index]; }
  // Claims the line too.
  void add(std::size_t index, SiteValue value, std::string_view host = {});

  // What expand_host_list() makes of `list`. Beyond limits::kSiteHostsOfDocument in all, nothing: a
  // list that is cut would deny hosts.
  std::vector<std::string> hosts_of(std::string_view list);

  // Lines that are neither blank nor claimed, and those that are claimed.
  std::size_t open_lines() const;
  std::size_t claimed_lines() const;
  std::vector<SiteFact> take_facts();

 private:
  void find_prompt();

  std::string_view name_;
  std::string host_;
  std::string_view command_;
  std::vector<std::string_view> lines_;
  std::vector<bool> claimed_;
  std::vector<SiteFact> facts_;
  std::size_t hosts_left_ = limits::kSiteHostsOfDocument;
};

// Pieces between runs of blanks and tabs; at most `most`, the last of which is the whole rest.
std::vector<std::string_view> words_of(std::string_view text, std::size_t most = SIZE_MAX);

// Trimmed, at most 255 bytes, the longest name of a host or a file: a fact holds names, no texts.
std::string short_text(std::string_view text);

}  // namespace muster
