// Two real servers that are restarted one after the other while a client asks.

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/client.h"
#include "server/rpc/server.h"
#include "tests/rpc/test_server.h"

namespace waystar::client {
namespace {

using ::waystar::testing::BlockRequest;
using ::waystar::testing::CellAt;
using ::waystar::testing::PathRequest;

// A folder with the map that all servers serve from their start on: callers may come to a server that was
// started again before anybody else can.
std::string FolderWithField() {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "rolling_restart";
  std::filesystem::create_directories(folder);
  std::ofstream file(folder / "field.txt");
  for (int row = 0; row < 8; ++row) {
    file << "........\n";
  }
  return folder.string();
}

// A server whose map is at a revision of its own, so that its answers are told from those of others.
class MarkedServer {
 public:
  // Port 0 takes a free one.
  MarkedServer(int port, uint64_t revision) {
    runtime::Options options;
    options.listen = absl::StrCat("127.0.0.1:", port);
    options.maps_dir = FolderWithField();
    options.workers = 2;
    options.max_queue_time = absl::Minutes(1);
    options.log_level = "error";
    auto started = rpc::Server::Start(options);
    EXPECT_TRUE(started.ok()) << started.status();
    server_ = *std::move(started);
    const Client own({.target = absl::StrCat("127.0.0.1:", server_->port()), .timeout = absl::Minutes(1)});
    for (uint64_t next = 2; next <= revision; ++next) {
      EXPECT_TRUE(own.UpdateObstacles(BlockRequest("field", {CellAt(0, 7)})).ok());
    }
  }

  int port() const { return server_->port(); }
  void Stop() { server_->Stop(absl::Minutes(1)); }

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
    std::unique_lock<std::mutex> lock(mutex_);
    answered_.wait(lock, [&] { return revisions_.count(revision) > 0 || !failures_.empty(); });
  }

  std::vector<std::string> StopAndTellFailures() {
    is_over_ = true;
    for (std::thread& thread : threads_) {
      thread.join();
    }
    return failures_;
  }

 private:
  void Ask(const Client& client) {
    while (!is_over_) {
      const auto answer = client.FindPath(PathRequest("field", CellAt(0, 0), CellAt(7, 7)));
      const std::lock_guard<std::mutex> lock(mutex_);
      if (answer.ok()) {
        revisions_.insert(answer->revision());
      } else {
        failures_.push_back(answer.status().ToString());
        is_over_ = true;
      }
      answered_.notify_all();
    }
  }

  std::atomic<bool> is_over_ = false;
  std::mutex mutex_;
  std::condition_variable answered_;
  std::set<uint64_t> revisions_;
  std::vector<std::string> failures_;
  std::vector<std::thread> threads_;
};

TEST(RollingRestartTest, CallersSeeNoError) {
  auto one = std::make_unique<MarkedServer>(0, 1);
  auto two = std::make_unique<MarkedServer>(0, 2);
  const Client client({.target = absl::StrCat("127.0.0.1:", one->port(), ",127.0.0.1:", two->port()),
                       .timeout = absl::Minutes(1)});
  Load load(client);
  load.WaitForAnswerAt(1);
  load.WaitForAnswerAt(2);

  const int port_of_one = one->port();
  one->Stop();
  one = std::make_unique<MarkedServer>(port_of_one, 3);
  load.WaitForAnswerAt(3);

  const int port_of_two = two->port();
  two->Stop();
  two = std::make_unique<MarkedServer>(port_of_two, 4);
  load.WaitForAnswerAt(4);
  EXPECT_EQ(load.StopAndTellFailures(), std::vector<std::string>());
}

}  // namespace
}  // namespace waystar::client
