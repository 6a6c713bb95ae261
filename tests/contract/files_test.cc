#include "edge/os/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/faulty_files.h"
#include "tests/support/memory_files.h"

// One suite for every implementation of Files: what a test learns on memory holds on the machine.

namespace muster {
namespace {

struct Place {
  std::string folder;
  Files* files;
  std::shared_ptr<void> owner;
};

Place real_place() {
  std::string pattern = (std::filesystem::temp_directory_path() / "muster.XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) return {};
  auto remove = [](std::string* path) {
    std::filesystem::remove_all(*path);
    delete path;
  };
  return {pattern, &real_files(),
          std::shared_ptr<void>(std::shared_ptr<std::string>(new std::string(pattern), remove))};
}

Place memory_place() {
  auto files = std::make_shared<MemoryFiles>();
  files->add_folder("/data");
  return {"/data", files.get(), files};
}

struct FaultyPlace {
  explicit FaultyPlace(FaultPlan plan) : faulty(memory, plan) { memory.add_folder("/data"); }
  MemoryFiles memory;
  FaultyFiles faulty;
};

// No fault planned, and reads of one byte: a reader must not take a short read for the end.
Place short_place() {
  FaultPlan plan;
  plan.read_bytes = 1;
  auto owner = std::make_shared<FaultyPlace>(plan);
  return {"/data", &owner->faulty, owner};
}

struct Kind {
  const char* name;
  Place (*make)();
};

class FilesContract : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    place_ = GetParam().make();
    ASSERT_NE(place_.files, nullptr);
  }
  std::string in(const std::string& name) const { return place_.folder + "/" + name; }
  Files& files() { return *place_.files; }

 private:
  Place place_;
};

TEST_P(FilesContract, ReadsWhatWasWritten) {
  const std::string bytes("a\0b\n\xff", 5);
  ASSERT_TRUE(files().write_atomic(in("x"), bytes));
  EXPECT_EQ(read_whole(files(), in("x"), 100).value(), bytes);
  ASSERT_TRUE(files().write_atomic(in("x"), "new"));
  EXPECT_EQ(read_whole(files(), in("x"), 3).value(), "new");
  EXPECT_EQ(read_whole(files(), in("x"), 2).error().code, Errc::exhausted);
  ASSERT_TRUE(files().write_atomic(in("empty"), ""));
  EXPECT_EQ(read_whole(files(), in("empty"), 0).value(), "");
}

TEST_P(FilesContract, OpensBelowAFolder) {
  ASSERT_TRUE(files().write_atomic(in("x"), "1"));
  const std::string folder = in("").substr(0, in("").size() - 1);
  auto stream = files().open_below(folder, "x");
  ASSERT_TRUE(stream);
  char byte = 0;
  EXPECT_EQ((*stream)->read({&byte, 1}).value(), 1U);
  EXPECT_EQ(byte, '1');
  EXPECT_EQ(files().open_below(folder, "no").error().code, Errc::not_found);
  EXPECT_FALSE(files().open_below(in("no"), "x"));
}

TEST_P(FilesContract, AFileNeverWaits) {
  ASSERT_TRUE(files().write_atomic(in("x"), "1"));
  auto stream = files().open(in("x"));
  ASSERT_TRUE(stream);
  char byte = 0;
  for (const std::size_t left : {1U, 0U, 0U}) {
    EXPECT_TRUE((*stream)->ready({}));
    EXPECT_EQ((*stream)->read({&byte, 1}).value(), left);
  }
}

TEST_P(FilesContract, WritingLeavesNothingElseBehind) {
  ASSERT_TRUE(files().write_atomic(in("b"), "1"));
  ASSERT_TRUE(files().write_atomic(in("a"), "2"));
  ASSERT_TRUE(files().write_atomic(in("b"), "3"));
  EXPECT_EQ(files().list(in(".").substr(0, in(".").size() - 2)).value(),
            (std::vector<std::string>{"a", "b"}));
}

TEST_P(FilesContract, TellsFileFromFolder) {
  ASSERT_TRUE(files().write_atomic(in("x"), "12345"));
  const auto file = files().stat(in("x"));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->type, FileInfo::Type::file);
  EXPECT_EQ(file->bytes, 5U);
  const std::string folder = in("").substr(0, in("").size() - 1);
  EXPECT_EQ(files().stat(folder).value().type, FileInfo::Type::folder);
  EXPECT_EQ(files().open(folder).error().code, Errc::invalid_input);
  EXPECT_FALSE(files().write_atomic(folder, "x"));
  EXPECT_EQ(files().list(in("x")).error().code, Errc::not_found);
}

