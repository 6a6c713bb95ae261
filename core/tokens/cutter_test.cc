#include "core/tokens/cutter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <utility>

#include "core/tokens/bpe.h"
#include "core/tokens/model.h"
#include "core/tokens/tokenizer_json.h"
#include "core/tokens/unicode_class.h"

namespace muster::tokens {
namespace {

using Merges = std::vector<std::pair<std::string, std::string>>;

// A vocabulary of the 256 bytes and what `merges` make.
struct Made {
  Vocabulary vocabulary;
  MergeTable merges;
  std::array<std::uint32_t, 256> byte_ids{};
  std::vector<std::array<std::uint32_t, 2>> pairs;
  bool in_order = true;
  std::optional<CutTable> cuts;  // where they are

  explicit Made(const Merges& list)
      : vocabulary(static_cast<std::uint32_t>(256 + list.size()), 256 + list.size()),
        merges(list.size(), nullptr) {
    std::uint32_t next = 0;
    for (; next < 256; ++next) {
      const char byte = static_cast<char>(next);
      EXPECT_TRUE(vocabulary.add(next, {&byte, 1}));
      byte_ids[next] = next;
    }
    for (const auto& [left, right] : list) {
      if (vocabulary.find(left + right) != Vocabulary::kNone) continue;
      EXPECT_TRUE(vocabulary.add(next++, left + right));
    }
    std::vector<std::string> sides;
    for (const auto& [left, right] : list) {
      const std::string whole = left + right;
      in_order = in_order && std::find(sides.begin(), sides.end(), whole) == sides.end();
      sides.insert(sides.end(), {left, right});
      pairs.push_back({vocabulary.find(left), vocabulary.find(right)});
      EXPECT_TRUE(merges.add(pairs.back()[0], pairs.back()[1], vocabulary.find(whole)));
    }
    if (in_order) cuts = CutTable::make(vocabulary, merges, pairs, byte_ids, nullptr);
  }

