#include "train/comm/nccl_exchange.h"

#include <gtest/gtest.h>

#include "train/comm/rank_test_kit.h"
#include "train/comm/socket.h"

namespace muster::train {
namespace {

// The only thing that holds everywhere: one rank either joins, and then its words move, or is told
// what its GPU lacks. With a GPU the calls through memory of the GPU are to be tried as well.
TEST(NcclExchange, JoinsOrSaysWhyNot) {
  auto probe = listen_at({});
  ASSERT_TRUE(probe);
  JoinRequest request;
  request.token = "gpu";
  request.master_address = "127.0.0.1";
  request.master_port = port_of(*probe);
  *probe = Descriptor();
  const auto comm = join_gpus(request, patient(60), 0);
  if (!comm) {
    EXPECT_EQ(comm.error().code, Errc::unavailable);
    EXPECT_NE(comm.error().context.find("GPU 0: "), std::string::npos) << comm.error().context;
    GTEST_SKIP() << comm.error().context;
  }
  EXPECT_EQ((*comm)->sum(1.5, {Purpose::loss, 0}).value(), 1.5);
}

}  // namespace
}  // namespace muster::train
