#include "train/ckpt/checkpoint_store.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <set>

#include "core/checkpoint/checkpoint_manifest.h"
#include "core/checkpoint/safetensors.h"
#include "tests/support/faulty_save_disk.h"
#include "tests/support/shell.h"
#include "train/ckpt/ckpt_test_kit.h"
#include "train/ckpt/save_layout.h"

namespace muster::train {
namespace {

using testing_support::file_text;
using testing_support::TemporaryFolder;

CheckpointOptions options_in(const std::string& folder) {
  CheckpointOptions options;
  options.folder = folder + "/run";
  options.config_json = R"({"model_type":"qwen3"})";
  options.file_bytes = 20'000;
  return options;
}

// A device takes some milliseconds to have it, and these tests save some hundred times.
SaveDisk& quick_disk() {
  static FaultySaveDisk disk(real_save_disk());
  disk.syncs = false;
  return disk;
}

std::set<std::string> names_in(const std::string& folder) {
  std::set<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    out.insert(entry.path().filename().string());
  }
  return out;
}

// The newest is `step` (0: none), its state that of `seed`, on any number of ranks.
void expect_newest(int world, const UnitPlan& plan, Dtype dtype, const CheckpointOptions& options,
                   SaveDisk& disk, std::uint64_t step, std::uint64_t seed,
                   const std::string& warning = "") {
  with_ranks(world, plan, dtype, options, disk, [&](RankWork& work) {
    const auto newest = work.store.newest();
    ASSERT_TRUE(newest) << newest.error().context;
    if (work.rank == 0) {
      std::string all;
      for (const std::string& text : work.store.take_warnings()) all += text + "\n";
      EXPECT_EQ(warning.empty(), all.empty()) << all;
      EXPECT_NE(all.find(warning), std::string::npos) << all;
    }
    ASSERT_EQ(newest->has_value(), step != 0);
    if (step == 0) return;
    EXPECT_EQ(**newest, fmt::format("{}/step-{}", options.folder, step));
    fill(work.state, 99);  // what was there before
    const auto loaded = work.store.load(**newest, work.state);
    ASSERT_TRUE(loaded) << loaded.error().context;
    EXPECT_TRUE(loaded->moments);
    EXPECT_EQ(loaded->cursor, cursor_of(step));
    ShardedState expected(plan, dtype, work.state.shard, work.state.shards);
    fill(expected, seed);
    EXPECT_TRUE(same_state(work.state, expected));
  });
}

TEST(CheckpointStore, AnyWorldLoadsWhatAnyWorldSaved) {
  for (const bool tied : {false, true}) {
    const UnitPlan plan(small_config(tied));
    for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
      for (const int saving : {1, 2, 3, 4}) {
        const TemporaryFolder place;
        const CheckpointOptions options = options_in(place.path());
        save_step(saving, plan, dtype, options, quick_disk(), 500, 7);
        for (const int loading : {1, 2, 4, 5}) {
          expect_newest(loading, plan, dtype, options, quick_disk(), 500, 7);
        }
      }
    }
  }
}

TEST(CheckpointStore, FilesAreWhatTransformersExpects) {
  for (const bool tied : {false, true}) {
    const UnitPlan plan(small_config(tied));
    const TemporaryFolder place;
    CheckpointOptions options = options_in(place.path());
    place.write("tokenizer.json", "{}");
    options.model_folder = place.path();
    save_step(2, plan, Dtype::f32, options, real_save_disk(), 12, 1);
    const std::string folder = options.folder + "/step-12";
    EXPECT_EQ(file_text(options.folder + "/latest"), "step-12\n");
    EXPECT_EQ(file_text(folder + "/config.json"), options.config_json);
    EXPECT_EQ(file_text(folder + "/tokenizer.json"), "{}");
    const std::string index = file_text(folder + "/model.safetensors.index.json");
    std::set<std::string> seen;
    for (const std::string& name : names_in(folder)) {
      if (!name.ends_with(".safetensors")) continue;
      const std::string bytes = file_text(folder + "/" + name);
      const auto header = checkpoint::parse_safetensors(bytes);
      ASSERT_TRUE(header) << header.error().context;
      EXPECT_EQ(header->file_bytes(), bytes.size());
      EXPECT_EQ(header->data_begin % 8, 0u);
      EXPECT_EQ(header->metadata.front(), (std::pair<std::string, std::string>("format", "pt")));
      for (const auto& tensor : header->tensors) {
        EXPECT_EQ(tensor.dtype, "BF16");
        EXPECT_TRUE(seen.insert(tensor.name).second);
        EXPECT_NE(index.find(fmt::format("\"{}\":\"{}\"", tensor.name, name)), std::string::npos);
      }
    }
    std::set<std::string> expected;
    for (const Unit& unit : plan.units()) {
      for (const TensorSpec& tensor : unit.tensors) expected.insert(tensor.name);
    }
    EXPECT_EQ(seen, expected);
    EXPECT_EQ(seen.contains("lm_head.weight"), !tied);
  }
}

