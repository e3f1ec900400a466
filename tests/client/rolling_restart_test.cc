// Two real servers that are restarted one after the other while a client asks.

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/agent_follower.h"
#include "client/client.h"
#include "gmock/gmock.h"
#include "server/base/mutex.h"
#include "server/service/server.h"
#include "tests/service/test_server.h"
#include "tests/testing/own_folder.h"
#include "tests/testing/patience.h"

namespace waystar::client {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// All of 127.0.0.0/8 is this machine. On an address of its own, no other process takes the port of a server
// that is to be started again.
std::string OwnHost() {
  const int pid = ::getpid();
  return absl::StrCat("127.", 64 + (pid >> 16), ".", pid >> 8 & 255, ".", pid & 255);
}

std::string AddressOf(int port) { return absl::StrCat(OwnHost(), ":", port); }

v1::Location PlaceAt(int x, int y) {
  v1::Location place;
  *place.mutable_cell() = CellAt(x, y);
  return place;
}

// The map that all servers serve from their start on: callers may come to a server that was started again
// before anybody else can.
void WriteField(const OwnFolder& folder) {
  std::ofstream file(folder.PathOf("field.txt"));
  for (int row = 0; row < 8; ++row) {
    file << "........\n";
  }
}

// A server whose map is at a revision of its own, so that its answers are told from those of others.
class MarkedServer {
 public:
  // Port 0 takes a free one.
  MarkedServer(const OwnFolder& maps, int port, uint64_t revision) {
    runtime::Options options;
    options.listen = AddressOf(port);
    options.maps_dir = maps.path().string();
    options.workers = 2;
    options.max_queue_time = absl::Minutes(1);
    options.log_level = "error";
    auto started = rpc::Server::Start(options);
    EXPECT_TRUE(started.ok()) << started.status();
    server_ = *std::move(started);
    const Client own({.target = AddressOf(server_->port()), .timeout = kPatience});
    v1::GetMapRequest field;
    field.set_map("field");
    EXPECT_TRUE(WaitUntil([&] { return own.GetMap(field).ok(); }, "the server"));
    for (uint64_t next = 2; next <= revision; ++next) {
      EXPECT_TRUE(own.UpdateMap(BlockRequest("field", {CellAt(0, 7)})).ok());
    }
  }

  int port() const { return server_->port(); }
  void Stop() { server_->Stop(kPatience); }

 private:
  std::unique_ptr<rpc::Server> server_;
};

// Threads that ask one client without a pause, and what they have seen.
class Load {
 public:
  explicit Load(const Client& client) {
    for (int i = 0; i < 4; ++i) {
      threads_.emplace_back([this, &client] { Ask(client); });
    }
  }

  void WaitForAnswerAt(uint64_t revision) {
    const Patience patience(absl::StrCat("an answer at revision ", revision));
    MutexLock lock(mutex_);
    while (revisions_.count(revision) == 0 && failures_.empty() && patience.Wait(answered_, mutex_)) {
    }
  }

  std::vector<std::string> StopAndTellFailures() {
    is_over_ = true;
    for (std::thread& thread : threads_) {
      thread.join();
    }
    MutexLock lock(mutex_);
    return failures_;
  }

 private:
  void Ask(const Client& client) {
    while (!is_over_) {
      const auto answer = client.FindPath(PathRequest("field", CellAt(0, 0), CellAt(7, 7)));
      MutexLock lock(mutex_);
      if (answer.ok()) {
        revisions_.insert(answer->info().version().revision());
      } else {
        failures_.push_back(answer.status().ToString());
        is_over_ = true;
      }
      answered_.NotifyAll();
    }
  }

