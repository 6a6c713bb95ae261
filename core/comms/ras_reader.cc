#include "core/comms/ras_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/limits.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "core/comms/ras_sightings.h"
#include "core/model/json_reader.h"

namespace muster {
namespace ras {

std::optional<WitnessKind> kind_of_result(std::int64_t result) {
  constexpr std::int64_t kCuda = 1, kSystem = 2, kRemote = 6;
  if (result == kCuda) return WitnessKind::cuda_error;
  if (result == kSystem || result == kRemote) return WitnessKind::network_error;
  return std::nullopt;
}

void sight_behind(const Counts& counts, std::vector<Sighting>& out) {
  if (counts.below == 0 || counts.below * 2 > counts.size) return;
  for (const Counts::Rank& rank : counts.ranks) {
    if (rank.count >= counts.most) continue;
    Sighting s;
    s.kind = WitnessKind::ras_behind;
    s.of_job = counts.of_job;
    s.rank = rank.rank;
    s.place = rank.place;
    s.count = rank.count;
    s.line = rank.line;
    for (const char c : counts.op) s.op += c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    s.text = fmt::format("{}: launched {} {}, others {} (rank {} of {}, process {} on {})",
                         counts.comm, rank.count, counts.op, counts.most, rank.rank, counts.size,
                         rank.place.pid, rank.place.host);
    if (s.op == "COLLECTIVE") s.op.clear();
    out.push_back(std::move(s));
  }
}

void place_sightings(const std::vector<Sighting>& sightings,
                     const std::map<Place, std::int32_t>& job, const std::string& source,
                     std::optional<WallTime> at, RasReading& out) {
  std::size_t homeless = 0;
  for (const Sighting& s : sightings) {
    std::optional<std::int32_t> rank;
    if (s.of_job && s.rank >= 0 && s.rank <= (1 << 24)) rank = static_cast<std::int32_t>(s.rank);
    if (const auto found = job.find(s.place); !rank && found != job.end()) rank = found->second;
    if (!rank) {
      if (++homeless <= limits::kNotesOfLog) {
        out.notes.push_back(
            fmt::format("{}: which rank of the job this is cannot be told: {}", source, s.text));
      }
      continue;
    }
    if (out.witnesses.size() >= limits::kWitnesses) return;
    RankWitness value;
    value.kind = s.kind;
    value.rank = *rank;
    if (s.of_job) value.group = "default_pg";
    value.enqueued = s.count;
    value.code = s.code;
    value.op = s.op;
    value.at = at;
    value.source = source;
    value.line = s.line;
    value.text = whole_characters(s.text, limits::kEvidenceChars);
    out.witnesses.push_back(std::move(value));
    if (!s.place.host.empty() && s.place.host != "unknown") out.hosts[*rank] = s.place.host;
  }
}

}  // namespace ras

namespace {

using ras::Counts;
using ras::Place;
using ras::Sighting;

struct Member {
  std::int64_t rank = -1;
  Place place;
  const JsonNode* node = nullptr;
};

std::int64_t integer(const JsonNode& node, std::string_view key, std::int64_t otherwise) {
  const JsonNode* found = node.find(key);
  const auto* value = found ? found->get<std::int64_t>() : nullptr;
  return value ? *value : otherwise;
}
std::string text(const JsonNode& node, std::string_view key) {
  const JsonNode* found = node.find(key);
  const auto* value = found ? found->get<std::string>() : nullptr;
  return value ? value->substr(0, 256) : "";
}
bool flag(const JsonNode* node, std::string_view key) {
  const JsonNode* found = node ? node->find(key) : nullptr;
  const auto* value = found ? found->get<bool>() : nullptr;
  return value && *value;
}

std::vector<Member> members(const JsonNode& comm, std::string_view key) {
  std::vector<Member> out;
  const JsonNode* found = comm.find(key);
  const auto* array = found ? found->get<JsonNode::Array>() : nullptr;
  if (!array) return out;
  for (const JsonNode& node : *array) {
    out.push_back({integer(node, "rank", -1),
                   {text(node, "host"), integer(node, "pid", -1), integer(node, "cuda_dev", -1)},
                   &node});
  }
  return out;
}

struct Communicator {
  std::string name;
  std::int64_t size = 0;
  bool of_job = false;
  std::vector<Member> ranks, missing;
};

void sight_states(const Communicator& comm, std::vector<Sighting>& out) {
  const auto sight = [&](const Member& m, WitnessKind kind, std::string_view what) {
    Sighting s;
    s.kind = kind;
    s.of_job = comm.of_job;
    s.rank = m.rank;
    s.place = m.place;
    s.text = fmt::format("{}: rank {} of {} {} (process {} on {}, GPU {})", comm.name, m.rank,
                         comm.size, what, m.place.pid, m.place.host, m.place.device);
    out.push_back(std::move(s));
  };
  for (const Member& m : comm.missing) {
    const JsonNode* status = m.node->find("status");
    if (flag(status, "considered_dead")) {
      sight(m, WitnessKind::ras_missing, "is considered dead");
    } else if (flag(status, "unresponsive")) {
      sight(m, WitnessKind::ras_missing, "does not answer");
    } else if (comm.of_job) {
      sight(m, WitnessKind::left_script, "answers and has left the communicator");
    }
  }
  for (const Member& m : comm.ranks) {
    const JsonNode* status = m.node->find("status");
    if (!status) continue;
    const bool aborted = flag(status, "abort_flag");
    const bool leaving = flag(status, "finalize_called") || flag(status, "destroy_flag");
    if (comm.of_job && leaving && !aborted) {
      sight(m, WitnessKind::left_script, "ends its communicator");
    }
    for (const std::string_view key : {"init_state", "async_error"}) {
      const std::int64_t result = integer(*status, key, 0);
      const auto kind = ras::kind_of_result(result);
      if (!kind) continue;
      sight(m, *kind, fmt::format("reports {} {}", key, result));
      out.back().code = static_cast<int>(result);
    }
  }
}

void sight_counts(const Communicator& comm, std::vector<Sighting>& out) {
  std::map<std::string, Counts> of_op;
  for (const Member& m : comm.ranks) {
    const JsonNode* counts = m.node->find("collective_counts");
    const auto* object = counts ? counts->get<JsonNode::Object>() : nullptr;
    if (!object) continue;
    for (const auto& [name, value] : *object) {
      const auto* count = value.get<std::int64_t>();
      if (!count || *count < 0 || name.size() > 64 || of_op.size() > 64) continue;
      Counts& c = of_op[name];
      c.ranks.push_back({m.rank, *count, m.place, std::nullopt});
      c.most = std::max(c.most, *count);
    }
  }
  for (auto& [name, counts] : of_op) {
    counts.op = name;
    counts.comm = comm.name;
    counts.of_job = comm.of_job;
    counts.size = static_cast<std::int64_t>(counts.ranks.size());
    counts.below = std::count_if(counts.ranks.begin(), counts.ranks.end(),
                                 [&](const Counts::Rank& r) { return r.count < counts.most; });
    ras::sight_behind(counts, out);
  }
}

// The GPU of each rank of the job, from the communicator that holds all of them; empty where there
// is none, or where two of them number the ranks differently.
std::map<Place, std::int32_t> ranks_of_job(std::vector<Communicator>& comms, std::int64_t gpus) {
  std::map<Place, std::int32_t> job;
  for (Communicator& comm : comms) {
    if (comm.size <= 0 || comm.size != gpus) continue;
    const bool first = job.empty();
    for (const auto* list : {&comm.ranks, &comm.missing}) {
      for (const Member& m : *list) {
        if (m.rank < 0 || m.rank >= comm.size) continue;
        const auto rank = static_cast<std::int32_t>(m.rank);
        const auto [found, fresh] = job.emplace(m.place, rank);
        if (!fresh && found->second != rank) {
          for (Communicator& c : comms) c.of_job = false;
          return {};
        }
      }
    }
    comm.of_job = first;
  }
  return job;
}

RasReading read_json(const JsonNode& document, const std::string& source) {
  RasReading out;
  std::vector<Communicator> comms;
  std::set<Place> gpus;
  const auto* array = document.find("communicators")->get<JsonNode::Array>();
  for (const JsonNode& node : *array) {
    Communicator comm{fmt::format("communicator {}", text(node, "hash")), integer(node, "size", 0),
                      false, members(node, "ranks"), members(node, "missing_ranks")};
    for (const auto* list : {&comm.ranks, &comm.missing}) {
      for (const Member& m : *list) gpus.insert(m.place);
    }
    comms.push_back(std::move(comm));
  }
  std::map<Place, std::int32_t> job = ranks_of_job(comms, static_cast<std::int64_t>(gpus.size()));
  for (const auto& [place, rank] : job) {
    if (place.host != "unknown") out.hosts[rank] = place.host;
  }
  if (job.empty() && !comms.empty()) {
    out.notes.push_back(source + ": no communicator holds all GPUs of the job");
  }
  const std::string stamp = text(document, "timestamp");
  const auto at = parse_timestamp(stamp);
  std::vector<Sighting> sightings;
  for (const Communicator& comm : comms) {
    sight_states(comm, sightings);
    sight_counts(comm, sightings);
  }
  ras::place_sightings(sightings, job, source, at ? std::optional(at->at) : std::nullopt, out);
  return out;
}

}  // namespace

bool looks_like_ras(std::string_view head) {
  if (trim(head).starts_with('{')) {
    return head.find("\"nccl_version\"") != std::string_view::npos &&
           head.find("\"communicators") != std::string_view::npos;
  }
  return head.find("Job summary\n===========") != std::string_view::npos ||
         head.find("\nCommunicators...") != std::string_view::npos;
}

Result<RasReading> read_ras(std::string_view bytes, const std::string& source) {
  const std::size_t start = bytes.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) {
    return make_error(Errc::invalid_input, "empty");
  }
  if (bytes[start] != '{') {
    if (!looks_like_ras(bytes)) {
      return make_error(Errc::invalid_input, "no answer of NCCL RAS");
    }
    return ras::read_text(bytes, source);
  }
  const auto document = parse_json(bytes);
  if (!document) return document.error();
  const JsonNode* comms = document->find("communicators");
  if (!comms || !comms->get<JsonNode::Array>()) {
    return make_error(Errc::invalid_input, "no answer of NCCL RAS: \"communicators\" is missing");
  }
  return read_json(*document, source);
}

}  // namespace muster
