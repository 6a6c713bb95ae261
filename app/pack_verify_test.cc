#include "app/pack_verify.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "app/pack_files.h"
#include "app/part_folder.h"
#include "core/blocks/concat_packer.h"
#include "core/model/exit_status.h"
#include "tests/support/shell.h"

namespace muster {
namespace {

using testing_support::file_text;
using testing_support::TemporaryFolder;

constexpr std::uint32_t kLength = 64;
constexpr std::int32_t kEos = 1, kVocabulary = 500;

// Documents with one EOS each, about half of their tokens trained on.
void write_pack(const std::string& folder, std::uint64_t documents) {
  auto part = PartFolder::begin(real_work_folders(), folder);
  ASSERT_TRUE(part) << part.error().context;
  auto files = PackFiles::open(part->folder(), "", kLength);
  ASSERT_TRUE(files) << files.error().context;
  blocks::ConcatPacker packer(kLength, **files);
  std::mt19937 random(5);
  blocks::PackManifest manifest;
  for (std::uint64_t d = 0; d < documents; ++d) {
    blocks::TokenRun run;
    const std::uint64_t length = 1 + random() % 200;
    for (std::uint64_t i = 1; i < length; ++i) {
      run.ids.push_back(2 + static_cast<std::int32_t>(random() % (kVocabulary - 2)));
    }
    run.ids.push_back(kEos);
    run.ends = {run.ids.size()};
    run.trained.append(length / 2, false);
    run.trained.append(length - length / 2, true);
    manifest.document_tokens += length;
    ASSERT_TRUE(packer.add(run));
  }
  manifest.documents = manifest.eos_added = documents;
  manifest.eos = kEos;
  manifest.eos_policy = blocks::EosPolicy::every;
  manifest.vocabulary_count = kVocabulary;
  manifest.tail_tokens = packer.pending().ids.size();
  const auto sealed = (*files)->seal(manifest);
  ASSERT_TRUE(sealed) << sealed.error().context;
  ASSERT_TRUE(part->folder().write_whole("manifest.json", encode_manifest(*sealed)));
  ASSERT_TRUE(part->keep());
}

PackVerifyRequest of(const std::string& folder, bool quick = false) {
  PackVerifyRequest request;
  request.folder = folder;
  request.global_batch = 4;
  request.quick = quick;
  return request;
}

TEST(PackVerify, OneLineForAllThreadsAndRuns) {
  const TemporaryFolder folder;
  const std::string pack = folder.path() + "/pack";
  write_pack(pack, 300);
  std::vector<std::string> lines;
  for (const unsigned threads : {1u, 2u, 5u}) {
    PackVerifyRequest request = of(pack);
    request.threads = threads;
    const auto verdict = verify_pack(request);
    ASSERT_TRUE(verdict) << verdict.error().context;
    EXPECT_EQ(verdict->report.findings.at(0).cause, Cause::healthy)
        << verdict->report.findings[0].summary;
    lines.push_back(verdict->line);
  }
  EXPECT_EQ(lines[0], lines[1]);
  EXPECT_EQ(lines[0], lines[2]);
  EXPECT_NE(lines[0].find("documents=300"), std::string::npos) << lines[0];
  EXPECT_NE(lines[0].find("world=1,2,4 "), std::string::npos) << lines[0];
  // Another seed is another order, and a quick look says less, but the same of all samples.
  PackVerifyRequest seeded = of(pack);
  seeded.seed = 1;
  EXPECT_NE(verify_pack(seeded)->line, lines[0]);
  PackVerifyRequest quick = of(pack, true), again = of(pack, true);
  again.sample = 99;
  EXPECT_EQ(verify_pack(quick)->line, verify_pack(again)->line);
}

TEST(PackVerify, AStepThatDoesNotFitIsNoDamage) {
  const TemporaryFolder folder;
  const std::string pack = folder.path() + "/pack";
  write_pack(pack, 20);
  PackVerifyRequest request = of(pack);
  request.micro_batch = 3;
  EXPECT_EQ(verify_pack(request).error().code, Errc::invalid_input);
  request = of(pack);
  request.global_batch = 1'000'000;
  EXPECT_EQ(verify_pack(request).error().code, Errc::invalid_input);
  EXPECT_EQ(verify_pack(of(folder.path())).error().code, Errc::not_found);
  EXPECT_EQ(verify_pack(of(folder.path() + "/none")).error().code, Errc::not_found);
}

struct Damage {
  const char* name;
  const char* file;
  std::function<void(std::string&)> spoil;
  bool quick_sees;
};

const Damage kDamages[] = {
    {"block_flipped", "blocks.i32", [](auto& b) { b[b.size() / 2] ^= 1; }, true},
    {"last_byte_of_blocks", "blocks.i32", [](auto& b) { b.back() ^= 1; }, true},
    {"blocks_cut", "blocks.i32", [](auto& b) { b.pop_back(); }, true},
    {"blocks_longer", "blocks.i32", [](auto& b) { b += "x"; }, true},
    {"blocks_swapped", "blocks.i32",
     [](auto& b) { b = b.substr(256, 256) + b.substr(0, 256) + b.substr(512); }, true},
    {"end_moved", "docs.u64", [](auto& b) { b[8] = static_cast<char>(b[8] + 1); }, false},
    {"ends_cut", "docs.u64", [](auto& b) { b.resize(b.size() - 8); }, true},
    {"bit_flipped", "loss.bits", [](auto& b) { b[3] ^= 2; }, false},
    {"hash_flipped", "hashes.u64", [](auto& b) { b[17] ^= 64; }, true},
    {"manifest_cut", "manifest.json", [](auto& b) { b.pop_back(); }, true},
    {"number_changed", "manifest.json",
     [](auto& b) { b.replace(b.find("\"documents\":"), 13, "\"documents\":9"); }, true},
};

// Each finds its file, in full and, where a look at sizes and blocks can, at once.
TEST(PackVerify, DamageIsFoundAndNamed) {
  for (const Damage& damage : kDamages) {
    const TemporaryFolder folder;
    const std::string pack = folder.path() + "/pack", path = pack + "/" + damage.file;
    write_pack(pack, 40);  // fewer blocks than a quick look takes
    std::string bytes = file_text(path);
    damage.spoil(bytes);
    folder.write(std::string("pack/") + damage.file, bytes);
    for (const bool quick : {false, true}) {
      const auto verdict = verify_pack(of(pack, quick));
      ASSERT_TRUE(verdict) << damage.name << ": " << verdict.error().context;
      const Finding& finding = verdict->report.findings.at(0);
      if (quick && !damage.quick_sees) {
        EXPECT_EQ(finding.cause, Cause::healthy) << damage.name;
        continue;
      }
      EXPECT_EQ(finding.cause, Cause::data_damaged) << damage.name << ": " << finding.summary;
      EXPECT_TRUE(verdict->line.empty());
      ASSERT_EQ(finding.culprits.size(), 1U);
      EXPECT_EQ(finding.culprits[0].id, path) << damage.name << ": " << finding.summary;
    }
  }
}

TEST(PackVerify, AFileThatIsGoneIsDamageAndNoManifestIsNoPack) {
  const TemporaryFolder folder;
  const std::string pack = folder.path() + "/pack";
  write_pack(pack, 10);
  std::filesystem::remove(pack + "/loss.bits");
  const auto verdict = verify_pack(of(pack));
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->report.findings.at(0).culprits.at(0).id, pack + "/loss.bits");
  // What stands there and is no file: nobody waits for a pipe.
  for (const std::string name : {"/loss.bits", "/manifest.json"}) {
    const std::string path = pack + name;
    std::filesystem::remove(path);
    ASSERT_EQ(testing_support::run_shell("mkfifo " + path).status, 0);
    const auto pipe = verify_pack(of(pack, true));
    ASSERT_TRUE(pipe) << pipe.error().context;
    EXPECT_EQ(pipe->report.findings.at(0).summary, path + ": not a regular file");
    EXPECT_EQ(exit_status_of(pipe->report), ExitStatus::critical);
  }
  std::filesystem::remove(pack + "/manifest.json");
  EXPECT_EQ(verify_pack(of(pack)).error().code, Errc::not_found);
}

}  // namespace
}  // namespace muster
