#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/tidy/rules.h"
#include "tests/tidy/tree.h"

// The rules of the tree, held by a test and not by memory. The second half tries each rule on small
// trees that break it: a rule that cannot fail protects nothing.

namespace muster::tidy {
namespace {

const Tree& our_tree() {
  static const Tree kTree = read_tree(MUSTER_SOURCE_DIR);
  return kTree;
}

using Rule = Complaints (*)(const Tree&);

struct RuleRow {
  const char* name;
  Rule rule;
};

constexpr RuleRow kRules[] = {
    {"ranks", check_ranks},
    {"purity", check_purity},
    {"third_party", check_third_party},
    {"registered", check_registered},
    {"headers", check_headers},
    {"lengths", check_lengths},
    {"leftovers", check_leftovers},
    {"documents", check_documents},
};

class OurTree : public testing::TestWithParam<RuleRow> {};

TEST_P(OurTree, Holds) {
  for (const std::string& complaint : GetParam().rule(our_tree())) ADD_FAILURE() << complaint;
}
INSTANTIATE_TEST_SUITE_P(Tidy, OurTree, testing::ValuesIn(kRules),
                         [](const auto& row) { return row.param.name; });

TEST(OurTree, IsRead) {
  // Reading the wrong folder would make every rule hold.
  EXPECT_GT(our_tree().size(), 50U);
  const auto has = [](const char* path) {
    for (const SourceFile& file : our_tree()) {
      if (file.path == path) return true;
    }
    return false;
  };
  for (const char* path : {"base/text.h", "cmd/main.cc", "run", ".ci/run", "CMakeLists.txt"}) {
    EXPECT_TRUE(has(path)) << path;
  }
}

// ---- each rule on trees that were made up ------------------------------------------------------

struct Sample {
  const char* name;
  Rule rule;
  Tree tree;
  std::string complaint;  // a piece of the only complaint; empty: none
};

Tree including(const std::string& from, const std::string& to) {
  return {{from, "#pragma once\n#include \"" + to + "\"\n"}, {to, "#pragma once\n"}};
}
Tree angled(const std::string& from, const std::string& header) {
  return {{from, "#include <" + header + ">\n"}};
}
Tree lone(const std::string& path, const std::string& text) {
  return {{path, text}};
}

std::string function_of(int lines) {
  std::string body;
  for (int i = 0; i < lines - 2; ++i) body += "  step();\n";
  return "int f() {\n" + body + "}\n";
}

std::vector<Sample> rank_samples() {
  const Rule r = check_ranks;
  return {
      {"model_may_include_base", r, including("core/model/a.h", "base/b.h"), ""},
      {"area_may_include_itself", r, including("core/x/a.cc", "core/x/b.h"), ""},
      {"edge_may_include_edge_os", r, including("edge/net/a.cc", "edge/os/b.h"), ""},
      {"test_may_include_support", r, including("core/x/a_test.cc", "tests/support/b.h"), ""},
      {"cmd_may_include_all", r, including("cmd/a.cc", "core/x/b.h"), ""},
      {"base_includes_model", r, including("base/a.h", "core/model/b.h"), "rank 0 may not"},
      {"model_includes_area", r, including("core/model/a.h", "core/x/b.h"), "rank 1 may not"},
      {"core_includes_edge", r, including("core/x/a.cc", "edge/os/b.h"), "rank 2 may not"},
      {"app_includes_cmd", r, including("app/a.cc", "cmd/b.h"), "rank 4 may not"},
      {"siblings_of_core", r, including("core/x/a.cc", "core/y/b.h"), "are siblings"},
      {"siblings_of_core_in_a_test", r, including("core/x/a_test.cc", "core/y/b.h"),
       "are siblings"},
      {"siblings_of_edge", r, including("edge/net/a.cc", "edge/store/b.h"), "are siblings"},
      {"edge_os_includes_edge", r, including("edge/os/a.cc", "edge/net/b.h"), "are siblings"},
      {"cmd_includes_train", r, including("cmd/a.cc", "train/b.h"), "are siblings"},
      {"train_includes_edge_net", r, including("train/a.cc", "edge/net/b.h"), "train/ may not"},
      {"code_includes_test_support", r, including("app/a.cc", "tests/support/b.h"), "only tests"},
      {"missing_file", r, lone("base/a.cc", "#include \"b.h\"\n"), "no file of the tree"},
      {"ours_in_angles", r, {{"base/a.cc", "#include <base/b.h>\n"}, {"base/b.h", ""}}, "quotes"},
      {"unknown_folder", r, lone("misc/a.cc", ""), "no rank"},
      {"comment_is_no_include", r, lone("base/a.cc", "// #include \"nowhere.h\"\n"), ""},
  };
}

std::vector<Sample> purity_samples() {
  const Rule r = check_purity;
  return {
      {"core_with_string", r, angled("core/x/a.cc", "string"), ""},
      {"edge_with_fstream", r, angled("edge/os/a.cc", "fstream"), ""},
      {"test_with_fstream", r, angled("core/x/a_test.cc", "fstream"), ""},
      {"fstream", r, angled("core/x/a.cc", "fstream"), "<fstream>"},
      {"iostream", r, angled("core/x/a.h", "iostream"), "<iostream>"},
      {"filesystem", r, angled("core/model/a.cc", "filesystem"), "<filesystem>"},
      {"thread", r, angled("core/x/a.cc", "thread"), "<thread>"},
      {"mutex", r, angled("core/x/a.cc", "mutex"), "<mutex>"},
      {"unistd", r, angled("core/x/a.cc", "unistd.h"), "<unistd.h>"},
      {"sys", r, angled("core/x/a.cc", "sys/stat.h"), "<sys/stat.h>"},
      {"base_too", r, angled("base/a.cc", "fstream"), "<fstream>"},
      {"system_clock_now", r, lone("core/x/a.cc", "auto t = std::chrono::system_clock::now();"),
       "now("},
      {"getenv", r, lone("core/x/a.cc", "f(std::getenv(\"X\"));"), "getenv"},
      {"rand", r, lone("core/x/a.cc", "int x = rand();"), "rand("},
      {"std_thread", r, lone("core/x/a.h", "std::thread t;"), "std::thread"},
      {"print", r, lone("core/x/a.cc", "fmt::print(\"x\");"), "fmt::print"},
      {"word_in_a_name", r, lone("core/x/a.cc", "int known(int); int y = brand(1);"), ""},
      {"word_in_a_comment", r, lone("core/x/a.cc", "// never getenv or now()\n"), ""},
      {"word_in_a_string", r, lone("core/x/a.cc", "auto s = \"getenv rand( now(\";"), ""},
      {"word_in_a_raw_string", r, lone("core/x/a.cc", "auto s = R\"x(now() \")x\";"), ""},
  };
}

std::vector<Sample> library_samples() {
  const Rule r = check_third_party;
  return {
      {"cli_at_home", r, angled("cmd/options.cc", "CLI/CLI.hpp"), ""},
      {"fmt_core_in_a_header", r, angled("core/x/a.h", "fmt/core.h"), ""},
      {"simdjson_in_core", r, angled("core/x/a.cc", "simdjson.h"), ""},
      {"gtest_in_a_test", r, angled("base/a_test.cc", "gtest/gtest.h"), ""},
      {"socket_in_edge", r, angled("edge/net/a.cc", "sys/socket.h"), ""},
      {"cli_elsewhere", r, angled("cmd/a.cc", "CLI/CLI.hpp"), "belongs to cmd/options.cc"},
      {"toml_elsewhere", r, angled("edge/net/a.cc", "toml++/toml.h"),
       "belongs to edge/config/toml_document.cc"},
      {"httplib_elsewhere", r, angled("app/a.cc", "httplib.h"), "belongs to edge/net/"},
      {"sqlite_elsewhere", r, angled("core/x/a.cc", "sqlite3.h"), "belongs to edge/store/"},
      {"zstd_elsewhere", r, angled("edge/net/a.cc", "zstd.h"), "belongs to edge/os/"},
      {"simdjson_at_the_edge", r, angled("edge/net/a.cc", "simdjson.h"), "belongs to core/"},
      {"re2_in_a_header", r, angled("core/x/a.h", "re2/re2.h"), "not in a header"},
      {"fmt_format_in_a_header", r, angled("core/x/a.h", "fmt/format.h"), "not in a header"},
      {"gtest_in_a_test_kit", r, angled("core/x/a_test_kit.h", "gtest/gtest.h"), ""},
      {"gtest_in_code", r, angled("base/a.cc", "gtest/gtest.h"), "belongs to tests/"},
      {"stranger", r, angled("edge/os/a.cc", "boost/asio.hpp"), "has no owner"},
      {"stranger_in_a_test", r, angled("tests/a.cc", "boost/asio.hpp"), "has no owner"},
      {"socket_in_app", r, angled("app/a.cc", "sys/socket.h"), "through edge/"},
  };
}

std::vector<Sample> tree_samples() {
  const Tree named = {{"x/CMakeLists.txt", "lib(x SOURCES a.cc TESTS a_test.cc)"}, {"x/a.cc", ""}};
  const Tree above = {{"CMakeLists.txt", "lib(x x/a.cc)"}, {"x/a.cc", ""}};
  const Tree comment = {{"x/CMakeLists.txt", "# a.cc\n"}, {"x/a.cc", ""}};
  const Tree longer = {{"x/CMakeLists.txt", "lib(ba.cc)"}, {"x/a.cc", ""}};
  const Tree beside = {{"y/CMakeLists.txt", "lib(a.cc)"}, {"x/a.cc", ""}};
  const Tree used = {{"x/a.h", "// Why.\n#pragma once\n"}, {"x/a.cc", "#include \"x/a.h\"\n"}};
  const Tree self = {{"x/a.h", "#pragma once\n#include \"x/a.h\"\n"}};
  const Tree bare = {{"x/a.h", "int x;\n"}, {"x/a.cc", "#include \"x/a.h\"\n"}};
  const Tree twins = {{"x/a.h", "#pragma once\n"},
                      {"x/a.hpp", "#pragma once\n"},
                      {"x/b.cc", "#include \"x/a.h\"\n#include \"x/a.hpp\"\n"}};
  return {
      {"named", check_registered, named, ""},
      {"named_above", check_registered, above, ""},
      {"named_in_a_comment", check_registered, comment, "no CMakeLists.txt"},
      {"named_as_part", check_registered, longer, "no CMakeLists.txt"},
      {"named_beside", check_registered, beside, "no CMakeLists.txt"},
      {"fuzz_target_left_out", check_registered, lone("fuzz/a_fuzz.cc", ""), "no CMakeLists.txt"},
      {"header_used", check_headers, used, ""},
      {"header_unused", check_headers, lone("x/a.h", "#pragma once\n"), "nobody includes"},
      {"header_includes_itself", check_headers, self, "nobody includes"},
      {"header_without_pragma", check_headers, bare, "#pragma once"},
      {"headers_of_one_name", check_headers, twins, "same name as x/a.h"},
  };
}

std::vector<Sample> text_samples() {
  const Rule r = check_lengths;
  const Rule l = check_leftovers;
  const std::string wide(100, 'x');
  std::string umlauts = "// ";
  for (int i = 0; i < 97; ++i) umlauts += "\xC3\xBC";
  return {
      {"seventy_lines", r, lone("x/a.cc", function_of(70)), ""},
      {"seventy_one_lines", r, lone("x/a.cc", function_of(71)), "71 lines"},
      {"a_hundred_columns", r, lone("x/a.cc", wide), ""},
      {"a_hundred_characters_of_two_bytes", r, lone("x/a.cc", umlauts), ""},
      {"a_hundred_and_one_columns", r, lone("x/a.cc", wide + "x"), "101 columns"},
      {"documents_may_be_wide", r, lone("docs/a.md", wide + wide), ""},
      {"note", l, lone("x/a.cc", std::string("// TO") + "DO: later\n"), "finish it"},
      {"fixme", l, lone("x/CMakeLists.txt", std::string("# FIX") + "ME\n"), "finish it"},
      {"home", l, lone("docs/a.md", std::string("see /ho") + "me/me/x\n"), "one machine"},
      {"blanks", l, lone("x/a.cc", "int x; \n"), "end of the line"},
      {"clean", l, lone("x/a.cc", "int x;\n"), ""},
      {"titled", check_documents, lone("docs/A.md", "# A\n"), ""},
      {"untitled", check_documents, lone("docs/A.md", "A\n"), "title"},
  };
}

std::vector<Sample> all_samples() {
  std::vector<Sample> all;
  for (auto part :
       {rank_samples(), purity_samples(), library_samples(), tree_samples(), text_samples()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

class MadeUpTree : public testing::TestWithParam<Sample> {};

TEST_P(MadeUpTree, IsJudged) {
  const Sample& sample = GetParam();
  const Complaints complaints = sample.rule(sample.tree);
  if (sample.complaint.empty()) {
    EXPECT_EQ(complaints, Complaints{});
    return;
  }
  ASSERT_EQ(complaints.size(), 1U);
  EXPECT_NE(complaints[0].find(sample.complaint), std::string::npos) << complaints[0];
}
INSTANTIATE_TEST_SUITE_P(Tidy, MadeUpTree, testing::ValuesIn(all_samples()),
                         [](const auto& row) { return row.param.name; });

// ---- the measurer of functions -----------------------------------------------------------------

struct FunctionRow {
  const char* name;
  const char* text;
  std::vector<std::pair<int, int>> expected;  // line, length
};

const FunctionRow kFunctions[] = {
    {"plain", "int f() {\n  return 1;\n}\n", {{1, 3}}},
    {"one_line", "\nint f() { return 1; }\n", {{2, 1}}},
    {"long_head", "static int\nf(int a,\n  int b)\n{\n}\n", {{1, 5}}},
    {"two_in_a_namespace", "namespace a {\nvoid f() {\n}\n\nvoid g() {\n}\n}\n", {{2, 2}, {5, 2}}},
    {"method", "class A {\n  int f() const {\n    return 1;\n  }\n};\n", {{2, 3}}},
    {"template_class", "template <class T = X<int>>\nclass A {\n  A() {\n  }\n};\n", {{3, 2}}},
    {"template_function", "template <typename T>\nT f(T x) {\n}\n", {{1, 3}}},
    {"initializers", "A::A()\n    : a_{1},\n      b_(2) {\n  f();\n}\n", {{1, 5}}},
    {"lambda_belongs_to_its_function", "void f() {\n  g([] {\n  });\n}\n", {{1, 4}}},
    {"local_class", "void f() {\n  struct A {\n    void g() {}\n  };\n}\n", {{1, 5}}},
    {"table_is_no_function", "const Row kRows[] = {\n  {f(1)},\n};\n", {}},
    {"table_in_a_call", "auto kRows = to_array<Row>({\n  {1},\n});\nint g() {\n}\n", {{4, 2}}},
    {"enum_is_no_function", "enum class A : int {\n  a,\n};\n", {}},
    {"declaration_is_no_function", "int f();\nint g() {\n}\n", {{2, 2}}},
    {"brace_in_a_string", "void f() {\n  g(\"}\");\n  g('}');\n}\n", {{1, 4}}},
    {"brace_in_a_comment", "void f() {\n  // }\n  /* }\n  } */\n}\n", {{1, 5}}},
    {"brace_in_a_raw_string", "void f() {\n  g(R\"(}\n})\");\n}\n", {{1, 4}}},
    {"digit_separator", "void f() {\n  g(1'000, '}');\n}\n", {{1, 3}}},
    {"macro_is_no_function", "#define M(x) \\\n  do { \\\n  } while (0)\nint f() {\n}\n", {{4, 2}}},
    {"gtest", "TEST(A, B) {\n  f();\n}\n", {{1, 3}}},
};

class Functions : public testing::TestWithParam<FunctionRow> {};

TEST_P(Functions, AreMeasured) {
  std::vector<std::pair<int, int>> found;
  for (const Function& f : functions_of(GetParam().text)) found.emplace_back(f.line, f.length);
  EXPECT_EQ(found, GetParam().expected);
}
INSTANTIATE_TEST_SUITE_P(Tidy, Functions, testing::ValuesIn(kFunctions),
                         [](const auto& row) { return row.param.name; });

TEST(Blanks, KeepLinesAndSurviveEveryCut) {
  const std::string text = "a /* b\n c */ \"d\\\"e\" R\"x(f\n)x\" 'g' // h\n";
  for (std::size_t length = 0; length <= text.size(); ++length) {
    const std::string cut = text.substr(0, length);
    const std::string code = code_only(cut);
    ASSERT_EQ(code.size(), cut.size());
    for (std::size_t i = 0; i < cut.size(); ++i) {
      ASSERT_EQ(cut[i] == '\n', code[i] == '\n') << length;
    }
    functions_of(cut);
    includes_of(cut);
  }
}

}  // namespace
}  // namespace muster::tidy
