#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/client/cli/command_test.h"
#include "tests/testing/own_folder.h"

namespace waystar::cli {
namespace {

using ::testing::HasSubstr;

class ConnectionOptionsTest : public ::waystar::testing::CommandTest {
 protected:
  ConnectionOptionsTest() {
    server_.list_maps = [this](grpc::ServerContext& context, const auto&, v1::ListMapsResponse& response) {
      const auto token = context.client_metadata().find("authorization");
      token_ = token == context.client_metadata().end()
                   ? ""
                   : std::string(token->second.data(), token->second.size());
      response.add_maps()->set_map("arena");
      return grpc::Status::OK;
    };
  }

  std::string token_;
};

TEST_F(ConnectionOptionsTest, ATokenComesFromAnOptionOrTheEnvironment) {
  EXPECT_EQ(Run({"map", "list", "--token", "one"}), ExitCode::kOk);
  EXPECT_EQ(token_, "Bearer one");
  setenv("WAYSTAR_TOKEN", "two", /*overwrite=*/1);
  EXPECT_EQ(Run({"map", "list"}), ExitCode::kOk);
  unsetenv("WAYSTAR_TOKEN");
  EXPECT_EQ(token_, "Bearer two");
}

TEST_F(ConnectionOptionsTest, ATokenIsNotSentInTheOpen) {
  EXPECT_EQ(RunBare({"map", "list", "--token", "one", "--server", "10.0.0.1:7450"}), ExitCode::kUsage);
  EXPECT_EQ(err_, "waystar: a token is not sent to 10.0.0.1:7450 unencrypted: use TLS\n");
}

TEST_F(ConnectionOptionsTest, CertificatesImplyTls) {
  EXPECT_EQ(Run({"map", "list", "--ca", "/nowhere/ca.pem"}), ExitCode::kUsage);
  EXPECT_EQ(err_, "waystar: /nowhere/ca.pem cannot be read\n");
  EXPECT_EQ(Run({"map", "list", "--tls", "--cert", "mine.pem"}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("its key go together"));
}

TEST_F(ConnectionOptionsTest, CertificatesComeFromTheEnvironmentToo) {
  setenv("WAYSTAR_CA", "/nowhere/ca.pem", /*overwrite=*/1);
  EXPECT_EQ(Run({"map", "list"}), ExitCode::kUsage);
  unsetenv("WAYSTAR_CA");
  EXPECT_EQ(err_, "waystar: /nowhere/ca.pem cannot be read\n");
  setenv("WAYSTAR_CERT", "mine.pem", /*overwrite=*/1);
  EXPECT_EQ(Run({"map", "list"}), ExitCode::kUsage);
  unsetenv("WAYSTAR_CERT");
  EXPECT_THAT(err_, HasSubstr("its key go together"));
}

TEST_F(ConnectionOptionsTest, ATokenIsReadFromAFile) {
  const ::waystar::testing::OwnFolder folder;
  const std::string file = folder.PathOf("token");
  std::ofstream(file) << "three\n";
  EXPECT_EQ(Run({"map", "list", "--token-file", file}), ExitCode::kOk);
  EXPECT_EQ(token_, "Bearer three");
  setenv("WAYSTAR_TOKEN_FILE", file.c_str(), /*overwrite=*/1);
  EXPECT_EQ(Run({"map", "list"}), ExitCode::kOk);
  EXPECT_EQ(token_, "Bearer three");
  EXPECT_EQ(Run({"map", "list", "--token", "four"}), ExitCode::kOk);
  EXPECT_EQ(token_, "Bearer four");
  unsetenv("WAYSTAR_TOKEN_FILE");
  EXPECT_EQ(Run({"map", "list", "--token-file", "/nowhere/token"}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("/nowhere/token cannot be read"));
}

TEST_F(ConnectionOptionsTest, SeveralServersTakeTurns) {
  const std::string both = server_.target() + "," + server_.target();
  EXPECT_EQ(RunBare({"map", "list", "--names", "--server", both, "--wait-for-ready"}), ExitCode::kOk);
  EXPECT_EQ(out_, "arena\n");
  EXPECT_EQ(RunBare({"map", "list", "--server", "a:1,b:2"}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("'a:1' is not an IP address and a port"));
}

TEST_F(ConnectionOptionsTest, SaysHowToTellWhoYouAre) {
  server_.get_map = [](auto&, const auto&, auto&) {
    return grpc::Status(grpc::StatusCode::UNAUTHENTICATED, "no token");
  };
  EXPECT_EQ(Run({"map", "show", "arena", "--no-picture"}), ExitCode::kRefused);
  EXPECT_EQ(err_, "waystar: no token\n--token or WAYSTAR_TOKEN tells the server who you are.\n");
}

}  // namespace
}  // namespace waystar::cli
