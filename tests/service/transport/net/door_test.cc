// Who gets through the door, over real sockets.

#include "server/service/transport/net/door.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/base/mutex.h"
#include "server/service/transport/net/listener.h"
#include "tests/service/transport/net/tcp_client.h"
#include "tests/testing/patience.h"

namespace waystar::net {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr char kWelcome[] = "welcome";

// The values of what a source collects, by name and labels.
class Values final : public runtime::MetricSink {
 public:
  void AddHistogram(absl::string_view /*name*/, absl::string_view /*help*/,
                    const runtime::HistogramCounts& /*counts*/, runtime::MetricLabels /*labels*/) override {}
  void AddNumber(absl::string_view name, absl::string_view /*help*/, double value,
                 runtime::MetricLabels labels, bool /*is_counter*/) override {
    values.emplace(absl::StrCat(name, labels.empty() ? "" : " ", labels.empty() ? "" : labels[0].second),
                   value);
  }

  std::map<std::string, double> values;
};

// A door behind which each connection is welcomed and kept.
class DoorTest : public ::testing::Test {
 protected:
  void Open(const ConnectionLimits& limits, const std::string& address = "127.0.0.1:0") {
    absl::StatusOr<Listener> listener = Listener::Open(address);
    ASSERT_TRUE(listener.ok()) << listener.status();
    door_ = std::make_unique<Door>(*std::move(listener), limits, [this](int, Descriptor connection) {
      MutexLock lock(mutex_);
      ::send(connection.fd(), kWelcome, sizeof(kWelcome) - 1, MSG_NOSIGNAL);
      inside_.push_back(std::move(connection));
    });
  }

  void CloseFirstInside() {
    MutexLock lock(mutex_);
    inside_.erase(inside_.begin());
  }

  template <typename... From>
  bool IsWelcome(const From&... from) {
    clients_.push_back(std::make_unique<TcpClient>(from...));
    return clients_.back()->Read(sizeof(kWelcome) - 1) == kWelcome;
  }
  bool ComesIn(const std::string& from = "127.0.0.1") { return IsWelcome(door_->port(), from); }

  std::map<std::string, double> Counts() const {
    Values sink;
    door_->Collect(sink);
    return sink.values;
  }

