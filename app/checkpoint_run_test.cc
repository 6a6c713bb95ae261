#include "app/checkpoint_run.h"

#include <gtest/gtest.h>

#include <chrono>

#include "core/blocks/block_hash.h"
#include "core/checkpoint/checkpoint_manifest.h"
#include "core/checkpoint/safetensors.h"
#include "core/model/exit_status.h"
#include "tests/support/shell.h"

namespace muster {
namespace {

using testing_support::run_shell;
using testing_support::TemporaryFolder;

std::string tensors_file(std::uint64_t elements) {
  std::vector<checkpoint::SavedTensor> tensors = {{"w", "BF16", {elements}, 0, 0}};
  return checkpoint::encode_safetensors(tensors) + std::string(elements * 2, 'w');
}

class CheckpointRun : public ::testing::Test {
 protected:
  void folder(const std::string& name) { shell("mkdir -p " + name); }
  void shell(const std::string& command) {
    const auto run = run_shell("cd " + place_.path() + " && " + command);
    ASSERT_EQ(run.status, 0) << run.output;
  }
  std::string path(const std::string& name) const { return place_.path() + "/" + name; }
  checkpoint::CheckpointAnswer ask(const std::string& name, bool deep = false) {
    CheckpointRequest request;
    request.paths = {path(name)};
    request.deep = deep;
    auto answer = check_checkpoints(request, real_files());
    EXPECT_TRUE(answer) << answer.error().context;
    return answer ? std::move(*answer) : checkpoint::CheckpointAnswer{};
  }
  static std::string top(const checkpoint::CheckpointAnswer& answer) {
    if (answer.report.findings.empty()) return "";
    return std::string(cause_name(answer.report.findings.front().cause));
  }

  TemporaryFolder place_;
};

TEST_F(CheckpointRun, NothingThere) {
  CheckpointRequest request;
  request.paths = {path("none")};
  const auto answer = check_checkpoints(request, real_files());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Errc::not_found);
}

TEST_F(CheckpointRun, ReadsHeadersOfRealFiles) {
  folder("run/step_8");
  folder("run/step_9");
  place_.write("run/step_8/model.safetensors", tensors_file(4000));
  place_.write("run/step_8/COMPLETE", "");
  place_.write("run/step_9/model.safetensors", tensors_file(4000).substr(0, 5000));
  const auto answer = ask("run/");
  EXPECT_EQ(top(answer), "checkpoint_torn");
  EXPECT_EQ(answer.report.findings.front().culprits.front().id,
            path("run/step_9/model.safetensors"));
  EXPECT_EQ(answer.resume_from, path("run/step_8"));
  EXPECT_EQ(ask("run/step_8").resume_from, path("run/step_8"));
  EXPECT_EQ(top(ask("run/step_8")), "healthy");
  EXPECT_EQ(top(ask("run/step_9/model.safetensors")), "checkpoint_torn");
}

TEST_F(CheckpointRun, AnEmptyFolderOfAStep) {
  folder("run/checkpoint-5");
  EXPECT_EQ(top(ask("run")), "checkpoint_incomplete");
}

// As the hub's cache has them: names in a snapshot are links to files elsewhere.
TEST_F(CheckpointRun, LinksToFilesAreFollowed) {
  folder("cache/blobs");
  folder("cache/snapshots/a1");
  place_.write("cache/blobs/x", tensors_file(10));
  shell("ln -s ../../blobs/x cache/snapshots/a1/model.safetensors");
  EXPECT_EQ(ask("cache/snapshots/a1").resume_from, path("cache/snapshots/a1"));
}

TEST_F(CheckpointRun, ListingsAndLogs) {
  place_.write("listing.txt",
               "/c/step-1:\n"
               "-rw-r--r-- 1 s s 900 May  8 02:10 .metadata\n"
               "-rw-r--r-- 1 s s 5000000 May  8 02:09 __0_0.distcp\n"
               "-rw-r--r-- 1 s s 5000000 May  8 02:09 __1_0.distcp\n"
               "\n"
               "/c/step-2:\n"
               "-rw-r--r-- 1 s s 900 May  8 03:10 .metadata\n"
               "-rw-r--r-- 1 s s 5000000 May  8 03:09 __0_0.distcp\n");
  place_.write("train.log",
               "hello\n[rank 1] OSError: [Errno 28] No space left on device: "
               "'/c/step-2/__1_0.distcp'\n");
  CheckpointRequest request;
  request.paths = {path("train.log"), path("listing.txt")};
  const auto answer = check_checkpoints(request, real_files());
  ASSERT_TRUE(answer);
  EXPECT_EQ(top(*answer), "checkpoint_false_complete");
  EXPECT_EQ(answer->resume_from, "/c/step-1");
  EXPECT_EQ(answer->report.findings.front().confidence, Confidence::high);
}

TEST_F(CheckpointRun, ASaveUnderWayIsNotJudged) {
  folder("run/step-5");
  place_.write("run/step-5/__0_0.distcp", std::string(100, 'x'));
  CheckpointRequest request;
  request.paths = {path("run")};
  const auto info = real_files().stat(path("run/step-5/__0_0.distcp"));
  ASSERT_TRUE(info);
  request.now = info->modified + std::chrono::seconds(10);
  const auto answer = check_checkpoints(request, real_files());
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->resume_from);
  EXPECT_EQ(exit_status_of(answer->report), ExitStatus::cannot_tell);
}

TEST_F(CheckpointRun, DeepReadsEveryByteOfOurs) {
  const std::string weights = tensors_file(5000);
  folder("run/step-5");
  place_.write("run/step-5/model.safetensors", weights);
  checkpoint::CheckpointManifest manifest;
  manifest.step = 5;
  manifest.world = 1;
  manifest.files = {
      {"model.safetensors", weights.size(), blocks::hash_text(blocks::hash_bytes(weights))}};
  place_.write("run/step-5/muster-checkpoint.json",
               checkpoint::encode_checkpoint_manifest(manifest));
  EXPECT_EQ(top(ask("run", true)), "healthy");
  std::string flipped = weights;
  flipped[flipped.size() - 9] = 'x';
  place_.write("run/step-5/model.safetensors", flipped);
  EXPECT_EQ(top(ask("run")), "healthy");
  const auto deep = ask("run", true);
  EXPECT_EQ(top(deep), "checkpoint_torn");
  EXPECT_FALSE(deep.resume_from);
}

TEST_F(CheckpointRun, TenThousandFiles) {
  shell(
      "for s in 1 2 3 4 5; do mkdir -p run/step-$s && cd run/step-$s && "
      "printf x | tee $(seq -f '__%g_0.distcp' 0 1999) > /dev/null && printf '\\200\\004.' > "
      ".metadata && cd ../..; done");
  const auto before = std::chrono::steady_clock::now();
  const auto answer = ask("run");
  const auto took = std::chrono::steady_clock::now() - before;
  EXPECT_EQ(answer.resume_from, path("run/step-5"));
  EXPECT_LT(took, std::chrono::seconds(30));
}

}  // namespace
}  // namespace muster
