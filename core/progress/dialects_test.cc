// Dialects that need more than one plain line: bars, dictionaries, JSON, tables, records.

#include <gtest/gtest.h>

#include <string>

#include "core/progress/progress_decoder.h"
#include "core/progress/transcript.h"

namespace muster {
namespace {

struct Row {
  const char* name;
  const char* log;
  const char* want;
};
class ProgressDialects : public ::testing::TestWithParam<Row> {};

TEST_P(ProgressDialects, InAnyChunks) {
  const std::string log = GetParam().log;
  EXPECT_EQ(transcript(log), GetParam().want);
  for (std::size_t chunk = 1; chunk < 40; ++chunk) {
    ASSERT_EQ(transcript(log, chunk), GetParam().want) << chunk;
  }
}

TEST_P(ProgressDialects, DamageNeverCrashes) {
  const std::string log = GetParam().log;
  for (std::size_t at = 0; at < log.size(); ++at) {
    transcript(log.substr(0, at));
    for (const int flip : {0x01, 0x10, 0x80, 0xff}) {
      std::string damaged = log;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      transcript(damaged);
    }
  }
}

constexpr Row kBars[] = {
    {"hf_bar_and_dict",
     "  0%|          | 0/4000 [00:00<?, ?it/s]\r"
     " 12%|█▏        | 480/4000 [39:36<4:50:24,  4.95s/it]\r"
     "                                                    \r"
     "{'loss': 1.8421, 'grad_norm': 0.91, 'learning_rate': 9.1e-06, 'epoch': 0.42}\n"
     " 12%|█▏        | 480/4000 [39:36<4:50:24,  4.95s/it]\r"
     " 12%|█▏        | 481/4000 [39:41<4:50:19,  4.95s/it]",
     "startup; step 480/4000 dt=4.95; step 480/4000 loss=1.8421 norm=0.91 lr=9.1e-06; "
     "step 481/4000 dt=4.95"},
    {"hf_dict_behind_its_bar",
     " 1%|▏| 40/4000 [03:18<5:26:42,  4.95s/it]{'loss': '1.5', 'learning_rate': '1e-05'}\n",
     "step 40/4000 dt=4.95; step 40/4000 loss=1.5 lr=1e-05"},
    {"hf_nan", " 1%|▏| 40/4000 [03:18<5:26:42,  4.95s/it]\n{'loss': nan, 'grad_norm': inf}\n",
     "step 40/4000 dt=4.95; step 40/4000 loss=nan norm=inf"},
    {"hf_evaluation",
     " 50%|█| 5/10 [00:10<00:10,  2.00s/it]\n{'loss': 1.5}\n"
     "  0%| | 0/7 [00:00<?, ?it/s]\r 29%| | 2/7 [00:01<00:03,  1.50it/s]\r"
     "100%|█| 7/7 [00:04<00:00,  1.50it/s]\n"
     "{'eval_loss': 1.25, 'eval_runtime': 4.5, 'epoch': 0.5}\n"
     " 60%|█| 6/10 [00:20<00:08,  2.00s/it]\n",
     "step 5/10 dt=2; step 5/10 loss=1.5; eval_begin; eval_end; eval_end took=4.5; step 6/10 dt=2"},
    {"hf_end",
     "100%|█| 10/10 [00:20<00:00,  2.00s/it]\n"
     "{'train_runtime': 20.5, 'train_samples_per_second': 3.1, 'train_loss': 1.5, 'epoch': 1.0}\n",
     "step 10/10 dt=2; finished"},
    {"loading_bars",
     "Loading checkpoint shards:   0%| | 0/30 [00:00<?, ?it/s]\r"
     "Loading checkpoint shards:  50%| | 15/30 [00:01<00:01, 9.00it/s]\r"
     "Loading checkpoint shards: 100%|█| 30/30 [00:02<00:00, 9.00it/s]\n"
     "Map (num_proc=8): 100%|█| 1000/1000 [00:02<00:00, 500.00 examples/s]\n",
     "startup; startup; startup"},
    {"a_full_bar_is_followed_by_the_training",
     "100%|█| 30/30 [00:02<00:00, 9.00it/s]\n 10%|█| 1/10 [00:02<00:18,  2.00s/it]\n",
     "step 30/30 dt=0.111111; step 1/10 dt=2"},
    {"lightning",
     "Sanity Checking DataLoader 0:  50%|█| 1/2 [00:00<00:00, 5.00it/s]\r"
     "Sanity Checking DataLoader 0: 100%|█| 2/2 [00:00<00:00, 5.00it/s]\n"
     "Epoch 0:   0%| | 0/400 [00:00<?, ?it/s]\r"
     "Epoch 0:  12%|█▏ | 48/400 [03:57<29:02, 0.20it/s, v_num=0, train_loss=1.840]\r"
     "Epoch 0: 100%|█| 400/400 [33:00<00:00, 0.20it/s, v_num=0, train_loss=1.5]\r"
     "Epoch 0: 100%|█| 400/400 [33:01<00:00, 0.20it/s, v_num=0, train_loss=1.5]\n"
     "Validation DataLoader 0:   0%| | 0/9 [00:00<?, ?it/s]\r"
     "Validation DataLoader 0: 100%|█| 9/9 [00:01<00:00, 9.00it/s]\n"
     "Epoch 1:   0%| | 0/400 [00:00<?, ?it/s]\r"
     "Epoch 1:   1%| | 1/400 [00:05<33:15, 0.20it/s, v_num=0, train_loss=1.25]\n",
     "eval_begin; eval_end; startup; step 48/400 loss=1.84 dt=5; step 400/400 loss=1.5 dt=5; "
     "epoch_end; eval_begin; eval_end; step 401/800 loss=1.25 dt=5"},
    {"torchtune",
     "1|480|Loss: 1.84:  12%|█▏  | 480/4000 [39:36<4:50:24,  4.95s/it]\r"
     "1|481|Loss: 1.75:  12%|█▏  | 481/4000 [39:41<4:50:19,  4.95s/it]\n",
     "step 480 loss=1.84 dt=4.95; step 481 loss=1.75 dt=4.95"},
    {"a_restart_begins_bars_anew",
     " 50%|█| 5/10 [00:10<00:10,  2.00s/it]\n{'loss': 1.5}\nresuming from checkpoint-4\n"
     "  4%|█| 5/12 [00:10<00:10,  2.00s/it]\n",
     "step 5/10 dt=2; step 5/10 loss=1.5; restarted step=4; step 5/12 dt=2"},
    {"bar_without_rate", " 12%|█▏| 480/4000\n", "step 480/4000"},
    {"no_bars",
     "%|\n|%|\n12%|\n12%||\n12%|x| \n12%|x| 3\n12%|x| 3/\n12%|x| 3/0 [\n12%|x| 9/3 [0<0, 1s/it]\n"
     "1234%|x| 3/9\nx%|x| 3/9\n12%|x| 1.5k/2.0k [00:01<00:02, 2s/it]\n",
     ""},
    {"no_dicts", "{'loss': }\n{'loss'\n{'loss: 1}\n{}\n{'a': {'loss': 1}}\n{'loss': 'x'}\n", ""},
    {"dict_without_bar", "{'loss': 1.5, 'epoch': 0.1}\n{'loss': 1.25, 'step': 20}\n",
     "step 20 loss=1.25"},
};

constexpr Row kJson[] = {
    {"trainer_log",
     "{\"current_steps\": 480, \"total_steps\": 4000, \"loss\": 1.84, \"lr\": 9.1e-06, \"epoch\": "
     "0.42, \"percentage\": 12.0, \"elapsed_time\": \"0:39:36\", \"throughput\": 812.5}\n",
     "step 480/4000 loss=1.84 lr=9.1e-06 tps=812.5"},
    {"our_metrics",
     "{\"wall_ms\":1772438411102,\"rank\":0,\"step\":7,\"target_step\":9,\"loss\":2.5,"
     "\"grad_norm\":0.5,\"tokens_per_s\":53012,\"step_s\":4.95,\"mfu_ratio\":0.31}\n"
     "{\"wall_ms\":1772438412000,\"event\":\"save_begin\",\"step\":7}\n"
     "{\"wall_ms\":1772438413000,\"event\":\"save_end\",\"step\":7,\"duration_s\":1.5}\n",
     "step 7/9 loss=2.5 norm=0.5 tps=53012 dt=4.95 mfu=0.31 rank=0; save_begin step=7; "
     "save_end step=7 took=1.5"},
    {"structured_log",
     "{\"level\": \"info\", \"ts\": \"2026-03-02T08:00:11Z\", \"msg\": \"saving checkpoint step "
     "5\"}"
     "\n{\"message\": \"step 6/9 loss 1.5\"}\n",
     "save_begin step=5; step 6/9 loss=1.5"},
    {"evaluation", "{\"current_steps\": 480, \"eval_loss\": 1.5}\n", "eval_end step=480"},
    {"milliseconds", "{\"step\": 4, \"step_ms\": 250}\n", "step 4 dt=0.25"},
    {"bad",
     "{\"step\": }\n{\"step\": 4\n{\"step\": -4, \"loss\": 1}\n{\"step\": 4.5, \"loss\": 1}\n"
     "{\"step\": 1e30, \"loss\": 1}\n{\"step\": \"x\", \"loss\": 1}\n{\"step\": 4}\n"
     "{\"event\": \"explode\"}\n[{\"step\": 4, \"loss\": 1}]\n{\"step\": [4], \"loss\": {}}\n"
     "{\"loss\": 1}\n{\"msg\": 7}\n{\"a\":{\"step\":4,\"loss\":1}}\n",
     ""},
};

constexpr Row kTables[] = {
    {"mlperf",
     "time_ms,key,step,value\n1715975534229,init_start,,\n1715975889061,run_start,,\n"
     "1715975900436,tracked_stats,4194304,train_step_timing in s=10.5\n"
     "1715975900500,eval_start,4194304,\n1715975900900,eval_accuracy,4194304,0.93\n"
     "1715975901000,eval_stop,4194304,\n1715975902000,epoch_stop,,\n"
     "1715975903000,tracked_stats,8388608,throughput=354227.5\n1715975904000,run_stop,,\n",
     "startup; startup; step 4194304 dt=10.5; eval_begin step=4194304; eval_end step=4194304; "
     "epoch_end; step 8388608; finished"},
    {"mlperf_bad",
     "171597590043,tracked_stats,4,train_step_timing in s=1\n1715975900436,tracked_stats,x,\n"
     "1715975900436,tracked_stats,-4,throughput=1\n1715975900436,,,\n1715975900436,\n"
     "9999999999999,eval_start,,\n1715975900436 eval_start\n1715975900436,other_key,4,\n",
     ""},
    {"composer",
     "[epoch=0][batch=480/4000]:\n\t Train time/batch: 479\n\t Train loss/train/total: 1.8421\n"
     "\t Train throughput/tokens_per_sec: 53012.0\n\t Train lr-DecoupledAdamW/group0: 0.0001\n"
     "[batch=481/4000]:\n         Train loss/train/total: nan\nsaving checkpoint\n"
     "[Eval batch=1/2] Eval on eval data:\n[Eval batch=2/2] Eval on eval data:\n"
     "\t Eval metrics/eval/LanguageCrossEntropy: 2.5\n[batch=482/4000]:\n",
     "step 480/4000 loss=1.8421 lr=0.0001 tps=53012; step 481/4000 loss=nan; save_begin; "
     "eval_begin; eval_end; step 482/4000"},
    {"composer_bad",
     "[batch=]:\n[batch=x/9]:\n[batch=4/x]:\n[batch=4\n[epoch=0]:\n[epoch=0][batch:4/9]\n"
     "[Eval batch=4]\n\t Train loss/train/total: 1.5\n",
     ""},
};

const auto kRowName = [](const auto& row) { return std::string(row.param.name); };
INSTANTIATE_TEST_SUITE_P(Bars, ProgressDialects, ::testing::ValuesIn(kBars), kRowName);
INSTANTIATE_TEST_SUITE_P(Json, ProgressDialects, ::testing::ValuesIn(kJson), kRowName);
INSTANTIATE_TEST_SUITE_P(Tables, ProgressDialects, ::testing::ValuesIn(kTables), kRowName);

TEST(ProgressDialects, TimesOfJsonAndTables) {
  EXPECT_EQ(transcript("{\"wall_ms\":1772438411102,\"step\":7,\"loss\":2.5}\n"
                       "{\"ts\":\"2026-03-02 08:00:11\",\"step\":8,\"loss\":2.5}\n"
                       "{\"_timestamp\":1772438411.5,\"step\":9,\"loss\":2.5}\n"
                       "1715975900436,tracked_stats,4,train_step_timing in s=10.5\n",
                       0, true),
            "step 7 loss=2.5 #1 @2026-03-02T08:00:11.102Zz; "
            "step 8 loss=2.5 #2 @2026-03-02T08:00:11.000Z; "
            "step 9 loss=2.5 #3 @2026-03-02T08:00:11.500Zz; "
            "step 4 dt=10.5 #4 @2024-05-17T19:58:20.436Zz");
}

TEST(ProgressDialects, AUserPatternComesFirst) {
  auto pattern = UserPattern::compile(R"(at (?P<step>\d+) e(?P<epoch>\d+) L(?P<loss>\S+))");
  ASSERT_TRUE(pattern);
  Transcript out;
  ProgressDecoder decoder(std::move(*pattern));
  decoder.feed("[09:00:00] at 4 e0 L2.5\nstep 5 loss 1\nat 6 e1 L2\nat 7 e1 L2\n", out);
  decoder.finish(out);
  EXPECT_EQ(out.text(), "step 4 loss=2.5; step 5 loss=1; epoch_end; step 6 loss=2; step 7 loss=2");
}

}  // namespace
}  // namespace muster
