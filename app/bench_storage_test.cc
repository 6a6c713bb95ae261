#include "app/bench_storage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "tests/support/faulty_disk.h"

namespace muster {
namespace {

using storage::RowKind;
using storage::RowState;
using testing_support::DiskFaults;
using testing_support::FaultyDisk;

BenchStorageRequest request_of(const std::string& path) {
  BenchStorageRequest request;
  request.path = path;
  request.bytes = 32 * storage::kBlockBytes;
  request.length = std::chrono::milliseconds(2);
  return request;
}

template <typename Change>
DiskFaults faults_with(Change change) {
  DiskFaults faults;
  change(faults);
  return faults;
}

const Error kRefused = make_error(Errc::unsupported, "this file system refuses O_DIRECT");
const Error kSecret = make_error(Errc::permission, "only the owner is told");

struct Row {
  const char* name;
  DiskFaults faults;
  std::string states;  // of warm, streams, queue, single, cold: m, u or n
  std::string reason;  // part of the reason of the first that is not measured
};

TEST(BenchStorage, WhatIsNotMeasuredSaysWhy) {
  const Row rows[] = {
      {"fine", {}, "mmmmm", ""},
      {"tmpfs", faults_with([](auto& f) { f.file_system = "tmpfs"; }), "muuun",
       "tmpfs: files lie in memory"},
      {"zfs", faults_with([](auto& f) { f.file_system = "zfs"; }), "mmmmn",
       "zfs: it has a cache of its own"},
      {"no O_DIRECT", faults_with([](auto& f) { f.open_direct = kRefused; }), "muuum", "refuses"},
      {"O_DIRECT refused late, of all reads",
       faults_with([](auto& f) { f.every_result = -EINVAL; }), "uuuuu", "Invalid argument"},
      {"O_DIRECT in name only", faults_with([](auto& f) { f.direct_is_cached = true; }), "muuum",
       "went through the page cache"},
      {"no deep queue",
       faults_with([](auto& f) { f.open_deep = make_error(Errc::exhausted, "no threads"); }),
       "mmnmm", "no threads"},
      {"broken", faults_with([](auto& f) { f.every_result = -EIO; }), "nnnnn",
       "Input/output error"},
      {"one bad block", faults_with([](auto& f) { f.results[storage::kBlockBytes] = -EIO; }),
       "nnnnn", "reading at byte 1048576: Input/output error"},
      {"made shorter", faults_with([](auto& f) { f.every_result = 0; }), "nnnnn", "made shorter"},
      {"no right to drop",
       faults_with([](auto& f) { f.drop = make_error(Errc::permission, "not yours"); }), "mmmmn",
       "not yours"},
      {"pages that stay", faults_with([](auto& f) { f.left_after_drop = 0.125; }), "mmmmn",
       "12.5 % of the file stayed in the page cache"},
      {"residency is a secret", faults_with([](auto& f) { f.residency = kSecret; }), "nmmmn",
       "only the owner is told"},
      {"larger than memory", faults_with([](auto& f) { f.available = 1'000'000; }), "nmmmm",
       "larger than the memory for it (1.00 MB)"},
      {"a container's limit", faults_with([](auto& f) { f.most_resident = 0.5; }), "nmmmm",
       "only 50.0 % of the file stayed"},
  };
  for (const Row& row : rows) {
    FaultyDisk disk(row.faults);
    const auto answer = bench_storage(request_of("folder"), disk, system_clock());
    ASSERT_TRUE(answer) << row.name << ": " << answer.error().context;
    std::string states, reason;
    for (const auto& one : answer->rows) {
      states += one.state == RowState::measured      ? 'm'
                : one.state == RowState::unsupported ? 'u'
                                                     : 'n';
      if (one.state == RowState::measured) {
        EXPECT_GT(one.rate.bytes_per_second, 0) << row.name;
        EXPECT_EQ(one.engine, "faulty") << row.name;
      } else {
        EXPECT_EQ(one.rate.bytes_per_second, 0) << row.name;
        if (reason.empty()) reason = one.reason;
      }
    }
    EXPECT_EQ(states, row.states) << row.name << ": " << reason;
    EXPECT_NE(reason.find(row.reason), std::string::npos) << row.name << ": " << reason;
    EXPECT_TRUE(answer->own_file);
    EXPECT_EQ(answer->file_bytes, 32 * storage::kBlockBytes);
  }
}

TEST(BenchStorage, Hangs) {
  FaultyDisk disk(faults_with([](auto& f) { f.hangs = true; }));
  BenchStorageRequest request = request_of("folder");
  request.patience = std::chrono::milliseconds(40);
  const auto answer = bench_storage(request, disk, system_clock());
  ASSERT_TRUE(answer);
  const auto& rows = answer->rows;
  EXPECT_NE(rows[1].reason.find("reads hang: none ended"), std::string::npos) << rows[1].reason;
  for (const RowKind kind : {RowKind::warm, RowKind::queue, RowKind::single, RowKind::cold}) {
    EXPECT_EQ(rows[static_cast<std::size_t>(kind)].reason, "reads hang here: not tried");
  }
  EXPECT_EQ(storage::exit_status_of(*answer), ExitStatus::cannot_tell);
}

TEST(BenchStorage, Stopped) {
  std::stop_source stop;
  FaultyDisk disk({});
  BenchStorageRequest request = request_of("folder");
  request.stop = stop.get_token();
  request.length = std::chrono::hours(1);
  request.progress = [&stop](const BenchProgress& p) {
    if (p.what == "streams") stop.request_stop();
  };
  const auto answer = bench_storage(request, disk, system_clock());
  ASSERT_TRUE(answer);
  for (const auto& row : answer->rows) EXPECT_EQ(row.reason, "stopped");
}

TEST(BenchStorage, Refused) {
  struct Case {
    const char* name;
    BenchStorageRequest request;
    DiskFaults faults;
    std::string says;
  };
  BenchStorageRequest tiny = request_of("folder");
  tiny.bytes = 100;
  const Case cases[] = {
      {"no path", request_of("none"), {}, "looking at none"},
      {"too small a file", request_of("file"), faults_with([](auto& f) { f.bytes = 5; }),
       "file: 0 bytes are too few"},
      {"too small a size", tiny, {}, "100 bytes are too few"},
      {"no space", request_of("folder"),
       faults_with([](auto& f) { f.make = make_error(Errc::exhausted, "would leave less"); }),
       "would leave less"},
  };
  for (const Case& one : cases) {
    FaultyDisk disk(one.faults);
    const auto answer = bench_storage(one.request, disk, system_clock());
    ASSERT_FALSE(answer) << one.name;
    EXPECT_NE(answer.error().context.find(one.says), std::string::npos) << answer.error().context;
  }
  // Numbers that make no plan are told before a byte is written.
  FaultyDisk disk({});
  EXPECT_FALSE(bench_storage(tiny, disk, system_clock()));
  EXPECT_TRUE(disk.asked().empty());
}

TEST(BenchStorage, AFileThatIsThereIsOnlyRead) {
  FaultyDisk disk({});
  const auto answer = bench_storage(request_of("file"), disk, system_clock());
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->own_file);
  EXPECT_EQ(answer->file_bytes, 32 * storage::kBlockBytes) << "no more than asked for";
  const auto asked = disk.asked();
  EXPECT_EQ(asked.front(), "read file");
  EXPECT_TRUE(std::none_of(asked.begin(), asked.end(),
                           [](const auto& what) { return what.starts_with("make"); }));
}

constexpr const char* kFio =
    R"({"fio version":"fio-3.33","jobs":[{"error":0,"read":{"io_bytes":5,"bw_bytes":9}}]})";

TEST(BenchStorage, AgainstFio) {
  struct Case {
    const char* name;
    std::vector<Result<std::string>> fio;
    std::size_t pairs;
    std::string note;
  };
  const Case cases[] = {
      {"not installed", {}, 0, "fio is not installed"},
      {"fails", {make_error(Errc::unavailable, "fio failed: no")}, 0, "fio failed: no"},
      {"answers nonsense", {std::string("{}")}, 0, "0 groups of jobs"},
      {"fails in the end", {std::string(kFio), make_error(Errc::timeout, "late")}, 1, "late"},
      {"runs", {std::string(kFio)}, 7, ""},
  };
  for (const Case& one : cases) {
    FaultyDisk disk(faults_with([&](auto& f) { f.fio = one.fio; }));
    BenchStorageRequest request = request_of("folder");
    request.against_fio = true;
    const auto answer = bench_storage(request, disk, system_clock());
    ASSERT_TRUE(answer) << one.name;
    ASSERT_EQ(answer->against.size(), 5U) << one.name;
    // The row that is compared first; after a failure the others may have no pair.
    EXPECT_EQ(answer->against[1].pairs, one.pairs) << one.name;
    EXPECT_EQ(answer->fio.has_value(), one.pairs > 0) << one.name;
    const std::string notes = answer->notes.empty() ? "" : answer->notes.front();
    EXPECT_NE(notes.find(one.note), std::string::npos) << one.name << ": " << notes;
    EXPECT_EQ(answer->notes.empty(), one.note.empty()) << one.name << ": " << notes;
  }
}

// Fio and we take turns in coming first.
TEST(BenchStorage, TurnsWithFio) {
  FaultyDisk disk(faults_with([](auto& f) { f.fio = {std::string(kFio)}; }));
  BenchStorageRequest request = request_of("folder");
  request.against_fio = true;
  ASSERT_TRUE(bench_storage(request, disk, system_clock()));
  std::string turns;
  for (const std::string& what : disk.asked()) {
    if (what.starts_with("fio")) turns += 'f';
    if (what == "open direct 32" && !turns.ends_with('q')) turns += 'q';
  }
  // Five rows first; then seven pairs of streams without a deep queue; then the queue's.
  EXPECT_EQ(turns.substr(0, 19),
            "qfffffff"
            "fqffqffqffq")
      << turns;
}

}  // namespace
}  // namespace muster
