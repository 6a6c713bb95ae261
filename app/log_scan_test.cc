#include "app/log_scan.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/limits.h"
#include "base/timestamp.h"

namespace muster {
namespace {

LogRule rule(std::string name, std::string anchor, EventRole role = EventRole::root) {
  LogRule out;
  out.name = std::move(name);
  out.anchor = std::move(anchor);
  out.role = role;
  return out;
}

// Rules of the tests' own, so that the built-in ones may change.
const RuleMatcher& rules() {
  static const RuleMatcher kRules = [] {
    LogRule quota = rule("quota", "quota of");
    quota.pattern = "quota of (?P<user>\\w+)";
    auto made = RuleMatcher::make({quota, rule("timeout", "Watchdog caught", EventRole::cascade),
                                   rule("quoted", "NVRM: Xid"), rule("io", "OSError: ")});
    return std::move(*made);
  }();
  return kRules;
}

ScannedLog scan(std::string_view log, std::size_t chunk = SIZE_MAX,
                const std::string& name = "a.log") {
  static const LogAnchors kAnchors(rules());
  LogScan scan(kAnchors, {.name = name,
                          .host = "",
                          .rank = {},
                          .written = parse_timestamp("2026-08-02T00:00:00Z")->at});
  for (std::size_t at = 0; at < log.size(); at += std::min(chunk, log.size())) {
    scan.feed(log.substr(at, chunk));
  }
  return scan.finish();
}

std::string told(const ScannedLog& log) {
  std::string out;
  for (const LogEvent& event : log.events) {
    out += (out.empty() ? "" : "; ") + fmt::format("{}#{}", event.rule, event.line.value_or(0));
    if (event.rank) out += fmt::format(" rank={}", *event.rank);
    if (!event.host.empty()) out += " host=" + event.host;
    if (event.repeats > 0) out += fmt::format(" and {} more", event.repeats);
  }
  return out;
}

#define TIMEOUT                                                                         \
  "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=8, OpType=ALLREDUCE, " \
  "Timeout(ms)=600000) ran for 600047 milliseconds before timing out."
#define XID "NVRM: Xid (PCI:0000:1b:00): 79, pid=1, GPU has fallen off the bus."

struct Row {
  const char* name;
  std::string log, gives;
};

const Row kRows[] = {
    {"empty", "", ""},
    {"nothing", "hello\nworld\n", ""},
    {"a rule", "x\n[rank3]: quota of eva\n", "quota#2 rank=3"},
    {"the kernel's reader before rules", "[5.1] " XID "\n", "xid#1"},
    {"a program that quotes the kernel is no kernel", "python: " XID "\n", "quoted#1"},
    {"of collectives the reader of ranks", "[rank3]: " TIMEOUT "\n", "collective_timeout#1 rank=3"},
    {"of an exception a rule knows more",
     "[rank3]: Traceback (most recent call last):\n[rank3]:   File \"a.py\", line 1, in f\n"
     "[rank3]:     open()\n[rank3]: OSError: quota of eva\n",
     "quota#4 rank=3"},
    {"an exception that no rule knows",
     "[rank3]: Traceback (most recent call last):\n[rank3]:   File \"a.py\", line 1, in f\n"
     "[rank3]:     open()\n[rank3]: KeyError: 7\n",
     "exception#4 rank=3"},
    {"source code in a traceback is no message",
     "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n"
     "    raise E(\"quota of eva\")\nValueError: x\n",
     "exception#4"},
    {"colours", "\x1b[31mquota of\x1b[0m \x1b[1meva\x1b[0m\n", "quota#1"},
    {"carriage returns", "step\r 50%\rquota of eva\r\nquota of bob\r\n", "quota#1; quota#2"},
    {"holes of zeros", std::string(100, '\0') + "quota of e" + std::string(3, '\0') + "va\n",
     "quota#1"},
    {"stray bytes", "\xfd\xff quota of eva \x80\n", "quota#1"},
    {"no line end", "quota of eva", "quota#1"},
    {"what the run did", "step 7/9 loss 2.1\nsaving checkpoint at step 7\nquota of eva\n",
     "progress:last_step#1; progress:save_begin#2; quota#3"},
    {"dmesg -H needs all lines", "[Aug 1 10:00] x\n[  +5.000000] y\n[  +5.000000] " XID "\n",
     "xid#3"},
};

TEST(LogScan, TableCutAnywhere) {
  for (const Row& row : kRows) {
    EXPECT_EQ(told(scan(row.log)), row.gives) << row.name;
    for (std::size_t chunk = 1; chunk < std::min<std::size_t>(row.log.size(), 70); ++chunk) {
      // The order of bytes shows in the first ones, which come together.
      if (row.log.find('\0') != std::string::npos && chunk < 20) continue;
      ASSERT_EQ(told(scan(row.log, chunk)), row.gives) << row.name << ", chunks of " << chunk;
    }
  }
}

TEST(LogScan, Utf16WithAndWithoutItsMark) {
  for (const Row& row : kRows) {
    if (row.log.size() < 32 || row.log.find('\0') != std::string::npos) continue;
    if (row.log.find('\x80') != std::string::npos) continue;  // no text
    for (const bool big : {false, true}) {
      std::string bytes;
      for (const char c : row.log) bytes += big ? std::string{'\0', c} : std::string{c, '\0'};
      EXPECT_EQ(told(scan(bytes)), row.gives) << row.name;
      EXPECT_EQ(told(scan((big ? "\xfe\xff" : "\xff\xfe") + bytes, 100)), row.gives) << row.name;
    }
  }
}

TEST(LogScan, TimesOfDmesgSteps) {
  const ScannedLog log = scan("[Aug 1 10:00] x\n[  +5.000000] y\n[  +5.000000] " XID "\n");
  ASSERT_EQ(log.events.size(), 1u);
  ASSERT_TRUE(log.events[0].time.at);
  EXPECT_EQ(format_rfc3339(*log.events[0].time.at), "2026-08-01T10:00:10Z");
}

TEST(LogScan, AGiantLineIsReadAtItsBegin) {
  std::string log = "quota of eva ";
  log.append(3 * limits::kLineBytes, 'x');
  log += "quota of bob\nquota of jim\n";
  const ScannedLog read = scan(log, 100'000);
  EXPECT_EQ(told(read), "quota#1; quota#2");
  EXPECT_EQ(read.source.lines, 2u);
  ASSERT_EQ(read.notes.size(), 1u);
  EXPECT_NE(read.notes[0].find("of 1 lines only the first 256 KiB"), std::string::npos);
}

TEST(LogScan, RepeatsAreCounted) {
  std::string log;
  for (int i = 0; i < 1000; ++i) log += "quota of eva\n";
  const ScannedLog read = scan(log);
  ASSERT_EQ(read.events.size(), limits::kLogEventsOfRule);
  EXPECT_EQ(read.events.back().repeats, 1000 - limits::kLogEventsOfRule);
}

// Lines that say the same again and again are passed over, and counted as if they had been read.
TEST(LogScan, DenseLinesAreCounted) {
  std::string log;
  constexpr int kLines = 3000;
  for (int i = 0; i < kLines; ++i) {
    log += fmt::format(
        "2026-08-01 10:{:02}:{:02} n{}:4711{}:99 [0] misc/socket.cc:50 NCCL WARN "
        "OSError: port {}\n",
        i / 60 % 60, i % 60, 1 + i % 2, i % 2, 30000 + i);
  }
  for (const std::size_t chunk : {std::size_t{997}, SIZE_MAX}) {
    const ScannedLog read = scan(log, chunk);
    std::uint64_t lines[2] = {};
    for (const LogEvent& event : read.events) {
      ASSERT_EQ(event.rule, "io");
      ASSERT_TRUE(event.host == "n1" || event.host == "n2");
      ASSERT_EQ(event.pid, event.host == "n1" ? 47110 : 47111);
      lines[event.host == "n1" ? 0 : 1] += 1 + event.repeats;
      if (event.repeats == 0) continue;
      EXPECT_EQ(format_rfc3339(*event.last.at),
                event.host == "n1" ? "2026-08-01T10:49:58Z" : "2026-08-01T10:49:59Z");
    }
    EXPECT_EQ(lines[0], kLines / 2);
    EXPECT_EQ(lines[1], kLines / 2);
    EXPECT_EQ(read.events.size(), 2 * limits::kLogEventsOfRule);
  }
}

// What comes between them is read.
TEST(LogScan, BetweenDenseLinesNothingIsLost) {
  std::string log;
  for (int i = 0; i < 200; ++i) {
    log += "n1:4711:99 [0] misc/socket.cc:50 NCCL WARN OSError: port 30000\n";
    if (i == 100) log += "n1:4711:99 [0] misc/socket.cc:50 NCCL WARN OSError: error 12\n";
    if (i == 150) log += "n1:4711:99 [0] misc/socket.cc:50 NCCL WARN quota of eva\n";
  }
  const ScannedLog read = scan(log);
  ASSERT_EQ(read.events.size(), limits::kLogEventsOfRule + 1);
  EXPECT_EQ(read.events[limits::kLogEventsOfRule].rule, "quota");
  EXPECT_EQ(read.events[limits::kLogEventsOfRule - 1].repeats, 201 - limits::kLogEventsOfRule);
}

TEST(LogScan, FirstAndLastStamp) {
  const ScannedLog read =
      scan("no stamp\n2026-08-01T10:00:00Z a\n2026-08-01T11:00:00Z b\nno stamp\n");
  ASSERT_TRUE(read.source.first.at && read.source.last.at);
  EXPECT_EQ(format_rfc3339(*read.source.first.at), "2026-08-01T10:00:00Z");
  EXPECT_EQ(format_rfc3339(*read.source.last.at), "2026-08-01T11:00:00Z");
  EXPECT_FALSE(scan("no stamp\n").source.first.at);
}

TEST(LogScan, WhatIsText) {
  EXPECT_TRUE(looks_like_text(""));
  EXPECT_TRUE(looks_like_text("hello\n"));
  EXPECT_TRUE(looks_like_text("\x1b[31mred\x1b[0m\n"));
  EXPECT_TRUE(looks_like_text(std::string(4000, '\0') + "after the hole\n"));
  EXPECT_TRUE(looks_like_text("caf\xc3\xa9 \xff\n"));
  EXPECT_FALSE(
      looks_like_text("\x7f"
                      "ELF\x02\x01\x01"));
  EXPECT_FALSE(looks_like_text(std::string(100, '\0')));
  std::string noise;
  for (int i = 0; i < 4096; ++i) noise += static_cast<char>(i * 7919 >> 3);
  EXPECT_FALSE(looks_like_text(noise));
}

TEST(LogScan, DamagedAtEveryByte) {
  std::string log;
  for (const Row& row : kRows) log += row.log.substr(0, 300);
  for (std::size_t i = 0; i < log.size(); i += 3) {
    std::string damaged = log;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x15);
    EXPECT_LE(scan(damaged).events.size(), 40u);
    EXPECT_LE(scan(log.substr(0, i)).events.size(), 40u);
  }
}

}  // namespace
}  // namespace muster
