#include "app/pack_build.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "app/folder_walk.h"
#include "app/ordered_pipeline.h"
#include "app/pack_best_fit.h"
#include "app/pack_chunk.h"
#include "app/pack_files.h"
#include "app/pack_reader.h"
#include "app/part_folder.h"
#include "base/limits.h"
#include "core/blocks/concat_packer.h"
#include "core/model/json_reader.h"
#include "core/model/json_writer.h"

namespace muster {
namespace {

constexpr std::string_view kJournalName = "journal";
constexpr std::size_t kFirstErrors = 10;

std::string chained(const std::string& chain, const blocks::Hash128& hash) {
  return blocks::hash_text(blocks::hash_bytes(chain + blocks::hash_text(hash)));
}

// What decides the bytes of the pack: a build goes on only under the same plan.
std::string plan_of(const PackRequest& request, const PackVocabulary& vocabulary,
                    const std::vector<std::string>& inputs) {
  JsonWriter w;
  w.begin_object().key("schema").value("muster.pack_build/1").key("inputs").begin_array();
  for (const std::string& input : inputs) w.value(input);
  w.end_array().key("field").value(request.field).key("split");
  request.split ? w.value(request.split->mark()) : w.null();
  w.key("split by").value(request.split ? static_cast<int>(request.split->by) : -1);
  w.key("specials").value(static_cast<int>(request.specials));
  w.key("block").value(std::uint64_t{request.block_tokens});
  w.key("packing").value(blocks::pack_mode_name(request.mode));
  w.key("chunk").value(std::uint64_t{request.chunk_bytes});
  w.key("tokenizer").value(vocabulary.hash).key("eos");
  vocabulary.eos.eos ? w.value(std::int64_t{*vocabulary.eos.eos}) : w.null();
  w.key("eos ends chats").value(vocabulary.eos.ends_chats);
  w.key("chat template").value(vocabulary.chat ? vocabulary.chat->name() : "");
  return w.end_object().take();
}

// "eos, inputs": what two plans do not have in common.
std::string differing(const std::string& a, const std::string& b) {
  const auto left = parse_json(a);
  const auto right = parse_json(b);
  const auto* fields = left ? left->get<JsonNode::Object>() : nullptr;
  if (fields == nullptr || !right) return "its plan cannot be read";
  std::string names;
  for (const auto& field : *fields) {
    const std::string key = "\"" + field.first + "\":";
    // One field of each alone, as it was written, is compared as text.
    const auto piece = [&key](const std::string& plan) {
      const std::size_t at = plan.find(key);
      return at == std::string::npos ? "" : plan.substr(at, plan.find(",\"", at) - at);
    };
    if (piece(a) != piece(b)) names += (names.empty() ? "" : ", ") + field.first;
  }
  return names.empty() ? "inputs" : names;
}

std::string error_line(const std::string& input, const PackFault& fault) {
  JsonWriter w;
  w.begin_object().key("input").value(input).key("line").value(fault.line);
  w.key("fault").value(records::fault_name(fault.fault));
  w.key("words").value(records::fault_words(fault.fault));
  if (!fault.detail.empty()) w.key("detail").value(fault.detail);
  return w.end_object().take() + "\n";
}

Result<std::vector<std::string>> first_errors(PackFiles& files) {
  std::string head(64 * 1024, '\0');
  const auto n = files.read(kPackFiles.size() - 1, 0, head);
  if (!n) return n.error();
  std::vector<std::string> lines;
  std::string_view left = std::string_view(head).substr(0, *n);
  for (std::size_t end = left.find('\n'); end != std::string_view::npos; end = left.find('\n')) {
    if (lines.size() == kFirstErrors) break;
    lines.emplace_back(left.substr(0, end));
    left.remove_prefix(end + 1);
  }
  return lines;
}

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/') + 1);
}

// Packs, and what a build that was broken off left, among files of folders that were given whole.
Status pass_over_builds(std::vector<std::string>& inputs) {
  const std::set<std::string> names(inputs.begin(), inputs.end());
  for (const std::string& path : inputs) {
    const std::string folder = folder_of(path);
    if (path != folder + std::string(blocks::kBlocksName)) continue;
    if (!names.contains(folder + std::string(blocks::kManifestName))) continue;
    return make_error(Errc::invalid_input,
                      folder + " is a pack itself: name the texts that are to be packed");
  }
  std::erase_if(inputs, [&names](const std::string& path) {
    const std::string folder = folder_of(path);
    return folder.ends_with(".part/") && names.contains(folder + std::string(kJournalName));
  });
  return {};
}

// What Hugging Face's datasets keep beside their tables, in folders that were given whole.
void pass_over_descriptions(std::vector<std::string>& inputs) {
  std::set<std::string> folders;  // that hold tables
  for (const std::string& path : inputs) {
    if (path.ends_with(".arrow")) folders.insert(folder_of(path));
  }
  std::erase_if(inputs, [&](const std::string& path) {
    const std::string folder = folder_of(path), name = path.substr(folder.size());
    return folders.contains(folder) && (name == "state.json" || name == "dataset_info.json");
  });
}

class Build {
 public:
  Build(const PackRequest& request, const PackVocabulary& vocabulary, Files& files,
        const std::function<void(const PackProgress&)>& on_progress, const std::stop_token& stop)
      : request_(request),
        vocabulary_(vocabulary),
        files_(files),
        on_progress_(on_progress),
        stop_(stop),
        part_(part_name(request.out)) {}

