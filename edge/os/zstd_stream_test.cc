#include "edge/os/zstd_stream.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/support/shell.h"

namespace muster {
namespace {

using testing_support::file_text;
using testing_support::run_shell;
using testing_support::TemporaryFolder;

class TextStream final : public ByteStream {
 public:
  TextStream(std::string text, std::size_t chunk) : text_(std::move(text)), chunk_(chunk) {}
  Result<std::size_t> read(std::span<char> buffer) override {
    const std::size_t n = std::min({buffer.size(), chunk_, text_.size() - at_});
    std::copy_n(text_.data() + at_, n, buffer.data());
    at_ += n;
    return n;
  }

 private:
  std::string text_;
  std::size_t chunk_, at_ = 0;
};

struct Unpacked {
  std::string text;
  std::optional<Errc> error;
};

Unpacked unpack(std::string bytes, std::size_t chunk = 1 << 20) {
  Unpacked out;
  auto stream = decompressed(std::make_unique<TextStream>(std::move(bytes), chunk), "a");
  if (!stream) return {"", stream.error().code};
  std::vector<char> buffer(4096);
  for (;;) {
    const auto n = (*stream)->read(buffer);
    if (!n) {
      out.error = n.error().code;
      return out;
    }
    if (*n == 0) return out;
    out.text.append(buffer.data(), *n);
  }
}

// The bytes of `text` after `tool`, for example "gzip -c".
std::string packed(const std::string& tool, const std::string& text) {
  const TemporaryFolder folder;
  const std::string in = folder.write("in", text);
  const std::string out = folder.path() + "/out";
  run_shell(tool + " < " + in + " > " + out);
  return file_text(out);
}

std::string long_text() {
  std::string text;
  for (int i = 0; i < 200000; ++i) text += std::to_string(i * 7919) + ",193.25,100\n";
  return text;
}

TEST(Decompressed, LeavesOtherBytesAlone) {
  for (const std::string text : {"", "a", "\x28", "\x28\xb5\x2f", "\x1f", "plain text\n"}) {
    for (const std::size_t chunk : {1u, 100u}) {
      const Unpacked out = unpack(text, chunk);
      EXPECT_EQ(out.text, text);
      EXPECT_FALSE(out.error);
    }
  }
}

TEST(Decompressed, ReadsGzipAlsoJoinedAndPadded) {
  const std::string text = long_text();
  const std::string gz = packed("gzip -c", text);
  for (const std::size_t chunk : {97u, 1u << 20}) EXPECT_EQ(unpack(gz, chunk).text, text);
  const Unpacked joined = unpack(gz + gz + std::string(512, '\0'));
  EXPECT_EQ(joined.text, text + text);
  EXPECT_FALSE(joined.error);
}

TEST(Decompressed, ReadsZstdAlsoJoined) {
  if (const std::string why = testing_support::reason_to_skip("zstd"); !why.empty()) {
    GTEST_SKIP() << why;
  }
  const std::string text = long_text();
  const std::string zst = packed("zstd -c", text);
  for (const std::size_t chunk : {97u, 1u << 20}) EXPECT_EQ(unpack(zst, chunk).text, text);
  EXPECT_EQ(unpack(zst + zst).text, text + text);
  const Unpacked cut = unpack(zst.substr(0, zst.size() / 2));
  EXPECT_FALSE(cut.error);
  EXPECT_GT(cut.text.size(), text.size() / 8);
  EXPECT_TRUE(text.starts_with(cut.text));
}

TEST(Decompressed, EndsQuietlyWhereGzipIsCutAndTellsWhereItIsDamaged) {
  const std::string text = "1,193.25,100\n2,193.25,100\n3,193.25,99\n";
  const std::string gz = packed("gzip -nc", text);
  for (std::size_t at = 2; at < gz.size(); ++at) {
    const Unpacked cut = unpack(gz.substr(0, at));
    EXPECT_FALSE(cut.error) << at;
    EXPECT_TRUE(text.starts_with(cut.text)) << at;
    std::string flipped = gz;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
    unpack(flipped);  // must end
  }
  std::string damaged = gz;
  damaged[gz.size() - 6] = static_cast<char>(damaged[gz.size() - 6] ^ 1);  // the checksum
  EXPECT_EQ(unpack(damaged).error, Errc::corrupt);
}

TEST(Decompressed, IsNoBufferForABomb) {
  const std::string gz = packed("gzip -c", std::string(64 << 20, '\0'));
  ASSERT_LT(gz.size(), 100000u);
  auto stream = decompressed(std::make_unique<TextStream>(gz, 4096), "a");
  ASSERT_TRUE(stream);
  std::vector<char> buffer(100);
  ASSERT_TRUE((*stream)->read(buffer));  // hands on what there is, long before the end
  EXPECT_EQ(*(*stream)->read(buffer), 100u);
}

}  // namespace
}  // namespace muster
