#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <thread>

#include "train/comm/rank_test_kit.h"

namespace muster::train {
namespace {

constexpr Tag kWeights = {Purpose::weights, 3};
constexpr Tag kLoss = {Purpose::loss, 0};

template <typename T>
std::byte* bytes(std::vector<T>& values) {
  return reinterpret_cast<std::byte*>(values.data());
}

float value(int rank, std::size_t i) {
  return std::sin(static_cast<float>(i % 1013) * 0.7F + static_cast<float>(rank));
}

TEST(Communicator, GathersAnySizeInTheOrderOfRanks) {
  for (const int world : {1, 2, 3, 4}) {
    Ranks ranks = join_threads(world, {patient(20)});
    for (const std::size_t size : {0u, 1u, 3u, 4096u, 1048575u, 1048576u, 1048577u, 2200001u}) {
      on_all(ranks, [&](Communicator& comm) {
        const std::vector<char> own(size, static_cast<char>('a' + comm.rank()));
        std::vector<char> full(size * static_cast<std::size_t>(world), '-');
        const Ticket ticket = comm.all_gather(reinterpret_cast<const std::byte*>(own.data()),
                                              bytes(full), size, kWeights);
        ASSERT_TRUE(comm.wait(ticket));
        std::vector<char> expected;
        for (int rank = 0; rank < world; ++rank) {
          expected.insert(expected.end(), size, static_cast<char>('a' + rank));
        }
        ASSERT_TRUE(full == expected) << size;
      });
    }
  }
}

// The reference: added in the order of ranks, one rank after another.
TEST(Communicator, ReducesInTheOrderOfRanks) {
  for (const int world : {1, 2, 3, 4}) {
    Ranks ranks = join_threads(world, {patient(20)});
    const auto members = static_cast<std::size_t>(world);
    for (const std::size_t slice : {0u, 1u, 63u, 64u, 65u, 131072u, 300007u}) {
      on_all(ranks, [&](Communicator& comm) {
        std::vector<float> full(slice * members);
        for (std::size_t i = 0; i < full.size(); ++i) full[i] = value(comm.rank(), i);
        std::vector<float> sum(slice, 0.25F);
        ASSERT_TRUE(comm.wait(comm.reduce_scatter_add(bytes(full), bytes(sum), slice, Dtype::f32,
                                                      {Purpose::gradients, 1})));
        for (std::size_t i = 0; i < slice; ++i) {
          const std::size_t at = static_cast<std::size_t>(comm.rank()) * slice + i;
          float expected = value(0, at);
          for (int rank = 1; rank < world; ++rank) expected += value(rank, at);
          ASSERT_EQ(sum[i], 0.25F + expected) << world << " " << slice << " " << i;
        }
      });
    }
  }
}

float rounded_to_bf16(float number) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &number, 4);
  // Nearest, ties to even, done by hand: the two neighbours and which is closer.
  const std::uint32_t below = bits & 0xFFFF0000U, above = below + 0x10000U;
  const std::uint32_t part = bits & 0xFFFFU;
  const bool up = part > 0x8000U || (part == 0x8000U && (below & 0x10000U) != 0);
  const std::uint32_t out = up ? above : below;
  std::memcpy(&number, &out, 4);
  return number;
}

TEST(Communicator, RoundsOnceOnTheWayInBf16AndAddsInF32) {
  for (const int world : {1, 2, 4}) {
    Ranks ranks = join_threads(world, {patient(20)});
    const std::size_t slice = 70001;
    on_all(ranks, [&](Communicator& comm) {
      std::vector<float> full(slice * static_cast<std::size_t>(world));
      for (std::size_t i = 0; i < full.size(); ++i) full[i] = value(comm.rank(), i);
      std::vector<float> sum(slice, 0.0F);
      ASSERT_TRUE(comm.wait(comm.reduce_scatter_add(bytes(full), bytes(sum), slice, Dtype::bf16,
                                                    {Purpose::gradients, 1})));
      for (std::size_t i = 0; i < slice; ++i) {
        const std::size_t at = static_cast<std::size_t>(comm.rank()) * slice + i;
        float expected = rounded_to_bf16(value(0, at));
        for (int rank = 1; rank < world; ++rank) expected += rounded_to_bf16(value(rank, at));
        ASSERT_EQ(sum[i], expected) << world << " " << i;
      }
    });
  }
}

TEST(Communicator, ReducesInPlaceAndInDouble) {
  for (const int world : {1, 2, 4}) {
    Ranks ranks = join_threads(world, {patient(20)});
    for (const std::size_t elements : {0u, 1u, 1001u, 200000u}) {
      on_all(ranks, [&](Communicator& comm) {
        std::vector<double> data(elements);
        std::vector<float> small(elements);
        for (std::size_t i = 0; i < elements; ++i) {
          small[i] = value(comm.rank(), i);
          data[i] = static_cast<double>(small[i]) / 3;
        }
        const Ticket first = comm.all_reduce(bytes(data), elements, Dtype::f64, kLoss);
        const Ticket second = comm.all_reduce(bytes(small), elements, Dtype::f32, kLoss);
        ASSERT_TRUE(comm.wait(second));
        ASSERT_TRUE(comm.wait(first));
        for (std::size_t i = 0; i < elements; ++i) {
          double expected = static_cast<double>(value(0, i)) / 3;
          float expected_small = value(0, i);
          for (int rank = 1; rank < world; ++rank) {
            expected += static_cast<double>(value(rank, i)) / 3;
            expected_small += value(rank, i);
          }
          ASSERT_EQ(data[i], expected);
          ASSERT_EQ(small[i], expected_small);
        }
      });
    }
  }
}

