#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "app/pack_build.h"
#include "app/pack_test_kit.h"
#include "tests/support/killing_work_folders.h"
#include "tests/support/shell.h"

// Processes that build a pack in real files and are killed, -9, at any moment.

namespace muster {
namespace {

using testing_support::file_text;
using testing_support::TemporaryFolder;

PackRequest request(const std::string& in, const std::string& out, blocks::PackMode mode) {
  PackRequest made;
  made.paths = {in};
  made.out = out;
  made.block_tokens = 16;
  made.chunk_bytes = 200;
  made.mark_bytes = 600;
  made.threads = 2;
  made.mode = mode;
  made.resume = true;
  return made;
}

std::string contents(const std::string& folder) {
  std::string all;
  for (const char* name :
       {"blocks.i32", "docs.u64", "loss.bits", "hashes.u64", "errors.jsonl", "manifest.json"}) {
    all += file_text(folder + "/" + name);
  }
  return all;
}

// Builds in a child that dies at a call; whether it was killed (else it came to its end).
bool killed_at(std::uint64_t call, const PackRequest& request) {
  const pid_t child = fork();
  if (child == 0) {
    KillingWorkFolders folders(call);
    const auto result = build_pack(request, byte_vocabulary(), real_files(), folders, {}, {});
    _exit(result ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << status;
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

TEST(PackKill, AnyKilledBuildIsGoneOnFrom) {
  std::string text;
  for (int i = 0; i < 60; ++i) {
    text +=
        fmt::format("{{\"text\":\"{}{}\"}}\n", i, std::string(static_cast<std::size_t>(i), 'x'));
    if (i % 9 == 4) text += "{}\n";
  }
  const TemporaryFolder place;
  const std::string in = place.write("a.jsonl", text);
  std::mt19937_64 random(5);
  for (const auto mode : {blocks::PackMode::concat, blocks::PackMode::best_fit_split}) {
    const std::string whole = fmt::format("{}/whole{}", place.path(), static_cast<int>(mode));
    ASSERT_FALSE(killed_at(1 << 30, request(in, whole, mode)));
    for (std::uint64_t trial = 0; trial < 25; ++trial) {
      const std::string out = fmt::format("{}_{}", whole, trial);
      const PackRequest wanted = request(in, out, mode);
      int kills = 0;
      // Each process gets a little way and dies.
      while (killed_at(trial + random() % 60, wanted)) {
        ASSERT_FALSE(real_work_folders().has(out)) << "a pack appeared before it was whole";
        ASSERT_LT(++kills, 200);
      }
      EXPECT_EQ(contents(out), contents(whole)) << trial;
      EXPECT_FALSE(real_work_folders().has(out + ".part"));
    }
  }
}

}  // namespace
}  // namespace muster
