#include "core/storage/comparison.h"

#include <gtest/gtest.h>

namespace muster::storage {
namespace {

std::vector<FioPair> pairs_of(const std::vector<double>& ratios) {
  std::vector<FioPair> out;
  for (const double ratio : ratios) out.push_back({2e9, ratio * 2e9});
  return out;
}

TEST(Comparison, Table) {
  struct Row {
    const char* name;
    RowKind kind;
    std::vector<double> ratios;
    Agreement agreement;
  };
  const Row rows[] = {
      {"no pair", RowKind::queue, {}, Agreement::not_measured},
      {"a pair too few", RowKind::queue, {1, 1, 1, 1, 1, 1}, Agreement::not_measured},
      {"a pair without a figure", RowKind::queue, {1, 1, 1, 0, 1, 1, 1}, Agreement::not_measured},
      {"wide", RowKind::queue, {0.9, 0.9, 1, 1, 1, 1.1, 1.1}, Agreement::not_measured},
      {"wide for O_DIRECT",
       RowKind::single,
       {0.93, 0.93, 1, 1, 1, 1.07, 1.07},
       Agreement::not_measured},
      {"the same for the cache",
       RowKind::cold,
       {0.93, 0.93, 1, 1, 1, 1.07, 1.07},
       Agreement::agrees},
      {"too fast",
       RowKind::streams,
       {1.06, 1.06, 1.06, 1.06, 1.06, 1.06, 1.06},
       Agreement::differs},
      {"too slow", RowKind::warm, {0.89, 0.89, 0.89, 0.89, 0.89, 0.89, 0.89}, Agreement::differs},
      {"steady", RowKind::single, {0.98, 0.99, 1, 1.01, 1.02, 1, 1}, Agreement::agrees},
      {"one burst of others", RowKind::single, {0.5, 0.99, 1, 1.01, 1, 1, 1}, Agreement::agrees},
      {"two bursts", RowKind::single, {0.5, 0.5, 1, 1.01, 1, 1, 1}, Agreement::not_measured},
  };
  for (const Row& row : rows) {
    const Comparison got = compare(row.kind, pairs_of(row.ratios));
    EXPECT_EQ(agreement_name(got.agreement), agreement_name(row.agreement)) << row.name;
  }
}

TEST(Comparison, Figures) {
  const Comparison got =
      compare(RowKind::streams, pairs_of({1.04, 0.90, 1.00, 1.02, 1.20, 0.98, 0.96}));
  EXPECT_DOUBLE_EQ(got.ratio, 1.00);
  EXPECT_NEAR(got.spread, (1.04 - 0.96) / 2, 1e-12);
  EXPECT_DOUBLE_EQ(got.least, 0.90);
  EXPECT_DOUBLE_EQ(got.most, 1.20);
  EXPECT_DOUBLE_EQ(got.fio_median, 2e9);
  EXPECT_DOUBLE_EQ(got.our_median, 2e9);
  EXPECT_EQ(got.pairs, 7U);
  EXPECT_DOUBLE_EQ(got.bar, 0.05);
}

}  // namespace
}  // namespace muster::storage
