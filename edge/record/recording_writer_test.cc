#include "edge/record/recording_writer.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "core/telemetry/decoder.h"
#include "edge/os/files.h"
#include "edge/os/zstd_stream.h"
#include "tests/support/shell.h"

namespace muster {
namespace {

class ManualClock final : public Clock {
 public:
  MonoTime mono() const override { return now; }
  WallTime wall() const override { return wall_from_ns(1'785'592'925'000'000'000); }
  bool sleep_until(MonoTime until, std::stop_token) override {
    now = until;
    return true;
  }
  MonoTime now{};
};

class Collect final : public TelemetrySink {
 public:
  void row(const TelemetryRow& row) override {
    lines.push_back(row.line);
    hosts.emplace_back(row.key.host);
  }
  void note(const TelemetryNote& note) override { notes.push_back(note.kind); }
  std::vector<std::uint64_t> lines;
  std::vector<std::string> hosts;
  std::vector<NoteKind> notes;
};

Collect read_back(const std::string& path) {
  Collect out;
  auto opened = real_files().open(path);
  auto stream = decompressed(std::move(*opened), path);
  const auto decoder = make_decoder(Dialect::recording, {});
  std::vector<char> buffer(65536);
  for (;;) {
    const auto n = (*stream)->read(buffer);
    if (!n || *n == 0) break;
    decoder->feed({buffer.data(), *n}, out);
  }
  decoder->finish(out);
  return out;
}

TelemetryRow numbered(std::uint64_t line) {
  TelemetryRow row;
  row.line = line;
  return row;
}

TEST(RecordingWriter, ReadsBackWhatItWrote) {
  const testing_support::TemporaryFolder folder;
  const std::string path = folder.path() + "/a.zst";
  ManualClock clock;
  auto writer = RecordingWriter::create(path, false, clock);
  ASSERT_TRUE(writer);
  for (std::uint64_t i = 1; i <= 20000; ++i) (*writer)->row(numbered(i), "s", "n1");
  (*writer)->note({NoteKind::gpu_lost, "lost", 0, {}, {}}, "s", "n1");
  ASSERT_TRUE((*writer)->close());
  EXPECT_EQ((*writer)->rows(), 20000u);
  const Collect out = read_back(path);
  ASSERT_EQ(out.lines.size(), 20000u);
  for (std::size_t i = 0; i < out.lines.size(); ++i) ASSERT_EQ(out.lines[i], i + 1);
  EXPECT_EQ(out.hosts[7], "n1");
  EXPECT_EQ(out.notes, std::vector<NoteKind>{NoteKind::gpu_lost});
}

TEST(RecordingWriter, LosesAtMostTheLastSecondWhenKilled) {
  const testing_support::TemporaryFolder folder;
  const std::string path = folder.path() + "/a.zst";
  ManualClock clock;
  auto writer = RecordingWriter::create(path, false, clock);
  ASSERT_TRUE(writer);
  for (std::uint64_t i = 1; i <= 10; ++i) {
    (*writer)->row(numbered(i), "s", "n1");
    clock.now += std::chrono::milliseconds(500);
    (*writer)->tick();
  }
  (*writer)->row(numbered(11), "s", "n1");
  EXPECT_EQ(read_back(path).lines.size(), 10u);  // as a kill -9 now would leave it
}

TEST(RecordingWriter, NeverOverwritesUnasked) {
  const testing_support::TemporaryFolder folder;
  const std::string path = folder.write("a.zst", "precious");
  ManualClock clock;
  const auto refused = RecordingWriter::create(path, false, clock);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::invalid_input);
  EXPECT_EQ(testing_support::file_text(path), "precious");
  const auto forced = RecordingWriter::create(path, true, clock);
  ASSERT_TRUE(forced);
  (*forced)->row(numbered(1), "s", "n1");
  // A second one beside it, or one after a kill, would mix or lose what is there.
  const auto second = RecordingWriter::create(path, true, clock);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().context.find("a.zst.part is there already"), std::string::npos);
  EXPECT_EQ(testing_support::file_text(path), "precious");  // until the new one is whole
  ASSERT_TRUE((*forced)->close());
  EXPECT_EQ(read_back(path).lines.size(), 1u);
  EXPECT_EQ(testing_support::file_text(path + ".part"), "");
  EXPECT_FALSE(RecordingWriter::create(folder.path() + "/none/a.zst", false, clock));
}

TEST(RecordingWriter, LeavesNothingOfWhatIsNotWorthKeeping) {
  const testing_support::TemporaryFolder folder;
  ManualClock clock;
  const std::string old = folder.write("old.zst", "precious");
  auto forced = RecordingWriter::create(old, true, clock);
  ASSERT_TRUE(forced);
  (*forced)->discard();
  const std::string fresh = folder.path() + "/fresh.zst";
  auto writer = RecordingWriter::create(fresh, false, clock);
  ASSERT_TRUE(writer);
  (*writer)->discard();
  const auto names = real_files().list(folder.path());
  ASSERT_TRUE(names);
  EXPECT_EQ(*names, std::vector<std::string>{"old.zst"});
  EXPECT_EQ(testing_support::file_text(old), "precious");
}

TEST(RecordingWriter, TellsThatTheDiskIsFull) {
  ManualClock clock;
  const auto writer = RecordingWriter::create("/dev/full", true, clock);
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().code, Errc::exhausted);
  EXPECT_EQ(writer.error().context, "writing /dev/full: No space left on device");
}

TEST(RecordingWriter, IsReadPastACutAtEveryByteAndADamagedFrame) {
  const testing_support::TemporaryFolder folder;
  const std::string path = folder.path() + "/a.zst";
  ManualClock clock;
  auto writer = RecordingWriter::create(path, false, clock);
  for (std::uint64_t i = 1; i <= 6; ++i) {
    (*writer)->row(numbered(i), "s", "n1");
    clock.now += std::chrono::seconds(1);
    (*writer)->tick();
  }
  ASSERT_TRUE((*writer)->close());
  const std::string whole = testing_support::file_text(path);
  for (std::size_t at = 0; at <= whole.size(); ++at) {
    const Collect cut = read_back(folder.write("cut.zst", whole.substr(0, at)));
    for (std::size_t i = 0; i < cut.lines.size(); ++i) ASSERT_EQ(cut.lines[i], i + 1);
    if (at == whole.size()) break;
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x40);
    // One frame; two where the damage makes a frame look longer than it is.
    if (at < 4) continue;  // without its magic number the file is no zstd at all
    ASSERT_GE(read_back(folder.write("flip.zst", flipped)).lines.size(), 4u) << at;
  }
}

}  // namespace
}  // namespace muster
