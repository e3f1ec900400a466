#include "client/target.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <tuple>

namespace waystar::client {
namespace {

TEST(TargetTest, OneServerStaysAsItIs) {
  for (const char* const target :
       {"localhost:7450", "[::1]:7450", "unix:/run/waystar.sock", "unix-abstract:waystar", "dns:///maps:7450",
        "dns://8.8.8.8/maps", "xds:///maps", "ipv4:10.0.0.1:1,10.0.0.2:2"}) {
    EXPECT_EQ(*GrpcTarget(target), target);
  }
}

TEST(TargetTest, AServerWithoutAPortHasTheUsualOne) {
  EXPECT_EQ(*GrpcTarget("localhost"), "localhost:7450");
  EXPECT_EQ(*GrpcTarget("10.0.0.1"), "10.0.0.1:7450");
  EXPECT_EQ(*GrpcTarget("[::1]"), "[::1]:7450");
  EXPECT_EQ(*GrpcTarget("::1"), "[::1]:7450");
  EXPECT_EQ(*GrpcTarget("dns:///maps"), "dns:///maps:7450");
  EXPECT_EQ(*GrpcTarget("10.0.0.1,10.0.0.2:7451"), "ipv4:10.0.0.1:7450,10.0.0.2:7451");
}

TEST(TargetTest, RefusesWhatIsNoPort) {
  for (const char* const target : {"localhost:0", "localhost:65536", "localhost:99999", "localhost:-1",
                                   "localhost:port", "[::1]:99999", "dns:///maps:x"}) {
    const absl::Status status = GrpcTarget(target).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << target;
    EXPECT_NE(status.message().find("from 1 to 65535"), std::string::npos) << status;
  }
  for (const char* const target : {":7450", "http://localhost:7450", "https://maps", "[x]:1", "[::1"}) {
    EXPECT_EQ(GrpcTarget(target).status().code(), absl::StatusCode::kInvalidArgument) << target;
  }
}

TEST(TargetTest, AListIsOfOneFamily) {
  EXPECT_EQ(*GrpcTarget("10.0.0.1:7450,10.0.0.2:7451"), "ipv4:10.0.0.1:7450,10.0.0.2:7451");
  EXPECT_EQ(*GrpcTarget("[::1]:7450, [fe80::2]:7451"), "ipv6:[::1]:7450,[fe80::2]:7451");
  EXPECT_EQ(GrpcTarget("10.0.0.1:7450,[::1]:7450").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(TargetTest, RefusesListsOfOtherThings) {
  for (const char* const target : {"", ",", "10.0.0.1:7450,", "a:1,b:2", "10.0.0.1:0,10.0.0.2:1",
                                   "10.0.0.1:7450,10.0.0.2:99999", "[::1,[::2]:1"}) {
    EXPECT_EQ(GrpcTarget(target).status().code(), absl::StatusCode::kInvalidArgument) << target;
  }
}

TEST(TargetTest, KnowsThisMachine) {
  for (const char* const target :
       {"localhost:7450", "LOCALHOST:1", "127.0.0.1:7450", "127.9.9.9:1", "[::1]:7450", "unix:/run/x",
        "dns:///localhost:1", "ipv4:127.0.0.1:1,127.0.0.1:2", "127.0.0.1:1,127.0.0.1:2"}) {
    EXPECT_TRUE(IsOnThisMachine(target)) << target;
  }
  for (const char* const target :
       {"", "10.0.0.1:7450", "127.0.0.1.evil.example:7450", "127.evil:1", "localhost.evil:1",
        "127.0.0.1:1,10.0.0.1:1", "dns://8.8.8.8/localhost:1", "[fe80::1]:1", "localhost@evil:1"}) {
    EXPECT_FALSE(IsOnThisMachine(target)) << target;
  }
}

TEST(TargetTest, KnowsTheFirstServer) {
  for (const auto& [target, host, port] : {std::tuple("localhost:1", "localhost", 1),
                                           {"dns:///localhost:1", "localhost", 1},
                                           {"[::1]:80", "::1", 80},
                                           {"maps", "maps", kDefaultPort},
                                           {"10.0.0.1:1,10.0.0.2:2", "10.0.0.1", 1}}) {
    const std::optional<Endpoint> endpoint = FirstEndpoint(target);
    ASSERT_TRUE(endpoint.has_value()) << target;
    EXPECT_EQ(endpoint->host, host);
    EXPECT_EQ(endpoint->port, port);
  }
  EXPECT_FALSE(FirstEndpoint("unix:/run/waystar.sock").has_value());
  EXPECT_FALSE(FirstEndpoint("xds:///maps").has_value());
}

TEST(StandsForSeveralServersTest, ListsAndNamesToResolveDo) {
  for (const char* const target : {"10.0.0.1:7450,10.0.0.2:7450", "ipv4:10.0.0.1:1,10.0.0.2:2",
                                   "dns:///maps:7450", "dns://8.8.8.8/maps", "xds:///maps"}) {
    EXPECT_TRUE(StandsForSeveralServers(target)) << target;
  }
  for (const char* const target :
       {"localhost:7450", "maps:7450", "10.0.0.1", "[::1]:7450", "ipv4:10.0.0.1:1", "unix:/tmp/a,b"}) {
    EXPECT_FALSE(StandsForSeveralServers(target)) << target;
  }
}

TEST(IsAddressTest, TellsAddressesFromNames) {
  for (const char* const target : {"10.0.0.1", "10.0.0.1:1", "[::1]:7450", "ipv4:10.0.0.1:1"}) {
    EXPECT_TRUE(IsAddress(target)) << target;
  }
  for (const char* const target :
       {"localhost:7450", "maps", "10.0.0.1,10.0.0.2", "unix:/tmp/a", "xds:///1.2.3.4"}) {
    EXPECT_FALSE(IsAddress(target)) << target;
  }
}

}  // namespace
}  // namespace waystar::client
