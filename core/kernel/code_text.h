#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/kernel/kernel_cause.h"
#include "core/model/kernel_event.h"

// The tables of codes as answers for people and programs: what a number in a kernel log means and
// what to do when it stands there alone.

namespace muster {

enum class CodeTable : std::uint8_t { xid, sxid, nvlink };

struct CodeRow {
  CodeTable table = CodeTable::xid;
  std::int32_t code = 0;
  std::string unit;   // of a switch or an NVLink: "link layer", "NETIR_LINK_EVT"
  std::string where;  // the part that is at fault: "the board"; empty: the table does not say
  KernelJudgement judgement;
  std::string advice;  // in words, beside the actions; empty: none
};

// One row, all rows of the table where `code` is absent; of NVLink all rows of a code, or the one
// of the words behind it. Empty: the table has none.
std::vector<CodeRow> code_rows(CodeTable table, std::optional<std::int32_t> code,
                               const std::optional<NvlinkWords>& words);

// Few rows in full, many as a list of one line each.
std::string code_text(const std::vector<CodeRow>& rows, std::size_t width);

// One document, muster.code/1 (docs/FORMATS.md), without a newline.
std::string code_json(const std::vector<CodeRow>& rows);

}  // namespace muster
