#include "core/model/cause.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/model/action.h"
#include "core/model/metric.h"

namespace muster {
namespace {

TEST(CauseTable, RowsStandInOrderAndAllowTheirSeverity) {
  std::size_t i = 0;
  std::set<std::string_view> names;
  for (const CauseRow& row : cause_table()) {
    EXPECT_EQ(static_cast<std::size_t>(row.cause), i++) << row.name;
    EXPECT_TRUE(row.allows(row.severity)) << row.name;
    EXPECT_FALSE(row.meaning.empty()) << row.name;
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(cause_from_name(row.name), row.cause);
    const bool several = (row.allowed & (row.allowed - 1)) != 0;
    EXPECT_EQ(several, !row.severity_rule.empty()) << row.name;
  }
  EXPECT_FALSE(cause_from_name("no_such_cause").has_value());
  EXPECT_FALSE(cause_from_name("").has_value());
}

TEST(ActionTable, RowsStandInOrder) {
  std::size_t i = 0;
  for (const ActionRow& row : action_table()) {
    EXPECT_EQ(static_cast<std::size_t>(row.action), i++) << row.name;
    EXPECT_EQ(action_from_name(row.name), row.action);
  }
  EXPECT_FALSE(action_from_name("rm -rf").has_value());
}

TEST(MetricTable, RowsStandInOrder) {
  std::size_t i = 0;
  for (const MetricRow& row : metric_table()) {
    EXPECT_EQ(static_cast<std::size_t>(row.metric), i++) << row.name;
    EXPECT_EQ(metric_from_name(row.name), row.metric);
  }
}

}  // namespace
}  // namespace muster
