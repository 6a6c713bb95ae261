#include "core/checkpoint/file_examiner.h"

#include <gtest/gtest.h>

#include <string>

#include "base/limits.h"
#include "core/checkpoint/safetensors.h"
#include "core/checkpoint/zip_test_kit.h"

namespace muster::checkpoint {
namespace {

// As the caller does it; `read` counts the bytes.
FileFacts examine(const std::string& name, std::string_view bytes, std::uint64_t* read = nullptr) {
  FileExaminer examiner(name, bytes.size());
  int pieces = 0;
  while (const auto piece = examiner.wanted()) {
    EXPECT_LE(piece->bytes, limits::kContractBytes);
    EXPECT_LE(piece->offset + piece->bytes, bytes.size());
    EXPECT_LT(++pieces, 5);
    if (read != nullptr) *read += piece->bytes;
    examiner.give(bytes.substr(piece->offset, piece->bytes));
  }
  return examiner.take();
}

std::string tensors_file(std::uint64_t elements) {
  std::vector<SavedTensor> tensors = {{"w", "BF16", {elements}, 0, 0}};
  return encode_safetensors(tensors) + std::string(elements * 2, 'w');
}

TEST(FileExaminer, Rows) {
  const std::string tensors = tensors_file(100);
  const std::string zip = zip_of({{"a/data.pkl", "\x80\2."}, {"a/data/0", std::string(99, 'x')}});
  struct Row {
    const char *label, *name;
    std::string bytes;
    FileState state;
    const char* fault;
  };
  const Row rows[] = {
      {"empty weights", "model.safetensors", "", FileState::torn, "empty"},
      {"cut weights", "model.safetensors", tensors.substr(0, tensors.size() - 1), FileState::torn,
       "its header promises 200 bytes of data, the file holds 199"},
      {"more than it tells", "model.safetensors", tensors + "x", FileState::torn, "1 bytes more"},
      {"no header", "model.safetensors", std::string(100, '\0'), FileState::torn, "no length"},
      {"seven bytes", "model.safetensors", "1234567", FileState::torn, "inside of its header"},
      {"weights", "model.safetensors", tensors, FileState::sound, ""},
      {"empty zip", "optimizer.pt", "", FileState::torn, "empty"},
      {"cut zip", "optimizer.pt", zip.substr(0, zip.size() - 30), FileState::torn, "no end record"},
      {"never filled", "optimizer.pt", std::string(5000, '\0'), FileState::torn, "zeros"},
      {"an old pickle", "optimizer.pt", "\x80\2}q.", FileState::unchecked, "no zip"},
      {"zip", "optimizer.pt", zip, FileState::sound, ""},
      {"short metadata", ".metadata", "\x80\4\x95xyz", FileState::torn, "without its end"},
      {"metadata", ".metadata", "\x80\4\x95xyz.", FileState::sound, ""},
      {"half an index", "model.safetensors.index.json", "{\"weight_map\":{", FileState::torn,
       "JSON"},
      {"half a state", "trainer_state.json", "{\"global_step\": 5", FileState::torn, "global_step"},
      {"a state", "trainer_state.json", "{\"global_step\": 5}", FileState::sound, ""},
      {"half a configuration", "config.json", "{\"a\":", FileState::torn, "JSON"},
      {"no manifest", "muster-checkpoint.json", "{}", FileState::torn, "schema"},
      {"a marker", "COMPLETE", "", FileState::unchecked, ""},
      {"another file", "notes.md", "hello", FileState::unchecked, ""},
  };
  for (const Row& row : rows) {
    const FileFacts facts = examine(row.name, row.bytes);
    EXPECT_EQ(facts.state, row.state) << row.label << ": " << facts.fault;
    EXPECT_NE(facts.fault.find(row.fault), std::string::npos) << row.label << ": " << facts.fault;
    EXPECT_EQ(facts.bytes, row.bytes.size());
  }
}

TEST(FileExaminer, WeightsAreNotRead) {
  std::uint64_t read = 0;
  const FileFacts facts = examine("model.safetensors", tensors_file(5'000'000), &read);
  EXPECT_EQ(facts.state, FileState::sound);
  EXPECT_EQ(facts.data_bytes, 10'000'000u);
  EXPECT_LT(read, 300u);
  read = 0;
  EXPECT_EQ(examine("a.pt", zip_of({{"data", std::string(9'000'000, 'x')}}), &read).state,
            FileState::sound);
  EXPECT_LT(read, 70'000u);
}

TEST(FileExaminer, HostileLengths) {
  // A header of 90 MB in a file that has it: more than is read.
  FileExaminer examiner("model.safetensors", 100'000'000);
  examiner.give(number_bytes(std::uint64_t{90'000'000}));
  EXPECT_FALSE(examiner.wanted());
  EXPECT_EQ(examiner.take().state, FileState::unchecked);
  FileExaminer index("model.safetensors.index.json", 1ull << 40);
  EXPECT_FALSE(index.wanted());
  EXPECT_EQ(index.take().state, FileState::unchecked);
}

TEST(FileExaminer, AFileThatShrinksMeanwhile) {
  FileExaminer examiner("model.safetensors", 1000);
  examiner.give("123");
  EXPECT_FALSE(examiner.wanted());
  EXPECT_EQ(examiner.take().state, FileState::unread);
}

TEST(FileExaminer, WhatTheyTell) {
  const FileFacts index =
      examine("model.safetensors.index.json",
              R"({"metadata":{"total_size":42},"weight_map":{"a":"m1","b":"m2","c":"m2","d":5}})");
  EXPECT_EQ(index.names, (std::map<std::string, std::uint64_t>{{"m1", 1}, {"m2", 2}}));
  EXPECT_EQ(index.data_bytes, 42u);
  const FileFacts metadata =
      examine(".metadata", "\x80\4\x8c\x0c__0_0.distcp\x94\x8c\x0c__11_0.distcp__x.distcp.distcp.");
  EXPECT_TRUE(metadata.names.contains("__0_0.distcp"));
  EXPECT_TRUE(metadata.names.contains("__11_0.distcp"));
  EXPECT_EQ(examine("latest", "global_step40\n").text, "global_step40");
  EXPECT_TRUE(examine("__0_0.distcp", "xx" + zip_of({{"a", "b"}})).ends_like_zip);
  EXPECT_FALSE(examine("__0_0.distcp", std::string(100, 'x')).ends_like_zip);
}

TEST(FileExaminer, CutAtEveryByte) {
  const std::string zip = zip_of({{"a/data.pkl", "\x80\2."}, {"a/data/0", std::string(99, 'x')}});
  for (std::size_t i = 0; i < zip.size(); ++i) {
    EXPECT_NE(examine("optimizer.pt", zip.substr(0, i)).state, FileState::sound) << i;
  }
  const std::string tensors = tensors_file(20);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_EQ(examine("model.safetensors", tensors.substr(0, i)).state, FileState::torn) << i;
  }
}

}  // namespace
}  // namespace muster::checkpoint
