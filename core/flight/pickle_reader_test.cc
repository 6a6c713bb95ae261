#include "core/flight/pickle_reader.h"

#include <gtest/gtest.h>

#include <string>

namespace muster {
namespace {

class NoRows final : public FlightRowSink {
 public:
  bool row(const FlightValue&) override { return true; }
};

TEST(PickleReader, RefusesWhatRuns) {
  FlightValues values;
  NoRows rows;
  const auto read = PickleReader().read(
      "\x80\x02}(X\x01\x00\x00"
      "\x00"
      "acos\nsystem\n",
      values, rows);
  ASSERT_FALSE(read);
}

}  // namespace
}  // namespace muster
