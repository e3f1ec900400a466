#include <gmock/gmock.h>
#include <grpcpp/security/server_credentials.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>

#include "client/client.h"
#include "tests/client/fake_server.h"
#include "tests/testing/certificates.h"
#include "tests/testing/own_folder.h"
#include "tests/testing/patience.h"

namespace waystar::client {
namespace {

using ::testing::HasSubstr;
using ::waystar::testing::Authority;
using ::waystar::testing::FakeServer;
using ::waystar::testing::Identity;
using ::waystar::testing::kPatience;
using ::waystar::testing::OwnFolder;

// A server with a certificate for waystar.test.
class TlsTest : public ::testing::Test {
 protected:
  TlsTest() { Serve(GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE); }

  void Serve(grpc_ssl_client_certificate_request_type wants_certificate) {
    const Identity own = authority_.Issue("waystar.test");
    grpc::SslServerCredentialsOptions options(wants_certificate);
    options.pem_root_certs = authority_.cert();
    options.pem_key_cert_pairs.push_back({own.key, own.cert});
    server_ = std::make_unique<FakeServer>(grpc::SslServerCredentials(options));
    server_->find_path = [this](grpc::ServerContext& context, const auto&, auto&) {
      const auto token = context.client_metadata().find("authorization");
      if (token != context.client_metadata().end()) {
        token_ = std::string(token->second.data(), token->second.size());
      }
      return grpc::Status::OK;
    };
  }

  // Writes `text` to a file of the test's own and returns its path.
  std::string WriteFile(const std::string& name, const std::string& text) const {
    std::string path = folder_.PathOf(name);
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  // Trusts the server's authority.
  Options TrustingOptions() {
    Options options;
    options.target = server_->target();
    options.timeout = kPatience;
    options.tls = true;
    options.ca_file = WriteFile("ca.pem", authority_.cert());
    options.server_name = "waystar.test";
    return options;
  }

  const OwnFolder folder_;
  const Authority authority_;
  std::unique_ptr<FakeServer> server_;
  std::string token_;
};

TEST_F(TlsTest, AServerThatProvesItsNameIsTrusted) {
  const auto response = Client(TrustingOptions()).FindPath({});
  EXPECT_TRUE(response.ok()) << response.status();
}

TEST_F(TlsTest, AServerOfAnotherNameIsNot) {
  Options options = TrustingOptions();
  options.server_name = "other.test";
  EXPECT_TRUE(absl::IsUnavailable(Client(options).FindPath({}).status()));
  options.server_name = "";
  EXPECT_TRUE(absl::IsUnavailable(Client(options).FindPath({}).status()));
}

TEST_F(TlsTest, AnotherAuthorityIsNotTrusted) {
  Options options = TrustingOptions();
  options.ca_file = WriteFile("other.pem", Authority().cert());
  EXPECT_TRUE(absl::IsUnavailable(Client(options).FindPath({}).status()));
}

TEST_F(TlsTest, AServerWithoutTlsIsNotTalkedTo) {
  FakeServer plain;
  plain.find_path = [](auto&, const auto&, auto&) { return grpc::Status::OK; };
  Options options = TrustingOptions();
  options.target = plain.target();
  EXPECT_TRUE(absl::IsUnavailable(Client(options).FindPath({}).status()));
}

TEST_F(TlsTest, AServerMayWantACertificate) {
  Serve(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  Options options = TrustingOptions();
  EXPECT_TRUE(absl::IsUnavailable(Client(options).FindPath({}).status()));
  const Identity own = authority_.Issue("game-7");
  options.cert_file = WriteFile("client.pem", own.cert);
  options.key_file = WriteFile("client.key", own.key);
  const auto response = Client(options).FindPath({});
  EXPECT_TRUE(response.ok()) << response.status();
}

TEST_F(TlsTest, SeveralServersShareAName) {
  FakeServer& one = *server_;
  Options options = TrustingOptions();
  options.target = one.target() + "," + one.target();
  EXPECT_TRUE(Client(options).FindPath({}).ok());
}

TEST_F(TlsTest, ATokenTravelsEncrypted) {
  Options options = TrustingOptions();
  options.token = "secret";
  EXPECT_TRUE(Client(options).FindPath({}).ok());
  EXPECT_EQ(token_, "Bearer secret");
}

TEST_F(TlsTest, FilesMustBePem) {
  Options options = TrustingOptions();
  options.ca_file = "/nowhere/ca.pem";
  EXPECT_EQ(Client(options).status().message(), "/nowhere/ca.pem cannot be read");
  options.ca_file = WriteFile("text.pem", "hello");
  const Client client(options);
  EXPECT_TRUE(absl::IsInvalidArgument(client.status()));
  EXPECT_THAT(std::string(client.status().message()), HasSubstr("text.pem is not a PEM file"));
}

}  // namespace
}  // namespace waystar::client
