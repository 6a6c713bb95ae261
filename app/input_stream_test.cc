#include "app/input_stream.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

// A pipe into which nobody writes, without waiting for it.
class Silent final : public ByteStream {
 public:
  explicit Silent(bool speaks) : speaks_(speaks) {}
  Result<std::size_t> read(std::span<char>) override { return std::size_t{0}; }
  bool ready(Duration wait) override {
    waited += wait;
    return speaks_;
  }
  Duration waited{};

 private:
  bool speaks_;
};

TEST(InputStream, APipeIntoWhichNobodyWritesIsNotWaitedForForEver) {
  Silent silent(false), writer(true);
  const Status none = wait_for_pipe(silent, "job.fifo");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Errc::timeout);
  EXPECT_NE(none.error().context.find("job.fifo: a pipe, and nothing came"), std::string::npos);
  EXPECT_GT(silent.waited, Duration::zero());
  EXPECT_TRUE(wait_for_pipe(writer, "job.fifo"));
  EXPECT_TRUE(wait_for_pipe(silent, "-")) << "somebody sits before it";
}

}  // namespace
}  // namespace muster
