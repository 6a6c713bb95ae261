#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/checkpoint/file_examiner.h"

// Whether a checkpoint is whole, by the rules of whoever wrote it. The layout follows from the
// files; where one tells what belongs to it (an index, .metadata, a manifest) that counts, else
// what numbers in names leave open, else what older checkpoints of the run have.

namespace muster::checkpoint {

enum class Layout : std::uint8_t {
  unknown,
  trainer,  // Hugging Face Trainer
  weights,  // an export: weights with their configuration, or alone
  dcp,      // torch.distributed.checkpoint, also below pytorch_model_fsdp_0/
  deepspeed,
  megatron,
  file,  // one file of torch.save: Lightning, Composer
  muster
};
std::string_view layout_name(Layout layout);

enum class Completeness : std::uint8_t {
  complete,
  cannot_tell,    // somebody may still write, or something could not be read
  incomplete,     // parts are missing
  torn,           // a part is shorter than it says
  false_complete  // marked as complete, and parts are missing
};

// A folder, or a single file, that is a checkpoint.
struct Checkpoint {
  std::string path;  // as the input writes it
  std::string run;   // the folder that it lies in
  std::optional<std::uint64_t> step;
  std::vector<FileFacts> files;
  bool single_file = false;
  bool temporary = false;  // still under the name of a save that goes on
};

struct Flaw {
  enum class Kind : std::uint8_t {
    missing,
    torn,
    short_of_others,  // smaller than in an older checkpoint, and its form tells nothing
    unread
  };
  Kind kind = Kind::missing;
  std::string file;  // below the folder; empty: the checkpoint as a whole
  std::string text;  // one clause: "scheduler.pt is missing; checkpoint-2000 has it"
};

struct Judgement {
  Layout layout = Layout::unknown;
  Completeness state = Completeness::complete;
  bool marked = false;        // something says that the save has ended
  bool sure = true;           // false: a smaller number of ranks would look the same
  bool weights_only = false;  // nothing of the optimizer: a resume starts it anew
  std::vector<Flaw> flaws;
  LossHealth loss;
  std::optional<WallTime> modified;  // of its newest file
  std::uint64_t bytes = 0;
};

// A failure to write that a log tells, and a number of ranks that it tells of a save.
struct SaveLine {
  std::string path;                    // that could not be written; empty: none
  std::string why;                     // "No space left on device"
  std::optional<std::int32_t> rank;    // that tells it
  std::optional<std::uint64_t> world;  // "world_size=8"
  std::string text, source;            // the line
  std::optional<std::uint64_t> line;
};
// Nothing for a line that tells nothing of the kind. At most limits::kLineBytes.
std::optional<SaveLine> read_save_line(std::string_view line);

// What else is known beside the checkpoints of a run.
struct JudgeFacts {
  std::vector<std::pair<std::string, FileFacts>> trackers;  // with the folder of each
  std::vector<SaveLine> lines;
  std::optional<WallTime> now;  // absent: ages are not known
};

// A tracker that names a checkpoint which is not there.
struct LostTarget {
  std::string tracker;  // path
  std::string target;   // as it stands there
};

struct Judged {
  std::vector<Judgement> each;  // one for each checkpoint, in their order
  std::vector<LostTarget> lost;
  std::vector<std::string> notes;
};
Judged judge_checkpoints(const std::vector<Checkpoint>& all, const JudgeFacts& facts);

// Of one alone, without what stands beside it.
Judgement judge_alone(const Checkpoint& checkpoint);
// Its state, by its flaws and marks.
Completeness state_of(const Judgement& judgement);

// "4.97 GB"
std::string size_text(std::uint64_t bytes);

}  // namespace muster::checkpoint