TEST(CheckpointStore, TheFolderOfTheModelIsReadOnceAtTheStart) {
  const UnitPlan plan(small_config());
  const TemporaryFolder place, model;
  CheckpointOptions options = options_in(place.path());
  options.model_folder = model.path();
  model.write("tokenizer.json", "{}");
  model.write("config.json", R"({"model_type":"qwen3","of":"the model"})");
  std::atomic<int> opened{0};
  with_ranks(2, plan, Dtype::f32, options, quick_disk(), [&](RankWork& work) {
    if (opened++ == 0) {
      std::filesystem::remove(model.path() + "/tokenizer.json");
      model.write("config.json", "{}");
    }
    EXPECT_TRUE(work.store.save(work.state, cursor_of(4)));
    EXPECT_TRUE(work.store.finish());
  });
  const std::string folder = options.folder + "/step-4";
  EXPECT_EQ(file_text(folder + "/tokenizer.json"), "{}");
  EXPECT_EQ(file_text(folder + "/config.json"), R"({"model_type":"qwen3","of":"the model"})");
}

TEST(CheckpointStore, WeightsAloneGoOnAtTheirStepWithMomentsOfZero) {
  const UnitPlan plan(small_config());
  const TemporaryFolder place;
  CheckpointOptions options = options_in(place.path());
  options.exact = false;
  save_step(2, plan, Dtype::f32, options, quick_disk(), 3, 5);
  EXPECT_FALSE(names_in(options.folder + "/step-3").contains("state"));
  with_ranks(3, plan, Dtype::f32, options, quick_disk(), [&](RankWork& work) {
    fill(work.state, 42);
    const ShardedState fresh(plan, Dtype::f32, work.state.shard, work.state.shards);
    const auto loaded = work.store.load(options.folder + "/step-3", work.state);
    ASSERT_TRUE(loaded) << loaded.error().context;
    EXPECT_FALSE(loaded->moments);
    EXPECT_EQ(loaded->cursor, cursor_of(3));
    for (std::size_t unit = 0; unit < plan.units().size(); ++unit) {
      const UnitShard &got = work.state.units[unit], &zero = fresh.units[unit];
      EXPECT_TRUE(same_bytes(got.first_moment, zero.first_moment));
      EXPECT_TRUE(same_bytes(got.second_moment, zero.second_moment));
    }
    ShardedState exact(plan, Dtype::f32, work.state.shard, work.state.shards);
    fill(exact, 5);
    const auto* got = reinterpret_cast<const float*>(work.state.units[1].master.data());
    const auto* wanted = reinterpret_cast<const float*>(exact.units[1].master.data());
    for (int i = 0; i < 100; ++i) EXPECT_NEAR(got[i], wanted[i], 0.004);  // rounded to bf16
  });
}

// A run that begins must not mix with another, one that goes on must not begin in silence.
TEST(CheckpointStore, StepsThatAreThereAreToldFromNone) {
  const struct {
    const char* name;
    const char* folder;  // made beforehand
    bool steps;
  } rows[] = {
      {"nothing", "", false},
      {"a folder that is empty", "step-7", true},
      {"half of one", "step-7/state", true},
      {"a save that was killed", ".saving-step-7", false},
      {"moved aside", "step-7.before-1", false},
      {"of another trainer", "checkpoint-7", false},
      {"a name that is not ours", "step-07", false},
  };
  const UnitPlan plan(small_config());
  for (const auto& row : rows) {
    const TemporaryFolder place;
    const CheckpointOptions options = options_in(place.path());
    std::filesystem::create_directories(options.folder + "/" + row.folder);
    with_ranks(2, plan, Dtype::f32, options, quick_disk(), [&](RankWork& work) {
      const auto some = work.store.has_steps();
      ASSERT_TRUE(some) << some.error().context;
      EXPECT_EQ(*some, row.steps) << row.name;
      const auto newest = work.store.newest();
      ASSERT_TRUE(newest) << newest.error().context;
      EXPECT_FALSE(*newest) << row.name;
      if (work.rank == 0) {
        EXPECT_EQ(work.store.take_warnings().size(), row.steps ? 1u : 0u) << row.name;
      }
    });
  }
}

