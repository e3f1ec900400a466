// Certificates that a member or its client refuses.

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "server/storage/etcd/etcd_client.h"
#include "server/storage/etcd/etcd_error.h"
#include "tests/storage/etcd/tls_member.h"
#include "tests/testing/certificates.h"
#include "tests/testing/own_folder.h"
#include "tests/testing/status_matchers.h"

namespace waystar::etcd {
namespace {

using ::testing::HasSubstr;
using waystar::testing::Authority;
using waystar::testing::Identity;
using waystar::testing::IsOk;
using waystar::testing::TlsMember;

const std::string kHost = TlsMember::kHost;

class CertificateCheckTest : public ::testing::Test {
 protected:
  Endpoint StartMember(const Identity& identity, const Authority* clients = nullptr) {
    members_.push_back(std::make_unique<TlsMember>(identity, clients));
    return members_.back()->endpoint();
  }

  std::string Write(const std::string& name, const std::string& text) const {
    const std::string path = folder_.PathOf(name);
    std::ofstream(path) << text;
    return path;
  }

  // Returns what a client finds that trusts `members`, and shows that certificate unless it is null.
  absl::Status Check(const std::vector<Endpoint>& endpoints, const Authority& members,
                     const Identity* own = nullptr) const {
    ClientOptions options{.endpoints = endpoints, .uses_tls = true};
    options.tls.ca = Write("ca", members.cert());
    if (own != nullptr) {
      options.tls.cert = Write("cert", own->cert);
      options.tls.key = Write("key", own->key);
    }
    const auto client = Client::Open(options);
    EXPECT_THAT(client, IsOk());
    return (*client)->CheckCertificates();
  }

  static void ExpectRefused(const absl::Status& status, const std::string& why) {
    EXPECT_EQ(FailureOf(status), Failure::kDenied);
    EXPECT_THAT(std::string(status.message()), HasSubstr(why));
  }

  const Authority authority_;
  const Authority other_;

 private:
  const waystar::testing::OwnFolder folder_;
  std::vector<std::unique_ptr<TlsMember>> members_;
};

TEST_F(CertificateCheckTest, TheClientRefusesThatOfAMember) {
  const Endpoint member = StartMember(authority_.Issue(kHost));
  EXPECT_THAT(Check({member}, authority_), IsOk());
  ExpectRefused(Check({member}, other_), "the certificate of etcd at 127.0.0.1:");
  ExpectRefused(Check({StartMember(authority_.Issue(kHost, {.begin = -7200, .end = -3600}))}, authority_),
                "has expired");
  ExpectRefused(Check({StartMember(authority_.Issue("127.0.0.2"))}, authority_), "mismatch");
}

TEST_F(CertificateCheckTest, AMemberRefusesThatOfTheClient) {
  const Endpoint member = StartMember(authority_.Issue(kHost), &other_);
  const Identity good = other_.Issue("server");
  const Identity bad = authority_.Issue("server");
  const Identity late = other_.Issue("server", {.begin = -7200, .end = -3600});
  EXPECT_THAT(Check({member}, authority_, &good), IsOk());
  ExpectRefused(Check({member}, authority_, &bad), "refuses the client's certificate");
  ExpectRefused(Check({member}, authority_, &late), "refuses the client's certificate");
  ExpectRefused(Check({member}, authority_), "refuses a client that shows no certificate");
}

TEST_F(CertificateCheckTest, MostMembersDecide) {
  const Endpoint good = StartMember(authority_.Issue(kHost));
  const Endpoint bad = StartMember(other_.Issue(kHost));
  const Endpoint worse = StartMember(other_.Issue(kHost));
  const Endpoint away = {kHost, 1};
  EXPECT_THAT(Check({away}, authority_), IsOk());
  EXPECT_THAT(Check({bad, good, worse}, authority_), IsOk());
  EXPECT_THAT(Check({bad, away}, authority_), IsOk());
  ExpectRefused(Check({bad, away, worse}, authority_), "the certificate of etcd");
}

}  // namespace
}  // namespace waystar::etcd
