#pragma once

#include "app/bench_storage.h"
#include "app/row_bench.h"

namespace muster {

// Runs every row that was measured seven times by fio and seven times by us, in turn, and adds the
// comparisons to the answer; who comes first changes with each pair, so that a machine that gets
// slower favours nobody. Without fio, or with one that fails, a note says so, and the rows have no
// pairs.
void compare_with_fio(const BenchStorageRequest& request, RowBench& bench, storage::Disk& disk,
                      storage::StorageAnswer& answer, Clock& clock);

}  // namespace muster
