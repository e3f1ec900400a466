#include "tests/storage/etcd/etcd_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "gtest/gtest.h"
#include "server/storage/etcd/etcd.grpc.pb.h"
#include "server/storage/etcd/etcd_client.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_matchers.h"

namespace waystar {
namespace {

// Finds free ports of an address that no other process is likely to use, so that they stay free.
class FreePorts {
 public:
  FreePorts() {
    const auto pid = static_cast<std::uint32_t>(::getpid());
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(0x7f000001U + ((pid % 0x3fffffU) << 1U));
  }
  FreePorts(const FreePorts&) = delete;
  FreePorts& operator=(const FreePorts&) = delete;
  ~FreePorts() {
    for (const int socket : sockets_) {
      ::close(socket);
    }
  }

  etcd::Endpoint Take() {
    sockets_.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = address_;
    socklen_t size = sizeof(address);
    EXPECT_EQ(::bind(sockets_.back(), reinterpret_cast<const sockaddr*>(&address), size), 0);
    EXPECT_EQ(::getsockname(sockets_.back(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    char text[INET_ADDRSTRLEN];
    ::inet_ntop(AF_INET, &address.sin_addr, text, sizeof(text));
    return {text, ntohs(address.sin_port)};
  }

 private:
  sockaddr_in address_ = {};
  std::vector<int> sockets_;
};

std::string UrlOf(const etcd::Endpoint& endpoint) { return absl::StrCat("http://", etcd::TextOf(endpoint)); }

std::string NameOf(int member) { return absl::StrCat("member", member); }

// Asks a member that has its own channel, without retries.
bool Leads(const etcd::Endpoint& endpoint) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  etcdserverpb::Maintenance::Stub member(
      grpc::CreateCustomChannel(etcd::TextOf(endpoint), grpc::InsecureChannelCredentials(), arguments));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(5));
  etcdserverpb::StatusResponse status;
  return member.Status(&context, {}, &status).ok() && status.leader() == status.header().member_id();
}

}  // namespace

std::unique_ptr<etcd::Client> OpenClient(const etcd::ClientOptions& options) {
  auto client = etcd::Client::Open(options);
  EXPECT_THAT(client, IsOk());
  return *std::move(client);
}

bool EtcdCluster::IsInstalled() {
  const char* const path = std::getenv("PATH");
  for (const absl::string_view folder : absl::StrSplit(path == nullptr ? "" : path, ':')) {
    if (::access(absl::StrCat(folder, "/etcd").c_str(), X_OK) == 0) {
      return true;
    }
  }
  return false;
}

EtcdCluster::EtcdCluster(int members, std::vector<std::string> flags) : flags_(std::move(flags)) {
  {
    FreePorts ports;
    for (int i = 0; i < members; ++i) {
      members_.push_back({.client = ports.Take(), .peer = ports.Take()});
    }
  }
  for (int i = 0; i < members; ++i) {
    Start(i);
  }
  for (int i = 0; i < members; ++i) {
    WaitUntilHealthy(i);
  }
}

EtcdCluster::~EtcdCluster() {
  for (int i = 0; i < size(); ++i) {
    Kill(i);
  }
}

void EtcdCluster::Start(int member) {
  Member& started = members_[member];
  std::vector<std::string> peers;
  for (int i = 0; i < size(); ++i) {
    peers.push_back(absl::StrCat(NameOf(i), "=", UrlOf(members_[i].peer)));
  }
  std::vector<std::string> flags = {
      "etcd",
      "--name=" + NameOf(member),
      absl::StrCat("--data-dir=", folder_, "/", NameOf(member)),
      "--listen-client-urls=" + UrlOf(started.client),
      "--advertise-client-urls=" + UrlOf(started.client),
      "--listen-peer-urls=" + UrlOf(started.peer),
      "--initial-advertise-peer-urls=" + UrlOf(started.peer),
      "--initial-cluster=" + absl::StrJoin(peers, ","),
      "--heartbeat-interval=50",
      "--election-timeout=500",
      "--logger=zap",
      "--log-level=warn",
  };
  flags.insert(flags.end(), flags_.begin(), flags_.end());
  std::vector<char*> arguments;
  for (std::string& flag : flags) {
    arguments.push_back(flag.data());
  }
  arguments.push_back(nullptr);
  const std::string log = absl::StrCat(folder_, "/", NameOf(member), ".log");
  const pid_t parent = ::getpid();
  started.pid = ::fork();
  ASSERT_GE(started.pid, 0);
  if (started.pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (::getppid() == parent && file >= 0 && ::dup2(file, 1) == 1 && ::dup2(file, 2) == 2) {
      ::execvp("etcd", arguments.data());
    }
    ::_exit(127);
  }
}

void EtcdCluster::WaitUntilHealthy(int member) const {
  const auto client = OpenClient(OptionsOf(member));
  WaitUntil(
      [&] {
        const absl::Status status = client->Range({.key = "health"}).status();
        // It may ask for a password.
        return status.ok() || etcd::FailureOf(status) == etcd::Failure::kDenied;
      },
      absl::StrCat("an answer of ", NameOf(member)));
}

etcd::ClientOptions EtcdCluster::Options() const {
  etcd::ClientOptions options;
  for (const Member& member : members_) {
    options.endpoints.push_back(member.client);
  }
  return options;
}

etcd::ClientOptions EtcdCluster::OptionsOf(int member) const {
  etcd::ClientOptions options;
  options.endpoints = {members_[member].client};
  return options;
}

void EtcdCluster::Control(const std::string& arguments) const {
  const std::string command =
      absl::StrCat("ETCDCTL_API=3 etcdctl --endpoints=", UrlOf(members_.front().client), " ", arguments,
                   " >>", folder_, "/etcdctl.log 2>&1");
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

int EtcdCluster::Leader(int not_this) const {
  int leader = -1;
  WaitUntil(
      [&] {
        for (int i = 0; i < size(); ++i) {
          if (i != not_this && members_[i].pid != 0 && Leads(members_[i].client)) {
            leader = i;
          }
        }
        return leader >= 0;
      },
      "a leader");
  return leader;
}

void EtcdCluster::Kill(int member) {
  pid_t& pid = members_[member].pid;
  if (pid > 0) {
    ::kill(pid, SIGKILL);
    EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
    pid = 0;
  }
}

void EtcdCluster::Empty(int member) const {
  std::filesystem::remove_all(std::filesystem::path(folder_) / NameOf(member));
}

void EtcdCluster::Restart(int member) {
  Start(member);
  WaitUntilHealthy(member);
}

void EtcdCluster::Freeze(int member) const {
  const pid_t pid = members_[member].pid;
  ASSERT_EQ(::kill(pid, SIGSTOP), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, WUNTRACED), pid);
}

void EtcdCluster::Thaw(int member) const { ASSERT_EQ(::kill(members_[member].pid, SIGCONT), 0); }

namespace {

template <typename T>
using Owned = std::unique_ptr<T, void (*)(T*)>;

Owned<X509> CertificateOf(const std::string& pem) {
  const std::unique_ptr<BIO, int (*)(BIO*)> text(BIO_new_mem_buf(pem.data(), -1), &BIO_free);
  return {PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr), &X509_free};
}

Owned<EVP_PKEY> KeyOf(const std::string& pem) {
  const std::unique_ptr<BIO, int (*)(BIO*)> text(BIO_new_mem_buf(pem.data(), -1), &BIO_free);
  return {PEM_read_bio_PrivateKey(text.get(), nullptr, nullptr, nullptr), &EVP_PKEY_free};
}

}  // namespace

TlsMember::TlsMember(const Identity& identity, const Authority* clients)
    : context_(SSL_CTX_new(TLS_server_method()), &SSL_CTX_free) {
  EXPECT_EQ(SSL_CTX_use_certificate(context_.get(), CertificateOf(identity.cert).get()), 1);
  EXPECT_EQ(SSL_CTX_use_PrivateKey(context_.get(), KeyOf(identity.key).get()), 1);
  if (clients != nullptr) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context_.get()), CertificateOf(clients->cert()).get());
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  ::inet_pton(AF_INET, kHost, &address.sin_addr);
  socklen_t size = sizeof(address);
  socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(::bind(socket_, reinterpret_cast<const sockaddr*>(&address), size), 0);
  EXPECT_EQ(::listen(socket_, 16), 0);
  EXPECT_EQ(::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size), 0);
  endpoint_ = {kHost, ntohs(address.sin_port)};
  thread_ = std::thread([this] { Run(); });
}

TlsMember::~TlsMember() {
  ::shutdown(socket_, SHUT_RDWR);
  thread_.join();
  ::close(socket_);
}

void TlsMember::Run() {
  // Clients may be gone when it answers.
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
  while (true) {
    const int client = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) {
      return;
    }
    const Owned<SSL> connection(SSL_new(context_.get()), &SSL_free);
    SSL_set_fd(connection.get(), client);
    SSL_accept(connection.get());
    ::close(client);
  }
}

}  // namespace waystar
