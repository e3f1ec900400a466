// A server whose descriptors run out.

#include <sys/resource.h>

#include <memory>
#include <vector>

#include "absl/base/config.h"
#include "gmock/gmock.h"
#include "tests/e2e/server_process.h"
#include "tests/service/bounded_context.h"
#include "tests/service/transport/net/tcp_client.h"
#include "tests/testing/patience.h"
#include "waystar/v1/map_service.grpc.pb.h"

namespace waystar {
namespace {

using ::waystar::testing::BoundedContext;
using ::waystar::testing::ServerProcess;
using ::waystar::testing::TcpClient;
using ::waystar::testing::WaitUntil;

bool Serves(const std::shared_ptr<grpc::Channel>& channel) {
  BoundedContext context;
  v1::ListMapsResponse response;
  return v1::MapService::NewStub(channel)->ListMaps(&context, {}, &response).ok();
}

class DescriptorsTest : public ::testing::Test {
 protected:
  void SetUp() override {
#ifdef ABSL_HAVE_ADDRESS_SANITIZER
    // The sanitizer of undefined behaviour, which comes with that of addresses, opens a pipe to look at
    // memory, and takes the lack of descriptors for an object that there is not.
    GTEST_SKIP() << "the sanitizer needs descriptors";
#endif
  }

  // Leaves fewer descriptors than the server has connections for.
  void Squeeze(rlim_t descriptors) {
    rlimit limit{};
    EXPECT_EQ(::prlimit(server_.pid(), RLIMIT_NOFILE, nullptr, &limit), 0);
    limit.rlim_cur = descriptors;
    EXPECT_EQ(::prlimit(server_.pid(), RLIMIT_NOFILE, &limit, nullptr), 0);
  }

  void Flood() {
    for (int i = 0; i < 200; ++i) {
      flood_.push_back(std::make_unique<TcpClient>(server_.port()));
    }
    // Whoever is accepted last is turned away.
    flood_.back()->ReadToTheEnd();
  }

  ServerProcess server_{{"--handshake_timeout=2s", "--max_queue_time=1m", "--queue_target=1m"}};
  std::vector<std::unique_ptr<TcpClient>> flood_;
};

TEST_F(DescriptorsTest, AcceptsAgainOnceAFloodIsOver) {
  const auto channel = server_.NewChannel();
  EXPECT_TRUE(WaitUntil([&] { return Serves(channel); }, "a connection that is made in time"));
  Squeeze(64);
  Flood();
  EXPECT_TRUE(Serves(channel));
  flood_.clear();
  EXPECT_TRUE(WaitUntil([&] { return Serves(server_.NewChannel()); }, "a descriptor"));
}

TEST_F(DescriptorsTest, AcceptsAgainOnceAFloodIsCut) {
  Squeeze(64);
  Flood();
  EXPECT_TRUE(WaitUntil([&] { return Serves(server_.NewChannel()); }, "a descriptor"));
}

// Less than it has open already: not even the reserve can be opened again.
TEST_F(DescriptorsTest, AcceptsAgainOnceThereAreDescriptorsAtAll) {
  const auto channel = server_.NewChannel();
  EXPECT_TRUE(WaitUntil([&] { return Serves(channel); }, "a connection that is made in time"));
  Squeeze(1);
  TcpClient waiting(server_.port());
  EXPECT_TRUE(waiting.is_connected());
  EXPECT_TRUE(Serves(channel));
  Squeeze(64);
  EXPECT_TRUE(WaitUntil([&] { return Serves(server_.NewChannel()); }, "a descriptor"));
}

}  // namespace
}  // namespace waystar
