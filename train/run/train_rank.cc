#include "train/run/train_rank.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <memory>
#include <system_error>

#include "base/crc32c.h"
#include "base/limits.h"
#include "core/model/run_layout.h"
#include "edge/os/clock.h"
#include "edge/os/files.h"
#include "edge/os/host_name.h"
#include "train/comm/join.h"
#include "train/math/cpu_math.h"
#include "train/model/weight_init.h"
#include "train/run/code_id.h"
#include "train/run/past_schedule.h"
#include "train/run/rank_data.h"
#include "train/run/sample.h"
#include "train/run/train_loop.h"
#include "train/run/vote.h"
#include "train/run/weights_digest.h"

namespace muster::train {
namespace {

constexpr Tag kVoteTag = {Purpose::agreement, 0}, kLoadTag = {Purpose::save, 0};
constexpr std::uint64_t kSampleTokens = 48;

// An error and the status that it ends the run with.
struct Refusal {
  Error error;
  ExitStatus status;
  bool quiet = false;  // another rank says it
};
template <typename T>
using Answer = tl::expected<T, Refusal>;

tl::unexpected<Refusal> refuse(Error error, ExitStatus status) {
  return tl::make_unexpected(Refusal{std::move(error), status});
}

// Of an error about what a run reads: there is none, it does not fit, or its disk fails.
ExitStatus status_of_reading(const Error& error) {
  switch (error.code) {
    case Errc::invalid_input:
    case Errc::unsupported:
      return ExitStatus::refused_config;
    case Errc::unavailable:
    case Errc::timeout:
      return ExitStatus::storage;
    default:
      return ExitStatus::no_input;
  }
}

std::int32_t end_of_text(const Tokenizer& tokenizer) {
  return tokenizer.id_of("<|endoftext|>").value_or(-1);
}

std::string_view bytes_of_ids(const std::vector<std::int32_t>& ids) {
  return {reinterpret_cast<const char*>(ids.data()), ids.size() * sizeof(std::int32_t)};
}

// Of a checkpoint of this run: one of another model or of other numbers is refused, whatever else
// keeps it from being read is storage.
ExitStatus status_of_loading(const Status& loaded) {
  const bool other = !loaded && (loaded.error().code == Errc::invalid_input ||
                                 loaded.error().code == Errc::unsupported);
  return other ? ExitStatus::refused_config : ExitStatus::storage;
}

Status make_folder(const std::string& path) {
  std::error_code fault;
  std::filesystem::create_directories(path, fault);
  return fault ? Status(errno_error("making " + path, fault.value())) : Status();
}

// For its owner alone, in a folder that is there. Ranks make it at the same time.
Status make_own_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return errno_error("making " + path, errno);
}

// By content: the same file may lie elsewhere on another host. Empty: there is none.
std::string file_digest(const std::string& path) {
  const auto bytes = read_whole(real_files(), path, limits::kDocumentBytes);
  return bytes ? fmt::format("{:08x}", crc32c(*bytes)) : "";
}

class RankRun {
 public:
  RankRun(const TrainOptions& options, const LaunchPlace& place)
      : options_(options), place_(place), output_(place.rank, place.world) {}

  Answer<ExitStatus> run(const RunLayout& layout, std::int64_t attempt);
  RunOutput& output() { return output_; }
  // What the collectives say of it, where they do.
  std::optional<CollectiveFailure> failure() const {
    return world_ ? world_->failure() : std::nullopt;
  }

 private:
  Answer<void> open(const RunLayout& layout, std::int64_t attempt);
  Answer<void> join();
  Answer<void> vote();
  Answer<void> load();
  Answer<void> go_on();
  Answer<void> go_on_with(const std::string& checkpoint);
  Answer<void> together(const Status& own, ExitStatus status, bool of_store);
  Answer<ExitStatus> train();
  Answer<void> open_sample();
  void show_sample();
  StepCut cut() const;
  LoopPlan plan() const;