TEST(CheckpointStore, NothingThere) {
  const UnitPlan plan(small_config());
  const TemporaryFolder place;
  expect_newest(2, plan, Dtype::f32, options_in(place.path()), quick_disk(), 0, 0);
}

// What a disk, a person or a killed copy may do to the newest one.
TEST(CheckpointStore, DamagedOnesArePassedOver) {
  struct Row {
    const char* name;
    std::string command, warning;
  };
  const std::string weights = "model-00001-of-00005.safetensors";
  const Row rows[] = {
      {"no manifest", "rm muster-checkpoint.json", "No such file"},
      {"half a manifest", "truncate -s 100 muster-checkpoint.json", "no JSON"},
      {"weights gone", "rm model-*1-of*", "No such file"},
      {"weights cut", "f=$(ls model-*1-of*); truncate -s -1 $f", "by the manifest"},
      {"weights flipped", "f=$(ls model-*1-of*); printf X | dd of=$f bs=1 seek=4000 conv=notrunc",
       "was changed"},
      {"state gone", "rm state/rank-00001*", "No such file"},
      {"state cut", "truncate -s 5000 state/rank-00001*", "by the manifest"},
      {"state flipped", "printf X | dd of=$(ls state/rank-00000*) bs=1 seek=9000 conv=notrunc",
       "was changed"},
      {"index changed", "printf ' ' >> model.safetensors.index.json", "by the manifest"},
      {"a folder in its place", "rm config.json && mkdir config.json", "not a regular file"},
      {"empty", "rm -r *", "No such file"},
  };
  const UnitPlan plan(small_config());
  for (const Row& row : rows) {
    const TemporaryFolder place;
    const CheckpointOptions options = options_in(place.path());
    save_step(2, plan, Dtype::f32, options, quick_disk(), 9, 1);
    save_step(2, plan, Dtype::f32, options, quick_disk(), 10, 2);
    const auto run =
        testing_support::run_shell("cd " + options.folder + "/step-10 && " + row.command);
    ASSERT_EQ(run.status, 0) << run.output;
    SCOPED_TRACE(row.name);
    expect_newest(2, plan, Dtype::f32, options, quick_disk(), 9, 1, row.warning);
    expect_newest(3, plan, Dtype::f32, options, quick_disk(), 9, 1, row.warning);
  }
}

TEST(CheckpointStore, AnotherModelOrOtherNumbersAreRefused) {
  const UnitPlan plan(small_config()), other(small_config(true));
  const TemporaryFolder place;
  const CheckpointOptions options = options_in(place.path());
  save_step(2, plan, Dtype::f32, options, quick_disk(), 1, 1);
  with_ranks(2, other, Dtype::f32, options, quick_disk(), [&](RankWork& work) {
    const auto cursor = work.store.load(options.folder + "/step-1", work.state);
    ASSERT_FALSE(cursor);
    EXPECT_EQ(cursor.error().code, Errc::invalid_input);
  });
  with_ranks(2, plan, Dtype::f64, options, quick_disk(), [&](RankWork& work) {
    const auto cursor = work.store.load(options.folder + "/step-1", work.state);
    ASSERT_FALSE(cursor);
    EXPECT_EQ(cursor.error().code, Errc::unsupported);
  });
}

TEST(CheckpointStore, KeepsTheNewestAndWhatIsNotOurs) {
  const UnitPlan plan(small_config());
  const TemporaryFolder place;
  CheckpointOptions options = options_in(place.path());
  options.keep = 2;
  std::filesystem::create_directories(options.folder + "/step-2");  // somebody else's
  std::filesystem::create_directories(options.folder + "/checkpoint-1");
  std::filesystem::create_directories(options.folder + "/.saving-step-77/state");
  std::filesystem::create_directories(options.folder + "/.removed-step-5");
  std::filesystem::create_directories(options.folder + "/.saving-mine");
  for (const std::uint64_t step : {10u, 20u, 30u, 40u}) {
    save_step(2, plan, Dtype::f32, options, quick_disk(), step, step);
  }
  EXPECT_EQ(names_in(options.folder),
            (std::set<std::string>{".saving-mine", "checkpoint-1", "latest", "step-2", "step-30",
                                   "step-40"}));
  // Gone back before those: what lies ahead may be all that another run left.
  for (const std::uint64_t step : {5u, 10u, 15u}) {
    save_step(2, plan, Dtype::f32, options, quick_disk(), step, 3);
  }
  EXPECT_EQ(names_in(options.folder),
            (std::set<std::string>{".saving-mine", "checkpoint-1", "latest", "step-2", "step-10",
                                   "step-15", "step-30", "step-40"}));
  // The same step again: the older one may be a suspect, and stays beside.
  save_step(2, plan, Dtype::f32, options, quick_disk(), 40, 8);
  EXPECT_TRUE(names_in(options.folder).contains("step-40.before-1"));
  expect_newest(2, plan, Dtype::f32, options, quick_disk(), 40, 8);
}

