#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "core/comms/ras_sightings.h"
#include "core/comms/scan.h"

namespace muster::ras {
namespace {

using namespace comms;

// "GPU 3 (NVML 5) managed by process 483075 on node 172.16.64.210", or "[process information...]".
Place read_place(std::string_view text) {
  Place place;
  place.device = int_behind(text, "GPU").value_or(-1);
  place.pid = int_behind(text, "process").value_or(-1);
  if (const auto host = behind(text, "on node ")) {
    place.host = std::string(host->substr(0, std::min(host->find(' '), std::size_t{256})));
  }
  return place;
}

class TextReader {
 public:
  explicit TextReader(const std::string& source) : source_(source) {}

  void line(std::string_view text, std::uint64_t number);
  RasReading finish();

 private:
  bool section(std::string_view text);
  void table_row(std::string_view text);
  void summary_row(std::string_view text);
  bool counted(std::string_view text);
  void rank_line(std::string_view text, std::uint64_t number);
  void process_line(std::string_view text, std::uint64_t number);
  void end_counts();
  void sight(WitnessKind kind, std::int64_t rank, Place place, std::uint64_t number,
             std::string_view text);

  const std::string& source_;
  enum class Part { none, incomplete, dead, mismatch, error } part_ = Part::none;
  bool in_summary_ = false;
  std::int64_t gpus_ = 0;                               // of the job
  std::map<std::int64_t, std::int64_t> size_of_group_;  // ranks of one communicator
  std::string comm_;                                    // "communicator #0-0 (27a0)"
  bool of_job_ = false;
  std::int64_t size_ = 0;
  Counts counts_;
  std::int64_t current_ = -1;  // count of the ranks that are listed next
  std::map<std::int64_t, std::int64_t> ranks_with_;
  std::string status_;  // of the ranks that are listed next
  std::vector<Sighting> sightings_;
  std::map<Place, std::int32_t> job_;
  RasReading out_;
};

// "#0-0 (27a079b828ff1a75) MISMATCH", "INCOMPLETE", "DEAD".
bool TextReader::section(std::string_view text) {
  const auto part_of = [](std::string_view word) {
    if (word == "INCOMPLETE") return Part::incomplete;
    if (word == "DEAD") return Part::dead;
    if (word == "MISMATCH") return Part::mismatch;
    if (word == "ERROR") return Part::error;
    return Part::none;
  };
  std::string_view rest = text;
  if (take(rest, "#")) {
    const auto group = take_int(rest);
    const std::size_t word = rest.rfind(' ');
    if (!group || word == std::string_view::npos) return false;
    end_counts();
    status_.clear();
    part_ = part_of(rest.substr(word + 1));
    comm_ =
        fmt::format("communicator {}", text.substr(0, std::min(text.rfind(' '), std::size_t{64})));
    const auto size = size_of_group_.find(*group);
    size_ = size == size_of_group_.end() ? 0 : size->second;
    of_job_ = size_ > 0 && size_ == gpus_;
    return true;
  }
  const Part part = part_of(text);
  if (part == Part::none) return false;
  end_counts();
  part_ = part;
  comm_ = "job";
  of_job_ = false;
  return true;
}

// "    0         1         4         8        32        32   RUNNING  MISMATCH"
void TextReader::table_row(std::string_view text) {
  std::vector<std::string_view> cells;
  for (const std::string_view cell : split(text, ' ')) {
    if (!cell.empty()) cells.push_back(cell);
  }
  if (cells.size() != 8 || size_of_group_.size() > 4096) return;
  const auto group = parse_int(cells[0]);
  const auto size = parse_int(cells[4]);
  if (group && size) size_of_group_[*group] = *size;
}

// The last row of numbers of the summary ends in the GPUs of the job.
void TextReader::summary_row(std::string_view text) {
  const std::size_t last = text.rfind(' ');
  const auto gpus = parse_int(text.substr(last + 1));
  if (gpus && text.find_first_not_of(" 0123456789") == std::string_view::npos) gpus_ = *gpus;
}

// "26 ranks have launched up to operation 6650": those ranks may be listed next.
bool TextReader::counted(std::string_view text) {
  std::string_view rest = text;
  const auto ranks = take_int(rest);
  if (!ranks) return false;
  if (take(rest, " ranks have status ")) {
    status_ = std::string(rest.substr(0, 32));
    current_ = -1;
    return true;
  }
  std::optional<std::int64_t> count;
  if (take(rest, " ranks have launched up to operation ")) count = take_int(rest);
  if (take(rest, " ranks have not launched any operations")) count = 0;
  if (!count || counts_.op.empty() || ranks_with_.size() > 65536) return false;
  status_.clear();
  current_ = *count;
  ranks_with_[*count] += std::clamp<std::int64_t>(*ranks, 0, 1 << 24);
  return true;
}

void TextReader::sight(WitnessKind kind, std::int64_t rank, Place place, std::uint64_t number,
                       std::string_view text) {
  Sighting s;
  s.kind = kind;
  s.of_job = of_job_;
  s.rank = rank;
  s.place = std::move(place);
  s.line = number;
  s.text = fmt::format("{}: {}", comm_, text.substr(0, 240));
  sightings_.push_back(std::move(s));
}

// "Rank 3 -- GPU 3 managed by ...", "Rank 3 has status INIT -- ...", "Rank 3 reported ... -- ...",
// "Rank 3 has launched up to operation 6649 -- ..."
void TextReader::rank_line(std::string_view text, std::uint64_t number) {
  std::string_view rest = text.substr(5);
  const auto rank = take_rank(rest);
  if (!rank) return;
  const std::size_t dashes = rest.find(" -- ");
  const std::string_view said = trim(rest.substr(0, dashes));
  const Place place =
      read_place(dashes == std::string_view::npos ? std::string_view() : rest.substr(dashes));
  if (of_job_ && !place.host.empty()) job_.emplace(place, *rank);
  if (part_ == Part::incomplete || part_ == Part::dead) {
    return sight(WitnessKind::ras_missing, *rank, place, number, text);
  }
  if (part_ == Part::error) {
    const bool cuda = said.find("CUDA") != std::string_view::npos;
    const bool peer = said.find("Remote process") != std::string_view::npos ||
                      said.find("System") != std::string_view::npos;
    if (cuda) sight(WitnessKind::cuda_error, *rank, place, number, text);
    if (peer) sight(WitnessKind::network_error, *rank, place, number, text);
    return;
  }
  if (part_ != Part::mismatch) return;
  const std::string_view status =
      said.starts_with("has status ") ? said.substr(11) : std::string_view(status_);
  if (!status.empty()) {
    const bool left = status == "FINALIZE" || status == "NOCOMM";
    if (left && of_job_) sight(WitnessKind::left_script, *rank, place, number, text);
    return;
  }
  std::optional<std::int64_t> count;
  if (said.empty() && current_ >= 0) count = current_;
  if (const auto own = int_behind(said, "has launched up to operation")) count = own;
  if (said == "has not launched any operations") count = 0;
  if (!count || counts_.op.empty() || ranks_with_.size() > 65536) return;
  if (!said.empty()) ranks_with_[*count] += 1;
  counts_.ranks.push_back({*rank, *count, place, number});
}

// "Process 3487984 on node 172.16.64.213 managing GPU 5"
void TextReader::process_line(std::string_view text, std::uint64_t number) {
  if (part_ != Part::incomplete && part_ != Part::dead) return;
  std::string_view rest = text.substr(8);
  Place place = read_place(text);
  place.pid = take_int(rest).value_or(-1);
  sight(WitnessKind::ras_missing, -1, std::move(place), number, text);
}

void TextReader::end_counts() {
  if (!counts_.op.empty() && !ranks_with_.empty()) {
    counts_.most = ranks_with_.rbegin()->first;
    std::int64_t all = 0;
    for (const auto& [count, ranks] : ranks_with_) {
      all += ranks;
      if (count < counts_.most) counts_.below += ranks;
    }
    counts_.size = std::max(size_, all);
    sight_behind(counts_, sightings_);
  }
  counts_ = {};
  ranks_with_.clear();
  current_ = -1;
}

void TextReader::line(std::string_view text, std::uint64_t number) {
  if (sightings_.size() > 1 << 20 || counts_.ranks.size() > 1 << 20) return;
  const std::string_view words = trim(text);
  if (words == "Job summary") in_summary_ = true;
  if (words.starts_with("Communicators")) in_summary_ = false;
  if (words.empty() || section(words)) return;
  if (in_summary_) return summary_row(words);
  if (words.starts_with("Rank ")) return rank_line(words, number);
  if (words.starts_with("Process ")) return process_line(words, number);
  if (words.starts_with("Communicator ranks have different ")) {
    end_counts();
    status_.clear();
    std::string_view op = words.substr(34);
    op = op.substr(0, op.find(' '));
    counts_.op = op == "status" ? "" : std::string(op.substr(0, 64));
    counts_.comm = comm_;
    counts_.of_job = of_job_;
    return;
  }
  if (!counted(words)) table_row(words);
}

RasReading TextReader::finish() {
  end_counts();
  place_sightings(sightings_, job_, source_, std::nullopt, out_);
  return std::move(out_);
}

}  // namespace

RasReading read_text(std::string_view text, const std::string& source) {
  TextReader reader(source);
  std::uint64_t number = 0;
  for (const std::string_view line : split(text, '\n')) reader.line(line, ++number);
  return reader.finish();
}

}  // namespace muster::ras
