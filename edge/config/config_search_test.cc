#include "edge/config/config_search.h"

#include <gtest/gtest.h>

#include <map>

#include "base/limits.h"
#include "tests/support/fake_environment.h"
#include "tests/support/faulty_files.h"
#include "tests/support/memory_files.h"

namespace muster {
namespace {

const std::map<std::string, std::string> kHome = {{"HOME", "/h"}};

std::string looks_of(const FoundConfig& found) {
  std::string out;
  for (const ConfigLook& look : found.looks) {
    out += look.path + " (" + std::string(look.place) + "): " + std::string(look.outcome) + "\n";
  }
  return out;
}

TEST(ConfigSearch, RefusesWhatCannotBeRead) {
  struct Row {
    const char* name;
    ConfigChoice choice;
    std::map<std::string, std::string> environment;
    Errc code;
    const char* want;
  };
  const Row rows[] = {
      {"named and not there", {"gone.toml", ""}, {}, Errc::not_found, "--config: "},
      {"variable and not there", {}, {{"MUSTER_CONFIG", "/gone"}}, Errc::not_found, "MUSTER_CONF"},
      {"standard input is no file", {"-", ""}, {}, Errc::not_found, "--config: "},
      {"a folder in place of a file", {"", "/odd"}, {}, Errc::invalid_input, "is no file"},
      {"too long", {"/long.toml", ""}, {}, Errc::exhausted, "--config: "},
  };
  MemoryFiles files;
  files.add("muster.toml", "");
  files.add_folder("/odd/muster.toml");
  files.add("/long.toml", std::string(limits::kConfigBytes + 1, '\n'));
  for (const Row& row : rows) {
    const auto found = find_config(files, FakeEnvironment(row.environment), row.choice);
    ASSERT_FALSE(found.has_value()) << row.name;
    EXPECT_EQ(found.error().code, row.code) << row.name << ": " << found.error().context;
    EXPECT_NE(found.error().context.find(row.want), std::string::npos) << found.error().context;
  }
}

struct PlaceRow {
  const char* name;
  ConfigChoice choice;
  std::map<std::string, std::string> environment;
  std::vector<std::string> there;
  const char* path;
  const char* place;
};
const std::string kUsers = "/h/.config/muster/muster.toml";
const std::string kMachines = "/etc/muster/muster.toml";
const PlaceRow kPlaces[] = {
    {"nothing", {}, kHome, {}, "", "the folder of the machine"},
    {"no home", {}, {}, {kUsers}, "", "the folder of the machine"},
    {"an empty home", {}, {{"HOME", ""}}, {"/.config/muster/muster.toml"}, "", "the folder of the"},
    {"the machine", {}, kHome, {kMachines}, "/etc/muster/muster.toml", "the folder of the machine"},
    {"the user first",
     {},
     kHome,
     {kMachines, kUsers},
     "/h/.config/muster/muster.toml",
     "the folder of the user"},
    {"xdg",
     {},
     {{"HOME", "/h"}, {"XDG_CONFIG_HOME", "/x"}},
     {kUsers, "/x/muster/muster.toml"},
     "/x/muster/muster.toml",
     "the folder of the user"},
    {"xdg not absolute",
     {},
     {{"HOME", "/h"}, {"XDG_CONFIG_HOME", "x"}},
     {kUsers, "x/muster/muster.toml"},
     "/h/.config/muster/muster.toml",
     "the folder of the user"},
    {"xdg empty",
     {},
     {{"HOME", "/h"}, {"XDG_CONFIG_HOME", ""}},
     {kUsers},
     "/h/.config/muster/muster.toml",
     "the folder of the user"},
    {"the working folder",
     {},
     kHome,
     {kMachines, kUsers, "muster.toml"},
     "muster.toml",
     "the working folder"},
    {"the run",
     {"", "/r"},
     kHome,
     {kUsers, "muster.toml", "/r/muster.toml"},
     "/r/muster.toml",
     "the folder of the run"},
    {"the run, with a slash",
     {"", "/r/"},
     kHome,
     {"/r/muster.toml"},
     "/r/muster.toml",
     "the folder of the run"},
    {"a run without", {"", "/r"}, kHome, {"muster.toml"}, "muster.toml", "the working folder"},
    {"the variable",
     {"", "/r"},
     {{"MUSTER_CONFIG", "v"}},
     {"v", "/r/muster.toml"},
     "v",
     "MUSTER_CONFIG"},
    {"an empty variable",
     {},
     {{"MUSTER_CONFIG", ""}},
     {"muster.toml"},
     "muster.toml",
     "the working folder"},
    {"the option",
     {"f", "/r"},
     {{"MUSTER_CONFIG", "v"}},
     {"f", "v", "/r/muster.toml"},
     "f",
     "--config"},
};
TEST(ConfigSearch, TheFirstThatIsThere) {
  for (const PlaceRow& row : kPlaces) {
    MemoryFiles files;
    for (const std::string& path : row.there) files.add(path, "# " + path);
    const auto found = find_config(files, FakeEnvironment(row.environment), row.choice);
    ASSERT_TRUE(found.has_value()) << row.name << ": " << found.error().context;
    EXPECT_EQ(found->path, row.path) << row.name;
    EXPECT_EQ(found->text, found->path.empty() ? "" : "# " + found->path) << row.name;
    ASSERT_FALSE(found->looks.empty()) << row.name;
    EXPECT_TRUE(found->looks.back().place.starts_with(row.place)) << row.name;
    // Read alone: nothing else was even opened.
    EXPECT_EQ(files.opened().size(), found->path.empty() ? 0U : 1U) << row.name;
  }
}

TEST(ConfigSearch, SaysWhereItLooked) {
  MemoryFiles files;
  files.add("/etc/muster/muster.toml", "");
  const auto found = find_config(files, FakeEnvironment(kHome), {"", "/r"});
  ASSERT_TRUE(found);
  EXPECT_EQ(looks_of(*found),
            "/r/muster.toml (the folder of the run): not there\n"
            "muster.toml (the working folder): not there\n"
            "/h/.config/muster/muster.toml (the folder of the user): not there\n"
            "/etc/muster/muster.toml (the folder of the machine): read\n");
}

TEST(ConfigSearch, FaultsOfTheFileSystem) {
  MemoryFiles files;
  files.add("/etc/muster/muster.toml", "x");
  const FakeEnvironment environment(kHome);
  // Calls: three stat, open, read.
  for (std::uint64_t call = 0; call < 5; ++call) {
    FaultPlan plan;
    plan.failing_call = call;
    FaultyFiles broken(files, plan);
    EXPECT_FALSE(find_config(broken, environment, {})) << call;
    plan.code = Errc::permission;
    FaultyFiles shut(files, plan);
    const auto found = find_config(shut, environment, {});
    EXPECT_EQ(found.has_value(), call < 3) << call;
    if (found) {
      EXPECT_EQ(found->looks[call].outcome, "not permitted to look");
      EXPECT_EQ(found->path.empty(), call == 2) << call;
    }
  }
}

}  // namespace
}  // namespace muster