// The last good one is not given up for one that cannot be loaded.
TEST(CheckpointStore, DamagedOnesDoNotCountAsKept) {
  const struct {
    const char* name;
    const char* command;  // in the folder of the newest
    bool looked;          // newest() has read them all
  } rows[] = {
      {"flipped, and found", "printf X | dd of=$(ls model-*1-of*) bs=1 seek=4000 conv=notrunc",
       true},
      {"cut, and nobody looked", "truncate -s 5000 state/rank-00001*", false},
      {"a file gone", "rm config.json", false},
      {"no manifest", "rm muster-checkpoint.json", false},
  };
  const UnitPlan plan(small_config());
  for (const auto& row : rows) {
    const TemporaryFolder place;
    CheckpointOptions options = options_in(place.path());
    for (const std::uint64_t step : {10u, 20u, 30u}) {
      save_step(2, plan, Dtype::f32, options, quick_disk(), step, step);
    }
    const auto run =
        testing_support::run_shell("cd " + options.folder + "/step-30 && " + row.command);
    ASSERT_EQ(run.status, 0) << run.output;
    options.keep = 2;
    with_ranks(2, plan, Dtype::f32, options, quick_disk(), [&](RankWork& work) {
      if (row.looked) {
        EXPECT_TRUE(work.store.newest());
      }
      EXPECT_TRUE(work.store.save(work.state, cursor_of(40)));
      EXPECT_TRUE(work.store.finish());
    });
    EXPECT_EQ(names_in(options.folder),
              (std::set<std::string>{"latest", "step-20", "step-30", "step-40"}))
        << row.name;
  }
}

TEST(CheckpointStore, NoRoomIsToldBeforeAnythingIsWritten) {
  const UnitPlan plan(small_config());
  const TemporaryFolder place;
  const CheckpointOptions options = options_in(place.path());
  FaultySaveDisk disk(quick_disk());
  save_step(2, plan, Dtype::f32, options, disk, 1, 1);
  disk.room_bytes = 100'000;
  with_ranks(2, plan, Dtype::f32, options, disk, [&](RankWork& work) {
    const Status saved = work.store.save(work.state, cursor_of(2));
    ASSERT_FALSE(saved);
    EXPECT_EQ(saved.error().code, Errc::exhausted);
    EXPECT_NE(saved.error().context.find("100000 are free"), std::string::npos);
  });
  EXPECT_EQ(names_in(options.folder), (std::set<std::string>{"latest", "step-1"}));
}

// A save of a step that is there: at no call of the disk may the name be without a whole
// checkpoint, as a process that is killed there would leave it.
TEST(CheckpointStore, AStepSavedAgainHasAWholeOneAtEachCall) {
  const UnitPlan plan(small_config());
  for (const bool exchanges : {true, false}) {
    const TemporaryFolder place;
    const CheckpointOptions options = options_in(place.path());
    save_step(1, plan, Dtype::f32, options, quick_disk(), 6, 1);
    FaultySaveDisk disk(quick_disk());
    disk.exchanges = exchanges;
    int gaps = 0, copy = 0;
    disk.before_call = [&] {
      if (std::filesystem::exists(options.folder + "/step-6")) return;
      ++gaps;
      // What the next attempt makes of it.
      CheckpointOptions next = options;
      next.folder = fmt::format("{}/next-{}", place.path(), ++copy);
      std::filesystem::copy(options.folder, next.folder, std::filesystem::copy_options::recursive);
      expect_newest(1, plan, Dtype::f32, next, quick_disk(), 6, 2);
    };
    save_step(1, plan, Dtype::f32, options, disk, 6, 2);
    disk.before_call = nullptr;
    EXPECT_EQ(gaps > 0, !exchanges);
    expect_newest(1, plan, Dtype::f32, options, quick_disk(), 6, 2);
    EXPECT_EQ(names_in(options.folder),
              (std::set<std::string>{"latest", "step-6", "step-6.before-1"}));
    std::filesystem::remove_all(options.folder + "/step-6");
    std::filesystem::rename(options.folder + "/step-6.before-1", options.folder + "/step-6");
    expect_newest(1, plan, Dtype::f32, options, quick_disk(), 6, 1);
  }
}