  std::vector<std::unique_ptr<TcpClient>> clients_;
  Mutex mutex_;
  std::vector<Descriptor> inside_;
  std::unique_ptr<Door> door_;
};

TEST_F(DoorTest, ResetsWhoIsOneTooManyUntilAnotherIsGone) {
  Open({.max_connections = 2, .max_network_connections = 2});
  EXPECT_TRUE(ComesIn());
  EXPECT_TRUE(ComesIn());
  EXPECT_FALSE(ComesIn());
  EXPECT_FALSE(ComesIn("127.0.0.2"));
  EXPECT_EQ(door_->connections(), 2);
  EXPECT_TRUE(clients_[0]->IsOpen());
  CloseFirstInside();
  EXPECT_TRUE(WaitUntil([&] { return ComesIn(); }, "a place"));
  EXPECT_THAT(Counts(), AllOf(Contains(Pair("waystar_connections", 2)),
                              Contains(Pair("waystar_connections_accepted_total", 3)),
                              Contains(Pair("waystar_connections_refused_total all", ::testing::Ge(2)))));
}

TEST_F(DoorTest, OneAddressCannotTakeAllPlaces) {
  Open({.max_connections = 10, .max_network_connections = 2});
  EXPECT_TRUE(ComesIn());
  EXPECT_TRUE(ComesIn());
  EXPECT_FALSE(ComesIn());
  EXPECT_TRUE(ComesIn("127.0.0.2"));
  EXPECT_THAT(Counts(), AllOf(Contains(Pair("waystar_connections_refused_total address", 1)),
                              Contains(Pair("waystar_connections_refused_total all", 0))));
  CloseFirstInside();
  EXPECT_TRUE(WaitUntil([&] { return ComesIn(); }, "a place of this address"));
}

TEST_F(DoorTest, UnixSocketsHaveNoAddressToLimit) {
  const std::string path = absl::StrCat(::testing::TempDir(), "/door-", ::getpid());
  Open({.max_connections = 3, .max_network_connections = 1}, "unix:" + path);
  EXPECT_TRUE(IsWelcome(path));
  EXPECT_TRUE(IsWelcome(path));
  EXPECT_TRUE(IsWelcome(path));
  EXPECT_FALSE(IsWelcome(path));
  door_->Close();
  EXPECT_FALSE(TcpClient(path).is_connected());
}

TEST_F(DoorTest, ClosedDoorKeepsWhoIsInside) {
  Open({.max_connections = 2, .max_network_connections = 2});
  EXPECT_TRUE(ComesIn());
  door_->Close();
  EXPECT_FALSE(TcpClient(door_->port()).is_connected());
  EXPECT_TRUE(clients_[0]->IsOpen());
  EXPECT_EQ(door_->connections(), 1);
}

TEST_F(DoorTest, TurnsOutWhomItIsTold) {
  Open({.max_connections = 2, .max_network_connections = 2});
  EXPECT_TRUE(ComesIn());
  EXPECT_TRUE(ComesIn());
  std::uint16_t port = 0;
  {
    MutexLock lock(mutex_);
    port = PortOfPeer(inside_[0].fd());
  }
  door_->TurnOut("127.0.0.2", port, false);
  EXPECT_THAT(Counts(), Contains(Pair("waystar_connections_turned_out_total", 0)));
  door_->TurnOut("127.0.0.1", port, false);
  EXPECT_THAT(Counts(), Contains(Pair("waystar_connections_turned_out_total", 1)));
  clients_[0]->ReadToTheEnd();
  EXPECT_FALSE(clients_[0]->IsOpen());
  EXPECT_TRUE(clients_[1]->IsOpen());
}

TEST_F(DoorTest, KeepsOutTheNetworkOfWhomItTurnsOut) {
  Open({.max_connections = 2, .max_network_connections = 2});
  EXPECT_TRUE(ComesIn());
  std::uint16_t port = 0;
  {
    MutexLock lock(mutex_);
    port = PortOfPeer(inside_[0].fd());
  }
  door_->TurnOut("127.0.0.1", port, true);
  EXPECT_FALSE(ComesIn());
  EXPECT_TRUE(ComesIn("127.0.0.2"));
  EXPECT_THAT(Counts(), Contains(Pair("waystar_connections_refused_total kept_out", 1)));
}

TEST_F(DoorTest, KnowsHowManyBytesEachPeerHasSent) {
  Open({.max_connections = 4, .max_network_connections = 4});
  ASSERT_TRUE(ComesIn());
  ASSERT_TRUE(ComesIn());
  clients_.back()->Send(std::string(1000, 'x'));
  std::vector<ConnectionTable::Peer> peers;
  {
    MutexLock lock(mutex_);
    peers = {{"127.0.0.1", PortOfPeer(inside_[0].fd())},
             {"127.0.0.1", PortOfPeer(inside_[1].fd())},
             {"127.0.0.2", PortOfPeer(inside_[1].fd())}};
  }
  const Patience patience("the bytes to arrive");
  while (door_->BytesFrom(peers)[1] == 0 && patience.Lasts()) {
    std::this_thread::yield();
  }
  EXPECT_EQ(door_->BytesFrom(peers), (std::vector<std::uint64_t>{0, 1000, 0}));
}

TEST_F(DoorTest, PlacesAreTakenAndLeftManyTimes) {
  Open({.max_connections = 4, .max_network_connections = 4});
  for (int i = 0; i < 200; ++i) {
    EXPECT_TRUE(WaitUntil([&] { return ComesIn(); }, "a place"));
    CloseFirstInside();
    clients_.clear();
  }
  EXPECT_TRUE(WaitUntil([&] { return door_->connections() == 0; }, "the end of all connections"));
}

// Addresses, and who can reach what listens on them.

TEST(ListenerTest, TakesAFreePortOfEachAddress) {
  for (const char* const address : {"127.0.0.1:0", "localhost:0", "0.0.0.0:0", "[::]:0", "ipv4:127.0.0.1:0",
                                    "dns:localhost:0", "dns:///localhost:0"}) {
    const absl::StatusOr<Listener> listener = Listener::Open(address);
    ASSERT_TRUE(listener.ok()) << address << " " << listener.status();
    EXPECT_GT(listener->port(), 0);
    EXPECT_TRUE(TcpClient(listener->port()).is_connected()) << address;
  }
}

TEST(ListenerTest, SaysWhyItCannotListen) {
  const Listener first = Listener::Open("127.0.0.1:0").value();
  const absl::Status in_use = Listener::Open(absl::StrCat("127.0.0.1:", first.port())).status();
  EXPECT_EQ(in_use.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(in_use.message(), HasSubstr("in use"));
  EXPECT_EQ(Listener::Open("300.0.0.1:7450").status().code(), absl::StatusCode::kUnavailable);
}

TEST(ListenerTest, SaysWhatAnAddressIs) {
  for (const auto& [address, what] : {std::pair("7450", "no port"),
                                      {":7450", "no host"},
                                      {"[::1:7450", "brackets"},
                                      {"::1:7450", "brackets"},
                                      {"127.0.0.1:port", "port \"port\""},
                                      {"127.0.0.1:", "0 to 65535"},
                                      {"127.0.0.1:-1", "0 to 65535"},
                                      {"127.0.0.1:65536", "0 to 65535"},
                                      {"127.0.0.1:99999", "port \"99999\""},
                                      {"unix:", "path"}}) {
    const absl::Status status = Listener::Open(address).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << address;
    EXPECT_THAT(status.message(), AllOf(HasSubstr(what), HasSubstr("HOST:PORT"))) << address;
  }
  EXPECT_THAT(Listener::Open("unix:" + std::string(200, 'x')).status().message(), HasSubstr("107 bytes"));
}

TEST(ListenerTest, TakesTheFileOfAUnixSocketThatWasLeftBehind) {
  const std::string path = absl::StrCat(::testing::TempDir(), "/listener-", ::getpid());
  const Listener left = Listener::Open("unix:" + path).value();
  EXPECT_EQ(left.port(), 0);
  {
    const absl::StatusOr<Listener> next = Listener::Open("unix://" + path);
    ASSERT_TRUE(next.ok()) << next.status();
    EXPECT_TRUE(TcpClient(path).is_connected());
  }
  // Another file is not taken for one.
  std::ofstream(path) << "text";
  EXPECT_FALSE(Listener::Open("unix:" + path).ok());
  std::remove(path.c_str());
}

TEST(DescriptorLimitTest, LeavesDescriptorsForAllElse) {
  EXPECT_EQ(ConnectionsWithin(1024), 768);
  EXPECT_EQ(ConnectionsWithin(1 << 20), (1 << 20) - 256);
  EXPECT_EQ(ConnectionsWithin(100), 68);
  EXPECT_EQ(ConnectionsWithin(10), 1);
  EXPECT_EQ(MaxConnections(1), 1);
  EXPECT_LE(MaxConnections(0), 10'000);
}

}  // namespace
}  // namespace waystar::net
