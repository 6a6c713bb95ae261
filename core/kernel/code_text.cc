#include "core/kernel/code_text.h"

#include <fmt/core.h>

#include <utility>

#include "base/text.h"
#include "core/kernel/nvlink5_table.h"
#include "core/kernel/sxid_table.h"
#include "core/kernel/xid_table.h"
#include "core/model/json_writer.h"

namespace muster {
namespace {

// More rows than this are a list.
constexpr std::size_t kInFull = 4;

std::string_view where_of(XidSide side) {
  constexpr std::string_view kWhere[] = {"nothing is broken: a notice, a test or a clean-up",
                                         "the program; the GPU is well",
                                         "the program or the hardware: another witness decides",
                                         "GPU memory",
                                         "the board of the GPU",
                                         "firmware or driver of the GPU",
                                         "NVLink, or the link to the processor",
                                         "the host: power, cooling, slot",
                                         "how the node was set up",
                                         "the line itself says",
                                         "not raised by data-center GPUs of today"};
  return kWhere[static_cast<std::size_t>(side)];
}

std::string_view look_of(NvlinkLook look) {
  constexpr std::string_view kLook[] = {
      "nothing to look at",
      "ask the vendor if it comes back",
      "if it comes back, hunt for a bad link",
      "if it comes back, look at the signal quality of the link",
      "if it comes back, look at signal quality, cables and connectors",
      "somebody took the link down",
      "somebody took the link down, or its signal is bad",
      "look at the device at the other end",
      "look at the other end; alone it is news for the vendor",
      "once is nothing; more than one a day is news for the vendor",
      "look at the host"};
  return kLook[static_cast<std::size_t>(look)];
}

CodeRow xid_row(const XidRow& row) {
  KernelEvent event;
  event.kind = KernelEventKind::xid;
  event.code = row.code;
  CodeRow out{.table = CodeTable::xid,
              .code = row.code,
              .unit = "",
              .where = std::string(where_of(row.side)),
              .judgement = cause_of(event),
              .advice = ""};
  if (row.code >= 144 && row.code <= 150) {
    out.judgement.meaning = row.meaning;
    out.advice = fmt::format("the words behind it decide: muster explain nvlink {}", row.code);
  }
  return out;
}

CodeRow sxid_row(const SxidRow& row) {
  KernelEvent event;
  event.kind = KernelEventKind::sxid;
  event.code = row.code;
  CodeRow out{.table = CodeTable::sxid,
              .code = row.code,
              .unit = std::string(sxid_unit(row.code)),
              .where = "",
              .judgement = cause_of(event),
              .advice = ""};
  if (row.grade == SxidClass::unlisted)
    out.advice = "the line's own word, Fatal or Non-fatal, decides";
  return out;
}

CodeRow nvlink_row(const NvlinkRow& row) {
  CodeRow out{.table = CodeTable::nvlink,
              .code = row.code,
              .unit = std::string(row.unit),
              .where = "",
              .judgement = {},
              .advice = std::string(look_of(row.look))};
  KernelJudgement& judgement = out.judgement;
  const bool reset = row.action == NvlinkDo::reset;
  judgement.cause = reset ? Cause::nvlink_down : Cause::nvlink_nonfatal;
  judgement.severity = reset ? Severity::critical : Severity::info;
  judgement.confidence = Confidence::medium;
  judgement.first = reset ? Action::drain_host : Action::watch;
  judgement.then = reset ? Action::reset_gpu : Action::none;
  judgement.meaning = row.action == NvlinkDo::follow_154 ? "do what the Xid 154 behind it says"
                      : reset                            ? "the GPU has to be reset"
                                                         : "nothing has to be done";
  judgement.meaning += row.status == NvlinkRow::kAnyStatus
                           ? fmt::format(" (reason {}, any status)", row.reason)
                           : fmt::format(" (reason {}, status {:#x})", row.reason, row.status);
  return out;
}

std::string_view table_name(CodeTable table) {
  constexpr std::string_view kNames[] = {"Xid", "SXid", "NVLink"};
  return kNames[static_cast<std::size_t>(table)];
}

std::string_view meaning_of(Action action) {
  for (const ActionRow& row : action_table()) {
    if (row.action == action) return row.meaning;
  }
  return "";
}

// Words broken at blanks; later lines start at column 10.
std::string wrapped(std::string_view text, std::size_t width) {
  constexpr std::size_t kIndent = 10;
  std::string out;
  std::size_t column = kIndent;
  for (const std::string_view word : split(text, ' ')) {
    const bool first = column == kIndent;
    if (!first && column + 1 + word.size() > width) {
      out += "\n" + std::string(kIndent, ' ');
      column = kIndent;
    } else if (!first) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out + "\n";
}

std::string in_full(const CodeRow& row, std::size_t width) {
  const KernelJudgement& judgement = row.judgement;
  std::string out = fmt::format("{} {}{}\n", table_name(row.table), row.code,
                                row.unit.empty() ? "" : " " + row.unit);
  out += "  means   " + wrapped(judgement.meaning, width);
  if (!row.where.empty()) out += "  where   " + wrapped(row.where, width);
  out += "  cause   " +
         wrapped(fmt::format("{}, {}, {} confidence where the line stands alone",
                             cause_name(judgement.cause), severity_name(judgement.severity),
                             confidence_name(judgement.confidence)),
                 width);
  std::string_view head = "  do      ";
  for (const Action action : {judgement.first, judgement.then}) {
    if (action == Action::none && head != "  do      ") continue;
    out += std::string(head) +
           wrapped(fmt::format("{}: {}", action_name(action), meaning_of(action)), width);
    head = "          ";
  }
  if (!row.advice.empty()) out += "  note    " + wrapped(row.advice, width);
  return out;
}

}  // namespace

std::vector<CodeRow> code_rows(CodeTable table, std::optional<std::int32_t> code,
                               const std::optional<NvlinkWords>& words) {
  std::vector<CodeRow> out;
  const auto wanted = [&code](std::int32_t have) { return !code || *code == have; };
  if (table == CodeTable::xid) {
    for (const XidRow& row : xid_table()) {
      if (wanted(row.code)) out.push_back(xid_row(row));
    }
  } else if (table == CodeTable::sxid) {
    for (const SxidRow& row : sxid_table()) {
      if (wanted(row.code)) out.push_back(sxid_row(row));
    }
  } else if (words && code) {
    const NvlinkRow* row = find_nvlink5(*code, *words);
    if (row != nullptr) out.push_back(nvlink_row(*row));
  } else {
    for (const NvlinkRow& row : nvlink5_table()) {
      if (wanted(row.code)) out.push_back(nvlink_row(row));
    }
  }
  return out;
}

std::string code_text(const std::vector<CodeRow>& rows, std::size_t width) {
  std::string out;
  for (const CodeRow& row : rows) {
    if (rows.size() <= kInFull) {
      out += in_full(row, width);
      continue;
    }
    const std::string unit = row.unit.empty() ? "" : row.unit + ": ";
    const std::string head =
        fmt::format("{:>6}  {:<8}  ", row.code, severity_name(row.judgement.severity));
    const std::size_t room = width > head.size() + 10 ? width - head.size() : 10;
    out += head + escape_controls(unit + row.judgement.meaning, room) + "\n";
  }
  return out;
}

std::string code_json(const std::vector<CodeRow>& rows) {
  JsonWriter w;
  w.begin_object().key("schema").value("muster.code/1").key("codes").begin_array();
  for (const CodeRow& row : rows) {
    const KernelJudgement& judgement = row.judgement;
    w.begin_object()
        .key("table")
        .value(to_lower(table_name(row.table)))
        .key("code")
        .value(row.code);
    w.key("unit").value(row.unit).key("where").value(row.where);
    w.key("meaning").value(judgement.meaning).key("cause").value(cause_name(judgement.cause));
    w.key("severity").value(severity_name(judgement.severity));
    w.key("confidence").value(confidence_name(judgement.confidence)).key("actions").begin_array();
    for (const Action action : {judgement.first, judgement.then}) {
      if (action != Action::none) w.value(action_name(action));
    }
    w.end_array().key("advice").value(row.advice).end_object();
  }
  return w.end_array().end_object().take();
}

}  // namespace muster
