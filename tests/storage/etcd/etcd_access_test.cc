// Clients that etcd lets in or refuses: passwords and certificates.

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/storage/etcd/etcd_client.h"
#include "server/storage/etcd/etcd_watch.h"
#include "tests/storage/etcd/etcd_process.h"
#include "tests/testing/certificates.h"
#include "tests/testing/own_folder.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"

namespace waystar::etcd {
namespace {

using ::testing::HasSubstr;

class EtcdPasswordTest : public waystar::OneMemberTest {
 protected:
  std::unique_ptr<Client> NewClient(const std::string& password = "maps:se:cret") const {
    ClientOptions options = etcd_->Options();
    options.password_file = absl::StrCat(etcd_->folder(), "/password");
    std::ofstream(options.password_file) << password << "\n";
    return OpenClient(options);
  }

  // A user "maps" who may read and write below /maps/.
  void AskForPasswords() const {
    for (const char* const arguments :
         {"user add root:rootpw", "user grant-role root root", "user add maps:se:cret", "role add maps",
          "role grant-permission --prefix=true maps readwrite /maps/", "user grant-role maps maps",
          "auth enable"}) {
      etcd_->Control(arguments);
    }
  }
};

Failure FailureOfPut(Client& client, const std::string& key) {
  return FailureOf(client.Commit({.then = {Put{key, "v"}}}).status());
}

TEST_F(EtcdPasswordTest, LetsInWhoHasThePassword) {
  AskForPasswords();
  const auto client = NewClient();
  EXPECT_THAT(client->Commit({.then = {Put{"/maps/1", "v"}}}), IsOk());
  EXPECT_THAT(client->Range({.key = "/maps/1"}), IsOk());
  EXPECT_EQ(FailureOfPut(*client, "/other/1"), Failure::kDenied);
  EXPECT_EQ(FailureOfPut(*NewClient("maps:wrong"), "/maps/1"), Failure::kDenied);
  EXPECT_EQ(FailureOfPut(*NewClient("nobody:wrong"), "/maps/1"), Failure::kDenied);
  EXPECT_EQ(FailureOfPut(*client_, "/maps/1"), Failure::kDenied);
}

TEST_F(EtcdPasswordTest, HasAPasswordThatNobodyAsksFor) {
  const auto client = NewClient();
  EXPECT_EQ(FailureOfPut(*client, "/maps/1"), Failure::kNone);
  AskForPasswords();
  EXPECT_EQ(FailureOfPut(*client, "/maps/1"), Failure::kNone);
}

// Members forget tokens when they end.
TEST_F(EtcdPasswordTest, RenewsATokenThatIsRefused) {
  AskForPasswords();
  const auto client = NewClient();
  ASSERT_EQ(FailureOfPut(*client, "/maps/1"), Failure::kNone);
  etcd_->Kill(0);
  etcd_->Restart(0);
  EXPECT_TRUE(waystar::WaitUntil(
      [&] {
        const Failure failure = FailureOfPut(*client, "/maps/1");
        EXPECT_NE(failure, Failure::kDenied);
        return failure == Failure::kNone;
      },
      "a write"));
}

TEST_F(EtcdPasswordTest, WatchesWithATokenAndRenewsIt) {
  AskForPasswords();
  const auto client = NewClient();
  ASSERT_EQ(FailureOfPut(*client, "/maps/1"), Failure::kNone);
  Event first("the first event");
  Event cut("a cut");
  Event second("the second event");
  const Watch watch(*client, "/maps/", 1,
                    {.on_events =
                         [&](std::int64_t /*revision*/, const std::vector<WatchEvent>& events) {
                           (events.front().key == "/maps/1" ? first : second).Happen();
                         },
                     .on_cut = [&](const absl::Status& /*status*/) { cut.Happen(); }});
  ASSERT_TRUE(first.Wait());
  etcd_->Kill(0);
  ASSERT_TRUE(cut.Wait());
  etcd_->Restart(0);
  EXPECT_TRUE(
      waystar::WaitUntil([&] { return FailureOfPut(*client, "/maps/2") == Failure::kNone; }, "a write"));
  EXPECT_TRUE(second.Wait());
}

const std::string kHost = TlsMember::kHost;

class CertificateCheckTest : public ::testing::Test {
 protected:
  Endpoint StartMember(const Identity& identity, const Authority* clients = nullptr) {
    members_.push_back(std::make_unique<TlsMember>(identity, clients));
    return members_.back()->endpoint();
  }

  // Returns what a client finds that trusts `members`, and shows that certificate unless it is null.
  absl::Status Check(const std::vector<Endpoint>& endpoints, const Authority& members,
                     const Identity* own = nullptr) const {
    ClientOptions options{.endpoints = endpoints, .uses_tls = true};
    options.tls.ca = folder_.Write("ca", members.cert());
    if (own != nullptr) {
      options.tls.cert = folder_.Write("cert", own->cert);
      options.tls.key = folder_.Write("key", own->key);
    }
    return OpenClient(options)->CheckCertificates();
  }

  static void ExpectRefused(const absl::Status& status, const std::string& why) {
    EXPECT_EQ(FailureOf(status), Failure::kDenied);
    EXPECT_THAT(std::string(status.message()), HasSubstr(why));
  }

  const Authority authority_;
  const Authority other_;

 private:
  const waystar::OwnFolder folder_;
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

TEST(EtcdOptionsTest, NamesTheFileThatIsNoGood) {
  const waystar::OwnFolder folder;
  const std::string file = folder.PathOf("file");
  ClientOptions options{.endpoints = {{"127.0.0.1", 1}}};
  options.password_file = file;
  EXPECT_THAT(Client::Open(options), IsError(kInvalid, ErrorReason::kBadValue, "password_file"));
  for (const char* line : {"", "\n", "user\n", ":password\n", "\nuser:password\n"}) {
    std::ofstream(file) << line;
    EXPECT_THAT(Client::Open(options), IsError(kInvalid, ErrorReason::kBadValue, "password_file")) << line;
  }
  options.password_file.clear();
  options.uses_tls = true;
  options.tls.ca = file;
  EXPECT_THAT(Client::Open(options), IsError(kInvalid, ErrorReason::kBadValue, "tls.ca"));
  options.tls.ca.clear();
  options.tls.cert = file;
  EXPECT_THAT(Client::Open(options), IsError(kInvalid, ErrorReason::kBadValue, "tls.key"));
}

}  // namespace
}  // namespace waystar::etcd
