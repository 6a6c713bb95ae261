#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/storage/read_plan.h"

// The same row as a job of fio (3.33 of Debian 12 and later), and what fio answers.

namespace muster::storage {

// Arguments after "fio". Of fio's habits these would change what is measured: it drops the file
// from the page cache at the start (--invalidate=0), tells the kernel that it reads in order, which
// doubles the readahead (--fadvise_hint=0), copies to memory that begins within a page, which here
// took twice as long (--iomem_align; O_DIRECT cannot, and neither do we), and runs jobs as
// processes of their own, which live on when it is killed (--thread). The deep queue is libaio's:
// io_uring is often forbidden in containers.
std::vector<std::string> fio_arguments(const RowPlan& row, std::string_view path);

struct FioAnswer {
  std::string version;  // "fio-3.33"
  std::uint64_t bytes = 0;
  double bytes_per_second = 0;  // of all jobs: their bytes over the longest span
};

// What fio prints with --output-format=json; remarks in front of the document are passed over.
// Errc::corrupt for what is no such document, Errc::unavailable where a job failed or read nothing.
Result<FioAnswer> parse_fio_answer(std::string_view text);

}  // namespace muster::storage
