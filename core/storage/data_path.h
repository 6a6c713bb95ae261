#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/exit_status.h"
#include "core/storage/row_result.h"
#include "core/storage/starvation.h"

// The way of the data into a step, measured: text that is read and tokenized for each step against
// blocks that were packed before, each from a cold and from a warm page cache. Which of storage and
// tokenizing makes a run wait, if any, shows in which of the four is slow.

namespace muster::storage {

enum class DataPath : std::uint8_t { text, packed };
std::string_view data_path_name(DataPath path);  // "text"

// When the tokens of each step were there, since the start of the arm, rising.
struct ArmRun {
  std::vector<double> step_ends_s;
  std::uint64_t tokens = 0, bytes = 0;  // all of them; bytes as they lie in the files
  double seconds = 0;                   // until the last of them
};

struct DataArm {
  DataPath path = DataPath::text;
  bool cold = false;
  RowState state = RowState::not_measured;
  std::string reason;  // where it is not measured
  std::uint64_t steps = 0;
  double tokens_per_second = 0, bytes_per_second = 0;
  double first_step_s = 0, median_step_s = 0;  // the first one after the cache was dropped
};

// Not measured where no step came to its end.
DataArm arm_of(DataPath path, bool cold, const ArmRun& run);
DataArm arm_not_measured(DataPath path, bool cold, std::string reason);

struct DataAnswer {
  std::vector<DataArm> arms;  // text cold, text warm, packed cold, packed warm
  std::uint64_t step_tokens = 0;
  std::uint32_t threads = 0;                // that tokenize
  std::optional<double> step_seconds;       // a step time to judge
  std::optional<double> cache_bytes;        // memory for pages of files
  double text_bytes = 0, packed_bytes = 0;  // of the files at hand
  std::vector<std::string> notes;
};

// What makes a path too slow.
enum class Limit : std::uint8_t {
  none,        // nothing: it feeds
  storage,     // it feeds from memory, and not from the medium
  tokenizing,  // of text: it does not even feed from memory
  reading,     // of blocks: likewise, by one thread that reads
  unknown,     // the arm that would decide is not measured, or too close
};
std::string_view limit_name(Limit limit);

struct PathVerdict {
  Limit limit = Limit::unknown;
  std::optional<double> cold_headroom, warm_headroom;  // times what the step time needs
  Inversion inversion;                                 // in bytes of this path's files
};
// With a step time only.
PathVerdict verdict_of(DataPath path, const DataAnswer& answer);

// 0: both paths feed such steps, or no step time was given. 1: one of them does not, cold or warm.
// 3: what would decide is not measured.
ExitStatus exit_status_of(const DataAnswer& answer);

std::string data_text(const DataAnswer& answer);
// muster.data_path/1
std::string data_json(const DataAnswer& answer);

}  // namespace muster::storage
