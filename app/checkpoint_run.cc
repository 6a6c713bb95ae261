#include "app/checkpoint_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <utility>

#include "app/folder_walk.h"
#include "base/limits.h"
#include "base/line_splitter.h"
#include "core/blocks/block_hash.h"
#include "core/checkpoint/checkpoint_groups.h"
#include "core/site/site_document.h"
#include "edge/os/data_file.h"

namespace muster {
namespace {

using checkpoint::Checkpoint;
using checkpoint::FileFacts;
using checkpoint::FileKind;
using checkpoint::FileState;
using checkpoint::FoundPath;

constexpr std::size_t kHashBytes = 4 * 1024 * 1024;

// What one path of the input was before its files are read.
struct Found {
  FoundPath place;
  std::optional<FileFacts> listed;  // of a listing; otherwise the file is there to be read
  FileInfo info;
};

class Check {
 public:
  Check(const CheckpointRequest& request, Files& files)
      : request_(request), files_(files), walk_(files, {.links = true}) {}

  Result<checkpoint::CheckpointAnswer> run();

 private:
  void path(const std::string& path);
  void folder(const std::string& path);
  void text(const std::string& path);
  bool listing(const std::string& path, std::string_view bytes);
  void log(ByteStream& stream, const std::string& path, std::string_view head);
  FileFacts facts_of(std::size_t member, std::string name) const;
  void assemble();
  void deep(Checkpoint& checkpoint) const;
  void fail(const std::string& path, const Error& error);