  std::vector<std::string> names(const std::vector<std::uint32_t>& ids) const {
    std::vector<std::string> out;
    for (const std::uint32_t id : ids) out.emplace_back(vocabulary.bytes(id));
    return out;
  }
  std::vector<std::string> cut(std::string_view piece) const {
    Cutter cutter(*cuts, merges);
    const std::size_t number = cutter.add(piece);
    cutter.run();
    const auto ids = cutter.ids(number);
    return names({ids.begin(), ids.end()});
  }
  std::vector<std::string> merged(std::string_view piece) const {
    std::vector<std::uint32_t> ids;
    Merger(merges, byte_ids).merge(piece, ids);
    return names(ids);
  }
};

// ---- what merging leaves -----------------------------------------------------------------------

struct Row {
  const char* name;
  Merges merges;
  const char* piece;
  std::vector<std::string> expected;
};

const Row kRows[] = {
    {"nothing joins", {}, "abc", {"a", "b", "c"}},
    {"the longest is not what is left", {{"b", "c"}, {"a", "b"}}, "abc", {"a", "bc"}},
    {"of one rank the leftmost", {{"a", "a"}}, "aaa", {"aa", "a"}},
    {"of one rank the leftmost, thrice", {{"a", "a"}, {"aa", "a"}}, "aaaa", {"aa", "aa"}},
    {"pairs first, then what is over", {{"a", "a"}, {"aa", "a"}}, "aaaaa", {"aa", "aaa"}},
    {"a token that is never left", {{"b", "c"}, {"a", "b"}, {"ab", "c"}}, "abc", {"a", "bc"}},
    {"a token by its second merge",
     {{"b", "c"}, {"a", "b"}, {"ab", "c"}, {"a", "bc"}},
     "abcd",
     {"abc", "d"}},
    {"a border far to the left moves",
     {{"b", "c"}, {"d", "e"}, {"a", "b"}, {"c", "d"}, {"bc", "de"}, {"e", "f"}},
     "abcdef",
     {"a", "bcde", "f"}},
    {"back over several tokens",
     {{"c", "d"}, {"b", "cd"}, {"a", "b"}, {"ab", "c"}, {"e", "f"}, {"d", "e"}},
     "abcdef",
     {"a", "bcd", "ef"}},
};

TEST(Cutter, LeavesWhatMergingLeaves) {
  for (const Row& row : kRows) {
    const Made made(row.merges);
    ASSERT_TRUE(made.cuts) << row.name;
    EXPECT_EQ(made.merged(row.piece), row.expected) << row.name;
    EXPECT_EQ(made.cut(row.piece), row.expected) << row.name;
  }
}

// Merges of up to four letters by chance, in order or nearly so; several make one token.
Merges by_chance(std::mt19937& chance, bool in_order) {
  std::vector<std::string> tokens;
  const std::size_t letters = 1 + chance() % 4;
  for (std::size_t i = 0; i < letters; ++i) tokens.emplace_back(1, static_cast<char>('a' + i));
  Merges merges;
  for (std::size_t i = 0; i < 60; ++i) {
    const std::string left = tokens[chance() % tokens.size()];
    const std::string right = tokens[chance() % tokens.size()];
    const std::string whole = left + right;
    const auto makes = [&whole](const auto& merge) {
      return merge.first == whole || merge.second == whole;
    };
    if (whole.size() > 9 ||
        std::find(merges.begin(), merges.end(), std::pair{left, right}) != merges.end()) {
      continue;
    }
    if (in_order && std::any_of(merges.begin(), merges.end(), makes)) continue;
    merges.emplace_back(left, right);
    if (std::find(tokens.begin(), tokens.end(), whole) == tokens.end()) tokens.push_back(whole);
  }
  return merges;
}

TEST(Cutter, LeavesWhatMergingLeavesByChance) {
  std::mt19937 chance(11);
  std::size_t cut = 0;
  for (std::size_t round = 0; round < 200; ++round) {
    const Made made(by_chance(chance, round % 4 != 0));
    if (!made.cuts) continue;
    ++cut;
    Cutter cutter(*made.cuts, made.merges);
    std::vector<std::string> pieces(20);
    for (std::string& piece : pieces) {
      for (std::size_t size = 1 + chance() % 40; size > 0; --size) {
        piece += static_cast<char>('a' + chance() % 4);
      }
      cutter.add(piece);
    }
    cutter.run();
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const auto ids = cutter.ids(i);
      ASSERT_EQ(made.names({ids.begin(), ids.end()}), made.merged(pieces[i])) << pieces[i];
    }
  }
  EXPECT_GE(cut, 150U);
}

TEST(Cutter, LeavesWhatMergingLeavesWithTrainedVocabularies) {
  std::mt19937 chance(5);
  for (const char* name : {"qwen2", "llama3", "o200k", "deepseek_v3", "normalized"}) {
    std::ifstream file(std::string(MUSTER_SOURCE_DIR) + "/testdata/tokenizers/" + name + ".json");
    const auto model =
        read_tokenizer_json(std::string((std::istreambuf_iterator<char>(file)), {}), nullptr);
    ASSERT_TRUE(model) << name;
    ASSERT_TRUE((*model)->cuts) << name;
    const Vocabulary& vocabulary = (*model)->vocabulary;
    Cutter cutter(*(*model)->cuts, (*model)->merges);
    Merger merger((*model)->merges, (*model)->byte_ids);
    for (std::size_t round = 0; round < 40; ++round) {
      std::vector<std::string> pieces;
      while (pieces.size() < 100) {
        // Parts of tokens, so that merges lie across the borders between them.
        std::string piece = "x";
        for (std::size_t parts = 1 + chance() % 6; parts > 0; --parts) {
          const auto id = static_cast<std::uint32_t>(chance() % vocabulary.ids());
          if (vocabulary.has(id)) piece += vocabulary.bytes(id).substr(0, 1 + chance() % 8);
        }
        pieces.push_back(piece.substr(chance() % 2));
        if (pieces.back().empty()) pieces.pop_back();
      }
      cutter.clear();
      for (const std::string& piece : pieces) cutter.add(piece);
      cutter.run();
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        std::vector<std::uint32_t> merged;
        merger.merge(pieces[i], merged);
        const auto cut = cutter.ids(i);
        ASSERT_EQ(std::vector(cut.begin(), cut.end()), merged) << name << " " << pieces[i];
      }
    }
  }
}

// ---- which vocabularies have a table -----------------------------------------------------------

// A tokenizer.json of the 256 bytes and these merges of letters.
std::string json_of(const Merges& list) {
  std::string vocab;
  std::uint32_t next = 0, hidden = 0x100;
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    const bool prints = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte != 0xAD);
    std::string name;
    append_utf8(prints ? byte : hidden++, name);
    if (byte == '"' || byte == '\\') name.insert(0, "\\");
    vocab += (next == 0 ? "\"" : ",\"") + name + "\":" + std::to_string(next);
    ++next;
  }
  std::string merges;
  std::vector<std::string> made;
  for (const auto& [left, right] : list) {
    const std::string whole = left + right;
    if (std::find(made.begin(), made.end(), whole) == made.end()) {
      vocab += ",\"" + whole + "\":" + std::to_string(next++);
      made.push_back(whole);
    }
    merges += (merges.empty() ? "[\"" : ",[\"") + left + "\",\"" + right + "\"]";
  }
  return R"({"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split","pattern":)"
         R"({"Regex":"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}|)"
         R"( ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"},)"
         R"("behavior":"Isolated"},{"type":"ByteLevel","add_prefix_space":false,)"
         R"("use_regex":false}]},"model":{"type":"BPE","vocab":{)" +
         vocab + "},\"merges\":[" + merges + "]}}";
}

