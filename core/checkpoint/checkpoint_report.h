#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/checkpoint/checkpoint_judge.h"
#include "core/model/finding.h"

namespace muster::checkpoint {

struct CheckpointAnswer {
  Report report;
  // The highest step that is complete and not suspect: of the run that was written last, where
  // several lie below the paths. Nothing where there is none.
  std::optional<std::string> resume_from;
};

// `suspects`: paths, names or steps of checkpoints that a run died of; they are passed over, and so
// are those whose own losses say that their weights are spoilt. What is older than the one to
// resume from is told in a note only: nobody has to do anything about it.
CheckpointAnswer answer_checkpoints(const std::vector<Checkpoint>& all, const Judged& judged,
                                    const std::vector<std::string>& suspects);

// The report with "resume_from" beside its own fields, one line of JSON.
std::string encode_answer(const CheckpointAnswer& answer);

}  // namespace muster::checkpoint
