#include "core/storage/storage_answer.h"

#include <gtest/gtest.h>

#include "core/model/json_reader.h"

namespace muster::storage {
namespace {

RowResult measured(RowKind kind, double gb_per_second) {
  RowResult row;
  row.kind = kind;
  row.state = RowState::measured;
  row.engine = kind == RowKind::queue ? "io_uring" : "pread";
  row.rate = {1'000'000'000, 1 / gb_per_second, gb_per_second * 1e9, 954, 0, 0.0004, 0.0009};
  return row;
}

StorageAnswer whole() {
  StorageAnswer answer;
  answer.place = {"/data", "ext4", "rw,noatime",      "/", "/dev/nvme0n1", "6.1.0", "",
                  128,     {},     4'000'000'000'000, {}};
  answer.file_bytes = 4294967296;
  answer.streams = 8;
  answer.own_file = true;
  const double rates[] = {6.34, 3.56, 3.54, 2.61, 1.31};
  for (const RowKind kind : kRows) {
    answer.rows.push_back(measured(kind, rates[static_cast<std::size_t>(kind)]));
  }
  return answer;
}

TEST(StorageAnswer, ExitStatus) {
  EXPECT_EQ(exit_status_of(whole()), ExitStatus::ok);

  StorageAnswer nothing = whole();
  for (RowResult& row : nothing.rows) row = not_measured(row.kind, "stopped");
  EXPECT_EQ(exit_status_of(nothing), ExitStatus::cannot_tell);

  StorageAnswer feeds = whole();
  feeds.demand = Demand{5, 1e6};
  EXPECT_EQ(exit_status_of(feeds), ExitStatus::ok);
  feeds.demand = Demand{1, 2e9};
  EXPECT_EQ(exit_status_of(feeds), ExitStatus::warning);
  feeds.rows[4] = not_measured(RowKind::cold, "residency left");
  EXPECT_EQ(exit_status_of(feeds), ExitStatus::cannot_tell);

  StorageAnswer compared = whole();
  const std::vector<FioPair> same(kPairs, {1e9, 1e9}), twice(kPairs, {1e9, 2e9});
  compared.against = {compare(RowKind::single, same)};
  EXPECT_EQ(exit_status_of(compared), ExitStatus::ok);
  compared.against.push_back(compare(RowKind::queue, twice));
  EXPECT_EQ(exit_status_of(compared), ExitStatus::cannot_tell);
}

TEST(StorageAnswer, Text) {
  StorageAnswer answer = whole();
  answer.rows[3] = unsupported(RowKind::single, "refused \x1b[2J");
  answer.rows[4] = not_measured(RowKind::cold, "3.0 % of the file stayed in the page cache");
  answer.demand = Demand{5, 1e6};
  answer.fio = "fio-3.33";
  answer.against = {compare(RowKind::warm, std::vector<FioPair>(kPairs, {6e9, 6.06e9})),
                    compare(RowKind::queue, {})};
  answer.notes = {"one\nline"};
  const std::string text = storage_text(answer);
  for (const char* says : {
           "/data: a file of its own, 4.29 GB, read in blocks of 1 MiB\n",
           "  on        ext4 at / (/dev/nvme0n1), rw,noatime\n",
           "Linux 6.1.0, readahead 128 KiB, memory unknown, of it 4.00 TB for\n            page "
           "cache\n",
           "  warm page cache           6.34    50.7     0.40     0.90  page copy\n",
           "  O_DIRECT, 8 streams       3.56    28.5     0.40     0.90  device\n",
           "  O_DIRECT, QD1           unsupported: refused \\x1b[2J\n",
           "  cold, buffered          not measured: 3.0 % of the file stayed",
           "no more to be had; by io_uring\n",
           "against fio-3.33",
           "  warm page cache         7 pairs   6.00    6.06   1.010   0.000  agrees (1 +- 0.10)\n",
           "  O_DIRECT, QD32 x 4      not measured: no pair\n",
           "verdict     cannot tell whether storage starves steps of 5 s",
           "  note      one\\nline\n",
       }) {
    EXPECT_NE(text.find(says), std::string::npos) << says << "\nin\n" << text;
  }
  EXPECT_EQ(text.find("0.00 "), std::string::npos) << "what is not measured is no 0\n" << text;
}

TEST(StorageAnswer, Json) {
  StorageAnswer answer = whole();
  answer.rows[1] = unsupported(RowKind::streams, "tmpfs");
  answer.demand = Demand{1, 2e9};
  answer.against = {compare(RowKind::warm, std::vector<FioPair>(kPairs, {6e9, 6e9}))};
  const auto document = parse_json(storage_json(answer));
  ASSERT_TRUE(document);
  EXPECT_TRUE(check_schema(*document, "muster.storage", 1));
  JsonFields fields(*document);
  const auto& rows = fields.array("rows");
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_TRUE(rows[1].find("bytes_per_second") == nullptr) << "null, never 0";
  EXPECT_EQ(*rows[1].find("state")->get<std::string>(), "unsupported");
  EXPECT_EQ(*rows[4].find("bound")->get<std::string>(), "readahead");
  JsonFields step(*fields.require("step"));
  EXPECT_EQ(step.require_text("storage_starves"), "yes");
  EXPECT_EQ(step.require_text("inverts"), "beyond");
  EXPECT_DOUBLE_EQ(step.number("in_order_bytes").value_or(0), 4e12);
  EXPECT_EQ(*fields.array("against_fio")[0].find("agreement")->get<std::string>(), "agrees");
  EXPECT_FALSE(fields.fault());
  EXPECT_FALSE(step.fault());
}

}  // namespace
}  // namespace muster::storage
