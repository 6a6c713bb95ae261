#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "core/blocks/pack_manifest.h"
#include "core/blocks/resume_state.h"
#include "core/checkpoint/checkpoint_manifest.h"
#include "core/health/golden.h"
#include "core/model/gate_record.h"
#include "core/model/heartbeat.h"
#include "core/model/json_reader.h"
#include "core/model/report_json.h"
#include "core/model/verdict.h"
#include "edge/config/calibration_file.h"

// docs/FORMATS.md is what others program against: its examples are decoded, each by its schema.

namespace muster {
namespace {

std::vector<std::string> blocks_of(const std::string& language) {
  std::ifstream in(MUSTER_SOURCE_DIR "/docs/FORMATS.md");
  std::vector<std::string> blocks;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line == "```" + language) {
      blocks.emplace_back();
      inside = true;
    } else if (line == "```") {
      inside = false;
    } else if (inside) {
      blocks.back() += line + "\n";
    }
  }
  return blocks;
}

template <typename T>
std::string complaint_of(const Result<T>& result) {
  return result ? "" : result.error().context;
}

TEST(Formats, EveryExampleDecodes) {
  std::map<std::string, int> seen;
  for (const std::string& block : blocks_of("json")) {
    const std::string start = block.substr(0, block.find(','));
    ++seen[start];
    std::string complaint = "no decoder for " + start;
    if (start == R"({"schema":"muster.report/1")") complaint = complaint_of(decode_report(block));
    if (start == R"({"schema":"muster.heartbeat/1")") {
      complaint = complaint_of(decode_heartbeat(block));
    }
    if (start == R"({"schema":"muster.gate/1")")
      complaint = complaint_of(decode_gate_record(block));
    if (start == R"({"schema":"muster.pack/1")") {
      complaint = complaint_of(blocks::decode_manifest(block));
    }
    if (start == R"({"schema":"muster.pack_state/1")") {
      complaint = complaint_of(blocks::decode_resume_state(block));
    }
    if (start == R"({"schema":"muster.checkpoint/1")") {
      complaint = complaint_of(checkpoint::decode_checkpoint_manifest(block));
    }
    if (start == R"({"schema":"muster.golden/1")") {
      complaint = complaint_of(health::decode_golden(block));
    }
    // Written for others, read by none of ours.
    if (start == R"({"schema":"muster.check/1")") complaint = complaint_of(parse_json(block));
    if (start == R"({"schema":"muster.verdict/1")") complaint = complaint_of(decode_verdict(block));
    EXPECT_EQ(complaint, "") << block;
  }
  EXPECT_EQ(seen.size(), 9U);
}

TEST(Formats, CalibrationDecodes) {
  int seen = 0;
  for (const std::string& block : blocks_of("toml")) {
    if (!block.starts_with("schema = \"muster.calibration/1\"\n")) continue;
    ++seen;
    const auto read = parse_calibration(block, "FORMATS.md");
    EXPECT_EQ(complaint_of(read), "");
    if (read) {
      EXPECT_EQ(encode_calibration(*read).substr(0, 60), block.substr(0, 60));
    }
  }
  EXPECT_EQ(seen, 1);
}

}  // namespace
}  // namespace muster
