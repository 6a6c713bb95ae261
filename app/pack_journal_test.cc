#include "app/pack_journal.h"

#include <gtest/gtest.h>

#include <optional>

#include "tests/support/memory_work_folders.h"

namespace muster {
namespace {

PackMark sample() {
  PackMark mark;
  mark.chunks = 7;
  mark.chain = "abc";
  for (std::size_t i = 0; i < mark.files.size(); ++i) mark.files[i] = {i * 1000, {i, 7}};
  mark.next_block = 3;
  mark.trained_tokens = 99;
  mark.eos_added = 12;
  mark.document_tokens = 1ull << 60;
  mark.pending.ids = {5, 0, 151668, 7};
  mark.pending.ends = {1, 3};
  mark.pending.trained.append(1, true);
  mark.pending.trained.append(2, false);
  mark.pending.trained.append(1, true);
  PackCount count;
  count.documents = 4;
  count.faults[static_cast<std::size_t>(records::Fault::no_field)] = 2;
  mark.counts = {{17, count}};
  return mark;
}

void expect_same(const PackMark& a, const PackMark& b) {
  EXPECT_EQ(a.chunks, b.chunks);
  EXPECT_EQ(a.chain, b.chain);
  EXPECT_EQ(a.complete, b.complete);
  EXPECT_EQ(a.files, b.files);
  EXPECT_EQ(a.next_block, b.next_block);
  EXPECT_EQ(a.trained_tokens, b.trained_tokens);
  EXPECT_EQ(a.eos_added, b.eos_added);
  EXPECT_EQ(a.document_tokens, b.document_tokens);
  EXPECT_EQ(a.pending.ids, b.pending.ids);
  EXPECT_EQ(a.pending.ends, b.pending.ends);
  ASSERT_EQ(a.pending.trained.size(), b.pending.trained.size());
  for (std::uint64_t i = 0; i < a.pending.trained.size(); ++i) {
    EXPECT_EQ(a.pending.trained.at(i), b.pending.trained.at(i));
  }
  EXPECT_EQ(a.counts, b.counts);
  EXPECT_EQ(a.inputs.size(), b.inputs.size());
}

// What is read of a file of these bytes.
struct Read {
  Result<std::string> plan = std::string();
  std::vector<PackMark> marks;
  std::vector<std::uint64_t> ends;  // of the line of each
  std::optional<Error> failure;
};

Read read_journal(const std::string& bytes) {
  MemoryWorkFolders folders;
  auto folder = folders.make("x");
  auto file = (*folder)->open("journal");
  EXPECT_TRUE((*file)->append(bytes));
  JournalReader reader(**file);
  Read out;
  out.plan = reader.plan();
  while (out.plan) {
    auto mark = reader.next();
    if (!mark) out.failure = mark.error();
    if (!mark || !*mark) break;
    out.marks.push_back(std::move(**mark));
    out.ends.push_back(reader.at());
  }
  return out;
}

TEST(PackJournal, WithoutAPlanItIsNone) {
  const std::string plan = encode_plan("{}");
  for (const std::string& bytes :
       {std::string(), plan.substr(0, plan.size() - 1), "x" + plan, encode_plan("{}").substr(1)}) {
    EXPECT_EQ(read_journal(bytes).plan.error().code, Errc::corrupt);
  }
}

TEST(PackJournal, CutAnywhereItHasTheMarksBefore) {
  PackMark last = sample();
  last.complete = true;
  last.inputs = {{3, "x"}, {4, "y"}};
  const std::string plan = encode_plan(R"({"a":1})");
  const std::string one = plan + encode_mark(sample()), all = one + encode_mark(last);
  for (std::size_t size = plan.size(); size <= all.size(); ++size) {
    const Read journal = read_journal(all.substr(0, size));
    ASSERT_TRUE(journal.plan && !journal.failure) << size;
    EXPECT_EQ(*journal.plan, R"({"a":1})");
    ASSERT_EQ(journal.marks.size(), size == all.size() ? 2U : size >= one.size() ? 1U : 0U);
    if (size >= one.size()) {
      expect_same(journal.marks[0], sample());
      EXPECT_EQ(journal.ends[0], one.size());
    }
    if (size == all.size()) expect_same(journal.marks[1], last);
  }
}

TEST(PackJournal, FlippedAnywhereItHasTheMarksBefore) {
  const std::string plan = encode_plan(R"({"a":1})");
  const std::string one = plan + encode_mark(sample()), all = one + encode_mark(sample());
  for (std::size_t i = plan.size(); i < all.size(); ++i) {
    std::string flipped = all;
    flipped[i] = static_cast<char>(flipped[i] ^ 4);
    const Read journal = read_journal(flipped);
    ASSERT_TRUE(journal.plan && !journal.failure) << i;
    EXPECT_EQ(journal.marks.size(), i >= one.size() ? 1U : 0U) << i;
  }
}

// Lines longer than what is read at once, and one that no build writes.
TEST(PackJournal, LongLinesAreHeldOneAtATime) {
  PackMark mark = sample();
  mark.pending = {};
  for (std::int32_t i = 0; i < 200'000; ++i) mark.pending.ids.push_back(i);
  mark.pending.trained.append(200'000, true);
  const std::string plan = encode_plan("{}"), line = encode_mark(mark);
  ASSERT_GT(line.size(), 1'000'000U);
  const Read journal = read_journal(plan + line + line + std::string(70'000'000, 'x'));
  ASSERT_TRUE(journal.plan && !journal.failure);
  ASSERT_EQ(journal.marks.size(), 2U);
  expect_same(journal.marks[1], mark);
  EXPECT_EQ(journal.ends[1], plan.size() + 2 * line.size());
}

TEST(PackCount, RecordsAreDocumentsAndWhatGaveNone) {
  PackCount count;
  count.documents = 10;
  for (std::size_t i = 0; i < records::kFaultCount; ++i) count.faults[i] = 1;
  // All but blank, byte_order_mark, crlf and escaped_nul.
  EXPECT_EQ(count.errors(), records::kFaultCount - 4);
  EXPECT_EQ(count.records(), 10 + count.errors());
  PackCount twice = count;
  twice.add(count);
  EXPECT_EQ(twice.documents, 20U);
  EXPECT_EQ(twice.errors(), 2 * count.errors());
}

}  // namespace
}  // namespace muster