TEST(Communicator, SmallOnesWaitThemselves) {
  Ranks ranks = join_threads(3, {patient(20)});
  on_all(ranks, [&](Communicator& comm) {
    const int rank = comm.rank();
    EXPECT_EQ(comm.sum(0.5 + rank, kLoss).value(), 4.5);
    EXPECT_EQ(comm.min(10 - rank, kLoss).value(), 8);
    EXPECT_EQ(comm.max(INT64_MIN + rank, kLoss).value(), INT64_MIN + 2);
    EXPECT_TRUE(comm.barrier({Purpose::end, 0}));
    const auto texts = comm.gather_texts(std::string(static_cast<std::size_t>(rank) * 32767, 'x'),
                                         {Purpose::agreement, 0});
    ASSERT_TRUE(texts);
    ASSERT_EQ(texts->size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ((*texts)[i], std::string(i * 32767, 'x'));
    }
    const Communicator::Cost cost = comm.take_cost();
    EXPECT_EQ(cost.bytes_in, 0u);  // of weights and gradients only
  });
}

TEST(Communicator, CallsGoOnWhileTheCallerComputes) {
  Ranks ranks = join_threads(2, {patient(20)});
  on_all(ranks, [&](Communicator& comm) {
    std::vector<std::vector<float>> full(8, std::vector<float>(20000));
    std::vector<float> shard(10000, static_cast<float>(comm.rank()));
    std::vector<Ticket> tickets;
    for (auto& one : full) {
      tickets.push_back(comm.all_gather(bytes(shard), bytes(one), 40000, kWeights));
    }
    for (std::size_t i = tickets.size(); i-- > 0;) ASSERT_TRUE(comm.wait(tickets[i]));
    for (auto& one : full) {
      EXPECT_EQ(one.front(), 0.0F);
      EXPECT_EQ(one.back(), 1.0F);
    }
    EXPECT_EQ(comm.take_cost().bytes_in, 8u * 40000u);
  });
}

TEST(Communicator, RepeatsBitByBit) {
  const std::size_t slice = 5003;
  std::vector<std::vector<float>> first(4);
  for (int repeat = 0; repeat < 100; ++repeat) {
    Ranks ranks = join_threads(4, {patient(20)});
    on_all(ranks, [&](Communicator& comm) {
      std::vector<float> full(slice * 4), sum(slice);
      for (std::size_t i = 0; i < full.size(); ++i) full[i] = value(comm.rank(), i);
      ASSERT_TRUE(comm.wait(comm.reduce_scatter_add(bytes(full), bytes(sum), slice, Dtype::f32,
                                                    {Purpose::gradients, 1})));
      auto& known = first[static_cast<std::size_t>(comm.rank())];
      if (repeat == 0) known = sum;
      ASSERT_EQ(0, std::memcmp(known.data(), sum.data(), slice * 4)) << repeat;
    });
  }
}

TEST(Communicator, SplitsIntoGroupsWithOrdersOfTheirOwn) {
  Ranks ranks = join_threads(4, {patient(20)});
  on_all(ranks, [&](Communicator& comm) {
    const int rank = comm.rank();
    auto node = comm.split(rank / 2, "node");
    auto across = comm.split(rank % 2, "across");
    auto saves = comm.split(0, "save");
    ASSERT_TRUE(node && across && saves);
    EXPECT_EQ((*node)->world(), 2);
    EXPECT_EQ((*node)->rank(), rank % 2);
    EXPECT_EQ((*across)->rank(), rank / 2);
    EXPECT_EQ((*saves)->rank(), rank);
    std::jthread save([&] {
      for (int i = 0; i < 50; ++i) ASSERT_TRUE((*saves)->barrier({Purpose::save, 0}));
    });
    for (int i = 0; i < 50; ++i) {
      ASSERT_EQ((*node)->sum(rank, kLoss).value(), rank < 2 ? 1 : 5);
      ASSERT_EQ((*across)->sum(rank, kLoss).value(), rank % 2 == 0 ? 2 : 4);
      ASSERT_EQ(comm.sum(rank, kLoss).value(), 6);
    }
    // Groups of a group.
    auto alone = (*node)->split(rank, "alone");
    ASSERT_TRUE(alone);
    EXPECT_EQ((*alone)->world(), 1);
    EXPECT_EQ((*alone)->sum(7, kLoss).value(), 7);
  });
}

}  // namespace
}  // namespace muster::train
