#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace muster {

// Rows of a table of Parquet or Arrow, by Apache Arrow C++, as JSON lines (column_stream.h has the
// whole contract). Part of the program `muster-columns` alone: Arrow's libraries bring copies of
// simdjson, OpenSSL and others under their own names, which no process may have twice.
class TableRows {
 public:
  // `head`: the first 8 bytes.
  static Result<TableRows> open(const std::string& path, const std::string& head,
                                const std::string& field);
  TableRows(TableRows&&) noexcept;
  ~TableRows();

  // The rows of the next batch; false at the end.
  Result<bool> next(std::string& lines);

 private:
  struct Table;
  explicit TableRows(std::unique_ptr<Table> table);
  std::unique_ptr<Table> table_;
};

}  // namespace muster
