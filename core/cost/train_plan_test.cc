#include "core/cost/train_plan.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/cost/node_model.h"
#include "core/model/gpu_peak.h"
#include "core/model/json_reader.h"

namespace muster::cost {
namespace {

PlanRequest request(const char* model, const char* gpu, std::uint64_t gpus) {
  PlanRequest r;
  r.model = *find_model(model);
  const NodeModel& node = *find_node_model(gpu);
  r.gpu = gpu;
  r.peak_tflops = find_gpu_peak(gpu)->tflops;
  r.memory_gb = node.memory_gb;
  r.link_gb_s = node.link_gb_s;
  r.network_gb_s = node.network_gb_s;
  r.node_gpus = node.gpus;
  r.gpus = gpus;
  return r;
}

const PlanRow* row_of(const TrainPlan& plan, Sharding sharding, std::uint64_t micro) {
  for (const PlanRow& row : plan.rows) {
    if (row.sharding == sharding && row.micro_batch == micro && !row.checkpointing) return &row;
  }
  return nullptr;
}

// A field report of Qwen3-32B on 16 B300: 525 GB of states, 32.8 of them on each GPU, 82 GB live,
// 262,144 tokens and 4.95 s a step, which is 28.9 % MFU.
TEST(TrainPlan, FieldReport) {
  PlanRequest r = request("qwen3-32b", "B300", 16);
  r.mfu = 0.289;
  const auto plan = plan_training(r);
  ASSERT_TRUE(plan) << plan.error().context;
  EXPECT_EQ(plan->step_tokens, 262'144U);
  EXPECT_EQ(plan->bytes_per_parameter, 16U);
  EXPECT_NEAR(plan->states_gb, 525, 1);
  const PlanRow& asked = plan->rows.front();
  EXPECT_NEAR(asked.states_gb, 32.8, 0.05);
  EXPECT_NEAR(asked.memory_gb(), 82, 82 * 0.03);
  // 12 of 16 bytes of the states once more, and the embedding: 151,936 x 5,120.
  EXPECT_NEAR(asked.save_gb, 32.8 * 12 / 16 + 2 * 0.778 * 17 / 16, 0.05);
  EXPECT_TRUE(asked.fits);
  EXPECT_NEAR(asked.step_s(), 4.95, 0.02);
  EXPECT_NEAR(plan->tokens_per_s(asked), 53'000, 200);
  EXPECT_EQ(asked.wall, Wall::compute);
  EXPECT_NEAR(asked.received_gb, 1474, 1);
  EXPECT_NEAR(asked.network_s / 8, 0.46, 0.005);
  EXPECT_NEAR(asked.step_s() / 8, 0.62, 0.005);
}

// The same with faster kernels: the network ends it at about 70,000 tokens a second.
TEST(TrainPlan, FasterKernelsMeetTheNetwork) {
  const auto plan = plan_training(request("qwen3-32b", "B300", 16));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->rows.front().wall, Wall::network);
  EXPECT_NEAR(plan->tokens_per_s(plan->rows.front()), 71'000, 500);
  const PlanRow* four = row_of(*plan, Sharding::full, 4);
  ASSERT_NE(four, nullptr);
  EXPECT_TRUE(four->fits);
  EXPECT_EQ(four->accumulation, 2U);
  EXPECT_NEAR(four->received_gb, 369, 1);
  EXPECT_NEAR(four->network_s, 0.92, 0.01);
  EXPECT_EQ(four->wall, Wall::compute);
  EXPECT_NEAR(row_of(*plan, Sharding::keep_weights, 1)->received_gb, 983, 1);
  EXPECT_NEAR(row_of(*plan, Sharding::gather_once, 1)->received_gb, 123, 1);
  const PlanRow& asked = plan->rows.front();
  EXPECT_NEAR(row_of(*plan, Sharding::gather_once, 1)->memory_gb() - asked.memory_gb(), 131, 1);
  EXPECT_NEAR(row_of(*plan, Sharding::in_node, 1)->memory_gb() - asked.memory_gb(), 32.8, 0.1);
  ASSERT_TRUE(plan->best);
  EXPECT_LT(plan->rows[*plan->best].step_s(), asked.step_s());
}

TEST(TrainPlan, F32Gradients) {
  PlanRequest r = request("qwen3-32b", "B300", 16);
  r.gradient_bytes = 4;
  const auto plan = plan_training(r);
  ASSERT_TRUE(plan);
  EXPECT_NEAR(plan->rows.front().states_gb, 36.9, 0.05);
}

struct AdviceRow {
  const char* name;
  const char* model;
  const char* gpu;
  std::uint64_t gpus;
  bool fits;
  const char* says;
};

const AdviceRow kAdvice[] = {
    {"report", "qwen3-32b", "B300", 16, true, "the network is the wall: busy 0.46 s of"},
    {"report_micro", "qwen3-32b", "B300", 16, true, "pays: --micro 2 --accumulate 4"},
    {"report_recompute", "qwen3-32b", "B300", 16, true,
     "checkpointing does not pay: it would free"},
    {"h100_needs_it", "qwen3-32b", "H100", 16, false, "gradient checkpointing pays: with it"},
    {"too_small", "qwen3-32b", "A100", 4, false, "even with gradient checkpointing it needs"},
    {"save", "qwen3-32b", "B300", 16, true, "holds 26.2 GB more, 210 GB a node, in the memory of"},
    {"one_gpu", "qwen3-0.6b", "H100", 1, true, "nothing crosses a network"},
    {"one_node", "qwen3-8b", "H100", 8, true, "compute is the wall: the network is busy"},
};

TEST(TrainPlan, Advice) {
  for (const AdviceRow& row : kAdvice) {
    const auto plan = plan_training(request(row.model, row.gpu, row.gpus));
    ASSERT_TRUE(plan) << row.name;
    std::string all;
    for (const std::string& text : plan_advice(*plan)) all += text + "\n";
    EXPECT_EQ(plan->rows.front().fits, row.fits)
        << row.name << " " << plan->rows.front().memory_gb() << "\n"
        << all;
    EXPECT_NE(all.find(row.says), std::string::npos) << row.name << "\n" << all;
  }
}

TEST(TrainPlan, Refuses) {
  const PlanRequest good = request("qwen3-8b", "H100", 8);
  struct Row {
    const char* name;
    void (*spoil)(PlanRequest&);
  };
  const Row kRows[] = {
      {"gpus_zero", [](PlanRequest& r) { r.gpus = 0; }},
      {"gpus_no_nodes", [](PlanRequest& r) { r.gpus = 12; }},
      {"node_zero", [](PlanRequest& r) { r.node_gpus = 0; }},
      {"micro_zero", [](PlanRequest& r) { r.micro_batch = 0; }},
      {"accumulation_zero", [](PlanRequest& r) { r.accumulation = 0; }},
      {"sequence_zero", [](PlanRequest& r) { r.sequence = 0; }},
      {"sequence_huge", [](PlanRequest& r) { r.sequence = 2'000'000; }},
      {"tokens_huge", [](PlanRequest& r) { r.sequence = r.micro_batch = 1'000'000; }},
      {"mfu_zero", [](PlanRequest& r) { r.mfu = 0; }},
      {"mfu_percent", [](PlanRequest& r) { r.mfu = 40; }},
      {"mfu_nan", [](PlanRequest& r) { r.mfu = std::nan(""); }},
      {"memory_zero", [](PlanRequest& r) { r.memory_gb = 0; }},
      {"network_zero", [](PlanRequest& r) { r.network_gb_s = 0; }},
      {"link_negative", [](PlanRequest& r) { r.link_gb_s = -1; }},
  };
  ASSERT_TRUE(plan_training(good));
  for (const Row& row : kRows) {
    PlanRequest bad = good;
    row.spoil(bad);
    const auto plan = plan_training(bad);
    ASSERT_FALSE(plan) << row.name;
    EXPECT_EQ(plan.error().code, Errc::invalid_input) << row.name;
  }
}

// Whatever the numbers: the rows make the same step, and the answer is one JSON document.
TEST(TrainPlan, EveryModelOnEveryMachine) {
  for (const ModelShape& model : known_models()) {
    for (const NodeModel& node : node_models()) {
      ASSERT_NE(find_gpu_peak(node.gpu), nullptr) << node.gpu;
      for (const std::uint64_t gpus : {1U, 2U, 8U, 64U}) {
        const auto plan = plan_training(request(model.name.c_str(), node.gpu.data(), gpus));
        ASSERT_TRUE(plan);
        for (const PlanRow& row : plan->rows) {
          EXPECT_EQ(row.micro_batch * row.accumulation, 8U);
          EXPECT_GT(row.step_s(), 0);
          EXPECT_EQ(row.fits, row.wall != Wall::memory);
        }
        EXPECT_TRUE(parse_json(encode_train_plan(*plan)));
      }
    }
  }
}

}  // namespace
}  // namespace muster::cost
