#include "train/ckpt/weights_reader.h"

#include <gtest/gtest.h>

#include <bit>
#include <filesystem>

#include "core/checkpoint/safetensors.h"
#include "tests/support/shell.h"
#include "train/ckpt/ckpt_test_kit.h"
#include "train/model/bf16.h"

namespace muster::train {
namespace {

using checkpoint::SavedTensor;
using testing_support::TemporaryFolder;

// A value that every type holds exactly.
float exact_value(std::size_t tensor, std::uint64_t i) {
  return static_cast<float>(static_cast<int>((i * 7 + tensor * 3) % 33) - 16) / 8;
}

std::uint16_t to_f16(float value) {  // of such values
  if (value == 0) return 0;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t exponent = ((bits >> 23) & 0xff) - 112;
  return static_cast<std::uint16_t>(((bits >> 16) & 0x8000) | (exponent << 10) |
                                    ((bits >> 13) & 0x3ff));
}

void append_number(std::string& out, const std::string& dtype, float value) {
  const auto add = [&out](auto number) {
    out.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  if (dtype == "BF16") add(to_bf16(value));
  if (dtype == "F16") add(to_f16(value));
  if (dtype == "F32") add(value);
  if (dtype == "F64") add(static_cast<double>(value));
  if (dtype == "I32") add(static_cast<std::int32_t>(value));
}

struct Edit {
  std::string without = {}, reshaped = {};  // a tensor that is left out, or has another shape
  bool extra = false;
};

// All tensors of the plan, the order of the file that of its names backwards.
std::string model_file(const UnitPlan& plan, const std::string& dtype, const Edit& edit = {}) {
  std::vector<SavedTensor> tensors;
  std::vector<std::size_t> places;
  std::size_t place = 0;
  for (const Unit& unit : plan.units()) {
    for (const TensorSpec& spec : unit.tensors) {
      ++place;
      if (spec.name == edit.without) continue;
      auto shape = spec.shape;
      if (spec.name == edit.reshaped) shape.insert(shape.begin(), 1);
      tensors.insert(tensors.begin(), {spec.name, dtype, shape, 0, 0});
      places.insert(places.begin(), place);
    }
  }
  if (edit.extra) {
    tensors.push_back({"model.rotary_emb.inv_freq", "I32", {3}, 0, 0});
    places.push_back(0);
  }
  std::string out = checkpoint::encode_safetensors(tensors);
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    std::uint64_t elements = 1;
    for (const std::uint64_t side : tensors[t].shape) elements *= side;
    for (std::uint64_t i = 0; i < elements; ++i) {
      append_number(out, tensors[t].dtype, exact_value(places[t], i));
    }
  }
  return out;
}

template <typename T>
void expect_weights(const ShardedState& state) {
  std::size_t place = 0;
  for (std::size_t unit = 0; unit < state.units.size(); ++unit) {
    const std::uint64_t slice = state.plan->slice(unit, state.shards);
    const auto* numbers = reinterpret_cast<const T*>(state.units[unit].master.data());
    std::vector<T> whole(slice * state.shards, T{0});
    for (const TensorSpec& spec : state.plan->units()[unit].tensors) {
      ++place;
      for (std::uint64_t i = 0; i < spec.elements(); ++i) {
        whole[spec.offset + i] = static_cast<T>(exact_value(place, i));
      }
    }
    for (std::uint64_t i = 0; i < slice; ++i) {
      ASSERT_EQ(numbers[i], whole[state.shard * slice + i]) << unit << " " << i;
    }
  }
}

TEST(WeightsReader, EveryTypeAndWorld) {
  for (const bool tied : {false, true}) {
    const UnitPlan plan(small_config(tied));
    for (const char* dtype : {"BF16", "F16", "F32", "F64"}) {
      const TemporaryFolder place;
      place.write("model.safetensors", model_file(plan, dtype, {.extra = true}));
      for (const std::uint64_t shards : {1u, 3u}) {
        for (std::uint64_t shard = 0; shard < shards; ++shard) {
          ShardedState state(plan, Dtype::f32, shard, shards);
          fill(state, 3);
          const Status read = load_weights(place.path(), state);
          ASSERT_TRUE(read) << read.error().context;
          expect_weights<float>(state);
          ShardedState wide(plan, Dtype::f64, shard, shards);
          ASSERT_TRUE(load_weights(place.path(), wide));
          expect_weights<double>(wide);
        }
      }
    }
  }
}

TEST(WeightsReader, Refused) {
  const UnitPlan plan(small_config());
  const std::string name = "model.layers.1.mlp.up_proj.weight";
  struct Row {
    const char* label;
    std::string file, bytes;
    Errc code;
    std::string text;
  };
  const std::string good = model_file(plan, "BF16");
  const Row rows[] = {
      {"nothing", "x.txt", "x", Errc::not_found, "no model.safetensors"},
      {"pickles", "pytorch_model-00001-of-00002.bin", "x", Errc::unsupported, "pickles"},
      {"a tensor missing", "model.safetensors", model_file(plan, "BF16", {.without = name}),
       Errc::not_found, "no tensor " + name},
      {"another shape", "model.safetensors", model_file(plan, "BF16", {.reshaped = name}),
       Errc::invalid_input, name + " has another shape"},
      {"whole numbers", "model.safetensors", model_file(plan, "I32"), Errc::unsupported, "I32"},
      {"cut", "model.safetensors", good.substr(0, good.size() - 1), Errc::corrupt, "by its header"},
      {"cut in its header", "model.safetensors", good.substr(0, 100), Errc::corrupt, "header"},
      {"empty", "model.safetensors", "", Errc::corrupt, "header"},
      {"half an index", "model.safetensors.index.json", "{", Errc::corrupt, "JSON"},
      {"no map", "model.safetensors.index.json", "{}", Errc::corrupt, "weight_map"},
      {"a way out", "model.safetensors.index.json", R"({"weight_map":{"a":"../x.safetensors"}})",
       Errc::corrupt, "outside"},
      {"a file missing", "model.safetensors.index.json", R"({"weight_map":{"a":"x.safetensors"}})",
       Errc::not_found, "x.safetensors"},
  };
  for (const Row& row : rows) {
    const TemporaryFolder place;
    place.write(row.file, row.bytes);
    ShardedState state(plan, Dtype::f32, 0, 1);
    const Status read = load_weights(place.path(), state);
    ASSERT_FALSE(read) << row.label;
    EXPECT_EQ(read.error().code, row.code) << row.label << ": " << read.error().context;
    EXPECT_NE(read.error().context.find(row.text), std::string::npos)
        << row.label << ": " << read.error().context;
  }
}

}  // namespace
}  // namespace muster::train
