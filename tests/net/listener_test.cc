// Addresses, and who can reach what listens on them.

#include "server/net/listener.h"

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/net/descriptor_limit.h"
#include "tests/net/tcp_client.h"

namespace waystar::net {
namespace {

using ::testing::HasSubstr;
using ::waystar::testing::TcpClient;

TEST(ListenerTest, TakesAFreePortOfEachAddress) {
  for (const char* const address : {"127.0.0.1:0", "localhost:0", "0.0.0.0:0", "[::]:0", "ipv4:127.0.0.1:0",
                                    "dns:localhost:0", "dns:///localhost:0"}) {
    const absl::StatusOr<Listener> listener = Listener::Open(address);
    ASSERT_TRUE(listener.ok()) << address << " " << listener.status();
    EXPECT_GT(listener->port(), 0);
    EXPECT_TRUE(TcpClient(listener->port()).is_connected()) << address;
  }
}

TEST(ListenerTest, SaysWhyItCannotListen) {
  const absl::StatusOr<Listener> first = Listener::Open("127.0.0.1:0");
  ASSERT_TRUE(first.ok());
  const auto message_of = [](const std::string& address) {
    const absl::Status status = Listener::Open(address).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << address;
    return std::string(status.message());
  };
  EXPECT_THAT(message_of(absl::StrCat("127.0.0.1:", first->port())), HasSubstr("in use"));
  EXPECT_THAT(message_of("7450"), HasSubstr("HOST:PORT"));
  EXPECT_THAT(message_of(":7450"), HasSubstr("HOST:PORT"));
  EXPECT_THAT(message_of("[::1:7450"), HasSubstr("brackets"));
  EXPECT_NE(message_of("127.0.0.1:port"), "");
  EXPECT_NE(message_of("300.0.0.1:7450"), "");
  EXPECT_THAT(message_of("unix:"), HasSubstr("path"));
  EXPECT_THAT(message_of("unix:" + std::string(200, 'x')), HasSubstr("path"));
}

TEST(ListenerTest, TakesTheFileOfAUnixSocketThatWasLeftBehind) {
  const std::string path = absl::StrCat(::testing::TempDir(), "/listener-", ::getpid());
  const absl::StatusOr<Listener> left = Listener::Open("unix:" + path);
  ASSERT_TRUE(left.ok());
  EXPECT_EQ(left->port(), 0);
  {
    const absl::StatusOr<Listener> next = Listener::Open("unix://" + path);
    ASSERT_TRUE(next.ok()) << next.status();
    EXPECT_TRUE(TcpClient(path).is_connected());
  }
  // Another file is not taken for one.
  std::ofstream(path) << "text";
  EXPECT_FALSE(Listener::Open("unix:" + path).ok());
  std::remove(path.c_str());
}

TEST(DescriptorLimitTest, LeavesDescriptorsForAllElse) {
  EXPECT_EQ(ConnectionsWithin(1024), 768);
  EXPECT_EQ(ConnectionsWithin(1 << 20), (1 << 20) - 256);
  EXPECT_EQ(ConnectionsWithin(100), 68);
  EXPECT_EQ(ConnectionsWithin(10), 1);
  EXPECT_EQ(MaxConnections(1), 1);
  EXPECT_LE(MaxConnections(0), 10'000);
}

}  // namespace
}  // namespace waystar::net
