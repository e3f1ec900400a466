// What the user is told when calls do not reach the server.
#include <gmock/gmock.h>
#include <grpcpp/security/server_credentials.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/client/cli/command_test.h"
#include "tests/testing/certificates.h"
#include "tests/testing/own_folder.h"

namespace waystar::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using ::waystar::testing::Authority;
using ::waystar::testing::FakeServer;
using ::waystar::testing::Identity;
using ::waystar::testing::OwnFolder;

class UnreachableTest : public ::waystar::testing::CommandTest {
 protected:
  UnreachableTest() {
    Serve(server_);
    Encrypt(GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
  }

  static void Serve(FakeServer& server) {
    server.list_maps = [](auto&, const auto&, auto&) { return grpc::Status::OK; };
  }

  // Has a certificate for waystar.test.
  void Encrypt(grpc_ssl_client_certificate_request_type wants_certificate) {
    const Identity own = authority_.Issue("waystar.test");
    grpc::SslServerCredentialsOptions options(wants_certificate);
    options.pem_root_certs = authority_.cert();
    options.pem_key_cert_pairs.push_back({own.key, own.cert});
    encrypted_ = std::make_unique<FakeServer>(grpc::SslServerCredentials(options));
    Serve(*encrypted_);
  }

  std::string WriteFile(const std::string& name, const std::string& text) const {
    std::string path = folder_.PathOf(name);
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  ExitCode List(const std::string& target, std::vector<std::string> options) {
    options.insert(options.begin(), {"map", "list", "--server", target, "--timeout", "2m"});
    return RunBare(options);
  }

  ExitCode ListEncrypted(const std::string& ca, const std::string& name) {
    return List(encrypted_->target(), {"--ca", WriteFile("ca.pem", ca), "--server-name", name});
  }

  const OwnFolder folder_;
  const Authority authority_;
  std::unique_ptr<FakeServer> encrypted_;
};

TEST_F(UnreachableTest, NobodyListens) {
  // A port that a server has given back may be another's by now.
  const std::string target = "127.0.0.1:1";
  EXPECT_EQ(List(target, {}), ExitCode::kUnavailable);
  EXPECT_EQ(err_, absl::StrCat("waystar: cannot reach a server at ", target,
                               ": Connection refused\nIs it running? --server HOST:PORT or WAYSTAR_SERVER "
                               "names another.\n"));
}

TEST_F(UnreachableTest, TheServerSpeaksTls) {
  EXPECT_EQ(List(encrypted_->target(), {}), ExitCode::kUnavailable);
  EXPECT_THAT(err_, StartsWith(absl::StrCat("waystar: the server at ", encrypted_->target(), " speaks TLS")));
  EXPECT_THAT(err_, HasSubstr("--tls"));
}

TEST_F(UnreachableTest, TheServerDoesNotSpeakTls) {
  EXPECT_EQ(List(server_.target(), {"--tls"}), ExitCode::kUnavailable);
  EXPECT_THAT(err_,
              StartsWith(absl::StrCat("waystar: the server at ", server_.target(), " does not speak TLS")));
}

TEST_F(UnreachableTest, TheServersCertificateIsNotTrusted) {
  EXPECT_EQ(ListEncrypted(authority_.cert(), "waystar.test"), ExitCode::kOk) << err_;
  EXPECT_EQ(ListEncrypted(Authority().cert(), "waystar.test"), ExitCode::kUnavailable);
  EXPECT_THAT(err_, HasSubstr("is not trusted: "));
  EXPECT_THAT(err_, HasSubstr("--ca FILE"));
  EXPECT_THAT(err_, Not(HasSubstr("SSL_ERROR")));
  EXPECT_EQ(ListEncrypted(authority_.cert(), "other.test"), ExitCode::kUnavailable);
  EXPECT_THAT(err_, HasSubstr("is not trusted: hostname mismatch"));
}

TEST_F(UnreachableTest, TheServerWantsACertificate) {
  Encrypt(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  EXPECT_EQ(ListEncrypted(authority_.cert(), "waystar.test"), ExitCode::kUnavailable);
  EXPECT_THAT(err_, HasSubstr("wants a certificate"));
  EXPECT_THAT(err_, HasSubstr("--cert FILE and --key FILE"));
}

TEST_F(UnreachableTest, TheServerIsNotServing) {
  server_.SetServing(false);
  EXPECT_EQ(List(server_.target(), {}), ExitCode::kUnavailable);
  EXPECT_THAT(err_, StartsWith(absl::StrCat("waystar: the server at ", server_.target(), " is not serving")));
}

TEST_F(UnreachableTest, AnAddressThatIsNone) {
  EXPECT_EQ(List("localhost:99999", {}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("the port is a number from 1 to 65535, not '99999'"));
  EXPECT_EQ(List("http://localhost:7450", {}), ExitCode::kUsage);
}

}  // namespace
}  // namespace waystar::cli
