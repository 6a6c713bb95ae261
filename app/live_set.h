#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/live_input.h"
#include "app/sources.h"

namespace muster {

// True where any source is a live one.
bool has_live_source(const std::vector<std::string>& sources, Files& files);

// The sources of a live run, as `triage --follow`, `top` and `record` take them: live ones, and
// files, which are read once at open() or, with `follow`, as they grow. Everything goes into
// `target`.
class LiveSet {
 public:
  LiveSet(const std::vector<std::string>& sources, const SourceOptions& options, bool follow,
          Files& files, Clock& clock, RowTarget& target)
      : sources_(sources),
        options_(options),
        follow_(follow),
        files_(files),
        clock_(clock),
        target_(target) {}

  // Opens all, and reads what is read once. Errc of a source where none could be opened.
  Status open();
  // Asks each source once. One that fails is blind until it answers again, and takes no more than
  // its share of the time.
  void poll(MonoTime deadline);

  // What is not read at this moment, and what stays to be told.
  std::vector<Blind> blind() const;
  const std::vector<std::string>& notes() const { return fixed_.notes; }
  // There are rows, and of none of them anybody knows when it was taken.
  bool undated() const;

 private:
  struct Watched {
    std::unique_ptr<LiveInput> input;
    std::optional<Error> failure;
  };
  void add(std::unique_ptr<LiveInput> input) { watched_.push_back({std::move(input), {}}); }
  void add_tails(std::vector<SourceSpec> specs);
  Status read_once(const std::vector<std::string>& sources);

  const std::vector<std::string>& sources_;
  const SourceOptions& options_;
  bool follow_;
  Files& files_;
  Clock& clock_;
  RowTarget& target_;
  std::vector<Watched> watched_;
  SourceSummary fixed_;
};

}  // namespace muster
