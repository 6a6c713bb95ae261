#include "core/progress/progress_log_event.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "core/progress/progress_words.h"

namespace muster {
namespace {

bool has_any(std::string_view line, std::span<const std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [line](std::string_view word) {
    return line.find(word) != std::string_view::npos;
  });
}

// As whoever reads fast shows the lines.
std::string told(std::string_view log) {
  std::string out;
  ProgressEvents events("a.log", [&](LogEvent event) {
    EXPECT_EQ(event.source, "a.log");
    EXPECT_EQ(event.role, EventRole::context);
    out += (out.empty() ? "" : "; ") + event.rule.substr(9) + " #" + std::to_string(*event.line);
    if (event.rank) out += " rank=" + std::to_string(*event.rank);
    for (const auto& [name, word] : event.words) out += " " + name + "=" + word;
  });
  std::uint64_t number = 0;
  for (const std::string_view line : split(log, '\n')) {
    ++number;
    if (has_any(line, event_words())) {
      events.line(line, number);
    } else if (has_any(line, step_words())) {
      events.step_line(line, number);
    }
  }
  events.finish();
  return out;
}

TEST(ProgressLogEvent, Table) {
  struct Row {
    const char* name;
    std::string log, gives;
  };
  const Row rows[] = {
      {"nothing", "GPU memory 3/8 GiB\nhello", ""},
      {"a setting", "save_every=500\nlearning rate 3e-4 at step", ""},
      {"a path is no count", "loading data/2/3 from /ckpt 1/2/2026", ""},
      {"more done than there is", "eval 9/3", "eval_begin #1"},
      {"a step that only speaks of steps", "the next step is to wait", ""},
      {"a rank of a host", "local_rank=3: Tokenizing shard 3 of 12", "long_work #1 done=3 of=12"},
      {"the same in words", "(local rank 3) Tokenizing shard 3 of 12", "long_work #1 done=3 of=12"},
      {"the number of a host", "node rank 1: Tokenizing shard 3 of 12",
       "long_work #1 done=3 of=12"},
      {"save", "saving checkpoint at step 500\nsaved checkpoint step 500 in 12.5 s",
       "save_begin #1 step=500; save_end #2 step=500 seconds=12.5"},
      {"evaluation of one rank", "2026-01-27 02:08:01 rank 3: Evaluating test set (12,400 items)",
       "eval_begin #1 rank=3"},
      {"main process", "[02:00:03] step 1000 start evaluation on main process\neval 6,215/14,900",
       "eval_begin #1 rank=0 step=1000; eval_begin #2 done=6215 of=14900"},
      {"other work that counts", "[rank1]: Tokenizing shard 3 of 12",
       "long_work #1 rank=1 done=3 of=12"},
      {"a shard of a save", "Model checkpoint of size 4.6 GiB saved to /c/model-00007-of-00030.st",
       "long_work #1 done=7 of=30"},
      {"a part of a save", "Getting optimizer state dict took 121.90 secs",
       "long_work #1 seconds=121.9"},
      {"last step", "step 1/9 loss 2.5\nstep 2/9 loss 2.4\nnothing\nthe next step is to wait",
       "last_step #2 step=2 target_step=9"},
      {"last step of each attempt",
       "step 7/9 loss 2.5\nstep 8/9 loss 2.5\nResuming from checkpoint at step 5\nstep 6/9 loss "
       "2.5",
       "last_step #2 step=8 target_step=9; restarted #3 step=5; last_step #4 step=6 target_step=9"},
      {"the end", "step 9/9 loss 2.1\nTraining complete",
       "finished #2; last_step #1 step=9 target_step=9"},
  };
  for (const Row& row : rows) EXPECT_EQ(told(row.log), row.gives) << row.name;
}

}  // namespace
}  // namespace muster
