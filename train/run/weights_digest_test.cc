#include "train/run/weights_digest.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "tests/support/shell.h"

namespace muster::train {
namespace {

using testing_support::TemporaryFolder;

std::string digest_of(const std::function<void(const TemporaryFolder&, std::string&)>& change) {
  const TemporaryFolder folder;
  std::string bytes;
  for (std::size_t i = 0; i < 1'500'000; ++i) bytes += static_cast<char>(i * 2'654'435'761u >> 24);
  folder.write("config.json", "{}");
  folder.write("model.safetensors.index.json", "{}");
  change(folder, bytes);
  folder.write("model-00001-of-00001.safetensors", bytes);
  const auto digest = weights_digest(folder.path());
  return digest ? *digest : digest.error().context;
}

TEST(WeightsDigest, TellsOtherWeights) {
  const std::string usual = digest_of([](const auto&, auto&) {});
  EXPECT_EQ(usual.size(), 16U) << usual;
  // What is compared beside it, and where the folder lies, make no difference.
  EXPECT_EQ(digest_of([](const auto& folder, auto&) { folder.write("config.json", "{ }"); }),
            usual);
  std::set<std::string> all = {usual};
  all.insert(digest_of([](const auto&, std::string& bytes) { bytes[17] = '!'; }));
  all.insert(digest_of([](const auto&, std::string& bytes) { bytes.back() = '!'; }));
  all.insert(digest_of([](const auto&, std::string& bytes) { bytes.pop_back(); }));
  all.insert(digest_of([](const auto&, std::string& bytes) { bytes.assign(10, 'x'); }));
  all.insert(digest_of([](const auto&, std::string& bytes) {
    std::fill(bytes.begin() + 1'200'000, bytes.begin() + 1'300'000, '\0');
  }));
  all.insert(digest_of([](const auto& folder, auto&) {
    folder.write("model.safetensors.index.json", "{\"weight_map\":{}}");
  }));
  all.insert(digest_of([](const auto& folder, auto&) { folder.write("b.safetensors", ""); }));
  EXPECT_EQ(all.size(), 8U);
}

TEST(WeightsDigest, ThereAreNone) {
  const TemporaryFolder folder;
  folder.write("pytorch_model.bin", "x");
  for (const std::string& path : {folder.path(), folder.path() + "/nowhere"}) {
    const auto digest = weights_digest(path);
    ASSERT_FALSE(digest);
    EXPECT_EQ(digest.error().code, Errc::not_found);
  }
}

}  // namespace
}  // namespace muster::train
