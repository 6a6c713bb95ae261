#include "app/host_names.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(HostNames, TellPathsApart) {
  using Texts = std::vector<std::string>;
  struct Row {
    const char* name;
    Texts paths, names;
  };
  const Row rows[] = {
      {"none", {}, {}},
      {"one folder", {"d/n1.csv", "d/n2.x.csv", "d/.hidden"}, {"n1", "n2", "."}},
      {"a folder each", {"run/n1/gpus.csv", "run/n2/gpus.csv"}, {"n1", "n2"}},
      {"one without a folder", {"n1.csv", "n2/gpus.csv", "n3/gpus.csv"}, {"n1", "n2", "n3"}},
      {"at the root", {"/gpus.csv", "/n2/gpus.csv"}, {"gpus", "n2"}},
      {"both", {"n1/a.csv", "n1/b.csv", "n2/a.csv"}, {"n1/a", "n1/b", "n2/a"}},
      {"paths", {"x/n1/a.csv", "y/n1/a.csv"}, {"x/n1/a.csv", "y/n1/a.csv"}},
      {"one twice", {"d/a.csv", "d/a.csv", "d/b.csv"}, {"a", "a", "b"}},
  };
  for (const Row& row : rows) EXPECT_EQ(host_names(row.paths), row.names) << row.name;
}

}  // namespace
}  // namespace muster
