// Addresses, and who can reach what listens on them.

#include "server/service/transport/net/listener.h"

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/service/transport/net/descriptor.h"
#include "tests/service/transport/net/tcp_client.h"

namespace waystar::net {
namespace {

using ::testing::AllOf;
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
  const absl::Status in_use = Listener::Open(absl::StrCat("127.0.0.1:", first->port())).status();
  EXPECT_EQ(in_use.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(in_use.message(), HasSubstr("in use"));
  EXPECT_EQ(Listener::Open("300.0.0.1:7450").status().code(), absl::StatusCode::kUnavailable);
}

TEST(ListenerTest, SaysWhatAnAddressIs) {
  for (const auto& [address, what] : {std::pair("7450", "no port"),
                                      {":7450", "no host"},
                                      {"[::1:7450", "brackets"},
                                      {"::1:7450", "brackets"},
                                      {"127.0.0.1:port", "port \"port\""},
                                      {"127.0.0.1:", "0 to 65535"},
                                      {"127.0.0.1:-1", "0 to 65535"},
                                      {"127.0.0.1:65536", "0 to 65535"},
                                      {"127.0.0.1:99999", "port \"99999\""},
                                      {"unix:", "path"}}) {
    const absl::Status status = Listener::Open(address).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << address;
    EXPECT_THAT(status.message(), AllOf(HasSubstr(what), HasSubstr("HOST:PORT"))) << address;
  }
  EXPECT_THAT(Listener::Open("unix:" + std::string(200, 'x')).status().message(), HasSubstr("107 bytes"));
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
