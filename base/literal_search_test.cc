#include "base/literal_search.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <utility>

namespace muster {
namespace {

using Hits = std::set<std::pair<std::size_t, std::size_t>>;

// The same by the plainest means.
Hits slow(const std::vector<std::string>& literals, std::string_view text) {
  Hits out;
  for (std::size_t i = 0; i < literals.size(); ++i) {
    for (std::size_t at = text.find(literals[i]); at != text.npos;
         at = text.find(literals[i], at + 1)) {
      out.insert({at, i});
    }
  }
  return out;
}

Hits fast(const LiteralSearch& search, std::string_view text) {
  Hits out;
  search.find(text, [&](std::size_t place, std::size_t literal) {
    EXPECT_TRUE(out.insert({place, literal}).second) << "told twice at " << place;
  });
  return out;
}

void expect_same(const std::vector<std::string>& literals, const std::string& text) {
  EXPECT_EQ(fast(LiteralSearch(literals), text), slow(literals, text)) << text;
}

TEST(LiteralSearch, Table) {
  struct Row {
    const char* name;
    std::vector<std::string> literals;
    std::string text;
  };
  const Row rows[] = {
      {"no literals", {}, "anything at all"},
      {"empty text", {"abcde"}, ""},
      {"text shorter than a key", {"abcde"}, "abc"},
      {"all but the last byte", {"abcdefgh"}, "abcdefg"},
      {"all but the first byte", {"abcdefgh"}, "bcdefgh"},
      {"one byte differs", {"NVRM: Xid"}, "NVRM; Xid NVRM: xid nvrm: Xid"},
      {"at both ends", {"oom-kill:"}, "oom-kill: and oom-kill:"},
      {"overlapping itself", {"aaaaa"}, "aaaaaaaaaa"},
      {"one inside another", {"Killed process", "process"}, "Killed process 7, process 8"},
      {"a short one beside long ones",
       {"abcde", "a very long literal indeed"},
       "xabcde a very long literal indeed abcd"},
      {"bytes above 127 and zeros",
       {std::string("\xff\0\x80\0\xfe", 5)},
       std::string("\xff\xff\0\x80\0\xfe\0", 7)},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    expect_same(row.literals, row.text);
  }
}

TEST(LiteralSearch, EveryPlaceAndLength) {
  std::vector<std::string> literals = {"QRSTU", "Connection reset", "0123456789"};
  while (!literals.empty()) {
    for (std::size_t before = 0; before < 40; ++before) {
      for (std::size_t behind = 0; behind < 12; ++behind) {
        for (const std::string& literal : literals) {
          expect_same(literals, std::string(before, '.') + literal + std::string(behind, '.'));
        }
      }
    }
    literals.erase(literals.begin());  // the shortest: the stride grows
  }
}

TEST(LiteralSearch, AgreesWithTheSlowWayOnRandomTexts) {
  std::mt19937 random(5);
  for (int round = 0; round < 2000; ++round) {
    const auto word = [&](std::size_t size) {
      std::string out;
      for (std::size_t i = 0; i < size; ++i) out += static_cast<char>('a' + random() % 2);
      return out;
    };
    std::set<std::string> different;
    for (std::size_t i = 0; i < 1 + random() % 6; ++i) different.insert(word(5 + random() % 6));
    expect_same({different.begin(), different.end()}, word(random() % 200));
  }
}

}  // namespace
}  // namespace muster