  const CheckpointRequest& request_;
  Files& files_;
  FolderWalk walk_;
  std::vector<Found> found_;
  std::vector<Checkpoint> checkpoints_;
  checkpoint::JudgeFacts facts_;
  std::vector<Blind> blind_;
  std::optional<Error> failure_;
  bool seen_ = false;
};

void Check::fail(const std::string& path, const Error& error) {
  if (!failure_) failure_ = error;
  blind_.push_back({path, error.context, true});
}

void Check::path(const std::string& given) {
  std::string path = given;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  if (path == "-") return text(path);
  const auto info = files_.stat(path);
  if (!info) return fail(path, info.error());
  if (info->type == FileInfo::Type::folder) return folder(path);
  const FileKind kind = checkpoint::kind_of_file(path);
  if (kind != FileKind::safetensors && kind != FileKind::torch) return text(path);
  seen_ = true;
  found_.push_back({{path, path.size(), false}, std::nullopt, *info});
}

void Check::folder(const std::string& path) {
  seen_ = true;
  walk_.walk(path, [&](const std::string& inner, const FileInfo& info) {
    found_.push_back({{inner, path.size(), false}, std::nullopt, info});
  });
  if (!failure_) failure_ = walk_.failure;
  // A save that was killed at its start left a folder and nothing in it.
  found_.push_back({{path, path.size(), true}, std::nullopt, {}});
  const auto names = files_.list(path);
  if (!names) return;
  for (const std::string& name : *names) {
    if (!checkpoint::step_of_name(name)) continue;
    const std::string inner = path.ends_with('/') ? path + name : path + "/" + name;
    const auto info = files_.stat(inner);
    if (info && info->type == FileInfo::Type::folder && !info->link) {
      found_.push_back({{inner, path.size(), true}, std::nullopt, *info});
    }
  }
}

bool Check::listing(const std::string& path, std::string_view bytes) {
  const auto facts = read_site_document(path, bytes);
  if (!facts) return false;
  bool any = false;
  for (const SiteFact& fact : *facts) {
    const auto* entry = std::get_if<FolderEntry>(&fact.value);
    if (entry == nullptr) continue;
    any = true;
    const bool folder = entry->kind == 'd';
    Found found{{entry->path, 0, folder}, std::nullopt, {}};
    if (!folder) {
      found.listed = checkpoint::listed_file(entry->path, entry->size_bytes);
      found.listed->source = fact.source;
      found.listed->line = fact.line;
    }
    if (entry->kind == 'l' && found.listed->kind == FileKind::tracker) {
      found.listed->state = FileState::sound;
      found.listed->text = entry->target;
    }
    found_.push_back(std::move(found));
  }
  return any;
}

void Check::log(ByteStream& stream, const std::string& path, std::string_view head) {
  std::uint64_t number = 0;
  LineSplitter lines;
  const auto line = [&](std::string_view text, std::uint64_t) {
    ++number;
    auto told = checkpoint::read_save_line(text);
    if (!told || facts_.lines.size() >= limits::kLogEvents) return;
    told->source = path;
    told->line = number + lines.dropped();
    facts_.lines.push_back(std::move(*told));
  };
  lines.feed(head, line);
  std::string chunk(256 * 1024, '\0');
  for (;;) {
    const auto got = stream.read(chunk);
    if (!got) blind_.push_back({path, got.error().context, false});
    if (!got || *got == 0) break;
    lines.feed(std::string_view(chunk).substr(0, *got), line);
  }
  lines.finish(line);
}

// A listing, or else a log.
void Check::text(const std::string& path) {
  auto stream = files_.open(path);
  if (!stream) return fail(path, stream.error());
  std::string head(limits::kDocumentBytes / 4, '\0');
  std::size_t filled = 0;
  while (filled < head.size()) {
    const auto got = (*stream)->read(std::span(head).subspan(filled));
    if (!got) return fail(path, got.error());
    if (*got == 0) break;
    filled += *got;
  }
  seen_ = true;
  const bool whole = filled < head.size();
  head.resize(filled);
  if (whole && listing(path, head)) return;
  log(**stream, path, head);
}

// ---- reading of files -------------------------------------------------------------------------

FileFacts Check::facts_of(std::size_t member, std::string name) const {
  const Found& found = found_[member];
  if (found.listed) {
    FileFacts out = *found.listed;
    out.name = std::move(name);
    return out;
  }
  checkpoint::FileExaminer examiner(name, found.info.bytes);
  std::optional<DataReader> reader;
  std::string fault, bytes;
  while (const auto piece = examiner.wanted()) {
    if (!reader) {
      auto opened = DataReader::open(found.place.path);
      if (!opened) {
        fault = opened.error().context;
        break;
      }
      reader = std::move(*opened);
    }
    bytes.resize(piece->bytes);
    if (const Status read = reader->read_at(piece->offset, bytes); !read) {
      fault = read.error().context;
      break;
    }
    examiner.give(bytes);
  }
  FileFacts out = examiner.take();
  if (!fault.empty()) {
    out.state = FileState::unread;
    out.fault = fault;
  }
  out.modified = found.info.modified;
  return out;
}

void Check::assemble() {
  std::vector<FoundPath> places;
  places.reserve(found_.size());
  for (const Found& found : found_) places.push_back(found.place);
  const checkpoint::CheckpointGroups groups = checkpoint::group_checkpoints(places);
  for (const checkpoint::CheckpointGroup& group : groups.groups) {
    Checkpoint out;
    out.path = group.path;
    out.run = group.run;
    out.single_file = group.single_file;
    const std::string_view base = checkpoint::last_part(group.path);
    out.temporary = checkpoint::is_temporary_name(base);
    out.step = checkpoint::step_of_name(base);
    for (const std::size_t member : group.members) {
      const std::string& path = found_[member].place.path;
      const bool below = !group.single_file && path.starts_with(group.path + "/");
      const std::string name =
          below ? path.substr(group.path.size() + 1) : std::string(checkpoint::last_part(path));
      out.files.push_back(facts_of(member, name));
      if (!out.step) out.step = out.files.back().step;
    }
    if (request_.deep) deep(out);
    checkpoints_.push_back(std::move(out));
  }
  for (const std::size_t member : groups.trackers) {
    const std::string& path = found_[member].place.path;
    facts_.trackers.emplace_back(std::string(checkpoint::folder_part(path)),
                                 facts_of(member, std::string(checkpoint::last_part(path))));
  }
}

Result<std::string> hash_of(const std::string& path) {
  auto reader = DataReader::open(path);
  if (!reader) return reader.error();
  blocks::RunningHash hash;
  std::string chunk;
  for (std::uint64_t at = 0; at < reader->bytes(); at += chunk.size()) {
    chunk.resize(std::min<std::uint64_t>(kHashBytes, reader->bytes() - at));
    if (const Status read = reader->read_at(at, chunk); !read) return read.error();
    hash.add(chunk);
  }
  return blocks::hash_text(hash.value());
}

void Check::deep(Checkpoint& out) const {
  const auto manifest = std::find_if(out.files.begin(), out.files.end(),
                                     [](const FileFacts& f) { return f.manifest.has_value(); });
  if (manifest == out.files.end()) return;
  const auto files = manifest->manifest->files;
  for (const checkpoint::ManifestFile& wanted : files) {
    const auto file = std::find_if(out.files.begin(), out.files.end(),
                                   [&](const FileFacts& f) { return f.name == wanted.name; });
    if (file == out.files.end() || file->bytes != wanted.bytes) continue;
    const auto hash = hash_of(out.path + "/" + wanted.name);
    if (!hash) {
      file->state = FileState::unread;
      file->fault = hash.error().context;
    } else if (*hash != wanted.hash) {
      file->state = FileState::torn;
      file->fault = "its bytes are not those of the manifest: changed since it was written";
    }
  }
}

Result<checkpoint::CheckpointAnswer> Check::run() {
  facts_.now = request_.now;
  for (const std::string& given : request_.paths) path(given);
  if (!seen_ && failure_) return *failure_;
  assemble();
  const checkpoint::Judged judged = checkpoint::judge_checkpoints(checkpoints_, facts_);
  auto answer = checkpoint::answer_checkpoints(checkpoints_, judged, request_.suspects);
  Report& report = answer.report;
  report.blind.insert(report.blind.end(), blind_.begin(), blind_.end());
  report.blind.insert(report.blind.end(), walk_.blind.begin(), walk_.blind.end());
  report.notes.insert(report.notes.end(), walk_.notes.begin(), walk_.notes.end());
  return answer;
}

}  // namespace

Result<checkpoint::CheckpointAnswer> check_checkpoints(const CheckpointRequest& request,
                                                       Files& files) {
  return Check(request, files).run();
}

}  // namespace muster