  Result<PackResult> run(WorkFolders& folders);

 private:
  Status find_inputs();
  Status open_folder(WorkFolders& folders);
  Result<PackResult> whole_already();
  Status publish();
  Result<bool> go_on();
  Status take_marks(std::size_t count);
  Status begin_anew();
  Status read_inputs();
  Status take(PackedChunk&& made);
  Status list_faults(const std::vector<PackFault>& faults);
  Status write_mark(bool complete);
  Status pack_best_fit();
  Result<PackResult> finish();
  Error given_up(Error error);

  PackReaderOptions reader_options() const {
    return {.split = request_.split, .field = request_.field, .chunk_bytes = request_.chunk_bytes};
  }
  bool two_passes() const { return request_.mode != blocks::PackMode::concat; }
  void tell_reading(blocks::PackManifest& m) const {
    if (!request_.field.empty()) m.field = request_.field;
    if (request_.split) m.split = request_.split->word();
    m.specials = kPackSpecialsNames[static_cast<int>(request_.specials)];
  }
  PackCount total() const {
    PackCount sum;
    for (const PackCount& count : counts_) sum.add(count);
    return sum;
  }

  const PackRequest& request_;
  const PackVocabulary& vocabulary_;
  Files& files_;
  const std::function<void(const PackProgress&)>& on_progress_;
  const std::stop_token& stop_;
  const std::string part_;

