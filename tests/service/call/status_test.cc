#include "server/service/call/status.h"

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "gtest/gtest.h"
#include "server/base/error.h"

namespace waystar::rpc {
namespace {

google::rpc::Status DetailsOf(const grpc::Status& status) {
  google::rpc::Status details;
  EXPECT_TRUE(details.ParseFromString(status.error_details()));
  return details;
}

TEST(StatusTest, CarriesCodeReasonAndField) {
  const grpc::Status status = ToGrpcStatus(MakeError(ErrorReason::kMapNotFound, "map", "no such map"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(status.error_message(), "no such map");
  const google::rpc::Status details = DetailsOf(status);
  EXPECT_EQ(details.code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(details.message(), "no such map");
  ASSERT_EQ(details.details_size(), 2);
  google::rpc::BadRequest bad_request;
  ASSERT_TRUE(details.details(0).UnpackTo(&bad_request));
  EXPECT_EQ(bad_request.field_violations(0).field(), "map");
  google::rpc::ErrorInfo info;
  ASSERT_TRUE(details.details(1).UnpackTo(&info));
  EXPECT_EQ(info.domain(), "waystar");
  EXPECT_EQ(info.reason(), "MAP_NOT_FOUND");
  EXPECT_EQ(info.metadata().at("field"), "map");
}

TEST(StatusTest, RefusalCarriesRetryDelay) {
  const grpc::Status status =
      ToGrpcStatus(Refusal(ErrorReason::kQueueFull, absl::Milliseconds(1500), "busy"));
  const google::rpc::Status details = DetailsOf(status);
  ASSERT_EQ(details.details_size(), 2);
  google::rpc::RetryInfo retry;
  ASSERT_TRUE(details.details(1).UnpackTo(&retry));
  EXPECT_EQ(retry.retry_delay().seconds(), 1);
  EXPECT_EQ(retry.retry_delay().nanos(), 500'000'000);
}

TEST(StatusTest, PlainErrorsAndOkHaveNoDetails) {
  EXPECT_TRUE(ToGrpcStatus(absl::OkStatus()).ok());
  const grpc::Status status = ToGrpcStatus(absl::InternalError("oops"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INTERNAL);
  EXPECT_EQ(status.error_details(), "");
}

}  // namespace
}  // namespace waystar::rpc
