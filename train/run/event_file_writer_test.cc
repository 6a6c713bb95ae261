#include "train/run/event_file_writer.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "core/progress/event_file.h"
#include "tests/support/shell.h"

namespace muster::train {
namespace {

class Collected : public ProgressSink {
 public:
  void step(const StepRecord& record) override { steps.push_back(record); }
  void event(const ProgressEvent&) override {}
  std::vector<StepRecord> steps;
};

WallTime at(std::int64_t seconds) {
  return wall_from_ns(seconds * 1'000'000'000);
}

std::string file_of(std::uint64_t steps) {
  std::string file = event_file_head(at(1'785'578'400));
  for (std::uint64_t step = 1; step <= steps; ++step) {
    const double loss = 3.0 / static_cast<double>(step);
    const EventScalar scalars[] = {
        {"train/loss", loss}, {"train/step_time", 0.25}, {"train/tokens_per_sec", 53'000}};
    file += event_record(at(1'785'578'400 + static_cast<std::int64_t>(step)), step, scalars);
  }
  return file;
}

// Our own reader, which reads what PyTorch and TensorFlow write.
TEST(EventFileWriter, IsReadBack) {
  const std::string file = file_of(300);  // a step of two bytes among them
  EXPECT_TRUE(looks_like_event_file(file));
  Collected got;
  EventFileDecoder decoder;
  decoder.feed(file, got);
  EXPECT_EQ(decoder.damaged(), 0U);
  ASSERT_EQ(got.steps.size(), 300U);
  EXPECT_EQ(got.steps.back().step, 300);
  EXPECT_NEAR(*got.steps[1].loss, 1.5, 1e-6);
  EXPECT_NEAR(*got.steps[1].step_s, 0.25, 1e-6);
  EXPECT_NEAR(*got.steps[1].tokens_per_s, 53'000, 1e-6);
  EXPECT_EQ(wall_to_ns(*got.steps[1].at), 1'785'578'402'000'000'000);
}

TEST(EventFileWriter, CutAnywhereItsRecordsStay) {
  const std::string file = file_of(5);
  std::size_t last = 0;
  for (std::size_t size = 0; size <= file.size(); ++size) {
    Collected got;
    EventFileDecoder decoder;
    decoder.feed(file.substr(0, size), got);
    EXPECT_EQ(decoder.damaged(), 0U) << size;
    EXPECT_GE(got.steps.size(), last) << size;
    last = got.steps.size();
  }
  EXPECT_EQ(last, 5U);
}

// TensorBoard's own reader, where a Python has it: MUSTER_TENSORBOARD=PYTHON.
TEST(EventFileWriter, TensorBoardReadsIt) {
  const char* python = std::getenv("MUSTER_TENSORBOARD");
  if (python == nullptr) GTEST_SKIP() << "MUSTER_TENSORBOARD names no Python with tensorboard";
  const testing_support::TemporaryFolder folder;
  const std::string path = folder.write("events.out.tfevents.1", file_of(300));
  const std::string script = folder.write(
      "read.py",
      "import sys\n"
      "from tensorboard.backend.event_processing.event_file_loader import EventFileLoader\n"
      "rows = [(e.step, v.tag, round(v.simple_value or v.tensor.float_val[0], 3))\n"
      "        for e in EventFileLoader(sys.argv[1]).Load() for v in e.summary.value]\n"
      "print(len(rows), rows[3])\n");
  const auto run = testing_support::run_shell(testing_support::shell_word(python) + " " +
                                              testing_support::shell_word(script) + " " +
                                              testing_support::shell_word(path) + " 2>/dev/null");
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.output, "900 (2, 'train/loss', 1.5)\n");
}

}  // namespace
}  // namespace muster::train