// One call of saving a step again fails: the name has the older or the newer, whole.
TEST(CheckpointStore, AStepSavedAgainFailsAtEachCall) {
  Qwen3Config config = small_config();
  config.layers = 1;
  const UnitPlan plan(config);
  for (const bool exchanges : {true, false}) {
    bool through = false;
    for (std::uint64_t call = 0; !through; ++call) {
      SCOPED_TRACE(fmt::format("call {}, exchanges {}", call, exchanges));
      ASSERT_LT(call, 400u);
      const TemporaryFolder place;
      const CheckpointOptions options = options_in(place.path());
      save_step(1, plan, Dtype::f32, options, quick_disk(), 6, 1);
      FaultySaveDisk disk(quick_disk());
      disk.exchanges = exchanges;
      with_ranks(1, plan, Dtype::f32, options, disk, [&](RankWork& work) {
        disk.failing_call = disk.calls() + call;
        fill(work.state, 2);
        Status saved = work.store.save(work.state, cursor_of(6));
        if (saved) saved = work.store.finish();
        through = saved && disk.calls() <= *disk.failing_call;
      });
      const bool newer = names_in(options.folder).contains("step-6.before-1");
      expect_newest(1, plan, Dtype::f32, options, quick_disk(), 6, newer ? 2 : 1);
    }
  }
}

// One call of a save fails: every rank is told, what was complete stays so, and nothing is left of
// what was not. Whether the save came to its end before that call.
bool call_fails(int world, std::uint64_t call) {
  Qwen3Config config = small_config();
  config.layers = 1;
  const UnitPlan plan(config);
  const TemporaryFolder place;
  CheckpointOptions options = options_in(place.path());
  options.keep = 1;
  options.file_bytes = 1'000'000;
  save_step(world, plan, Dtype::f32, options, quick_disk(), 1, 1);
  FaultySaveDisk disk(quick_disk());
  std::atomic<int> opened{0}, told{0}, fine{0};
  with_ranks(world, plan, Dtype::f32, options, disk, [&](RankWork& work) {
    // Both have opened before the first of them goes on: open() ends with all together.
    if (opened++ == 0) disk.failing_call = disk.calls() + call;
    fill(work.state, 2);
    Status saved = work.store.save(work.state, cursor_of(2));
    if (saved) saved = work.store.finish();
    ++(saved ? fine : told);
  });
  EXPECT_EQ(opened, world);
  EXPECT_TRUE(told == 0 || told == world) << told;
  const auto names = names_in(options.folder);
  if (told == world) {
    EXPECT_FALSE(names.contains(".saving-step-2"));
  }
  const bool there = names.contains("step-2");
  EXPECT_TRUE(there || told == world);
  expect_newest(world, plan, Dtype::f32, options, quick_disk(), there ? 2 : 1, there ? 2 : 1);
  return fine == world && disk.calls() <= *disk.failing_call;
}

TEST(CheckpointStore, AFailingCallAtEachCall) {
  for (const int world : {1, 2}) {
    // Ranks that wait for one another take their time: of two, every third call.
    const std::uint64_t stride = world == 1 ? 1 : 3;
    std::uint64_t call = 0;
    bool through = false;
    for (; !through; call += stride) {
      SCOPED_TRACE(fmt::format("{} ranks, call {}", world, call));
      ASSERT_LT(call, 400u);
      through = call_fails(world, call);
    }
    EXPECT_GT(call, 20u);
  }
}

TEST(CheckpointStore, ASaveThatFailedIsToldByTheNext) {
  const UnitPlan plan(small_config());
  const TemporaryFolder place;
  const CheckpointOptions options = options_in(place.path());
  FaultySaveDisk disk(quick_disk());
  with_ranks(2, plan, Dtype::f32, options, disk, [&](RankWork& work) {
    fill(work.state, 4);
    if (work.rank == 0) disk.failing_call = disk.calls() + 8;
    EXPECT_TRUE(work.store.save(work.state, cursor_of(1)));
    EXPECT_FALSE(work.store.finish());
    EXPECT_FALSE(work.store.saving());
    const Status second = work.store.save(work.state, cursor_of(2));
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().context.find("saving step 1: rank"), std::string::npos);
    EXPECT_TRUE(work.store.finish());
  });
  expect_newest(2, plan, Dtype::f32, options, disk, 2, 4);
}

TEST(CheckpointStore, AFolderThatCannotBeWritten) {
  const UnitPlan plan(small_config());
  const TemporaryFolder place;
  CheckpointOptions options = options_in(place.path());
  options.folder = place.write("file", "") + "/run";  // no folder can be made in a file
  with_ranks(2, plan, Dtype::f32, options, quick_disk(), [](RankWork&) { FAIL(); }, false);
}

}  // namespace
}  // namespace muster::train