TEST_P(FilesContract, WhatIsNotThereIsNotFound) {
  EXPECT_EQ(files().open(in("no")).error().code, Errc::not_found);
  EXPECT_EQ(files().stat(in("no")).error().code, Errc::not_found);
  EXPECT_EQ(files().list(in("no")).error().code, Errc::not_found);
  EXPECT_EQ(files().write_atomic(in("no/x"), "x").error().code, Errc::not_found);
  EXPECT_NE(files().open(in("no")).error().context.find(in("no")), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(All, FilesContract,
                         testing::Values(Kind{"real", real_place}, Kind{"memory", memory_place},
                                         Kind{"short_reads", short_place}),
                         [](const auto& row) { return row.param.name; });

// A task on files: replaces one file by what it holds and one byte more.
Status extend(Files& files, const std::string& path) {
  auto old = read_whole(files, path, 100);
  if (!old) return old.error();
  return files.write_atomic(path, *old + "+");
}

TEST(FaultyFiles, TheFileIsOldOrNewWhicheverCallFails) {
  for (std::uint64_t n = 0;; ++n) {
    FaultPlan plan;
    plan.failing_call = n;
    FaultyPlace place(plan);
    place.memory.add("/data/x", "old");
    const Status done = extend(place.faulty, "/data/x");
    const auto left = read_whole(place.memory, "/data/x", 100);
    ASSERT_TRUE(left);
    EXPECT_EQ(*left, done ? "old+" : "old") << "call " << n;
    if (done) {
      EXPECT_EQ(n, 4U);  // open, read, read of the end, write: each was made to fail once
      break;
    }
    ASSERT_EQ(done.error().code, Errc::unavailable);
  }
}

TEST(FaultyFiles, FullDiskKeepsTheOldFile) {
  FaultPlan plan;
  plan.space_bytes = 5;
  FaultyPlace place(plan);
  ASSERT_TRUE(place.faulty.write_atomic("/data/x", "12345"));
  EXPECT_EQ(place.faulty.write_atomic("/data/x", "6").error().code, Errc::exhausted);
  EXPECT_EQ(read_whole(place.faulty, "/data/x", 100).value(), "12345");
}

// The kernel refuses to let a file grow past the limit, as a full disk does, after a short write.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    rlimit now = old_;
    now.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &now);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit old_{};
  void (*handler_)(int);
};

// What stood there as a file when the folder was looked at is something else when it is opened.
TEST(RealFiles, NothingButAFileIsOpenedBelowAFolder) {
  const Place place = real_place();
  ASSERT_NE(place.files, nullptr);
  const std::string given = place.folder + "/given", secret = place.folder + "/secret";
  std::filesystem::create_directories(given + "/inner");
  std::filesystem::create_directories(secret);
  ASSERT_TRUE(place.files->write_atomic(secret + "/x", "secret"));
  ASSERT_TRUE(place.files->write_atomic(given + "/inner/x", "ours"));
  std::filesystem::create_symlink(secret + "/x", given + "/link");
  std::filesystem::create_symlink("inner/x", given + "/link_inside");
  std::filesystem::create_symlink(secret, given + "/folder_link");
  std::filesystem::create_symlink(given, place.folder + "/given_link");
  ASSERT_EQ(::mkfifo((given + "/pipe").c_str(), 0600), 0);
  const struct {
    const char* name;
    const char* reason;
  } rows[] = {
      {"link", "link: a link by now, not followed"},
      {"link_inside", "a link by now, not followed"},
      {"folder_link/x", "folder_link/x: a link by now, not followed"},
      {"pipe", "no file any more, not read"},
      {"inner", "no file any more, not read"},
      {"inner/x/y", "not followed"},
  };
  for (const auto& row : rows) {
    const auto opened = place.files->open_below(given, row.name);
    ASSERT_FALSE(opened) << row.name;
    EXPECT_EQ(opened.error().code, Errc::invalid_input) << row.name;
    EXPECT_NE(opened.error().context.find(row.reason), std::string::npos) << opened.error().context;
  }
  EXPECT_TRUE(place.files->open_below(given, "inner/x"));
  // The folder itself was given: it may be reached by links.
  EXPECT_TRUE(place.files->open_below(place.folder + "/given_link", "inner/x"));
}

