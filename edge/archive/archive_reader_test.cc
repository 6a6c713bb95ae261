#include "edge/archive/archive_reader.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "base/limits.h"
#include "tests/support/faulty_files.h"
#include "tests/support/memory_files.h"

namespace muster {
namespace {

struct Entry {
  std::string name = {}, bytes = {};
  unsigned type = AE_IFREG;
  std::string link = {}, hardlink = {};
};

enum class As { tar, tar_gz, tar_zst, zip };

std::string packed(As as, const std::vector<Entry>& entries) {
  archive* a = archive_write_new();
  if (as == As::zip) {
    archive_write_set_format_zip(a);
  } else {
    archive_write_set_format_pax_restricted(a);
  }
  if (as == As::tar_gz) archive_write_add_filter_gzip(a);
  if (as == As::tar_zst) archive_write_add_filter_zstd(a);
  std::string out;
  const auto append = [](archive*, void* to, const void* bytes, std::size_t size) {
    static_cast<std::string*>(to)->append(static_cast<const char*>(bytes), size);
    return static_cast<la_ssize_t>(size);
  };
  archive_write_set_bytes_in_last_block(a, 1);
  archive_write_open(a, &out, nullptr, append, nullptr);
  for (const Entry& entry : entries) {
    archive_entry* e = archive_entry_new();
    archive_entry_set_pathname(e, entry.name.c_str());
    archive_entry_set_filetype(e, entry.type);
    archive_entry_set_perm(e, 0644);
    archive_entry_set_mtime(e, 1'785'000'000, 0);
    if (!entry.link.empty()) archive_entry_set_symlink(e, entry.link.c_str());
    if (!entry.hardlink.empty()) archive_entry_set_hardlink(e, entry.hardlink.c_str());
    archive_entry_set_size(e, static_cast<la_int64_t>(entry.bytes.size()));
    archive_write_header(a, e);
    archive_write_data(a, entry.bytes.data(), entry.bytes.size());
    archive_entry_free(e);
  }
  archive_write_close(a);
  archive_write_free(a);
  return out;
}

// One file packed alone.
std::string packed_alone(bool zstd, const std::string& bytes) {
  archive* a = archive_write_new();
  archive_write_set_format_raw(a);
  if (zstd) {
    archive_write_add_filter_zstd(a);
  } else {
    archive_write_add_filter_gzip(a);
  }
  std::string out(bytes.size() + 65536, '\0');
  std::size_t used = 0;
  archive_write_set_bytes_in_last_block(a, 1);
  archive_write_open_memory(a, out.data(), out.size(), &used);
  archive_entry* e = archive_entry_new();
  archive_entry_set_filetype(e, AE_IFREG);
  archive_write_header(a, e);
  archive_write_data(a, bytes.data(), bytes.size());
  archive_entry_free(e);
  archive_write_close(a);
  archive_write_free(a);
  out.resize(used);
  return out;
}

struct Member {
  std::string name, bytes;
  bool cut = false;
  WallTime modified{};
};

struct Read {
  std::vector<Member> members;
  ArchiveEnd end;
  std::string error;

  std::string show() const {
    std::string out = error;
    for (const Member& m : members) {
      out += fmt::format("{}{}={}{}", out.empty() ? "" : " ", m.name, m.bytes.substr(0, 20),
                         m.cut ? "(cut)" : "");
    }
    return out;
  }
  bool noted(std::string_view text) const {
    return std::any_of(end.notes.begin(), end.notes.end(), [text](const std::string& note) {
      return note.find(text) != std::string::npos;
    });
  }
};

Read read(const std::string& bytes, const std::string& name = "in/x.tar", FaultPlan plan = {}) {
  MemoryFiles memory;
  memory.add(name, bytes);
  FaultyFiles files(memory, plan);
  Read out;
  auto stream = files.open(name);
  const auto end = read_archive(**stream, name, [&](const ArchiveMember& member, ByteStream& body) {
    Member& to = out.members.emplace_back();
    to.name = member.name;
    to.modified = member.modified;
    std::array<char, 4096> buffer;
    for (;;) {
      const auto got = body.read(buffer);
      to.cut = !got;
      if (!got || *got == 0) return;
      to.bytes.append(buffer.data(), *got);
    }
  });
  if (end) {
    out.end = *end;
  } else {
    out.error = std::string(errc_name(end.error().code));
  }
  // Whatever the archive names, nothing but the archive was opened.
  EXPECT_EQ(memory.opened(), std::vector<std::string>{name});
  return out;
}

const std::vector<Entry> kTwo = {{"dumps/trace_0", "zero"}, {"dumps/trace_1", "one"}};

TEST(ArchiveReader, EveryPacking) {
  for (const As as : {As::tar, As::tar_gz, As::tar_zst, As::zip}) {
    const Read got = read(packed(as, kTwo));
    EXPECT_EQ(got.show(), "dumps/trace_0=zero dumps/trace_1=one") << static_cast<int>(as);
    EXPECT_TRUE(got.end.whole);
    EXPECT_EQ(got.end.members, 2u);
    EXPECT_TRUE(got.end.notes.empty());
    EXPECT_TRUE(looks_like_archive(packed(as, kTwo)));
  }
  EXPECT_EQ(read(packed(As::tar, kTwo)).members[0].modified,
            wall_from_ns(1'785'000'000LL * 1'000'000'000));
  EXPECT_TRUE(read(packed(As::tar_gz, {})).noted("it holds nothing"));
  // A log that begins with a hole is no tar that ends there.
  for (const std::size_t hole : {512u, 2048u, 10240u, 100000u}) {
    const std::string log = std::string(hole, '\0') + "after the hole\n";
    const auto got = read(packed_alone(false, log));
    ASSERT_EQ(got.members.size(), 1u) << hole;
    EXPECT_EQ(got.members[0].bytes, log) << hole;
  }
  EXPECT_EQ(read(packed_alone(false, "hello"), "in/a.log.gz").show(), "a.log=hello");
  EXPECT_EQ(read(packed_alone(true, "hello"), "trace_3.zst").show(), "trace_3=hello");
  FaultPlan one_byte;
  one_byte.read_bytes = 1;
  EXPECT_EQ(read(packed(As::tar_gz, kTwo), "x", one_byte).show(),
            "dumps/trace_0=zero dumps/trace_1=one");
}

TEST(ArchiveReader, WhatIsNoArchive) {
  for (const std::string& bytes : {std::string(), std::string("PK"), std::string("\x80\x02}"),
                                   std::string(4096, '\0'), std::string("step 1 loss 2\n")}) {
    EXPECT_EQ(read(bytes).show(), "invalid_input");
    EXPECT_FALSE(looks_like_archive(bytes));
  }
}

TEST(ArchiveReader, NamesAreOnlyLabels) {
  const Read got = read(packed(As::tar, {{"../../../etc/passwd", "a"},
                                         {"/etc/shadow", "b"},
                                         {"x\x1b[31m\ny", "c"},
                                         {std::string(5000, 'n'), "d"}}));
  ASSERT_EQ(got.members.size(), 4u);
  EXPECT_EQ(got.members[0].name, "../../../etc/passwd");
  EXPECT_EQ(got.members[1].name, "/etc/shadow");
  EXPECT_EQ(got.members[3].name.size(), 1024u);
}

TEST(ArchiveReader, LinksAndDevicesArePassedOver) {
  const Read got = read(packed(As::tar, {{"folder", "", AE_IFDIR},
                                         {"soft", "", AE_IFLNK, "/etc/passwd"},
                                         {"hard", "", AE_IFREG, "", "/etc/passwd"},
                                         {"tty", "", AE_IFCHR},
                                         {"disk", "", AE_IFBLK},
                                         {"pipe", "", AE_IFIFO},
                                         {"trace_0", "zero"}}));
  EXPECT_EQ(got.show(), "trace_0=zero");
  EXPECT_EQ(got.end.notes.size(), 5u);
  EXPECT_TRUE(got.noted("soft: a link"));
  EXPECT_TRUE(got.noted("hard: a link"));
  EXPECT_TRUE(got.noted("pipe: a device or pipe"));
}

TEST(ArchiveReader, AnArchiveInsideStaysPacked) {
  const std::string inner = packed(As::tar_gz, kTwo);
  const Read got = read(packed(As::tar_gz, {{"inner.tar.gz", inner}}));
  ASSERT_EQ(got.members.size(), 1u);
  EXPECT_EQ(got.members[0].bytes, inner);
  // Packed twice: one layer comes off.
  const Read twice = read(packed_alone(false, inner), "x.tar.gz.gz");
  ASSERT_EQ(twice.members.size(), 1u);
  EXPECT_EQ(twice.members[0].bytes, inner);
}

TEST(ArchiveReader, BombsEnd) {
  const std::string zeros(100 << 20, 'x');
  for (const std::string& bomb : {packed_alone(false, zeros), packed_alone(true, zeros),
                                  packed(As::tar_gz, {{"zeros", zeros}, {"after", "x"}}),
                                  packed(As::zip, {{"zeros", zeros}, {"after", "x"}})}) {
    EXPECT_LT(bomb.size(), 300'000u);
    const Read got = read(bomb);
    ASSERT_EQ(got.members.size(), 1u);
    EXPECT_TRUE(got.members[0].cut);
    EXPECT_LE(got.members[0].bytes.size(), limits::kArchiveRatioFrom);
    EXPECT_FALSE(got.end.whole);
    EXPECT_TRUE(got.noted("each byte of it becomes more than 500"));
  }
}

TEST(ArchiveReader, MembersAreCounted) {
  std::vector<Entry> many(limits::kArchiveMembers + 5, Entry{"x", "y"});
  const Read got = read(packed(As::tar_zst, many));
  EXPECT_EQ(got.members.size(), limits::kArchiveMembers);
  EXPECT_FALSE(got.end.whole);
}

// A header that claims a terabyte with nothing behind it.
TEST(ArchiveReader, AClaimIsNotBelieved) {
  std::string tar = packed(As::tar, {{"trace_0", "zero"}, {"huge", "x"}});
  const std::size_t header = tar.find("huge");
  ASSERT_NE(header, std::string::npos);
  tar.replace(header + 124, 12, std::string("77777777777\0", 12));
  unsigned sum = 8 * ' ';
  for (std::size_t i = 0; i < 512; ++i) {
    if (i < 148 || i >= 156) sum += static_cast<unsigned char>(tar[header + i]);
  }
  tar.replace(header + 148, 8, fmt::format("{:06o}{}{}", sum, '\0', ' '));
  const Read got = read(tar);
  ASSERT_EQ(got.members.size(), 2u);
  EXPECT_EQ(got.members[0].bytes, "zero");
  EXPECT_TRUE(got.members[1].cut);
  EXPECT_LT(got.members[1].bytes.size(), 100'000u);
  EXPECT_FALSE(got.end.whole);
}

TEST(ArchiveReader, CutAtEveryByteTheWholeMembersStay) {
  const std::vector<Entry> entries = {{"a", std::string(700, 'a')}, {"b", std::string(700, 'b')}};
  for (const As as : {As::tar, As::tar_gz, As::tar_zst, As::zip}) {
    const std::string whole = packed(as, entries);
    std::size_t seen = 0;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      const Read got = read(whole.substr(0, i));
      std::size_t good = 0;
      for (const Member& m : got.members) {
        if (m.cut) continue;
        EXPECT_EQ(m.bytes, entries[good].bytes);
        ++good;
      }
      EXPECT_GE(good, seen);  // never fewer by more bytes
      seen = good;
      // Between two members a tar has no mark that more should come.
      const bool between = as == As::tar && i == 1536;
      const bool packed_whole = as == As::tar_gz || as == As::tar_zst;
      EXPECT_TRUE((good == 2 && !packed_whole) || between || !got.end.whole || !got.error.empty())
          << i;
      // Where the heading of a packed file is there, its cut is told and never an error.
      EXPECT_TRUE(!packed_whole || i < 24 || got.error.empty()) << i << got.error;
    }
    // The last bytes of the file are its end marks and sums: nothing of the members is lost.
    // A block of zstd, 128 KiB, comes out whole or not at all.
    EXPECT_EQ(seen, as == As::tar_zst ? 0u : 2u) << static_cast<int>(as);
    EXPECT_EQ(read(whole).members.size(), 2u);
  }
}

std::string noise(std::size_t bytes) {
  std::string out;
  std::uint64_t state = 7;
  while (out.size() < bytes) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    out += static_cast<char>(state >> 56);
  }
  return out;
}

TEST(ArchiveReader, CutByOneByteOnlyTheLastBlockIsLost) {
  const std::string bytes = noise(400'000);
  for (const As as : {As::tar, As::tar_gz, As::tar_zst, As::zip}) {
    std::string cut = packed(as, {{"a", bytes}, {"b", bytes}});
    cut.resize(cut.size() - (as == As::tar ? 15'000 : as == As::zip ? 200'000 : 1));
    const Read got = read(cut);
    ASSERT_EQ(got.members.size(), 2u) << static_cast<int>(as);
    EXPECT_EQ(got.members[0].bytes, bytes);
    EXPECT_GT(got.members[1].bytes.size(), 130'000u) << static_cast<int>(as);
    EXPECT_EQ(got.members[1].bytes, bytes.substr(0, got.members[1].bytes.size()));
    EXPECT_FALSE(got.end.whole);
  }
  for (const bool zstd : {false, true}) {
    std::string cut = packed_alone(zstd, bytes);
    cut.pop_back();
    const Read got = read(cut, "rank_3.gz");
    ASSERT_EQ(got.members.size(), 1u);
    EXPECT_GT(got.members[0].bytes.size(), 250'000u);
    EXPECT_EQ(got.members[0].bytes, bytes.substr(0, got.members[0].bytes.size()));
    EXPECT_FALSE(got.end.whole);
  }
}

TEST(ArchiveReader, DamagedAtEveryByte) {
  for (const As as : {As::tar, As::tar_gz, As::tar_zst, As::zip}) {
    const std::string whole = packed(as, {{"a", "zero"}, {"b", "one"}});
    for (std::size_t i = 0; i < whole.size(); ++i) {
      for (const int change : {0xff, 0x01, 0x80}) {
        std::string damaged = whole;
        damaged[i] = static_cast<char>(damaged[i] ^ change);
        read(damaged);
      }
    }
  }
}

TEST(ArchiveReader, AFileThatCannotBeReadOnIsCut) {
  std::vector<Entry> entries = {{"a", std::string(100'000, 'a')}, {"b", std::string(300'000, 'b')}};
  FaultPlan plan;
  plan.failing_call = 4;
  const Read got = read(packed(As::tar, entries), "x", plan);
  ASSERT_FALSE(got.members.empty());
  EXPECT_EQ(got.members[0].bytes.size(), 100'000u);
  EXPECT_FALSE(got.end.whole);
}

}  // namespace
}  // namespace muster