  std::vector<std::string> inputs_;
  std::string plan_;
  std::unique_ptr<WorkFolder> folder_;
  std::unique_ptr<WorkFile> journal_;
  std::unique_ptr<PackFiles> out_;
  std::optional<blocks::ConcatPacker> packer_;
  PackMark mark_;  // the last one; its counts are those since then
  std::map<std::size_t, PackCount> fresh_;
  std::vector<PackCount> counts_;  // of each input
  std::vector<PackReader::Input> ended_;
  std::string chain_;
  std::string first_loss_;  // that this process met
  std::uint64_t chunks_ = 0, bytes_since_mark_ = 0;
  std::uint64_t eos_added_ = 0, document_tokens_ = 0;
  PackProgress progress_;
  bool sink_failed_ = false, resumed_ = false;
  std::optional<blocks::BestFitPlan> plan_of_blocks_;
};

Status Build::find_inputs() {
  for (const std::string& path : request_.paths) {
    const auto info = path == "-" ? Result<FileInfo>(FileInfo{}) : files_.stat(path);
    if (!info) return info.error();
    if (info->type != FileInfo::Type::folder) {
      inputs_.push_back(path);
      continue;
    }
    FolderWalk walk(files_, {.hidden = false, .links = true});
    walk.walk(path, [this](const std::string& file, const FileInfo&) { inputs_.push_back(file); });
    if (walk.failure) return *walk.failure;
    if (!walk.blind.empty()) {
      return make_error(Errc::exhausted, walk.blind[0].source + ": " + walk.blind[0].reason);
    }
  }
  if (Status passed = pass_over_builds(inputs_); !passed) return passed;
  pass_over_descriptions(inputs_);
  if (inputs_.empty()) return make_error(Errc::not_found, "the folders hold no file");
  for (const std::string& path : inputs_) {
    const auto info = path == "-" ? Result<FileInfo>(FileInfo{}) : files_.stat(path);
    if (!info) return info.error();
    if (info->type != FileInfo::Type::file) {
      progress_.of_bytes = 0;
      break;
    }
    progress_.of_bytes += info->bytes;
  }
  counts_.resize(inputs_.size());
  return check_pack_inputs(files_, inputs_, reader_options());
}

Status Build::open_folder(WorkFolders& folders) {
  if (folders.has(request_.out)) {
    return make_error(Errc::invalid_input, request_.out + " is there already; it is left as it is");
  }
  const bool part = folders.has(part_);
  if (part && !request_.resume) {
    return left_over(folders, part_, "--resume goes on with it, or remove it");
  }
  auto folder = part ? folders.take(part_) : folders.make(part_);
  if (!folder) return folder.error();
  folder_ = std::move(*folder);
  if (folder_->has(std::string(blocks::kManifestName))) return {};
  auto journal = folder_->open(std::string(kJournalName));
  if (!journal) return journal.error();
  journal_ = std::move(*journal);
  auto out = PackFiles::open(*folder_, two_passes() ? "spill." : "", request_.block_tokens);
  if (!out) return out.error();
  out_ = std::move(*out);
  return {};
}

Status Build::begin_anew() {
  if (Status cut = journal_->cut(0); !cut) return cut;
  if (Status cut = out_->restore(nullptr); !cut) return cut;
  if (Status written = journal_->append(encode_plan(plan_)); !written) return written;
  packer_.emplace(request_.block_tokens, *out_);
  return journal_->sync();
}

// Where an earlier build was broken off; false where there is nothing of it.
Result<bool> Build::go_on() {
  JournalReader journal(*journal_);
  const auto plan = journal.plan();
  if (!plan && plan.error().code == Errc::corrupt) return false;  // died in its first line
  if (!plan) return plan.error();
  if (*plan != plan_) {
    return make_error(Errc::invalid_input,
                      fmt::format("{} was begun with other options or inputs ({}); go on with "
                                  "those, or remove it",
                                  part_, differing(plan_, *plan)));
  }
  std::vector<PackFileStates> states;
  for (;;) {
    const auto mark = journal.next();
    if (!mark) return mark.error();
    if (!*mark) break;
    states.push_back((*mark)->files);
  }
  const auto good = out_->true_states(states);
  if (!good) return good.error();
  if (*good == 0) return false;
  if (Status taken = take_marks(*good); !taken) return taken.error();
  if (Status cut = out_->restore(&mark_); !cut) return cut.error();
  packer_.emplace(request_.block_tokens, *out_, mark_.next_block);
  if (Status added = packer_->add(mark_.pending); !added) return added.error();
  eos_added_ = mark_.eos_added;
  document_tokens_ = mark_.document_tokens;
  ended_ = mark_.inputs;
  resumed_ = true;
  return true;
}

// The journal up to the last of so many marks, which is the state of the build.
Status Build::take_marks(std::size_t count) {
  JournalReader journal(*journal_);
  if (const auto plan = journal.plan(); !plan) return plan.error();
  for (std::size_t i = 0; i < count; ++i) {
    auto mark = journal.next();
    if (!mark) return mark.error();
    if (!*mark) return make_error(Errc::corrupt, "the journal changed while it was read");
    for (const auto& [input, part] : (*mark)->counts) {
      if (input >= counts_.size()) {
        return make_error(Errc::corrupt, "the journal names other inputs");
      }
      counts_[input].add(part);
    }
    mark_ = std::move(**mark);
  }
  return journal_->cut(journal.at());
}

Status Build::list_faults(const std::vector<PackFault>& faults) {
  std::string lines;
  for (const PackFault& fault : faults) {
    const auto kind = static_cast<std::size_t>(fault.fault);
    const bool first = counts_[fault.input].faults[kind]++ == 0;
    ++fresh_[fault.input].faults[kind];
    const bool each =
        records::loses_record(fault.fault) || fault.fault == records::Fault::empty_text;
    if (each || first) lines += error_line(inputs_[fault.input], fault);
    if (each && first_loss_.empty()) {
      first_loss_ = fmt::format("{}:{}: {}{}{}", inputs_[fault.input], fault.line,
                                records::fault_words(fault.fault), fault.detail.empty() ? "" : ": ",
                                fault.detail);
    }
  }
  return out_->error_lines(lines);
}

Status Build::take(PackedChunk&& made) {
  ++chunks_;
  chain_ = chained(chain_, made.hash);
  progress_.file_bytes = made.file_bytes;
  progress_.again = made.index < mark_.chunks;
  if (progress_.again) {
    if (chunks_ == mark_.chunks && chain_ != mark_.chain) {
      return make_error(Errc::invalid_input,
                        fmt::format("the inputs have changed since {} was begun; remove it and "
                                    "begin anew",
                                    part_));
    }
    if (on_progress_) on_progress_(progress_);
    return {};
  }
  if (Status listed = list_faults(made.faults); !listed) return listed;
  for (const auto& [input, documents] : made.documents) {
    counts_[input].documents += documents;
    fresh_[input].documents += documents;
  }
  eos_added_ += made.eos_added;
  document_tokens_ += made.run.ids.size();
  if (Status added = packer_->add(made.run); !added) return added;
  bytes_since_mark_ += made.text_bytes;
  progress_.text_bytes += made.text_bytes;
  progress_.tokens += made.run.ids.size();
  for (const auto& one : made.documents) progress_.documents += one.second;
  for (const PackFault& fault : made.faults) progress_.errors += records::loses_record(fault.fault);
  if (on_progress_) on_progress_(progress_);
  return bytes_since_mark_ >= request_.mark_bytes ? write_mark(false) : Status();
}

Status Build::write_mark(bool complete) {
  if (Status synced = out_->sync(); !synced) return synced;
  PackMark mark;
  mark.chunks = std::max(chunks_, mark_.chunks);
  mark.chain = chunks_ >= mark_.chunks ? chain_ : mark_.chain;
  mark.complete = complete;
  mark.files = out_->files();
  mark.next_block = packer_->next_block();
  mark.trained_tokens = out_->trained_tokens();
  mark.eos_added = eos_added_;
  mark.document_tokens = document_tokens_;
  mark.pending = packer_->pending();
  mark.counts.assign(fresh_.begin(), fresh_.end());
  if (complete) mark.inputs = ended_;
  fresh_.clear();
  bytes_since_mark_ = 0;
  if (Status written = journal_->append(encode_mark(mark)); !written) return written;
  if (Status synced = journal_->sync(); !synced) return synced;
  mark_ = std::move(mark);
  return {};
}

Status Build::read_inputs() {
  PackReader reader(files_, inputs_, reader_options(), stop_);
  records::JsonlOptions options{.field = request_.field,
                                .chat = vocabulary_.chat ? &*vocabulary_.chat : nullptr,
                                .why_no_chat = vocabulary_.why_no_chat,
                                .specials_in_chats = request_.specials == PackSpecials::ids};
  std::vector<std::unique_ptr<ChunkWorker>> workers;
  for (std::size_t i = 0; i < request_.threads; ++i) {
    workers.push_back(std::make_unique<ChunkWorker>(
        options, request_.split,
        PackEncoder(vocabulary_.make_encoder(), vocabulary_.eos, request_.specials)));
  }
  const std::uint64_t known = mark_.chunks;
  OrderedPipeline<PackChunk, PackedChunk> pipeline(request_.threads, 2 * request_.threads + 2);
  Status done = pipeline.run([&reader] { return reader.next(); },
                             [&workers, known](std::size_t thread, PackChunk&& chunk) {
                               const bool fresh = chunk.index >= known;
                               return workers[thread]->work(std::move(chunk), fresh);
                             },
                             [this](PackedChunk&& made) {
                               const Status taken = take(std::move(made));
                               sink_failed_ = !taken;
                               return taken;
                             });
  if (!done) {
    // Until here all is whole: nothing of it need be done again.
    if (!sink_failed_ && chunks_ > mark_.chunks) {
      if (Status marked = write_mark(false); !marked) return marked;
    }
    return done;
  }
  if (chunks_ < known) {
    return make_error(Errc::invalid_input, "the inputs have become shorter since the build began");
  }
  ended_ = reader.ended();
  return write_mark(true);
}

Status Build::pack_best_fit() {
  auto out = PackFiles::open(*folder_, "", request_.block_tokens);
  if (!out) return out.error();
  const std::unique_ptr<PackFiles> spill = std::exchange(out_, std::move(*out));
  // errors.jsonl belongs to both passes and is done; the others may hold what a dead pass left.
  PackMark empty;
  empty.files.back() = spill->files().back();
  if (Status cut = out_->restore(&empty); !cut) return cut;
  auto plan = write_best_fit({.spill = *spill,
                              .pending = packer_->pending(),
                              .spilled_blocks = packer_->next_block(),
                              .block_tokens = request_.block_tokens,
                              .split = request_.mode == blocks::PackMode::best_fit_split,
                              .pad = vocabulary_.pad},
                             *out_, stop_);
  if (!plan) return plan.error();
  plan_of_blocks_ = std::move(*plan);
  return {};
}

// What cannot become a pack leaves nothing behind.
Error Build::given_up(Error error) {
  out_.reset();
  journal_.reset();
  if (const Status gone = folder_->discard(); !gone) error.context += "; " + gone.error().context;
  return error;
}

Result<PackResult> Build::finish() {
  PackResult result;
  blocks::PackManifest& m = result.manifest;
  result.count = total();
  m.mode = request_.mode;
  m.tokenizer = vocabulary_.hash;
  m.vocabulary_count = vocabulary_.count;
  m.eos = vocabulary_.eos.eos;
  m.documents = result.count.documents;
  m.eos_added = eos_added_;
  if (m.eos) {
    m.eos_policy =
        eos_added_ == *m.documents ? blocks::EosPolicy::every : blocks::EosPolicy::unless_ended;
  }
  if (vocabulary_.chat) m.chat_template = vocabulary_.chat->name();
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    m.inputs.push_back({inputs_[i], ended_.at(i).bytes, counts_[i].records(), counts_[i].documents,
                        counts_[i].errors(), ended_.at(i).hash});
  }
  m.document_tokens = document_tokens_;
  if (plan_of_blocks_) {
    m.pad = vocabulary_.pad;
    m.pad_tokens = plan_of_blocks_->pad_tokens;
    m.truncated_tokens = plan_of_blocks_->truncated_tokens;
    m.truncated_documents = plan_of_blocks_->truncated_documents;
  } else {
    m.tail_tokens = packer_->pending().ids.size();
  }
  m.global_batch = request_.global_batch;
  m.remainder = request_.remainder;
  tell_reading(m);
  auto sealed = out_->seal(std::move(m));
  if (!sealed) return sealed.error();
  m = std::move(*sealed);
  result.text_bytes = progress_.text_bytes;
  result.resumed = resumed_;
  const auto lines = first_errors(*out_);
  if (!lines) return lines.error();
  result.first_errors = *lines;
  return result;
}

