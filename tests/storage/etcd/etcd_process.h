// etcd in processes of its own.
#pragma once

#include <openssl/ssl.h>
#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "server/storage/etcd/etcd_client.h"
#include "tests/testing/certificates.h"
#include "tests/testing/own_folder.h"

namespace waystar {

// Fails the test if the options are no good.
std::unique_ptr<etcd::Client> OpenClient(const etcd::ClientOptions& options);

// Cluster on free ports of the loopback interface, with its data in a folder of its own. A process has one at
// a time.
//
// Thread safety: one thread.
class EtcdCluster {
 public:
  // Whether the program `etcd` is on the PATH; tests without it are skipped.
  static bool IsInstalled();

  // Starts so many members, and returns when all answer. Fails the test if they do not. `flags` go to each of
  // them.
  explicit EtcdCluster(int members, std::vector<std::string> flags = {});
  EtcdCluster(const EtcdCluster&) = delete;
  EtcdCluster& operator=(const EtcdCluster&) = delete;
  // Kills all that still run.
  ~EtcdCluster();

  int size() const { return static_cast<int>(members_.size()); }
  const std::string& folder() const { return folder_; }
  // The options of a client for all members, or for one.
  etcd::ClientOptions Options() const;
  etcd::ClientOptions OptionsOf(int member) const;
  std::unique_ptr<etcd::Client> NewClient() const { return OpenClient(Options()); }
  // Runs "etcdctl" with these arguments of a shell, and fails the test if that fails.
  void Control(const std::string& arguments) const;

  // Returns the member that leads, once they agree on one that is not `not_this`.
  int Leader(int not_this = -1) const;

  // Ends a member at once.
  void Kill(int member);
  // Takes the data from a member that does not run.
  void Empty(int member) const;
  // Starts it again with the data that it had, and returns when it answers.
  void Restart(int member);
  // Keeps it from doing anything, as a machine that hangs would.
  void Freeze(int member) const;
  void Thaw(int member) const;

 private:
  struct Member {
    etcd::Endpoint client;
    etcd::Endpoint peer;
    // 0 while it does not run.
    pid_t pid = 0;
  };

  void Start(int member);
  void WaitUntilHealthy(int member) const;

  const OwnFolder own_folder_;
  const std::string folder_ = own_folder_.path().string();
  const std::vector<std::string> flags_;
  std::vector<Member> members_;
};

// Test of etcd, which is skipped where it is not installed.
class EtcdTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!EtcdCluster::IsInstalled()) {
      GTEST_SKIP() << "there is no etcd on the PATH: apt-get install etcd-server etcd-client";
    }
  }
};

// Such a test with one member and a client.
class OneMemberTest : public EtcdTest {
 protected:
  void SetUp() override {
    EtcdTest::SetUp();
    if (!IsSkipped()) {
      etcd_.emplace(1);
      client_ = etcd_->NewClient();
    }
  }

  std::optional<EtcdCluster> etcd_;
  std::unique_ptr<etcd::Client> client_;
};

// A server that shakes hands over TLS as a member of etcd does, and does nothing else.
class TlsMember {
 public:
  static constexpr char kHost[] = "127.0.0.1";

  // Shows that certificate, and asks for one that `clients` has issued, unless that is null.
  explicit TlsMember(const Identity& identity, const Authority* clients = nullptr);
  TlsMember(const TlsMember&) = delete;
  TlsMember& operator=(const TlsMember&) = delete;
  ~TlsMember();

  etcd::Endpoint endpoint() const { return endpoint_; }

 private:
  void Run();

  const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context_;
  int socket_ = -1;
  etcd::Endpoint endpoint_;
  std::thread thread_;
};

}  // namespace waystar
