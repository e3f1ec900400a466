#include "client/target.h"

#include <gtest/gtest.h>

namespace waystar::client {
namespace {

TEST(TargetTest, OneServerStaysAsItIs) {
  for (const char* const target : {"localhost:7450", "[::1]:7450", "unix:/run/waystar.sock",
                                   "dns:///maps:7450", "ipv4:10.0.0.1:1,10.0.0.2:2"}) {
    EXPECT_EQ(*GrpcTarget(target), target);
  }
}

TEST(TargetTest, AListIsOfOneFamily) {
  EXPECT_EQ(*GrpcTarget("10.0.0.1:7450,10.0.0.2:7451"), "ipv4:10.0.0.1:7450,10.0.0.2:7451");
  EXPECT_EQ(*GrpcTarget("[::1]:7450, [fe80::2]:7451"), "ipv6:[::1]:7450,[fe80::2]:7451");
  EXPECT_EQ(GrpcTarget("10.0.0.1:7450,[::1]:7450").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(TargetTest, RefusesListsOfOtherThings) {
  for (const char* const target : {"", ",", "10.0.0.1:7450,", "a:1,b:2", "10.0.0.1,10.0.0.2",
                                   "10.0.0.1:0,10.0.0.2:1", "10.0.0.1:7450,10.0.0.2:99999", "[::1,[::2]:1"}) {
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

TEST(TargetTest, KnowsThePort) {
  EXPECT_EQ(PortOf("localhost:7450"), 7450);
  EXPECT_EQ(PortOf("dns:///localhost:7450"), 7450);
  EXPECT_EQ(PortOf("[::1]:80"), 80);
  EXPECT_EQ(PortOf("unix:/run/waystar.sock"), 0);
  EXPECT_EQ(PortOf("10.0.0.1:1,10.0.0.2:2"), 0);
}

}  // namespace
}  // namespace waystar::client