Result<PackResult> Build::run(WorkFolders& folders) {
  if (Status found = find_inputs(); !found) return found.error();
  plan_ = plan_of(request_, vocabulary_, inputs_);
  if (Status opened = open_folder(folders); !opened) return opened.error();
  if (!journal_) return whole_already();
  const auto gone_on = go_on();
  if (!gone_on) return gone_on.error();
  if (!*gone_on) {
    if (Status begun = begin_anew(); !begun) return begun.error();
  }
  if (!mark_.complete) {
    if (Status read = read_inputs(); !read) return read.error();
  }
  if (total().documents == 0) {
    return given_up(make_error(Errc::not_found,
                               "no record became a document" +
                                   (first_loss_.empty() ? "" : "; the first: " + first_loss_)));
  }
  if (two_passes()) {
    if (Status packed = pack_best_fit(); !packed) return packed.error();
  }
  auto result = finish();
  if (!result) return result.error();
  if (result->manifest.blocks == 0) {
    return given_up(make_error(
        Errc::not_found, fmt::format("{} tokens in all, fewer than one block of {}",
                                     result->manifest.document_tokens, request_.block_tokens)));
  }
  const std::string manifest = blocks::encode_manifest(result->manifest) + "\n";
  if (Status w = folder_->write_whole(std::string(blocks::kManifestName), manifest); !w) {
    return w.error();
  }
  if (Status named = publish(); !named) return named.error();
  return result;
}

