#include "core/site/package_reader.h"

#include <optional>

#include "base/text.h"

namespace muster {
namespace {

std::string package_of(std::string_view text) {
  return short_text(text.substr(0, text.find(':')));
}

// "a:amd64 (1, 2), b:amd64 (1, automatic)"
void read_apt_list(SiteText& text, std::size_t index, std::string_view list, std::string_view verb,
                   const std::string& command) {
  for (int i = 0; i < 4096 && !list.empty(); ++i) {
    const std::size_t open = list.find(" (");
    const std::size_t close = list.find(')', open);
    if (open == std::string_view::npos || close == std::string_view::npos) return;
    const auto versions = split(list.substr(open + 2, close - open - 2), ',');
    PackageChange out;
    out.package = package_of(trim(list.substr(0, open)));
    out.command = command;
    if (verb == "Upgrade" || verb == "Downgrade") {
      out.from = short_text(versions[0]);
      if (versions.size() > 1) out.to = short_text(versions[1]);
    } else if (verb == "Remove" || verb == "Purge") {
      out.from = short_text(versions[0]);
    } else {
      out.to = short_text(versions[0]);
    }
    if (!out.package.empty()) text.add(index, std::move(out));
    list.remove_prefix(close + 1);
    if (list.starts_with(", ")) list.remove_prefix(2);
  }
}

// "libnvidia-compute-535:amd64 535.183.06 535.216.03" behind "upgrade"
std::optional<PackageChange> dpkg_row(const std::vector<std::string_view>& words) {
  if (words.size() != 6 || words[0].size() != 10 || words[0][4] != '-') return std::nullopt;
  const std::string_view verb = words[2];
  if (verb != "upgrade" && verb != "install" && verb != "remove" && verb != "purge") {
    return std::nullopt;
  }
  PackageChange out;
  out.package = package_of(words[3]);
  if (words[4] != "<none>") out.from = short_text(words[4]);
  if (words[5] != "<none>" && verb != "remove" && verb != "purge") out.to = short_text(words[5]);
  return out;
}

// "nvidia-driver-3:535.216.03-1.el9.x86_64" or "3:nvidia-driver-535.216.03-1.el7.x86_64": the name
// ends at the second dash from behind.
std::optional<PackageChange> rpm_change(std::string_view verb, std::string_view text) {
  if (verb != "Upgrade:" && verb != "Upgraded:" && verb != "Updated:" && verb != "Installed:" &&
      verb != "Downgrade:" && verb != "Erased:" && verb != "Removed:") {
    return std::nullopt;
  }
  const std::size_t release = text.rfind('-');
  if (release == std::string_view::npos || release == 0) return std::nullopt;
  const std::size_t version = text.rfind('-', release - 1);
  if (version == std::string_view::npos) return std::nullopt;
  std::string_view name = text.substr(0, version), number = text.substr(version + 1);
  if (const std::size_t epoch = name.find(':'); epoch != std::string_view::npos) {
    name.remove_prefix(epoch + 1);
  }
  if (const std::size_t epoch = number.find(':'); epoch != std::string_view::npos) {
    number.remove_prefix(epoch + 1);
  }
  // "Upgraded:" of dnf is the package that went.
  const bool gone = verb == "Upgraded:" || verb == "Erased:" || verb == "Removed:";
  PackageChange out;
  out.package = short_text(name);
  (gone ? out.from : out.to) = short_text(number);
  return out;
}

}  // namespace

void read_packages(SiteText& text) {
  std::string command;
  bool apt = false;
  for (std::size_t i = 0; i < text.lines().size(); ++i) {
    const std::string_view line = text.line(i);
    const std::size_t colon = line.find(": ");
    const std::string_view field = line.substr(0, colon);
    if (field == "Start-Date" || field == "Commandline") {
      if (field == "Start-Date") command.clear();
      if (field == "Commandline") command = short_text(line.substr(colon + 2));
      apt = true;
      text.claim(i);
      continue;
    }
    if (apt && (field == "End-Date" || field == "Requested-By" || field == "Error")) {
      text.claim(i);
      continue;
    }
    if (apt && (field == "Upgrade" || field == "Install" || field == "Downgrade" ||
                field == "Remove" || field == "Purge" || field == "Reinstall")) {
      text.claim(i);
      read_apt_list(text, i, line.substr(colon + 2), field, command);
      continue;
    }
    const auto words = words_of(line, 8);
    if (auto row = dpkg_row(words)) {
      text.add(i, std::move(*row));
    } else if (words.size() > 3 && words[0].size() == 10 && words[0][4] == '-' &&
               (words[2] == "status" || words[2] == "configure" || words[2] == "trigproc" ||
                words[2] == "startup")) {
      text.claim(i);
    } else if (words.size() >= 4) {
      const std::size_t verb = words.size() - 2;
      if (auto change = rpm_change(words[verb], words.back())) text.add(i, std::move(*change));
    }
  }
}

}  // namespace muster
