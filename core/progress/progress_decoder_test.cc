#include "core/progress/progress_decoder.h"

#include <gtest/gtest.h>

#include <string>

#include "core/progress/transcript.h"

namespace muster {
namespace {

struct Row {
  const char* name;
  const char* line;
  const char* want;
};

class ProgressLines : public ::testing::TestWithParam<Row> {};

TEST_P(ProgressLines, Reads) {
  EXPECT_EQ(transcript(GetParam().line), GetParam().want);
}

constexpr Row kSteps[] = {
    {"plain", "[09:09:52] step 150/385 loss 0.703 tok/s 53012",
     "step 150/385 loss=0.703 tps=53012"},
    {"pipes", "step 4000 | loss 1.5 | tps 41,204", "step 4000 loss=1.5 tps=41204"},
    {"rate_first", "[23:58:41] step 8812 | loss 2.25 | 52.8k tok/s",
     "step 8812 loss=2.25 tps=52800"},
    {"loss_only", "step 12 loss 3.5", "step 12 loss=3.5"},
    {"loss_nan", "step 12 loss nan", "step 12 loss=nan"},
    {"loss_inf", "step 12 loss: inf", "step 12 loss=inf"},
    {"step_with_comma", "step 1,204/20,000: loss 2", "step 1204/20000 loss=2"},
    {"bare_count", "step 7/90", "step 7/90"},
    {"bare_percent", "Step 7/90 (7.78%)", "step 7/90"},
    {"logger_in_front", "INFO:trainer:step 7 loss 3 lr 1e-4", "step 7 loss=3 lr=0.0001"},
    {"torchtitan",
     "\x1b[31m[titan] 2026-08-01 10:00:00,000 - root - INFO - \x1b[36mstep: 480  \x1b[32mloss:  "
     "1.5  \x1b[38;2;180;60;0mgrad_norm:  0.5  memory: 150.21GiB(78.4%)  tps: 3,312  tflops: "
     "690.10  mfu: 30.7%\x1b[39m",
     "step 480 loss=1.5 norm=0.5 tps=3312 mfu=0.307"},
    {"megatron",
     " [2026-08-01 10:00:00] iteration      480/    4000 | consumed samples:        61440 | "
     "elapsed time per iteration (ms): 4950.0 | throughput per GPU (TFLOP/s/GPU): 690.1 | "
     "learning rate: 9.1E-06 | global batch size:   128 | lm loss: 1.842100E+00 | loss scale: 1.0 "
     "| grad norm: 0.910 | number of skipped iterations:   0 | number of nan iterations:   0 |",
     "step 480/4000 loss=1.8421 norm=0.91 lr=9.1e-06 dt=4.95"},
    {"megatron_short", "[2022-04-22 01:12:44] iteration 4121 | lm loss 2.5 | 14.9 s",
     "step 4121 loss=2.5"},
    {"deepspeed",
     "[2026-08-01 10:00:00,123] [INFO] [logging.py:107:log_dist] [Rank 0] step=480, skipped=0, "
     "lr=[9.1e-06], mom=[(0.9, 0.95)]",
     "step 480 lr=9.1e-06 rank=0"},
    {"deepspeed_timer",
     "[2026-08-01 10:00:00,123] [INFO] [timer.py:264:stop] epoch=0/micro_step=1920/"
     "global_step=480, RunningAvgSamplesPerSec=25.9, CurrSamplesPerSec=25.8, MemAllocated=9.1GB",
     "step 480"},
    {"deepspeed_old_timer",
     "[2026-08-01 10:00:00,123] [INFO] [timer.py:197:stop] 0/480, RunningAvgSamplesPerSec=25.9",
     "step 480"},
    {"torchtune_file", "Step 480 | loss:1.84 lr:9e-06 tokens_per_second_per_gpu:3312",
     "step 480 loss=1.84 lr=9e-06 tps=3312"},
    {"nanogpt", "iter 480: loss 1.8421, time 4950.00ms, mfu 30.70%",
     "step 480 loss=1.8421 dt=4.95 mfu=0.307"},
    {"nanochat",
     "step 00480/04000 (12.00%) | loss: 1.842100 | lrm: 1.00 | dt: 4950.00ms | tok/sec: 53,012 | "
     "mfu: 30.70",
     "step 480/4000 loss=1.8421 tps=53012 dt=4.95 mfu=0.307"},
    {"verl",
     "step:12 - actor/pg_loss:0.5 - actor/grad_norm:0.25 - timing_s/step:130.5 - "
     "perf/mfu/actor:0.34 - perf/throughput:812.5",
     "step 12 loss=0.5 norm=0.25 tps=812.5 dt=130.5 mfu=0.34"},
    {"words_per_s",
     "0: INFO    24-11-04 09:13:20.118 - 0:01:24 - step: 50  acc: 0  loss:  3.25  "
     "wps: 1.16e+05  iter:  0.5511  lr: 7.31e-06",
     "step 50 loss=3.25 lr=7.31e-06 tps=116000 rank=0"},
    {"torchrun_tag", "[default3]:step 5/9 loss 1", "step 5/9 loss=1 rank=3"},
    {"rank_tag", "[rank11]: step 5/9 loss 1", "step 5/9 loss=1 rank=11"},
    {"srun_tag", "14: step 5/9 loss 1", "step 5/9 loss=1 rank=14"},
    {"kubernetes", "2026-08-01T10:00:00.123456789Z stdout F [rank1]: step 5/9 loss 1",
     "step 5/9 loss=1 rank=1"},
    {"evaluation_of_step", "step 500: train loss 2.5, val loss 2.75", "eval_end step=500"},
    {"validate_step", "validate step: 500  loss:  3.5", "eval_end step=500"},
    {"negative_loss", "step 3 loss -0.25", "step 3 loss=-0.25"},
};
constexpr Row kNoSteps[] = {
    {"compiler_stage", "Step 3: torchinductor compiling FORWARDS graph 0", "compile"},
    {"slurm_step",
     "slurmstepd: error: *** STEP 494583.0 ON n1 CANCELLED AT 2025-11-30T00:00:19 "
     "DUE TO TIME LIMIT ***",
     "error"},
    {"settings", "num_steps=500 max_steps: 4000 warmup_steps 100", ""},
    {"docker_build", "Step 2/5 : RUN pip install torch", ""},
    {"micro_step", "micro_step=9, loss=1.0", ""},
    {"prose", "the first step is to read the loss curve", ""},
    {"step_without_number", "step loss 0.5", ""},
    {"fraction", "step 1.5 loss 0.5", ""},
    {"glued", "step 12abc loss 0.5", ""},
    {"negative", "step -4 loss 0.5", ""},
    {"huge", "step 99999999999999999999999 loss 0.5", ""},
    {"other_word", "timestep 40 loss 0.5", ""},
    {"iteration_in_error", "RuntimeError: NaN in local forward loss. Device: 5, iteration 4183",
     "error step=4183"},
    {"empty", "", ""},
    {"blanks", "   \t ", ""},
    {"escapes_only", "\x1b[2K\x1b[0m", ""},
    {"torn_escape", "\x1b[", ""},
    {"telemetry_row", "2026/03/02 10:00:01.000, 0, 99 %, 512.10 W", ""},
};
constexpr Row kEvents[] = {
    {"save_begin", "[09:10:01] saving checkpoint step=1500 (bf16, 62 GB) to /dataset/ckpt/step_1",
     "save_begin step=1500"},
    {"save_begin_step_first", "[14:05:02] step 6500 saving checkpoint to /nfs/ckpt/run3",
     "save_begin step=6500"},
    {"save_begin_torchtune",
     "INFO:torchtune.utils._logging:Saving checkpoint. This may take some time. Retrieving full "
     "model state dict...",
     "save_begin"},
    {"save_begin_hf", "Saving model checkpoint to out/checkpoint-500", "save_begin step=500"},
    {"save_begin_megatron", "saving checkpoint at iteration     500 to /ckpt in torch_dist format",
     "save_begin step=500"},
    {"save_started", "checkpoint save started (step 500)", "save_begin step=500"},
    {"save_async", "scheduled an async checkpoint save at iteration 500 to /ckpt",
     "save_begin step=500"},
    {"save_end", "[09:12:03] checkpoint step=1500 done in 122.1 s",
     "save_end step=1500 took=122.1"},
    {"save_end_min", "saved checkpoint in 2 min 3 s", "save_end took=123"},
    {"save_took", "Saving checkpoint took 45secs", "save_end took=45"},
    {"save_end_megatron", "successfully saved checkpoint from iteration     500 to /ckpt",
     "save_end step=500"},
    {"save_finished", "Finished saving the checkpoint in 33.25 seconds.", "save_end took=33.25"},
    {"save_complete", "[14:02:03] rank 0: checkpoint step_600 complete (world_size=8)",
     "save_end step=600"},
    {"weights_saved", "Saved final weights to /ckpt/ac4/last.ckpt (2.1 GB)", "save_end"},
    {"save_time_is_no_step", "step 500: checkpoint written, time 12 s",
     "save_end step=500 took=12"},
    {"save_size_ignored", "saved checkpoint of 62 GB at 0.5 GB/s", "save_end"},
    {"saves_known", "previous saves: step 500 117 s, step 1000 121 s (save_every=500, 62 GB)",
     "save_known step=500 took=117; save_known step=1000 took=121"},
    {"saves_known_forms", "earlier saves: step 500: 1 min 57 s; step=1,000 took 121s",
     "save_known step=500 took=117; save_known step=1000 took=121"},
    {"save_known_one", "previous checkpoint took 95 s", "save_known took=95"},
    {"eval_begin", "[02:00:03] step 1000 start evaluation on main process (14,900 examples)",
     "eval_begin step=1000"},
    {"eval_begin_hf", "***** Running Evaluation *****", "eval_begin"},
    {"eval_begin_stars", "** Starting validation **", "eval_begin"},
    {"eval_progress", "[03:00:04] eval 6,215/14,900", "eval_begin"},
    {"eval_end", "** Finished validation **", "eval_end"},
    {"eval_result", "Validation logs: val_per_token_loss: 3.0114", "eval_end"},
    {"dynamo",
     "[2026-03-02 08:02:41,003] torch._dynamo.symbolic_convert: [INFO] Step 1: "
     "torchdynamo start tracing forward",
     "compile"},
    {"torch_compile", "Compiling the model with torch.compile", "compile"},
    {"autotune", "AUTOTUNE mm(4096x4096, 4096x4096)", "compile"},
    {"warming", "warming up kernels", "compile"},
    {"world_size", "[2026-03-02 08:00:11,102] torch.distributed.run: [INFO] world_size=32",
     "startup"},
    {"loading", "Loading checkpoint shards", "startup"},
    {"index", "> building dataset index ...", "startup"},
    {"resume", "[07:41:15] resume from /ckpt/run7/epoch_0_step_3000 (LATEST)",
     "restarted step=3000"},
    {"resume_iteration", "successfully loaded local checkpoint from iteration 4180",
     "restarted step=4180"},
    {"restart_count",
     "[2026-06-09 02:14:08] [INFO] [ft_launcher] Starting worker group, restart "
     "count 1 of 100",
     "restarted"},
    {"relaunch", "[relaunch]", "restarted"},
    {"restart_note", "restart at step 400 (planned, same nodes)", "restarted step=400"},
    {"epoch", "epoch 3 finished in 512 s", "epoch_end"},
    {"finished", "Training complete!", "finished"},
    {"finished_lightning", "`Trainer.fit` stopped: `max_epochs=120` reached.", "finished"},
    {"done", "done", "finished"},
    {"traceback", "[rank0]: Traceback (most recent call last):", "error"},
    {"exception", "[rank0]: FileExistsError: Checkpoint directory /ckpt/a exists", "error"},
    {"exception_bare", "torch.distributed.elastic.rendezvous.api.RendezvousClosedError", "error"},
    {"watchdog",
     "[rank1]:[E705 03:00:05.201148820 ProcessGroupNCCL.cpp:689] [Rank 1] Watchdog "
     "caught collective operation timeout: WorkNCCL(SeqNum=1, Timeout(ms)=600000) ran "
     "for 600004 milliseconds before timing out.",
     "error"},
    {"signal",
     "W1130 00:00:19.882000 40122 torch/api.py:719] Received 15 death signal, shutting "
     "down workers",
     "error"},
    {"segfault", "Segmentation fault (core dumped)", "error"},
    {"worker_failed", "[2026-06-09 02:15:27] [ERROR] [ft] worker group failed, exit code 1",
     "error"},
    {"monitor",
     "2026-09-04T08:00:46Z WARN dcgm_health_check has not returned after 45.6s "
     "(deadline 45.0s)",
     "monitor_stuck took=45.6"},
    {"probe", "gpu health check timed out after 30 s", "monitor_stuck took=30"},
    {"liveness", "kubelet Container gpu-monitor failed liveness probe, will be restarted",
     "monitor_stuck"},
};
constexpr Row kNoEvents[] = {
    {"save_setting", "save_every=500 eval_every=500 eval_batches=200", ""},
    {"save_option", "save: true", ""},
    {"save_strategy", "checkpoint strategy: steps", ""},
    {"every", "saving a checkpoint every 500 steps", ""},
    {"memory", "saved 3 GB of memory", ""},
    {"activation", "activation checkpoint saved 30 % of memory", ""},
    {"gradient", "gradient checkpointing enabled", ""},
    {"not_saved", "checkpoint not saved", ""},
    {"skipped", "skipping checkpoint save", ""},
    {"saved_config", "Configuration saved in out/checkpoint-500/config.json", ""},
    {"inner_shard", "Model checkpoint of size 4.63 GiB saved to /ckpt/model-00007-of-00030.st", ""},
    {"path", "reading /data/saved/model/checkpoint/saving/done", ""},
    {"option", "args: --save-checkpoint --eval-start", ""},
    {"eval_setting", "eval_every=500 validation: false", ""},
    {"eval_disabled", "evaluation disabled", ""},
    {"compile_setting", "torch.compile=true mode=max-autotune nccl_timeout_s=1800", ""},
    {"lr_warmup", "lr warmup 100", ""},
    {"resume_setting", "resume: none", ""},
    {"no_resume", "no checkpoint to resume from", ""},
    {"error_value", "mean error: 0.12", ""},
    {"no_errors", "0 errors, 2 warnings", ""},
    {"training_word", "training data has 4 parts", ""},
    {"done_inside", "he has done that", ""},
    {"timeout_setting", "health_timeout=30", ""},
    {"junk", "\xff\xfe\x80 \x01\x02 saving", ""},
};
const auto kRowName = [](const auto& info) { return std::string(info.param.name); };
INSTANTIATE_TEST_SUITE_P(Steps, ProgressLines, ::testing::ValuesIn(kSteps), kRowName);
INSTANTIATE_TEST_SUITE_P(NoSteps, ProgressLines, ::testing::ValuesIn(kNoSteps), kRowName);
INSTANTIATE_TEST_SUITE_P(Events, ProgressLines, ::testing::ValuesIn(kEvents), kRowName);
INSTANTIATE_TEST_SUITE_P(NoEvents, ProgressLines, ::testing::ValuesIn(kNoEvents), kRowName);

constexpr Row kTimes[] = {
    {"python", "[2026-03-02 08:00:11,102] trainer: step 1 loss 2",
     "step 1 loss=2 #1 @2026-03-02T08:00:11.102Z"},
    {"clock", "[09:10:01] step 1 loss 2", "step 1 loss=2 #1 @1970-01-01T09:10:01.000Z?"},
    {"iso_utc", "2026-03-02T08:00:11Z step 1 loss 2",
     "step 1 loss=2 #1 @2026-03-02T08:00:11.000Zz"},
    {"iso_zone", "2026-03-02T08:00:11.5+01:00 step 1 loss 2",
     "step 1 loss=2 #1 @2026-03-02T07:00:11.500Zz"},
    {"short_year", "INFO 24-11-04 09:13:20.5 - step: 1 loss 2",
     "step 1 loss=2 #1 @2024-11-04T09:13:20.500Z"},
    {"glog", "W0213 03:21:01.402000 5120 api.py:719] step 1 loss 2",
     "step 1 loss=2 #1 @1970-01-01T03:21:01.402Z?"},
    {"ctime", "Sat Aug  1 12:00:00 2026 step 1 loss 2",
     "step 1 loss=2 #1 @2026-08-01T12:00:00.000Z"},
    {"own_before_collector", "2026-03-02T08:00:12Z [rank0]: [2026-03-02 09:00:11] step 1 loss 2",
     "step 1 loss=2 rank=0 #1 @2026-03-02T09:00:11.000Z"},
    {"none", "step 1 loss 2", "step 1 loss=2 #1"},
    {"clock_in_words", "saving took until 10:00:00, step 1 loss 2", "step 1 loss=2 #1"},
    {"elapsed", "step 1 loss 2 | 10:00:00 elapsed", "step 1 loss=2 #1"},
    {"impossible_clock", "[25:00:00] step 1 loss 2", "step 1 loss=2 #1"},
    {"impossible_date", "[2026-13-02 08:00:11] step 1 loss 2", "step 1 loss=2 #1"},
};
class ProgressTimes : public ::testing::TestWithParam<Row> {};
TEST_P(ProgressTimes, Reads) {
  EXPECT_EQ(transcript(GetParam().line, 0, true), GetParam().want);
}
INSTANTIATE_TEST_SUITE_P(Times, ProgressTimes, ::testing::ValuesIn(kTimes), kRowName);

constexpr std::string_view kLog =
    "[08:00:11] world_size=16\r\n"
    "[rank0]: \x1b[32m[08:02:00]\x1b[0m step 499/900 loss 2.5 tok/s 53,012\n"
    "2026-03-02 08:02:05,250 - INFO - saving checkpoint step=500\n"
    "checkpoint step=500 done in 12.5 s\r"
    "step 501/900 loss nan\n\n"
    "Traceback (most recent call last):\n"
    "  File \"train.py\", line 3, in save\n"
    "    raise ValueError(\"saving checkpoint failed\")\n"
    "ValueError: saved";

TEST(ProgressDecoder, EveryChunkSizeReadsTheSame) {
  const std::string whole = transcript(kLog, 0, true);
  EXPECT_EQ(whole,
            "startup #1 @1970-01-01T08:00:11.000Z?; "
            "step 499/900 loss=2.5 tps=53012 rank=0 #2 @1970-01-01T08:02:00.000Z?; "
            "save_begin step=500 #3 @2026-03-02T08:02:05.250Z; "
            "save_end step=500 took=12.5 #4; step 501/900 loss=nan #4; error #6; error #9");
  for (std::size_t chunk = 1; chunk < kLog.size(); ++chunk) {
    ASSERT_EQ(transcript(kLog, chunk, true), whole) << chunk;
  }
}

TEST(ProgressDecoder, CutAnywhereKeepsWhatStoodBefore) {
  const std::string first = "startup #1 @1970-01-01T08:00:11.000Z?";
  for (std::size_t cut = kLog.find('\n') + 1; cut < kLog.size(); ++cut) {
    ASSERT_TRUE(transcript(kLog.substr(0, cut), 0, true).starts_with(first)) << cut;
  }
}

TEST(ProgressDecoder, AFlippedByteCostsOnlyItsLine) {
  const std::size_t end = kLog.find("checkpoint step=500 done");
  for (std::size_t at = 0; at < end; ++at) {
    for (const char flip : {'\x01', '\x20', '\x7f', '\x80'}) {
      std::string damaged(kLog);
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      const std::string lines = transcript(damaged, 7);
      ASSERT_NE(lines.find("step 501/900 loss=nan; error; error"), std::string::npos)
          << at << " " << lines;
    }
  }
}

TEST(ProgressDecoder, KeepsTheOrderOfTheFileAcrossAClockChange) {
  EXPECT_EQ(transcript("[2026-10-25 02:59:58] step 7 loss 1\n[2026-10-25 02:00:03] step 8 loss 1\n"
                       "[2026-10-25 02:00:08] saving checkpoint\n",
                       0, true),
            "step 7 loss=1 #1 @2026-10-25T02:59:58.000Z; step 8 loss=1 #2 "
            "@2026-10-25T02:00:03.000Z; save_begin #3 @2026-10-25T02:00:08.000Z");
}

TEST(ProgressDecoder, AnEndlessLineIsDroppedAndCounted) {
  Transcript out(true);
  ProgressDecoder decoder;
  const std::string block(64 * 1024, 'x');
  for (int i = 0; i < 20; ++i) decoder.feed(block, out);
  decoder.feed("\nstep 3 loss 1\n", out);
  decoder.finish(out);
  EXPECT_EQ(decoder.dropped_lines(), 1u);
  EXPECT_EQ(out.text(), "step 3 loss=1 #2");
}

TEST(ProgressDecoder, BarsThatNeverEndALineAreReadOnTheWay) {
  Transcript out;
  ProgressDecoder decoder;
  decoder.feed("\rstep 3/9\r", out);
  EXPECT_EQ(out.text(), "step 3/9");
}

struct Claim {
  const char* name;
  const char* head;
  bool want;
};
constexpr Claim kClaims[] = {
    {"steps", "[13:58:41] step 3849/3857 loss 0.681 tok/s 53007\n", true},
    {"history", "previous saves: step 500 117 s, step 1000 121 s (save_every=500)\n", true},
    {"monitor", "2026-09-04T08:00:46Z WARN reader has not returned after 45.6s (deadline 45 s)\n",
     true},
    {"compile", "[08:00:00] torch._inductor.compile_fx: compiling FORWARDS graph 0\n", true},
    {"traceback", "Traceback (most recent call last):\n", true},
    {"losses_without_steps", "{'loss': 3.125, 'grad_norm': 0.5, 'epoch': 0.07}\n", true},
    {"training_begins", "2027-02-03 04:05:06,789 - ***** Running training *****\n", true},
    {"a_dict_of_other_things", "{'lossless': 3.125}\n", false},
    {"torn_first_line", "51 loss 2\nstep 52 loss 2\nste", true},
    {"empty", "", false},
    {"prose", "the quick brown fox\n", false},
    {"startup", "[2026-03-02 08:00:11,102] torch.distributed.run: [INFO] world_size=32\n", true},
    {"service", "Loaded: loaded (/lib/systemd/system/x.service)\n", false},
    {"plan", "dataset_samples=512 world_size=384 batch_size=2\n", false},
    {"settings", "eval_every=500 save_every=2000\n", false},
    {"nvsmi", "timestamp, index, power.draw [W]\n2026/03/02 10:00:01.000, 0, 512.10 W\n", false},
    {"kernel", "[ 1234.567890] NVRM: Xid (PCI:0000:1b:00): 79, GPU has fallen off the bus.\n",
     false},
    {"syslog", "Aug  1 10:00:00 n1 kernel: nvme nvme0: I/O 12 timeout, resetting probe\n", false},
    {"dmesg_stuck",
     "[  120.500000] watchdog: BUG: soft lockup - CPU#3 stuck for 22s!\n"
     "[  121.500000] nfs: server not responding, timed out\n",
     false},
    {"error_alone", "Failed to initialize NVML: Unknown Error\n", false},
    {"prometheus", "# HELP DCGM_FI_DEV_POWER_USAGE Power\nDCGM_FI_DEV_POWER_USAGE{gpu=\"0\"} 1\n",
     false},
    {"xml", "<?xml version=\"1.0\" ?>\n<nvidia_smi_log>\n<gpu_state>saving</gpu_state>\n", false},
    {"nul", "\0\0\0", false},
};
class ProgressClaims : public ::testing::TestWithParam<Claim> {};
TEST_P(ProgressClaims, ByContent) {
  EXPECT_EQ(looks_like_progress(GetParam().head), GetParam().want);
}
INSTANTIATE_TEST_SUITE_P(Claims, ProgressClaims, ::testing::ValuesIn(kClaims), kRowName);

}  // namespace
}  // namespace muster