// All pairs of tokens that make each token, in the order of the tokens, whenever these come.
Merges all_pairs(const Merges& list) {
  std::vector<std::string> tokens = {"a", "b", "c", "d"};
  for (const auto& [left, right] : list) {
    if (std::find(tokens.begin(), tokens.end(), left + right) == tokens.end()) {
      tokens.push_back(left + right);
    }
  }
  Merges all;
  for (const std::string& token : tokens) {
    for (std::size_t cut = 1; cut < token.size(); ++cut) {
      const std::string left = token.substr(0, cut), right = token.substr(cut);
      const auto has = [&tokens](const std::string& one) {
        return std::find(tokens.begin(), tokens.end(), one) != tokens.end();
      };
      if (has(left) && has(right)) all.emplace_back(left, right);
    }
  }
  return all;
}

TEST(CutTable, LeavesMergesOutThatNeverTakePlace) {
  std::mt19937 chance(17);
  std::size_t fewer = 0, none = 0;
  for (std::size_t round = 0; round < 80; ++round) {
    Merges list = by_chance(chance, round % 2 != 0);
    if (round % 2 != 0) list = all_pairs(list);
    const Made made(list);
    const auto model = read_tokenizer_json(json_of(list), nullptr);
    ASSERT_TRUE(model) << model.error().context;
    if (!(*model)->cuts) {
      ++none;
      continue;
    }
    if ((*model)->merges.count() < list.size()) ++fewer;
    Cutter cutter(*(*model)->cuts, (*model)->merges);
    for (std::size_t i = 0; i < 30; ++i) {
      std::string piece;
      for (std::size_t size = 1 + chance() % 30; size > 0; --size) {
        piece += static_cast<char>('a' + chance() % 4);
      }
      cutter.clear();
      const std::size_t number = cutter.add(piece);
      cutter.run();
      std::vector<std::string> cut;
      for (const std::uint32_t id : cutter.ids(number)) {
        cut.emplace_back((*model)->vocabulary.bytes(id));
      }
      ASSERT_EQ(cut, made.merged(piece)) << round << " " << piece;
    }
  }
  EXPECT_GT(fewer, 5U);
  EXPECT_GT(none, 5U);
}

TEST(CutTable, KnowsWhatMergingReaches) {
  const Made made({{"b", "c"}, {"a", "b"}, {"ab", "c"}});
  ASSERT_TRUE(made.cuts);
  EXPECT_EQ(made.cuts->reachable(), 258U);  // not "abc"
}

TEST(CutTable, IsOnlyForTokensOfFewMerges) {
  // Each token is the one before and one byte more: 0x00 0x01 0x02 ...
  const auto chain = [](std::size_t merges) {
    Merges list;
    std::string token(1, '\0');
    for (std::size_t i = 1; i <= merges; ++i) {
      list.emplace_back(token, std::string(1, static_cast<char>(i)));
      token += static_cast<char>(i);
    }
    return list;
  };
  EXPECT_TRUE(Made(chain(CutTable::kDeepest)).cuts);
  EXPECT_FALSE(Made(chain(CutTable::kDeepest + 1)).cuts);
}

// ---- the longest token -------------------------------------------------------------------------

TEST(TokenTrie, FindsTheLongest) {
  std::mt19937 chance(3);
  for (std::size_t round = 0; round < 40; ++round) {
    Vocabulary vocabulary(4096, 4096);
    std::vector<TokenTrie::Entry> entries;
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < 256 + round * 20; ++i) {
      std::string bytes(1, static_cast<char>(i));
      if (i >= 256) {
        bytes.clear();
        for (std::size_t size = 2 + chance() % 9; size > 0; --size) {
          bytes += static_cast<char>(chance() % (round % 2 == 0 ? 3 : 256));
        }
      }
      if (vocabulary.find(bytes) != Vocabulary::kNone) continue;
      ASSERT_TRUE(vocabulary.add(next++, bytes));
    }
    for (std::uint32_t id = 0; id < next; ++id) entries.push_back({vocabulary.bytes(id), id});
    const auto trie = TokenTrie::make(entries, nullptr);
    ASSERT_TRUE(trie);
    for (std::size_t i = 0; i < 2000; ++i) {
      std::string text(vocabulary.bytes(static_cast<std::uint32_t>(chance() % next)));
      text += static_cast<char>(chance() % 3);
      if (i % 2 == 0) text[chance() % text.size()] = static_cast<char>(chance());
      std::size_t size = text.size();
      while (vocabulary.find(text.substr(0, size)) == Vocabulary::kNone) --size;
      ASSERT_EQ(vocabulary.bytes(trie->longest(text)), text.substr(0, size));
    }
  }
}

}  // namespace
}  // namespace muster::tokens
