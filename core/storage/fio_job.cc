#include "core/storage/fio_job.h"

#include <fmt/core.h>

#include "base/check.h"
#include "core/model/json_reader.h"

namespace muster::storage {
namespace {

// fio takes a colon in a name for the end of it.
std::string escaped(std::string_view path) {
  std::string out;
  for (const char c : path) {
    if (c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::vector<std::string> fio_arguments(const RowPlan& row, std::string_view path) {
  MUSTER_CHECK(!row.segments.empty(), "a row has streams");
  const std::uint64_t each = row.segments.front().end - row.segments.front().begin;
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(row.length).count();
  std::vector<std::string> out = {
      "--readonly",
      "--eta=never",
      "--output-format=json",
      "--name=row",
      "--filename=" + escaped(path),
      "--rw=read",
      fmt::format("--bs={}", kBlockBytes),
      fmt::format("--size={}", each),
      fmt::format("--offset_increment={}", each),
      fmt::format("--numjobs={}", row.segments.size()),
      fmt::format("--runtime={}ms", ms),
      fmt::format("--direct={}", row.direct ? 1 : 0),
      "--thread",
      "--group_reporting",
      "--invalidate=0",
      "--fadvise_hint=0",
      "--iomem_align=4096",
      "--allow_file_create=0",
      "--fallocate=none",
      "--disk_util=0",
  };
  if (row.depth > 1) {
    out.emplace_back("--ioengine=libaio");
    out.push_back(fmt::format("--iodepth={}", row.depth));
  } else {
    out.emplace_back("--ioengine=psync");
  }
  if (!row.once) out.emplace_back("--time_based");
  return out;
}

Result<FioAnswer> parse_fio_answer(std::string_view text) {
  const std::size_t begin = text.find('{');
  if (begin == std::string_view::npos) {
    return make_error(Errc::corrupt, "fio answered without a JSON document");
  }
  const auto document = parse_json(text.substr(begin));
  if (!document) return within("answer of fio", document.error());
  JsonFields fields(*document);
  FioAnswer answer;
  answer.version = fields.text("fio version").value_or("");
  const JsonNode::Array& jobs = fields.array("jobs");
  if (fields.fault()) return within("answer of fio", *fields.fault());
  if (jobs.size() != 1) {
    return make_error(Errc::corrupt,
                      fmt::format("answer of fio: {} groups of jobs, not one", jobs.size()));
  }
  JsonFields job(jobs.front(), "jobs[0].");
  const std::int64_t error = job.require_integer("error", INT64_MIN);
  const JsonNode* read = job.require("read");
  if (job.fault()) return within("answer of fio", *job.fault());
  if (error != 0) {
    return make_error(Errc::unavailable, fmt::format("fio ended with error {}", error));
  }
  JsonFields numbers(*read, "jobs[0].read.");
  answer.bytes = numbers.unsigned_integer("io_bytes").value_or(0);
  answer.bytes_per_second = numbers.number("bw_bytes").value_or(0);
  if (numbers.fault()) return within("answer of fio", *numbers.fault());
  if (answer.bytes == 0 || !(answer.bytes_per_second > 0)) {
    return make_error(Errc::unavailable, "fio read nothing");
  }
  return answer;
}

}  // namespace muster::storage
