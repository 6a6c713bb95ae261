#include "app/bench_data.h"

#include <gtest/gtest.h>

#include <string>

#include "app/pack_test_kit.h"
#include "core/storage/proc_text.h"
#include "tests/support/faulty_disk.h"
#include "tests/support/shell.h"

namespace muster {
namespace {

using storage::DataPath;
using storage::RowState;
using testing_support::DiskFaults;
using testing_support::FaultyDisk;
using testing_support::TemporaryFolder;

PackVocabulary bytes_as_tokens() {
  PackVocabulary vocabulary;
  vocabulary.make_encoder = [] { return std::make_unique<ByteEncoder>(); };
  vocabulary.hash = std::string(32, '0');
  vocabulary.count = 257;
  vocabulary.eos = {ByteEncoder::kEos, false};
  vocabulary.why_no_chat = "none here";
  return vocabulary;
}

// A text of 2,000 lines of 51 tokens each, and its pack of blocks of 64 tokens.
struct Data {
  TemporaryFolder folder;
  BenchDataRequest request;
};
std::unique_ptr<Data> make_data() {
  auto data = std::make_unique<Data>();
  std::string lines;
  for (int i = 0; i < 2000; ++i) lines += "{\"text\":\"" + std::string(50, 'a') + "\"}\n";
  lines += "broken\n";
  PackRequest pack;
  pack.paths = {data->folder.write("in.jsonl", lines)};
  pack.out = data->folder.path() + "/pack";
  pack.block_tokens = 64;
  pack.global_batch = 16;
  const auto made = build_pack(pack, bytes_as_tokens(), real_files(), real_work_folders(), {}, {});
  EXPECT_TRUE(made) << made.error().context;
  data->request.text.paths = pack.paths;
  data->request.pack = pack.out;
  data->request.step_seconds = 1000;
  return data;
}

std::string states_of(const storage::DataAnswer& answer) {
  std::string out;
  for (const auto& arm : answer.arms) out += arm.state == RowState::measured ? 'm' : 'n';
  return out;
}

TEST(BenchData, CountsWhatIsThere) {
  for (const std::size_t threads : {std::size_t{1}, std::size_t{3}}) {
    const auto data = make_data();
    data->request.text.threads = threads;
    const auto answer = bench_data(data->request, bytes_as_tokens(), real_files(),
                                   storage::real_disk(), system_clock());
    ASSERT_TRUE(answer) << answer.error().context;
    ASSERT_EQ(answer->arms.size(), 4U);
    EXPECT_EQ(answer->step_tokens, 16U * 64) << "as the manifest says";
    // 2,000 x 51 tokens are 99 steps of 1,024, and 1,593 blocks 99 steps of 16.
    for (const auto& arm : answer->arms) {
      if (arm.state == RowState::measured) {
        EXPECT_EQ(arm.steps, 99U) << storage::data_path_name(arm.path);
      }
    }
    EXPECT_EQ(answer->arms[0].path, DataPath::text);
    EXPECT_TRUE(answer->arms[0].cold);
    EXPECT_EQ(answer->arms[3].path, DataPath::packed);
    EXPECT_FALSE(answer->arms[3].cold);
    ASSERT_FALSE(answer->notes.empty());
    EXPECT_EQ(answer->notes[0], "1 records gave no document");
    EXPECT_EQ(states_of(*answer).substr(1, 1), "m") << "warm text can be measured anywhere";
  }
}

TEST(BenchData, WhatIsNotMeasuredSaysWhy) {
  struct Row {
    const char* name;
    DiskFaults faults;
    std::string states;  // text cold, text warm, packed cold, packed warm
    std::string reason;  // of the first that is not measured
  };
  DiskFaults stays, secret, dropless, tmpfs, evicted;
  stays.left_after_drop = 1;
  secret.residency = make_error(Errc::permission, "only the owner is told");
  dropless.drop = make_error(Errc::permission, "not yours");
  dropless.left_after_drop = 1;
  tmpfs.file_system = "tmpfs";
  tmpfs.left_after_drop = 1;
  evicted.left_after_drop = 0;  // and stays so, whatever is read: it is no file of this disk
  const Row rows[] = {
      {"pages that stay", stays, "nmnm", "100.0 % of the files stayed in the page cache"},
      {"residency is a secret", secret, "nnnn", "only the owner is told"},
      {"no right to drop", dropless, "nmnm", "not yours"},
      {"tmpfs", tmpfs, "nmnm", "files lie in memory"},
      {"memory that keeps nothing", evicted, "mnmn", "only 0.0 % of what was read stayed"},
  };
  const auto data = make_data();
  for (const Row& row : rows) {
    FaultyDisk disk(row.faults);
    const auto answer =
        bench_data(data->request, bytes_as_tokens(), real_files(), disk, system_clock());
    ASSERT_TRUE(answer) << row.name << ": " << answer.error().context;
    EXPECT_EQ(states_of(*answer), row.states) << row.name;
    for (const auto& arm : answer->arms) {
      if (arm.state == RowState::measured) continue;
      EXPECT_NE(arm.reason.find(row.reason), std::string::npos) << row.name << ": " << arm.reason;
      break;
    }
  }
}

TEST(BenchData, Refused) {
  struct Row {
    const char* name;
    std::function<void(Data&)> change;
    std::string says;
  };
  const Row rows[] = {
      {"no pack", [](Data& d) { d.request.pack = d.folder.path() + "/none"; }, "No such file"},
      {"a step of more blocks than there are", [](Data& d) { d.request.global_batch = 100'000; },
       "1593 blocks are fewer than one step has (100000)"},
      {"a step of none", [](Data& d) { d.request.global_batch = 0; },
       "fewer than one step has (0)"},
      {"no text", [](Data& d) { d.request.text.paths = {d.folder.path() + "/none"}; },
       "No such file"},
      {"a folder for a text", [](Data& d) { d.request.text.paths = {d.folder.path()}; },
       "neither a folder nor a regular file"},
      {"a broken manifest",
       [](Data& d) {
         d.request.pack = d.folder.path();
         d.folder.write("manifest.json", "{");
       },
       "no JSON document"},
  };
  for (const Row& row : rows) {
    const auto data = make_data();
    row.change(*data);
    const auto answer = bench_data(data->request, bytes_as_tokens(), real_files(),
                                   storage::real_disk(), system_clock());
    ASSERT_FALSE(answer) << row.name;
    EXPECT_NE(answer.error().context.find(row.says), std::string::npos)
        << row.name << ": " << answer.error().context;
  }
}

TEST(BenchData, BlocksCutShort) {
  const auto data = make_data();
  testing_support::run_shell("truncate -s 100 " +
                             testing_support::shell_word(data->request.pack + "/blocks.i32"));
  const auto answer = bench_data(data->request, bytes_as_tokens(), real_files(),
                                 storage::real_disk(), system_clock());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Errc::corrupt) << answer.error().context;
}

TEST(BenchData, Stopped) {
  const auto data = make_data();
  std::stop_source stop;
  stop.request_stop();
  data->request.stop = stop.get_token();
  EXPECT_FALSE(bench_data(data->request, bytes_as_tokens(), real_files(), storage::real_disk(),
                          system_clock()));
}

}  // namespace
}  // namespace muster