  const TrainOptions& options_;
  const LaunchPlace& place_;
  RunOutput output_;
  Qwen3Config config_;
  std::string config_json_;
  std::string weights_ = "from scratch";  // their digest
  std::unique_ptr<BlockSource> data_;
  std::unique_ptr<const Tokenizer> tokenizer_;  // where a sample is asked for
  std::vector<std::int32_t> prompt_;            // of it
  std::unique_ptr<FlightRecorder> recorder_;
  std::unique_ptr<HeartbeatWriter> heartbeat_;
  std::unique_ptr<Communicator> world_, shards_, replicas_;
  std::unique_ptr<ModelMath> math_;
  std::unique_ptr<ShardedState> state_;
  std::unique_ptr<CheckpointStore> store_;
  std::unique_ptr<Engine> engine_;
  std::uint64_t epoch_steps_ = 0, target_ = 0;
  bool saves_ = true;
  RunCursor cursor_;
};

StepCut RankRun::cut() const {
  return {.accumulation = options_.accumulation,
          .micro_batch = options_.micro_batch,
          .rank = static_cast<std::uint64_t>(place_.rank),
          .world = static_cast<std::uint64_t>(place_.world),
          .seed = options_.seed};
}

Answer<void> RankRun::open(const RunLayout& layout, std::int64_t attempt) {
  const auto info = real_files().stat(options_.model);
  const bool folder = info && info->type == FileInfo::Type::folder;
  const std::string path = folder ? options_.model + "/config.json" : options_.model;
  const auto json = read_whole(real_files(), path, limits::kConfigBytes);
  if (!json) return refuse(json.error(), status_of_reading(json.error()));
  const auto config = read_qwen3_config(*json);
  if (!config) return refuse(within(path, config.error()), ExitStatus::refused_config);
  if (!folder && !options_.from_scratch) {
    return refuse(
        make_error(Errc::invalid_input, options_.model + " is no folder: weights come from one, or "
                                                         "--from-scratch makes random ones"),
        ExitStatus::refused_config);
  }
  config_ = *config;
  config_json_ = *json;
  if (!options_.from_scratch) {
    const auto weights = weights_digest(options_.model);
    if (!weights) return refuse(weights.error(), status_of_reading(weights.error()));
    weights_ = *weights;
  }
  auto data = open_rank_data(options_.data, options_.sequence, cut());
  if (!data) return refuse(data.error(), status_of_reading(data.error()));
  data_ = std::move(*data);
  if (data_->block_tokens() > config_.max_positions) {
    return refuse(make_error(Errc::invalid_input,
                             fmt::format("blocks of {} tokens, and max_position_embeddings of {} "
                                         "is {}",
                                         data_->block_tokens(), path, config_.max_positions)),
                  ExitStatus::refused_config);
  }
  if (const auto sample = open_sample(); !sample) return sample;
  for (const std::string& made : {options_.out, layout.heartbeats(attempt)}) {
    if (const Status fine = make_folder(made); !fine) {
      return refuse(fine.error(), ExitStatus::storage);
    }
  }
  if (const Status fine = make_own_folder(layout.flight(attempt)); !fine) {
    return refuse(fine.error(), ExitStatus::storage);
  }
  if (place_.rank == 0) {
    if (const Status fine = output_.open(options_.out); !fine) {
      return refuse(fine.error(), ExitStatus::storage);
    }
  }
  FlightRecorder::Head head{.run = layout.folder(), .host = own_host_name().value_or("")};
  head.rank = static_cast<std::uint32_t>(place_.rank);
  head.world = static_cast<std::uint32_t>(place_.world);
  head.attempt = static_cast<std::uint32_t>(attempt);
  auto recorder =
      FlightRecorder::create(fmt::format("{}/rank-{}", layout.flight(attempt), place_.rank), head);
  if (!recorder) return refuse(recorder.error(), ExitStatus::storage);
  recorder_ = std::move(*recorder);
  Heartbeat first;
  first.rank = place_.rank;
  first.attempt = attempt;
  heartbeat_ = std::make_unique<HeartbeatWriter>(real_files(),
                                                 layout.heartbeat(attempt, place_.rank), first);
  return {};
}

// Before the first step, not after the last.
Answer<void> RankRun::open_sample() {
  if (options_.sample.empty()) return {};
  const std::string path = options_.tokenizer.empty() ? options_.model : options_.tokenizer;
  auto tokenizer = load_tokenizer(path);
  if (!tokenizer) {
    return refuse(within("--sample", tokenizer.error()), status_of_reading(tokenizer.error()));
  }
  tokenizer_ = std::move(*tokenizer);
  if (const Status fine = Encoder(*tokenizer_).encode(options_.sample, {}, prompt_); !fine) {
    return refuse(within("--sample", fine.error()), ExitStatus::usage);
  }
  const auto most = std::max_element(prompt_.begin(), prompt_.end());
  if (most != prompt_.end() && static_cast<std::uint64_t>(*most) < config_.vocabulary) return {};
  return refuse(make_error(Errc::invalid_input,
                           "--sample: " + path + " has tokens that the model does not know"),
                ExitStatus::refused_config);
}

Answer<void> RankRun::join() {
  const JoinRequest request{.rank = place_.rank,
                            .world = place_.world,
                            .token = place_.token,
                            .master_address = place_.master_address,
                            .master_port = place_.master_port};
  CommOptions comm;
  comm.deadline = std::chrono::seconds(options_.deadline_s);
  comm.recorder = recorder_.get();
  if (options_.silent_hang) {
    comm.deadline = comm.save_deadline = std::nullopt;
    comm.check_signatures = false;
  }
  auto world = place_.one_host ? join_host(request, comm) : join_network(request, comm);
  if (!world) {
    const bool strangers = world.error().code == Errc::invalid_input;
    return refuse(world.error(), strangers ? ExitStatus::refused_config : ExitStatus::out_of_step);
  }
  world_ = std::move(*world);
  return {};
}

Answer<void> RankRun::vote() {
  VoteRecord own;
  own.blocks = data_->blocks();
  own.steps = data_->steps();
  own.data = data_->digest();
  own.same = voted_options(options_);
  own.same.emplace_back("code", code_id());
  own.same.emplace_back("config", fmt::format("{:08x}", crc32c(config_json_)));
  own.same.emplace_back("tokenizer", file_digest(options_.model + "/tokenizer.json"));
  own.same.emplace_back("data",
                        data_->shared() ? fmt::format("{:016x}", own.data) : "a file of each rank");
  own.same.emplace_back("weights", weights_);
  // The text ends for all ranks at the same token.
  std::vector<std::int32_t> sample = prompt_;
  if (tokenizer_) sample.push_back(end_of_text(*tokenizer_));
  own.same.emplace_back("sample", fmt::format("{:08x}", crc32c(bytes_of_ids(sample))));
  own.same.emplace_back("block tokens", fmt::format("{}", data_->block_tokens()));
  const auto texts = world_->gather_texts(encode_vote(own), kVoteTag);
  if (!texts) return refuse(texts.error(), ExitStatus::out_of_step);
  std::vector<VoteRecord> records;
  for (const std::string& text : *texts) {
    auto record = decode_vote(text);
    if (!record) return refuse(record.error(), ExitStatus::refused_config);
    records.push_back(std::move(*record));
  }
  const Vote vote = judge_vote(records);
  if (vote.refusal) {
    return tl::make_unexpected(Refusal{make_error(Errc::invalid_input, *vote.refusal),
                                       ExitStatus::refused_config, place_.rank != 0});
  }
  if (vote.warning && place_.rank == 0 && !options_.no_even_steps) {
    output_.complain("WARN " + *vote.warning);
  }
  cursor_.pack_digest = data_->shared() ? own.data : data_of_ranks(records);
  epoch_steps_ = options_.no_even_steps ? own.steps : vote.steps;
  target_ = options_.epochs * epoch_steps_;
  if (options_.steps != 0) target_ = std::min(target_, options_.steps);
  return {};
}

// Fine on all ranks, or the run ends on all with one status. A rank that is gone is found here:
// what a store says of it is no fault of a disk. of_store: its ranks all say the same.
Answer<void> RankRun::together(const Status& own, ExitStatus status, bool of_store) {
  const auto worst = world_->max(own ? 0 : static_cast<int>(status), kLoadTag);
  if (!worst) return refuse(worst.error(), ExitStatus::out_of_step);
  if (*worst == 0) return {};
  const bool quiet = own || (of_store && (shards_ ? shards_->rank() : place_.rank) != 0);
  const Error error = own ? make_error(Errc::unavailable, "another rank says why") : own.error();
  return tl::make_unexpected(Refusal{error, static_cast<ExitStatus>(*worst), quiet});
}

Answer<void> RankRun::load() {
  if (options_.shard_in_node) {
    auto shards = world_->split(place_.rank - place_.local_rank, "shards");
    if (!shards) return refuse(shards.error(), ExitStatus::out_of_step);
    auto replicas = world_->split(place_.local_rank, "replicas");
    if (!replicas) return refuse(replicas.error(), ExitStatus::out_of_step);
    shards_ = std::move(*shards);
    replicas_ = std::move(*replicas);
    if (shards_->world() * replicas_->world() != place_.world) {
      return refuse(
          make_error(Errc::invalid_input, "--shard-in-node: hosts have different numbers of ranks"),
          ExitStatus::refused_config);
    }
  }
  Communicator& shards = shards_ ? *shards_ : *world_;
  const Keep keep = options_.checkpointing ? Keep::inputs : Keep::everything;
  math_ = make_cpu_math(config_, options_.dtype(), keep);
  const auto shard = static_cast<std::uint64_t>(shards.rank());
  state_ = std::make_unique<ShardedState>(math_->plan(), options_.dtype(), shard,
                                          static_cast<std::uint64_t>(shards.world()));
  if (options_.from_scratch) {
    for (std::size_t unit = 0; unit < state_->units.size(); ++unit) {
      AlignedBytes& master = state_->units[unit].master;
      const std::uint64_t begin = shard * math_->plan().slice(unit, state_->shards);
      const Unit& of = math_->plan().units()[unit];
      if (state_->dtype == Dtype::f64) {
        init_weights(of, options_.seed, begin,
                     {reinterpret_cast<double*>(master.data()), master.size() / sizeof(double)});
      } else {
        init_weights(of, options_.seed, begin,
                     {reinterpret_cast<float*>(master.data()), master.size() / sizeof(float)});
      }
    }
  } else {
    const Status loaded = load_weights(options_.model, *state_);
    const auto all =
        together(loaded, loaded ? ExitStatus::ok : status_of_reading(loaded.error()), false);
    if (!all) return all;
  }
  CheckpointOptions checkpoints;
  checkpoints.folder = options_.out + "/checkpoints";
  const auto info = real_files().stat(options_.model);
  if (info && info->type == FileInfo::Type::folder) checkpoints.model_folder = options_.model;
  checkpoints.config_json = config_json_;
  checkpoints.exact = !options_.no_exact;
  checkpoints.keep = options_.keep;
  // With copies of the weights on several hosts each has a store to load from; the first one saves.
  const int copy = shards_ ? place_.rank - place_.local_rank : 0;
  auto own = world_->split(copy, "checkpoints");
  if (!own) return refuse(own.error(), ExitStatus::out_of_step);
  saves_ = copy == 0;
  auto store = CheckpointStore::open(checkpoints, std::move(*own));
  const Status opened = store ? Status() : Status(store.error());
  if (const auto all = together(opened, ExitStatus::storage, true); !all) return all;
  store_ = std::move(*store);
  return {};
}

Answer<void> RankRun::go_on() {
  cursor_.seed = options_.seed;
  std::optional<std::string> newest;
  if (options_.resume) {
    auto found = store_->newest();
    output_.warn(store_->take_warnings());
    const Status looked = found ? Status() : Status(found.error());
    if (const auto all = together(looked, ExitStatus::storage, true); !all) return all;
    newest = std::move(*found);
  }
  if (newest) return go_on_with(*newest);
  const auto others = store_->has_steps();
  const Status looked = others ? Status() : Status(others.error());
  if (const auto all = together(looked, ExitStatus::storage, true); !all) return all;
  if (*others) {
    // To begin anew would mix two runs, and --keep would remove the better one.
    const std::string folder = options_.out + "/checkpoints";
    return tl::make_unexpected(Refusal{
        make_error(Errc::invalid_input,
                   options_.resume
                       ? folder + ": no checkpoint there can be loaded; mend one, or move them away"
                       : folder + " has checkpoints: go on with --resume, or name another --out"),
        options_.resume ? ExitStatus::storage : ExitStatus::refused_config, place_.rank != 0});
  }
  if (options_.resume) output_.say("no checkpoint to resume from: begins at step 0");
  return {};
}

Answer<void> RankRun::go_on_with(const std::string& checkpoint) {
  const auto loaded = store_->load(checkpoint, *state_);
  const Status read = loaded ? Status() : Status(loaded.error());
  if (const auto all = together(read, status_of_loading(read), true); !all) return all;
  const RunCursor& found = loaded->cursor;
  std::string other;
  if (found.seed != cursor_.seed) other = fmt::format("--seed {}", found.seed);
  if (found.pack_digest != cursor_.pack_digest) other = "other data";
  if (found.tokens != found.step * cut().global_batch() * data_->block_tokens()) {
    other = "another number of tokens a step";
  }
  if (!other.empty()) {
    return tl::make_unexpected(Refusal{
        make_error(Errc::invalid_input,
                   fmt::format("{}: written with {}, so where it stands in the data is not known",
                               checkpoint, other)),
        ExitStatus::refused_config, place_.rank != 0});
  }
  cursor_ = found;
  if (!loaded->moments) {
    cursor_.skipped = cursor_.step;  // the next update is the first of the moments
    output_.warn({checkpoint + " has weights alone: the moments of the optimizer begin anew"});
  }
  if (place_.rank == 0 && cursor_.step > 0) {
    const std::string past = metrics_tail(options_.out + "/metrics.jsonl");
    const auto change =
        schedule_change(past, cursor_.step, target_, plan().rate.rate(cursor_.step - 1));
    if (change) output_.warn({"another schedule than before: " + *change});
  }
  output_.event({"restarted", system_clock().wall(), cursor_.step, {}, checkpoint});
  return {};
}

LoopPlan RankRun::plan() const {
  LoopPlan plan;
  plan.rate.peak = options_.learning_rate;
  plan.rate.total_steps = target_;
  plan.rate.warmup_steps =
      static_cast<std::uint64_t>(std::llround(options_.warmup * static_cast<double>(target_)));
  plan.saves = {.every = options_.save_every, .epoch_steps = epoch_steps_, .target_step = target_};
  plan.step_tokens = cut().global_batch() * data_->block_tokens();
  plan.most_skips = options_.most_skips;
  plan.flops_per_token = 6 * static_cast<double>(math_->plan().parameters());
  if (options_.peak_tflops > 0) plan.peak_flops = options_.peak_tflops * 1e12;
  return plan;
}

Answer<ExitStatus> RankRun::train() {
  EngineOptions engine;
  engine.prefetch = options_.prefetch;
  engine.clip = options_.clip > 0 ? std::optional(options_.clip) : std::nullopt;
  engine.adamw.weight_decay = options_.weight_decay;
  const EngineRanks ranks{world_.get(), shards_ ? shards_.get() : world_.get(), replicas_.get()};
  engine_ = std::make_unique<Engine>(*math_, *state_, ranks, engine);
  engine_->weights_changed();
  heartbeat_->set_target(static_cast<std::int64_t>(target_));
  heartbeat_->step_done(static_cast<std::int64_t>(cursor_.step),
                        static_cast<std::int64_t>(cursor_.tokens), std::nullopt);
  LoopParts parts;
  parts.world = world_.get();
  parts.data = data_.get();
  parts.engine = engine_.get();
  parts.state = state_.get();
  parts.store = store_.get();
  parts.saves = saves_;
  parts.output = &output_;
  parts.heartbeat = heartbeat_.get();
  parts.recorder = recorder_.get();
  output_.say(fmt::format("{} parameters, {} ranks, {} blocks of {} tokens, {} steps of {} tokens",
                          math_->plan().parameters(), place_.world, data_->blocks(),
                          data_->block_tokens(), target_,
                          cut().global_batch() * data_->block_tokens()));
  TrainLoop loop(parts, plan());
  const auto ended = loop.run(cursor_);
  if (ended) return *ended;
  switch (loop.where()) {
    case TrainLoop::Where::save:
      return tl::make_unexpected(Refusal{ended.error(), ExitStatus::storage, place_.rank != 0});
    case TrainLoop::Where::data:
      return refuse(ended.error(), status_of_reading(ended.error()));
    case TrainLoop::Where::steps:
      break;
  }
  const bool collective = ended.error().code == Errc::unavailable;
  return refuse(ended.error(), collective ? ExitStatus::out_of_step : ExitStatus::no_input);
}

// The run is done and its weights are saved: what goes wrong here is said, and no more.
void RankRun::show_sample() {
  if (!tokenizer_) return;
  Communicator& shards = shards_ ? *shards_ : *world_;
  const auto ids =
      continue_ids(*math_, *state_, shards, prompt_, end_of_text(*tokenizer_), kSampleTokens);
  if (!ids) {
    if (place_.rank == 0) output_.complain("WARN no sample: " + ids.error().context);
    return;
  }
  const auto text = tokenizer_->decode(*ids);
  output_.say(fmt::format("sample: {} |{}", options_.sample,
                          text ? *text : fmt::format("{} tokens", ids->size())));
}

Answer<ExitStatus> RankRun::run(const RunLayout& layout, std::int64_t attempt) {
  const auto opened = open(layout, attempt);
  if (!opened) return tl::make_unexpected(opened.error());
  for (const auto part : {&RankRun::join, &RankRun::vote, &RankRun::load, &RankRun::go_on}) {
    const auto done = (this->*part)();
    if (!done) return tl::make_unexpected(done.error());
  }
  const auto ended = train();
  if (ended && *ended == ExitStatus::saved) {
    output_.say(cursor_.step == 0 ? "left before the first step: start again with --resume"
                                  : "saved and left: start again with --resume");
  }
  if (!ended || *ended != ExitStatus::ok) return ended;
  output_.event({"finished", system_clock().wall(), cursor_.step, {}, ""});
  show_sample();
  return ended;
}

}  // namespace

ExitStatus run_rank(const TrainOptions& options, const LaunchPlace& place, const std::string& run,
                    std::int64_t attempt) {
  RankRun rank(options, place);
  const auto ended = rank.run(RunLayout(run), attempt);
  if (ended) {
    if (*ended == ExitStatus::do_not_restart && place.rank == 0) {
      rank.output().complain("the gradient was not finite in several steps in a row");
    }
    return *ended;
  }
  const Refusal& refusal = ended.error();
  if (refusal.quiet) return refusal.status;
  // Whoever leaves after another error is gone for the others, which is no news.
  const auto failure = refusal.status == ExitStatus::out_of_step ? rank.failure() : std::nullopt;
  rank.output().complain(failure ? failure->text : refusal.error.context);
  return refusal.status;
}

}  // namespace muster::train
