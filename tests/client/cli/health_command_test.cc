#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/client/cli/command_test.h"

namespace waystar::cli {
namespace {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;
using ::testing::HasSubstr;

class HealthCommandTest : public ::waystar::testing::CommandTest {
 protected:
  HealthCommandTest() {
    server_.check_health = [this](auto&, const HealthCheckRequest& request, HealthCheckResponse& response) {
      if (!request.service().empty() && request.service() != "waystar.v1.PathService") {
        return grpc::Status(grpc::StatusCode::NOT_FOUND, "");
      }
      response.set_status(status_);
      return grpc::Status::OK;
    };
  }

  HealthCheckResponse::ServingStatus status_ = HealthCheckResponse::SERVING;
};

TEST_F(HealthCommandTest, SucceedsOnlyIfServing) {
  EXPECT_EQ(Run({"health"}), ExitCode::kOk);
  EXPECT_EQ(out_, "SERVING\n");
  status_ = HealthCheckResponse::NOT_SERVING;
  EXPECT_EQ(Run({"health"}), ExitCode::kUnavailable);
  EXPECT_EQ(out_, "NOT_SERVING\n");
}

TEST_F(HealthCommandTest, AsksForOneService) {
  EXPECT_EQ(Run({"health", "waystar.v1.PathService", "--json"}), ExitCode::kOk);
  EXPECT_EQ(out_, "{\"status\":\"SERVING\"}\n");
  EXPECT_EQ(Run({"health", "other"}), ExitCode::kRefused);
  EXPECT_EQ(err_, "waystar: the server has no service 'other'\n");
}

TEST_F(HealthCommandTest, TellsWhichServerCannotBeReached) {
  EXPECT_EQ(RunBare({"health", "--server", "127.0.0.1:1"}), ExitCode::kUnavailable);
  EXPECT_THAT(err_, HasSubstr("cannot reach a server at 127.0.0.1:1"));
}

}  // namespace
}  // namespace waystar::cli
