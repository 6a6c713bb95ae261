#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// Numbers sequences of words: equal ones get the same id, ids count from 0 in the order of coming.
// One flat pool, used again for the next file.

namespace muster {

class SequenceTable {
 public:
  // Forgets all; keeps the memory, unless one large file made it large.
  void reset();
  std::uint32_t intern(std::span<const std::int64_t> words);
  std::size_t size() const { return rows_.size(); }
  std::size_t words() const { return words_.size(); }  // in all of them
  std::span<const std::int64_t> operator[](std::size_t id) const {
    return {words_.data() + rows_[id].first, rows_[id].count};
  }

 private:
  struct Row {
    std::size_t first = 0, count = 0;
    std::uint64_t hash = 0;
  };
  void grow();

  std::vector<std::int64_t> words_;
  std::vector<Row> rows_;
  std::vector<std::uint32_t> slots_;  // ids by hash, open addressing
};

}  // namespace muster