TEST(RealFiles, BrokenOffAnywhereTheOldFileStays) {
  const Place place = real_place();
  ASSERT_NE(place.files, nullptr);
  const std::string path = place.folder + "/x";
  ASSERT_TRUE(place.files->write_atomic(path, "old"));
  const std::string bytes = "twelve bytes";
  for (std::size_t n = 0; n <= bytes.size(); ++n) {
    Status done;
    {
      const FileSizeLimit limit(n);
      done = place.files->write_atomic(path, bytes);
    }
    EXPECT_EQ(done.has_value(), n == bytes.size()) << n;
    EXPECT_EQ(read_whole(*place.files, path, 100).value(), done ? bytes : "old") << n;
    EXPECT_EQ(place.files->list(place.folder).value(), std::vector<std::string>{"x"}) << n;
  }
}

TEST(MemoryFiles, RecordsWhatWasOpened) {
  MemoryFiles files;
  files.add("/a", "1");
  EXPECT_TRUE(files.open("/a"));
  EXPECT_FALSE(files.open("/b"));
  EXPECT_EQ(files.opened(), (std::vector<std::string>{"/a", "/b"}));
}

// A pipe opens without its writer, waits for it, and ends with it.
TEST(RealFiles, APipeWaitsForItsWriter) {
  const Place place = real_place();
  const std::string path = place.folder + "/pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  auto stream = real_files().open(path);
  ASSERT_TRUE(stream);
  EXPECT_FALSE((*stream)->ready({}));
  EXPECT_FALSE((*stream)->ready(std::chrono::milliseconds(1)));
  const int writer = ::open(path.c_str(), O_WRONLY);
  ASSERT_GE(writer, 0);
  EXPECT_FALSE((*stream)->ready({}));
  ASSERT_EQ(::write(writer, "ab", 2), 2);
  char bytes[8];
  EXPECT_TRUE((*stream)->ready({}));
  EXPECT_EQ((*stream)->read(bytes).value(), 2U);
  EXPECT_FALSE((*stream)->ready({}));
  ::close(writer);
  EXPECT_TRUE((*stream)->ready({}));
  EXPECT_EQ((*stream)->read(bytes).value(), 0U);
}

// The limit that a process is born with is no limit yet.
TEST(RealFiles, RaisesItsOwnLimitAndNamesTheHardOne) {
  const Place place = real_place();
  const std::string path = place.folder + "/x";
  ASSERT_TRUE(real_files().write_atomic(path, "1"));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  if (before.rlim_max < 200)
    GTEST_SKIP() << "the hard limit of this machine is " << before.rlim_max;
  rlimit low = before;
  low.rlim_cur = 50;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  std::vector<std::unique_ptr<ByteStream>> held;
  for (int i = 0; i < 100; ++i) {
    auto stream = real_files().open(path);
    ASSERT_TRUE(stream) << i << stream.error().context;
    held.push_back(std::move(*stream));
  }
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  held.clear();
  // The hard limit cannot be set back by everyone: a child tries it.
  const auto child = [&path, &held] {
    const rlimit hard{60, 60};
    ::setrlimit(RLIMIT_NOFILE, &hard);
    std::string said;
    for (int i = 0; i < 100 && said.empty(); ++i) {
      auto stream = real_files().open(path);
      if (!stream) said = stream.error().context;
      if (stream) held.push_back(std::move(*stream));
    }
    std::fputs(said.c_str(), stderr);
    _exit(said.empty() ? 1 : 0);
  };
  EXPECT_EXIT(child(), testing::ExitedWithCode(0), "may hold no more than 60 files; raise");
}

}  // namespace
}  // namespace muster