// The manifest is there: the folder is a pack that has not got its name yet.
Status Build::publish() {
  for (const std::string_view name : kPackFiles) {
    if (Status gone = folder_->remove("spill." + std::string(name)); !gone) return gone;
  }
  if (Status gone = folder_->remove(std::string(kJournalName)); !gone) return gone;
  return folder_->publish(request_.out);
}

// An earlier build died between its manifest and its name.
Result<PackResult> Build::whole_already() {
  const auto file = folder_->open(std::string(blocks::kManifestName));
  if (!file) return file.error();
  std::string bytes(std::min<std::uint64_t>((*file)->bytes(), limits::kContractBytes + 1), '\0');
  const auto n = (*file)->read(0, bytes);
  if (!n) return n.error();
  auto manifest = blocks::decode_manifest(std::string_view(bytes).substr(0, *n));
  if (!manifest) return within(part_, manifest.error());
  blocks::PackManifest reading;
  tell_reading(reading);
  bool same = manifest->field == reading.field && manifest->split == reading.split &&
              manifest->specials == reading.specials && manifest->tokenizer == vocabulary_.hash &&
              manifest->mode == request_.mode && manifest->block_tokens == request_.block_tokens &&
              manifest->eos == vocabulary_.eos.eos && manifest->inputs.size() == inputs_.size();
  for (std::size_t i = 0; same && i < inputs_.size(); ++i) {
    same = manifest->inputs[i].path == inputs_[i];
  }
  if (!same) {
    return make_error(Errc::invalid_input,
                      part_ + " was made of other inputs or with other options");
  }
  PackResult result;
  result.resumed = true;
  result.count.documents = manifest->documents.value_or(0);
  result.manifest = std::move(*manifest);
  if (Status named = publish(); !named) return named.error();
  return result;
}

}  // namespace

Result<PackResult> build_pack(const PackRequest& request, const PackVocabulary& vocabulary,
                              Files& files, WorkFolders& folders,
                              const std::function<void(const PackProgress&)>& on_progress,
                              const std::stop_token& stop) {
  return Build(request, vocabulary, files, on_progress, stop).run(folders);
}

}  // namespace muster
