#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/exit_status.h"
#include "core/storage/comparison.h"
#include "core/storage/row_result.h"
#include "core/storage/starvation.h"

namespace muster::storage {

// Where the file lies and on which machine. Texts may hold bytes from outside; an empty text and an
// absent number mean that nobody told.
struct Place {
  std::string path;  // as it was given
  std::string file_system, options, mount_point, source;
  std::string kernel;
  std::string remark;  // what this file system does to the figures
  std::optional<std::uint64_t> read_ahead_kb;
  std::optional<std::uint64_t> memory_bytes;     // of the machine
  std::optional<std::uint64_t> available_bytes;  // for pages of files, within a container's limit
  std::optional<std::uint64_t> free_bytes;       // on the file system, for this user
};

// The answer of `muster bench storage`.
struct StorageAnswer {
  Place place;
  std::uint64_t file_bytes = 0;
  std::uint32_t streams = 0;        // of the row `streams`
  bool own_file = false;            // made for the measurement and gone
  std::vector<RowResult> rows;      // in the order of the table, each of them
  std::optional<Demand> demand;     // a step time to judge
  std::optional<std::string> fio;   // its version, where it was compared with
  std::vector<Comparison> against;  // in the order of the table
  std::vector<std::string> notes;   // one line each, for people
};

Supply supply_of(const StorageAnswer& answer);

// 0: something was measured and starves nobody. 1: storage starves the steps that were asked for.
// 3: nothing was measured, or what would decide was not; a comparison with fio that is out of its
// bar or not measured is 3 as well: those figures are not to be relied on.
ExitStatus exit_status_of(const StorageAnswer& answer);

// For people, at most 80 columns where names allow it. Text from outside is escaped.
std::string storage_text(const StorageAnswer& answer);
// muster.storage/1, one document without a line end.
std::string storage_json(const StorageAnswer& answer);

}  // namespace muster::storage
