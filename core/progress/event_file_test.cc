#include "core/progress/event_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace muster {
namespace {

class Collected : public ProgressSink {
 public:
  void step(const StepRecord& record) override { steps.push_back(record); }
  void event(const ProgressEvent&) override {}
  std::vector<StepRecord> steps;
  std::uint64_t damaged = 0;
};

Collected read(std::string_view bytes, std::size_t chunk = 0) {
  Collected out;
  EventFileDecoder decoder;
  if (chunk == 0) chunk = bytes.size() + 1;
  for (std::size_t at = 0; at < bytes.size(); at += chunk)
    decoder.feed(bytes.substr(at, chunk), out);
  out.damaged = decoder.damaged();
  return out;
}

std::string sample(const std::string& name) {
  std::ifstream file(std::string(MUSTER_SOURCE_DIR) + "/testdata/shape/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(EventFile, SimpleValues) {
  const Collected got = read(sample("simple.tfevents"));
  ASSERT_EQ(got.steps.size(), 240u) << "a loss and a time of each step; nothing of the evaluation";
  EXPECT_EQ(got.damaged, 0u);
  EXPECT_EQ(got.steps.front().step, 0);
  EXPECT_TRUE(got.steps.front().loss);
  EXPECT_NEAR(*got.steps[1].step_s, 2.0, 0.05);
  EXPECT_NEAR(*got.steps.back().step_s, 2.5, 0.05);
  EXPECT_TRUE(got.steps.back().at_has_zone);
  EXPECT_EQ(wall_to_ns(*got.steps.back().at), 1'786'000'238'000'000'000);
}

TEST(EventFile, Tensors) {
  const Collected got = read(sample("tensor.tfevents"));
  ASSERT_EQ(got.steps.size(), 60u);
  EXPECT_NEAR(*got.steps.back().tokens_per_s, 53000, 1000);
  EXPECT_EQ(got.steps.back().step, 59);
}

TEST(EventFile, ChunksMakeNoDifference) {
  const std::string bytes = sample("simple.tfevents");
  for (const std::size_t chunk : {1u, 7u, 64u, 1000u}) {
    EXPECT_EQ(read(bytes, chunk).steps.size(), 240u) << chunk;
  }
}

// A torn end is no damage: what was written before it counts, and nothing is made up.
TEST(EventFile, CutAtEveryByte) {
  const std::string bytes = sample("tensor.tfevents");
  std::size_t last = 0;
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    const Collected got = read(std::string_view(bytes).substr(0, size));
    EXPECT_EQ(got.damaged, 0u) << size;
    EXPECT_GE(got.steps.size(), last);
    last = got.steps.size();
  }
  EXPECT_EQ(last, 60u);
}

TEST(EventFile, FlippedAtEveryByteLosesOneRecord) {
  const std::string bytes = sample("tensor.tfevents").substr(0, 1500);
  const std::size_t all = read(bytes).steps.size();
  ASSERT_GT(all, 10u);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    const Collected got = read(damaged);
    EXPECT_GE(got.steps.size(), all - 1) << i;
    EXPECT_LE(got.damaged, 1u) << i;
  }
}

TEST(EventFile, KnowsItsOwn) {
  EXPECT_TRUE(looks_like_event_file(sample("simple.tfevents")));
  for (const std::string_view other :
       {std::string_view(), std::string_view("step,step_time\n1,2\n"),
        std::string_view("12 bytes are here"),
        std::string_view("\0\0\0\0\0\0\0\0\0\0\0\0\0", 13)}) {
    EXPECT_FALSE(looks_like_event_file(other));
  }
}

}  // namespace
}  // namespace muster
