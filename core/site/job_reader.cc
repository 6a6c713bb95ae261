#include "core/site/job_reader.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "core/site/slurm_values.h"

namespace muster {
namespace {

// "CANCELLED by 1044" -> state and who; "CANCELLED+" was cut.
void set_state(JobRecord& job, std::string_view text) {
  const auto words = words_of(text, 3);
  if (words.empty()) return;
  std::string_view state = words[0];
  if (state.ends_with('+')) state.remove_suffix(1);
  job.state = short_text(state);
  if (words.size() == 3 && words[1] == "by") job.by = short_text(words[2]);
}

// "0:15"
void set_exit(JobRecord& job, std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto code = parse_uint(trim(text.substr(0, colon)));
  if (!code || *code > 255) return;
  job.exit_code = static_cast<int>(*code);
  if (colon == std::string_view::npos) return;
  const auto signal = parse_uint(trim(text.substr(colon + 1)));
  if (signal && *signal <= 64) job.exit_signal = static_cast<int>(*signal);
}

void set_hosts(SiteText& out, JobRecord& job, std::string_view text) {
  text = trim(text);
  // squeue writes the reason of waiting there: "(Priority)".
  if (text.empty() || text.starts_with('(') || text == "None assigned" || text == "N/A") return;
  if (text.ends_with('+')) return;  // cut
  job.hosts = out.hosts_of(text);
}

// One field by the name of its column.
void set_field(SiteText& text, JobRecord& job, std::string_view column, std::string_view value) {
  const std::string name = to_lower(column);
  if (name == "jobid" || name == "jobidraw") job.id = short_text(value);
  if (name == "jobname" || name == "name") job.name = short_text(value);
  if (name == "state" || name == "st" || name == "jobstate") set_state(job, value);
  if (name == "exitcode" || name == "exit_code") set_exit(job, value);
  if (name == "elapsed" || name == "time" || name == "runtime") {
    job.elapsed = read_slurm_duration(value);
  }
  if (name == "timelimit" || name == "time_limit") job.limit = read_slurm_duration(value);
  if (name == "start" || name == "starttime" || name == "start_time") {
    job.start = read_slurm_time(value);
  }
  if (name == "end" || name == "endtime" || name == "end_time") job.end = read_slurm_time(value);
  if (name == "nodelist" || name == "nodelist(reason)") set_hosts(text, job, value);
}

bool is_id(std::string_view text) {
  return !text.empty() && text.front() >= '0' && text.front() <= '9' && text.size() <= 64 &&
         text.find(' ') == std::string_view::npos;
}

bool is_heading(std::span<const std::string_view> columns) {
  const auto has = [&](std::string_view name) {
    return std::any_of(columns.begin(), columns.end(),
                       [&](auto c) { return equals_ignoring_case(trim(c), name); });
  };
  return (has("JobID") || has("JobIDRaw")) &&
         (has("State") || has("ST") || has("ExitCode") || has("Elapsed") || has("NodeList"));
}

// ---- tables ------------------------------------------------------------------------------------

struct Table {
  std::vector<std::string_view> columns;
  char mark = ' ';                  // between cells; ' ': by words or widths
  std::vector<std::size_t> widths;  // of the dashes
};

std::vector<std::string_view> cells_of(const Table& table, std::string_view line) {
  if (table.mark != ' ') return split(line, table.mark);
  if (table.widths.empty()) return words_of(line, table.columns.size());
  std::vector<std::string_view> out;
  std::size_t at = 0;
  for (std::size_t i = 0; i < table.widths.size(); ++i) {
    if (at > line.size()) return out;
    const bool last = i + 1 == table.widths.size();
    out.push_back(trim(line.substr(at, last ? std::string_view::npos : table.widths[i])));
    at += table.widths[i] + 1;
  }
  return out;
}

std::optional<Table> read_heading(std::string_view line) {
  for (const char mark : {'|', ',', ';', '^'}) {
    Table table{split(line, mark), mark, {}};
    if (table.columns.size() >= 2 && is_heading(table.columns)) return table;
  }
  Table table{words_of(line), ' ', {}};
  if (table.columns.size() < 3 || !is_heading(table.columns)) return std::nullopt;
  return table;
}

bool read_dashes(Table& table, std::string_view line) {
  if (line.find_first_not_of("- ") != std::string_view::npos || line.size() < 4) return false;
  for (const std::string_view word : words_of(line)) table.widths.push_back(word.size());
  return table.widths.size() == table.columns.size();
}

std::optional<JobRecord> read_row(SiteText& text, const Table& table, std::string_view line) {
  const auto cells = cells_of(table, line);
  if (cells.size() + 1 < table.columns.size()) return std::nullopt;
  JobRecord job;
  for (std::size_t i = 0; i < std::min(cells.size(), table.columns.size()); ++i) {
    set_field(text, job, trim(table.columns[i]), trim(cells[i]));
  }
  if (!is_id(job.id)) return std::nullopt;
  return job;
}

void read_tables(SiteText& text) {
  std::optional<Table> table;
  for (std::size_t i = 0; i < text.lines().size(); ++i) {
    const std::string_view line = text.line(i);
    if (text.claimed(i)) continue;
    if (auto found = read_heading(line)) {
      table = std::move(found);
      text.claim(i);
    } else if (table && table->mark == ' ' && table->widths.empty() && read_dashes(*table, line)) {
      text.claim(i);
    } else if (table && !line.empty()) {
      if (auto job = read_row(text, *table, line)) text.add(i, std::move(*job));
    }
  }
}

// ---- scontrol show job -------------------------------------------------------------------------

// The fields from line `first` up to the end of their block, which is given back.
std::size_t read_block(SiteText& text, std::size_t first) {
  JobRecord job;
  std::size_t i = first;
  for (; i < text.lines().size(); ++i) {
    const std::string_view line = text.line(i);
    if (line.empty() || (i > first && line.starts_with("JobId="))) break;
    if (line.find('=') == std::string_view::npos) continue;
    text.claim(i);
    for (const std::string_view word : words_of(line)) {
      const std::size_t equals = word.find('=');
      if (equals == std::string_view::npos) continue;
      set_field(text, job, word.substr(0, equals), word.substr(equals + 1));
    }
  }
  if (is_id(job.id)) text.add(first, std::move(job));
  return i;
}

void read_scontrol(SiteText& text) {
  for (std::size_t i = 0; i < text.lines().size();) {
    i = text.line(i).starts_with("JobId=") ? read_block(text, i) : i + 1;
  }
}

}  // namespace

void read_jobs(SiteText& text) {
  read_tables(text);
  read_scontrol(text);
}

}  // namespace muster
