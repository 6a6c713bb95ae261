#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "edge/os/descriptor.h"
#include "train/run/step_report.h"

namespace muster::train {

// Grows at its end; each line is written at once, so that a killed run loses none.
class AppendedFile {
 public:
  // `lines`: what is there ends with a newline, or is given one, so that a line that a crash has
  // torn does not run into the next.
  static Result<AppendedFile> open(const std::string& path, bool lines);
  AppendedFile() = default;  // of no file: writing to it does nothing

  Status append(std::string_view bytes) const;

 private:
  Descriptor fd_;
  std::string path_;
};

// What a run says. Rank 0 prints steps and events and keeps them in OUT/metrics.jsonl and in an
// event file of TensorBoard; other ranks complain only, with their number. A file that cannot be
// written is complained of once, and the run goes on: its checkpoints matter more.
class RunOutput {
 public:
  RunOutput(int rank, int world) : rank_(rank), world_(world) {}

  // Of rank 0. A run that goes on adds to its metrics; each start has an event file of its own.
  Status open(const std::string& out_folder);

  void step(const StepReport& report);
  void event(const RunEvent& event);
  // To standard error, of any rank.
  void complain(std::string_view text);
  // What did no harm, to standard error, of rank 0 alone.
  void warn(const std::vector<std::string>& warnings);
  // To standard output, of rank 0 alone.
  void say(std::string_view text);

 private:
  void append(AppendedFile& to, std::string_view bytes);

  int rank_, world_;
  AppendedFile metrics_, events_;
};

}  // namespace muster::train
