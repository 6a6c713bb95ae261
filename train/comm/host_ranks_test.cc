#include <gtest/gtest.h>

namespace muster::train {
namespace {
TEST(HostRanks, Placeholder) {}
}  // namespace
}  // namespace muster::train
