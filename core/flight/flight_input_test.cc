#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/limits.h"
#include "core/flight/dump_reader.h"
#include "core/flight/pickle_test_kit.h"

// Dumps that come in pieces, and files that never end: what is read of them, and what of it counts.

namespace muster {
namespace {

using namespace std::string_literals;

// The same bytes again and again, or a text in pieces.
class Pieces final : public FlightInput {
 public:
  Pieces(std::string bytes, std::size_t piece, bool endless)
      : bytes_(std::move(bytes)), piece_(piece), endless_(endless) {
    while (endless && bytes_.size() < 256 * 1024) bytes_ += bytes_;
  }
  std::size_t read(std::span<char> buffer) override {
    std::size_t n = 0;
    const std::size_t room = std::min(buffer.size(), piece_);
    while (n < room && (endless_ || at_ < bytes_.size())) {
      at_ %= bytes_.size();
      const std::size_t more = std::min(room - n, bytes_.size() - at_);
      std::copy_n(bytes_.data() + at_, more, buffer.data() + n);
      at_ += more;
      n += more;
    }
    given += n;
    return n;
  }
  std::uint64_t given = 0;

 private:
  std::string bytes_;
  std::size_t piece_, at_ = 0;
  bool endless_;
};

PickleText& open_rows(PickleText& text) {
  return text.dict().pair("version", "2.10").text("entries").list();
}

std::string one_row(const char* open = "") {
  PickleText text;
  open_rows(text).dict().pair("record_id", 1).end_dict();
  return text.open() + open;
}

constexpr const char* kJsonRow = R"({"version":"2.10","entries":[{"record_id":1})";

// A protocol, then whatever; the string opcode with its length.
std::string pickle(const std::string& rest) {
  return "\x80\x02"s + rest;
}

struct EndlessRow {
  const char* name;
  std::string head, again;
  std::size_t entries;  // 0: refused
  std::string reason;   // a piece of the error, or of the notes
};

std::vector<EndlessRow> endless_rows() {
  const std::string more = "more than is read of one dump";
  return {
      {"zeros", pickle("}"), "\0"s, 0, "byte 3: an opcode"},
      {"nothing_pushed", pickle("}"), "N", 0, "nothing of a dump so far"},
      {"empty_tuples", pickle("}"), ")", 0, "nothing of a dump so far"},
      {"lists_in_lists", pickle(""), "]", 0, "nothing of a dump so far"},
      {"tuple_around_tuple", pickle("N"), "\x85", 0, "nothing of a dump so far"},
      {"marks", pickle(""), "(", 0, "nested too deep"},
      {"protocols", pickle(""), "\x80\x02", 0, "nothing of a dump so far"},
      {"frames", pickle(""), "\x95\x04\0\0\0\0\0\0\0"s, 0, "nothing of a dump so far"},
      {"empty_items", pickle("}"), "(u", 0, "nothing of a dump so far"},
      {"put_again", pickle("Nq\0"s), "q\0"s, 0, "nothing of a dump so far"},
      {"pairs", pickle("}"), "NNs", 0, "nothing of a dump so far"},
      {"same_string", pickle("}"), "X\x04\0\0\0abcdNs"s, 0, "nothing of a dump so far"},
      {"long_strings", pickle("]"), "X\0\0\x10\0"s + std::string(1 << 20, 'x') + "a", 0,
       "nothing of a dump so far"},
      {"huge_string", pickle("}\x8d\0\0\0\x40\0\0\0\0"s), "x", 0, "longer than 1 MiB"},
      {"items_that_are_none", pickle("]("), "N", 0, "nothing of a dump so far"},
      {"empty_rows", pickle("]"), "}a", 0, "no flight-recorder dump"},
      {"code", one_row(), "R", 0, "wants to run code"},
      {"zeros_behind_a_row", one_row(), "\0"s, 1, "an opcode that no dump has"},
      {"nothing_behind_a_row", one_row(), "N", 0, "too many values"},
      {"puts_behind_a_row", one_row("q\x20"), "q\0"s, 1, "out of order"},
      {"empty_rows_behind_a_row", one_row("e"), "}a", 1, more},
      {"JSON_zeros", "{", "\0"s, 0, "no flight-recorder dump"},
      {"JSON_blanks", "{", " ", 0, "no flight-recorder dump"},
      {"JSON_commas", "[", ",", 0, "no flight-recorder dump"},
      {"JSON_brackets", "[", "[", 0, "no flight-recorder dump"},
      {"JSON_string", "{\"", "x", 0, "no flight-recorder dump"},
      {"JSON_number", "[", "1", 0, "no flight-recorder dump"},
      {"JSON_numbers", "[", "1,", 0, "no flight-recorder dump"},
      {"JSON_members", "{", "\"a\":1,", 0, "no flight-recorder dump"},
      {"JSON_no_value", R"({"entries":)", " ", 0, "no flight-recorder dump"},
      {"JSON_junk_behind_a_row", kJsonRow, "junk", 1, "a value without an end"},
      {"JSON_zeros_behind_a_row", kJsonRow, "\0"s, 1, "a value without an end"},
      {"JSON_blanks_behind_a_row", kJsonRow, " ", 1, "a value without an end"},
      {"JSON_commas_behind_a_row", kJsonRow, ",", 1, "a value without an end"},
      {"JSON_row_without_end", kJsonRow, ",{\"a\":[1", 1, "a value without an end"},
      {"JSON_items_behind_a_row", kJsonRow, ",0", 1, more},
      {"JSON_behind_its_end", std::string(kJsonRow) + "]}", "x", 1, "after its end"},
      {"pickle_behind_its_end", one_row("eu."), "x", 1, "after its end"},
  };
}

// Nothing in it is a name or a row of a dump.
TEST(EndlessFile, IsReadNoFurtherThanABeginWhereNothingOfADumpCame) {
  FlightReaderScratch scratch;
  for (const EndlessRow& row : endless_rows()) {
    const bool named = row.head.find("entries") != std::string::npos;
    if (named) continue;
    Pieces rest(row.again, 1 << 20, true);
    EXPECT_FALSE(read_flight_dump({"rank_1", row.head, &rest}, scratch)) << row.name;
    EXPECT_LE(rest.given, limits::kFlightHeadBytes + (2U << 20)) << row.name;
  }
}

// What begins like a dump may go on like one that never ends a row.
TEST(EndlessFile, OfNamesOfADumpIsReadNoFurtherThanOneRow) {
  const std::string rows = pickle("}(X\x07\0\0\0entries](}("s);
  const std::string groups = pickle("}(X\x09\0\0\0pg_config}("s);
  const EndlessRow table[] = {
      {"values", rows, "N", 0, "too many values"},
      {"puts", rows, "Nq\0"s, 0, "too many values"},
      {"puts_again", rows + "N", "q\0"s, 0, "no end of a row in 4 million"},
      {"frames", groups, "\x95\x04\0\0\0\0\0\0\0"s, 0, "no end of a row in 16 MiB"},
      {"numbers", groups, "K\x01", 0, "too many values"},
      {"JSON_groups", R"({"pg_config":{)", R"("a":{)", 0, "no flight-recorder dump"},
  };
  FlightReaderScratch scratch;
  for (const EndlessRow& row : table) {
    Pieces rest(row.again, 1 << 20, true);
    const auto dump = read_flight_dump({"rank_1", row.head, &rest}, scratch);
    ASSERT_FALSE(dump) << row.name;
    EXPECT_LT(rest.given, limits::kFlightRowBytes + (4U << 20)) << row.name;
    EXPECT_NE(dump.error().context.find(row.reason), std::string::npos) << dump.error().context;
  }
}

TEST(EndlessFile, IsReadNoFurtherThanOneRow) {
  FlightReaderScratch scratch;
  for (const EndlessRow& row : endless_rows()) {
    Pieces rest(row.again, 1 << 20, true);
    const auto dump = read_flight_dump({"rank_1", row.head, &rest}, scratch);
    EXPECT_LT(rest.given, limits::kFlightRowBytes + (4U << 20)) << row.name;
    std::string said = dump ? "" : dump.error().context;
    if (dump) said = fmt::format("{}", fmt::join(dump->notes, "; "));
    EXPECT_EQ(dump ? dump->entries.size() : 0U, row.entries) << row.name << ": " << said;
    EXPECT_EQ(static_cast<bool>(dump), row.entries > 0) << row.name;
    EXPECT_NE(said.find(row.reason), std::string::npos) << row.name << ": " << said;
    EXPECT_LE(dump ? dump->cut_at.value_or(0) : 0, dump ? dump->bytes : 0) << row.name;
  }
}

std::string rows(int count, bool json) {
  if (json) {
    std::string out = R"({"entries":[)";
    for (int i = 0; i < count; ++i) {
      out += fmt::format(R"({}{{"record_id": {}, "state": "completed"}})", i > 0 ? ", " : "", i);
    }
    return out + R"(], "version": "2.10"})";
  }
  PickleText text;
  open_rows(text);
  for (int i = 0; i < count; ++i) {
    text.dict().pair("record_id", i).pair("state", "completed").end_dict();
  }
  return text.end_list().end_dict().stop();
}

TEST(DumpInPieces, IsReadAsTheWhole) {
  FlightReaderScratch scratch;
  for (const bool json : {false, true}) {
    const std::string bytes = rows(20'000, json);
    for (const std::size_t piece : {std::size_t{1}, std::size_t{4099}, std::size_t{1} << 20}) {
      for (const std::size_t head : {std::size_t{0}, std::size_t{7}, std::size_t{70'000}}) {
        if (piece == 1 && head > 7) continue;
        Pieces rest(bytes.substr(head), piece, false);
        const auto dump = read_flight_dump({"rank_1", bytes.substr(0, head), &rest}, scratch);
        ASSERT_TRUE(dump) << dump.error().context;
        EXPECT_EQ(dump->entries.size(), 20'000U);
        EXPECT_EQ(dump->bytes, bytes.size());
        EXPECT_EQ(dump->version, "2.10");
        EXPECT_EQ(dump->signatures.size(), 1U);
        EXPECT_FALSE(dump->cut_at);
        for (std::size_t i = 0; i < 20'000; ++i) {
          ASSERT_EQ(dump->entries[i].record_id, static_cast<std::int64_t>(i));
        }
      }
    }
    Pieces cut(bytes.substr(0, bytes.size() / 2), 1000, false);
    const auto half = read_flight_dump({"rank_1", "", &cut}, scratch);
    ASSERT_TRUE(half);
    EXPECT_EQ(half->cut_at, bytes.size() / 2);
    EXPECT_NEAR(static_cast<double>(half->entries.size()), 10'000, 500);
  }
}

TEST(LongRing, KeepsItsLastEntries) {
  FlightReaderScratch scratch;
  for (const bool json : {false, true}) {
    for (const int count : {99, 100, 101, 199, 200, 201, 1000}) {
      const std::string bytes = rows(count, json);
      const auto dump = read_flight_dump({"rank_1", bytes, nullptr, 100}, scratch);
      ASSERT_TRUE(dump);
      const auto kept = static_cast<std::size_t>(std::min(count, 100));
      ASSERT_EQ(dump->entries.size(), kept) << count;
      EXPECT_EQ(dump->entries.back().record_id, count - 1);
      EXPECT_EQ(dump->entries_let_go, static_cast<std::uint64_t>(count) - kept);
      EXPECT_EQ(dump->notes.size(), count > 100 ? 1U : 0U);
    }
  }
}

// Each row has another group, shape, stack: what rows share is bounded too.
TEST(LongRing, OfWhichNothingIsSharedIsBounded) {
  FlightReaderScratch scratch;
  const struct {
    const char* name;
    const char* text;
    std::size_t most;
  } shapes[] = {
      {"groups", R"("process_group":["{}","x"])", limits::kFlightGroups},
      {"stacks", R"("frames":[{{"name":"f","filename":"g","line":{}}}])", limits::kFlightShared},
  };
  for (const auto& shape : shapes) {
    std::string bytes = R"({"entries":[)";
    for (std::size_t i = 0; i < shape.most + 100; ++i) {
      bytes +=
          fmt::format(R"({{"record_id":{},{}}},)", i, fmt::format(fmt::runtime(shape.text), i));
    }
    const auto dump = read_flight_dump({"rank_1", bytes, nullptr, 100}, scratch);
    ASSERT_TRUE(dump) << shape.name;
    EXPECT_TRUE(dump->cut_at) << shape.name;
    EXPECT_EQ(dump->entries.size(), 100U) << shape.name;
    EXPECT_LE(dump->groups.size(), shape.most + 1) << shape.name;
    EXPECT_LE(dump->signatures.size(), shape.most + 1) << shape.name;
    EXPECT_LE(dump->stacks.size(), shape.most + 1) << shape.name;
  }
}

// Many groups that all name one long list of members.
TEST(Members, OfAllGroupsAreCountedTogether) {
  PickleText text;
  text.dict().text("pg_config").dict();
  std::uint32_t ranks = 0;
  for (int i = 0; i < 3000; ++i) {
    text.text(std::to_string(i)).dict().text("ranks");
    if (i == 0) {
      text.list();
      for (int rank = 0; rank < 60'000; ++rank) text.integer(rank);
      text.end_list();
      ranks = text.put();
    } else {
      text.get(ranks);
    }
    text.end_dict();
  }
  FlightReaderScratch scratch;
  const std::string bytes = text.end_dict().end_dict().stop();
  const auto dump = read_flight_dump({"rank_1", bytes}, scratch);
  ASSERT_TRUE(dump);
  std::size_t members = 0;
  for (const FlightGroup& group : dump->groups) members += group.ranks ? group.ranks->size() : 0;
  EXPECT_GE(members, 60'000U);
  EXPECT_LE(members, bytes.size() * 2);
  EXPECT_FALSE(dump->notes.empty());
}

}  // namespace
}  // namespace muster
