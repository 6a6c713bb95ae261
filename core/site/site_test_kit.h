#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>

#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/limits.h"
#include "base/timestamp.h"
#include "core/site/site_document.h"

// Facts as words, one a line, for tables of tests.

namespace muster::site_test {

inline std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

inline std::string told(const std::optional<double>& value) {
  return value ? fmt::format("{:.0f}", *value) : "-";
}

struct Describe {
  std::string operator()(const DiskSpace& v) const {
    return fmt::format("disk {} on {} {} {} {} {} +-{:.0f}", v.mount, v.device,
                       v.inodes ? "inodes" : "bytes", told(v.size), told(v.used), told(v.avail),
                       v.block_bytes);
  }
  std::string operator()(const ResourceLimit& v) const {
    return fmt::format("limit {} {} {} {}", v.name, v.soft_unlimited ? "unlimited" : told(v.soft),
                       v.hard_unlimited ? "unlimited" : told(v.hard), v.unit);
  }
  std::string operator()(const ServiceState& v) const {
    return fmt::format("service {} {} [{}]", v.name, v.active ? "runs" : "off", v.state);
  }
  std::string operator()(const GidEntry& v) const {
    return fmt::format("gid {} {} {} {} [{}] {}", v.device, v.port, v.index, v.gid, v.ipv4, v.type);
  }
  std::string operator()(const Setting& v) const {
    return fmt::format("set {}={}", v.name, v.value);
  }
  std::string operator()(const HostAddress& v) const {
    return fmt::format("address {} {}", v.address, v.host);
  }
  std::string operator()(const RankPlace& v) const {
    return fmt::format("ranks {}-{} {} [{}]", v.first, v.last, v.host, v.pci);
  }
  std::string operator()(const PciBridge& v) const {
    return fmt::format("bridge {} {} [{}]", v.port, v.device, v.name);
  }
  std::string operator()(const FolderEntry& v) const {
    return fmt::format("entry {} {} {}{}", v.kind, v.path,
                       v.size_bytes ? std::to_string(*v.size_bytes) : "-",
                       v.target.empty() ? "" : " -> " + v.target);
  }
  std::string operator()(const ProcessRow& v) const {
    return fmt::format("process {} [{}] [{}] {}", v.pid, v.state, v.wait, v.command);
  }
  std::string operator()(const NodeState& v) const {
    return fmt::format("node {} [{}] [{}]", v.host, v.state, v.reason);
  }
  std::string operator()(const JobRecord& v) const {
    const auto seconds = [](const std::optional<Duration>& d) {
      return d ? fmt::format("{:.0f}", duration_to_seconds(*d)) : "-";
    };
    const auto number = [](const std::optional<int>& n) { return n ? std::to_string(*n) : "-"; };
    const auto time = [](const std::optional<WallTime>& t) { return t ? format_rfc3339(*t) : "-"; };
    return fmt::format("job {} [{}] {} by [{}] {}:{} took {} of {} from {} to {} on {}", v.id,
                       v.name, v.state, v.by, number(v.exit_code), number(v.exit_signal),
                       seconds(v.elapsed), seconds(v.limit), time(v.start), time(v.end),
                       joined(v.hosts));
  }
  std::string operator()(const Listener& v) const {
    return fmt::format("listener {} [{}] {}", v.port, v.process,
                       v.pid ? std::to_string(*v.pid) : "-");
  }
  std::string operator()(const PackageChange& v) const {
    return fmt::format("package {} [{}] [{}] {}", v.package, v.from, v.to, v.command);
  }
  std::string operator()(const DriverVersion& v) const {
    return fmt::format("driver {} {}", v.kernel ? "kernel" : "library", v.version);
  }
  std::string operator()(const PortCounter& v) const {
    return fmt::format("counter {} {} {} {:.0f} {:.0f}", v.device,
                       v.port ? std::to_string(*v.port) : "-", v.name, v.before, v.after);
  }
  std::string operator()(const GpuState& v) const {
    return fmt::format("gpu [{}] {} = {}", v.gpu, v.name, v.value);
  }
  std::string operator()(const BadRecord& v) const {
    return fmt::format("bad {} {}", v.record_line, v.reason);
  }
  std::string operator()(const TrialRun& v) const {
    return fmt::format("trial {} {} {} [{}] {}: {}", v.name, joined(v.hosts), joined(v.groups),
                       v.group_key, v.failed ? "failed" : "fine", v.result);
  }
};

// "LOG" where it is no document.
inline std::string read(std::string_view name, std::string_view bytes) {
  const auto facts = read_site_document(name, bytes);
  if (!facts) return "LOG\n";
  std::string out;
  for (const SiteFact& fact : *facts) {
    if (!fact.host.empty()) out += fact.host + ": ";
    out += std::visit(Describe{}, fact.value) + "\n";
  }
  return out;
}

struct Row {
  const char* name;  // of the case
  const char* file;  // of the document
  const char* bytes;
  const char* facts;  // in the words of Describe, a line each
};

inline void expect(std::span<const Row> rows) {
  for (const Row& row : rows) {
    EXPECT_EQ(read(row.file, row.bytes), row.facts) << row.name;
  }
}

// Cut and changed at every byte a document gives facts of its lines or is none; nothing crashes.
inline void expect_safe(std::span<const Row> rows) {
  for (const Row& row : rows) {
    const std::string bytes = row.bytes;
    const auto lines = static_cast<std::uint64_t>(std::count(bytes.begin(), bytes.end(), '\n')) + 2;
    const auto check = [&](const std::string& text) {
      const auto facts = read_site_document(row.file, text);
      if (!facts) return;
      EXPECT_FALSE(facts->empty()) << row.name;
      for (const SiteFact& fact : *facts) {
        EXPECT_TRUE(fact.line && *fact.line >= 1 && *fact.line <= lines) << row.name;
        EXPECT_LE(fact.text.size(), limits::kEvidenceChars) << row.name;
        EXPECT_EQ(fact.source, row.file) << row.name;
      }
    };
    for (std::size_t i = 0; i <= bytes.size(); ++i) check(bytes.substr(0, i));
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      // Each byte by one of these in turn: rows are long, and tests are many.
      constexpr std::string_view kBytes("\n9\xff-", 4);
      std::string changed = bytes;
      changed[i] = kBytes[i % kBytes.size()];
      check(changed);
    }
  }
}

}  // namespace muster::site_test