  std::atomic<bool> is_over_ = false;
  Mutex mutex_;
  CondVar answered_;
  std::set<uint64_t> revisions_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> failures_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

TEST(RollingRestartTest, CallersSeeNoError) {
  const OwnFolder maps;
  WriteField(maps);
  auto one = std::make_unique<MarkedServer>(maps, 0, 1);
  auto two = std::make_unique<MarkedServer>(maps, 0, 2);
  const Client client(
      {.target = absl::StrCat(AddressOf(one->port()), ",", AddressOf(two->port())), .timeout = kPatience});
  Load load(client);
  load.WaitForAnswerAt(1);
  load.WaitForAnswerAt(2);

  const int port_of_one = one->port();
  one->Stop();
  one = std::make_unique<MarkedServer>(maps, port_of_one, 3);
  load.WaitForAnswerAt(3);

  const int port_of_two = two->port();
  two->Stop();
  two = std::make_unique<MarkedServer>(maps, port_of_two, 4);
  load.WaitForAnswerAt(4);
  EXPECT_EQ(load.StopAndTellFailures(), std::vector<std::string>());
}

TEST(RollingRestartTest, FollowedAgentsGoOn) {
  const OwnFolder maps;
  WriteField(maps);
  auto first = std::make_unique<MarkedServer>(maps, 0, 1);
  const int port = first->port();
  const Client client({.target = AddressOf(port), .timeout = kPatience});
  AgentFollower follower(client);
  const auto is_told = [&](std::uint64_t agent, double cost) {
    const std::optional<AgentPath> path = follower.Find(agent);
    return path && path->answer && path->answer->cost() == cost;
  };
  follower.MoveTo(7, PlaceAt(0, 0));
  EXPECT_FALSE(follower.Find(7));
  follower.Put(7, PathRequest("field", CellAt(0, 0), CellAt(7, 0)));
  follower.Put(8, PathRequest("field", CellAt(0, 0), CellAt(0, 5)));
  follower.Flush();
  ASSERT_TRUE(WaitUntil([&] { return is_told(7, 7) && is_told(8, 5); }, "the first paths"));
  EXPECT_THAT(follower.TakeNews(), UnorderedElementsAre(7, 8));
  EXPECT_THAT(follower.TakeNews(), IsEmpty());
  ASSERT_TRUE(WaitUntil([&] { return follower.ProgressOf("field").has_value(); }, "progress"));

  follower.MoveTo(7, PlaceAt(3, 0));
  follower.Remove(8);
  follower.Flush();
  first.reset();
  const MarkedServer second(maps, port, 1);
  // Its map is another one, so the agent is put again without its path.
  const auto is_put_again = [&] {
    follower.Flush();
    return is_told(7, 4);
  };
  ASSERT_TRUE(WaitUntil(is_put_again, "the path of another server"));
  EXPECT_FALSE(follower.Find(8));
  EXPECT_TRUE(follower.status().ok());

  follower.SendTo(7, PlaceAt(3, 2));
  follower.Flush();
  ASSERT_TRUE(WaitUntil([&] { return is_told(7, 2); }, "the path to another goal"));
}

TEST(AgentFollowerTest, AgentsComeToOtherMaps) {
  TestServer server;
  server.Create("yard", {"....."});
  server.Create("cellar", {"....."});
  auto stairs = About<v1::UpdateMapRequest>("yard");
  v1::Portal& portal = *stairs.add_edits()->mutable_put_portal();
  portal.set_id("stairs");
  *portal.mutable_from() = CellAt(4, 0);
  *portal.mutable_to() = CellAt(4, 0);
  portal.set_to_map("cellar");
  ASSERT_TRUE(server.client().UpdateMap(stairs).ok());
  AgentFollower follower(server.client());
  v1::FindPathRequest query = PathRequest("yard", CellAt(1, 0), CellAt(0, 0));
  query.set_goal_map("cellar");
  follower.Put(7, query);
  follower.Flush();
  const auto costs = [&](double cost) {
    const std::optional<AgentPath> path = follower.Find(7);
    return path && path->answer && path->answer->cost() == cost;
  };
  ASSERT_TRUE(WaitUntil([&] { return costs(7); }, "the path down"));
  follower.MoveTo(7, PlaceAt(4, 0), "cellar");
  follower.Flush();
  ASSERT_TRUE(WaitUntil([&] { return costs(4); }, "the rest of it"));
  ASSERT_TRUE(server.client().UpdateMap(BlockRequest("cellar", {CellAt(2, 0)})).ok());
  ASSERT_TRUE(WaitUntil([&] { return follower.Find(7)->answer->outcome() == v1::OUTCOME_UNREACHABLE; },
                        "what blocks it"));
}

TEST(RollingRestartTest, AFollowerThatCannotCallEnds) {
  const Client client({.target = "no such target:x"});
  AgentFollower follower(client);
  ASSERT_TRUE(WaitUntil([&] { return !follower.status().ok(); }, "the end"));
  EXPECT_EQ(follower.status(), client.status());
}

}  // namespace
}  // namespace waystar::client
