#include "core/blocks/npy_header.h"

#include <gtest/gtest.h>

#include <string>

namespace muster::blocks {
namespace {

std::string npy(const std::string& dictionary, char version = 1) {
  std::string out("\x93NUMPY", 6);
  out += version;
  out += '\0';
  out += static_cast<char>(dictionary.size() & 0xff);
  out += static_cast<char>(dictionary.size() >> 8);
  if (version > 1) out += std::string(2, '\0');
  return out + dictionary;
}

TEST(NpyHeader, ReadsBackWhatItWrote) {
  for (const std::uint64_t rows : {0ULL, 1ULL, 493'300ULL, 1ULL << 40}) {
    const std::string head = npy_header(rows, 2048);
    EXPECT_EQ(head.size() % 64, 0U);
    EXPECT_EQ(head.back(), '\n');
    const auto read = parse_npy_header(head, head.size() + rows * 2048 * 4);
    ASSERT_TRUE(read) << read.error().context;
    EXPECT_EQ(read->ids(), rows * 2048);
    EXPECT_EQ(read->data_at, head.size());
  }
}

TEST(NpyHeader, Forms) {
  struct Row {
    const char* name;
    std::string head;
    std::uint64_t data_bytes;
    std::uint64_t ids;
    const char* says;
  };
  const Row rows[] = {
      {"one_dimension", npy("{'descr': '<u2', 'fortran_order': False, 'shape': (10,), }"), 20, 10,
       ""},
      {"order_of_keys", npy("{'shape': (2, 8), 'descr': '<i8', 'fortran_order': False}"), 128, 16,
       ""},
      {"version_2", npy("{'descr': '<i4', 'fortran_order': False, 'shape': (1, 8), }", 2), 32, 8,
       ""},
      {"floats", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 8), }"), 32, 0,
       "no little-endian whole number"},
      {"big_endian", npy("{'descr': '>i4', 'fortran_order': False, 'shape': (1, 8), }"), 32, 0,
       "no little-endian"},
      {"objects", npy("{'descr': '|O', 'fortran_order': False, 'shape': (8,), }"), 32, 0,
       "no little-endian"},
      {"fortran", npy("{'descr': '<i4', 'fortran_order': True, 'shape': (1, 8), }"), 32, 0,
       "Fortran"},
      {"three_dimensions", npy("{'descr': '<i4', 'fortran_order': False, 'shape': (1, 1, 8), }"),
       32, 0, "dimensions"},
      {"scalar", npy("{'descr': '<i4', 'fortran_order': False, 'shape': (), }"), 4, 0,
       "dimensions"},
      {"negative", npy("{'descr': '<i4', 'fortran_order': False, 'shape': (-1, 8), }"), 32, 0,
       "dimensions"},
      {"product_wraps",
       npy("{'descr': '<i4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }"), 0, 0,
       "rows of"},
      {"cut", npy("{'descr': '<i4', 'fortran_order': False, 'shape': (1, 8), }"), 31, 0,
       "its shape makes"},
      {"no_shape", npy("{'descr': '<i4', 'fortran_order': False}"), 32, 0, "dimensions"},
      {"version_9", npy("{}", 9), 0, 0, "version 9"},
  };
  for (const Row& row : rows) {
    const auto read = parse_npy_header(row.head, row.head.size() + row.data_bytes);
    EXPECT_EQ(read.has_value(), std::string(row.says).empty()) << row.name;
    if (read) {
      EXPECT_EQ(read->ids(), row.ids) << row.name;
    } else {
      EXPECT_NE(read.error().context.find(row.says), std::string::npos)
          << row.name << ": " << read.error().context;
    }
  }
}

TEST(NpyHeader, CutAndFlippedAtEveryByte) {
  const std::string head = npy_header(3, 8);
  for (std::size_t i = 0; i < head.size(); ++i) {
    EXPECT_FALSE(parse_npy_header(head.substr(0, i), i));
    for (const int flip : {0x01, 0x04, 0x80}) {
      std::string flipped = head;
      flipped[i] = static_cast<char>(static_cast<unsigned char>(flipped[i]) ^ flip);
      const auto read = parse_npy_header(flipped, head.size() + 96);
      if (read) {
        EXPECT_EQ(read->data_at + read->ids() * id_bytes(read->type), head.size() + 96);
      }
    }
  }
}

}  // namespace
}  // namespace muster::blocks
