#include "client/errors.h"

#include <gtest/gtest.h>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "tests/client/fake_server.h"

namespace waystar::client {
namespace {

using ::waystar::testing::Refusal;

TEST(ErrorsTest, KeepsCodeAndMessage) {
  const absl::Status status = FromGrpc({grpc::StatusCode::ABORTED, "try again"});
  EXPECT_EQ(status, absl::AbortedError("try again"));
  EXPECT_TRUE(FromGrpc(grpc::Status::OK).ok());
}

TEST(ErrorsTest, TellsReasonAndField) {
  const absl::Status status =
      FromGrpc(Refusal(grpc::StatusCode::OUT_OF_RANGE, "goal is off the map", "OFF_MAP", "goal"));
  EXPECT_EQ(ReasonOf(status), "OFF_MAP");
  EXPECT_EQ(FieldOf(status), "goal");
}

TEST(ErrorsTest, AFieldIsOptional) {
  const absl::Status status = FromGrpc(Refusal(grpc::StatusCode::UNAVAILABLE, "stopping", "DRAINING"));
  EXPECT_EQ(ReasonOf(status), "DRAINING");
  EXPECT_EQ(FieldOf(status), "");
}

TEST(ErrorsTest, NoDetailsGiveNoReason) {
  const absl::Status status = FromGrpc({grpc::StatusCode::UNAVAILABLE, "connection refused"});
  EXPECT_EQ(ReasonOf(status), "");
  EXPECT_EQ(FieldOf(status), "");
}

TEST(ErrorsTest, MalformedDetailsAreLeftOut) {
  const absl::Status status = FromGrpc({grpc::StatusCode::INTERNAL, "oh", "\xff\xff"});
  EXPECT_EQ(status, absl::InternalError("oh"));
}

TEST(ErrorsTest, ReasonsOfOtherDomainsAreNotOurs) {
  google::rpc::ErrorInfo info;
  info.set_domain("example.com");
  info.set_reason("OFF_MAP");
  google::rpc::Status details;
  static_cast<void>(details.add_details()->PackFrom(info));
  const absl::Status status = FromGrpc({grpc::StatusCode::UNAVAILABLE, "proxy", details.SerializeAsString()});
  EXPECT_EQ(ReasonOf(status), "");
}

}  // namespace
}  // namespace waystar::client
