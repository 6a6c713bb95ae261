#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/pack_build.h"
#include "app/pack_vocabulary.h"
#include "cmd/console.h"
#include "cmd/options.h"

namespace muster {

// `muster pack IN... --out DIR`: the part of the verb (cmd/pack.cc) that makes a pack.
class PackBuildCommand {
 public:
  void declare(VerbOptions& options);
  // Examples, a line each, and what there is to know.
  static std::string_view examples();
  bool asked() const { return !request_.out.empty() || !choice_.tokenizer.empty(); }
  ExitStatus run(std::vector<std::string> paths, Console& console);

 private:
  Status understand();

  PackRequest request_;
  VocabularyChoice choice_;
  std::string packing_ = "concat", specials_ = "usual", split_, remainder_ = "drop";
  std::int64_t block_ = 2048, threads_ = 0, global_batch_ = 0;
};

}  // namespace muster
