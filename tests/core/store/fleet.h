// Servers that share a log, and a map that all of them have.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/core/store/map_store.h"
#include "tests/core/store/held_store.h"
#include "tests/core/store/shared_log.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/store_edits.h"

namespace waystar::core {

struct FleetServer {
  FleetServer(SharedLog& log, std::uint64_t seed, StoreOptions options)
      : store([&] {
          options.clock = &clock;
          return options;
        }()),
        client(log, seed) {
    store.AddListener(&listener);
    store.OnEarlierExpiry([this](absl::Time expiry) { next_expiry = std::min(next_expiry, expiry); });
    store.SetLog(&client);
    client.Serve(&store);
  }

  PinnedSnapshot Pin(const std::string& map = "arena") const { return *store.Pin(map); }
  std::string Drawn() const { return DrawPath(Pin()->grid(), {})[0]; }

  FakeClock clock;
  RecordingListener listener;
  // The earliest that was told. Only for fleets whose steps are made by the test.
  absl::Time next_expiry = absl::InfiniteFuture();
  // What was answered, in that order: "0: 2" if the first batch led to revision 2.
  std::vector<std::string> answers;
  MapStore store;
  SharedLog::Client client;
};

class Fleet {
 public:
  static constexpr std::uint64_t kEpoch = 7;

  explicit Fleet(int size, std::uint64_t seed = 1,
                 const std::vector<std::string>& map = {"........", "........"},
                 const StoreOptions& options = {}) {
    for (int i = 0; i < size; ++i) {
      servers_.push_back(
          std::make_unique<FleetServer>(log_, (seed << 8) + static_cast<std::uint64_t>(i), options));
    }
    log_.Begin("arena", {.epoch = kEpoch, .revision = 1});
    for (const auto& server : servers_) {
      EXPECT_THAT(server->store.Restore({.snapshot = {.id = "arena",
                                                      .epoch = kEpoch,
                                                      .create_time = server->clock.Now(),
                                                      .map = DrawMap(map)}}),
                  IsOk());
    }
  }
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;
  ~Fleet() { Stop(); }

  FleetServer& operator[](std::size_t i) { return *servers_[i]; }
  std::size_t size() const { return servers_.size(); }
  SharedLog& log() { return log_; }

  // The steps are made by threads from now on.
  void Start() {
    is_started_ = true;
    for (const auto& server : servers_) {
      server->client.Start();
    }
  }
  // Lets all hear of everything.
  void Settle() {
    if (is_started_) {
      log_.AwaitQuiet();
      return;
    }
    bool goes_on = true;
    while (goes_on) {
      goes_on = false;
      for (const auto& server : servers_) {
        goes_on = server->client.Step() || goes_on;
      }
    }
  }
  void Stop() {
    Settle();
    for (const auto& server : servers_) {
      server->client.Stop();
    }
    is_started_ = false;
  }

  // The batches of each server are numbered from 0 on.
  void Update(FleetServer& server, UpdateBatch batch) {
    const int number = sent_[&server]++;
    server.store.Update("arena", std::move(batch),
                        [&server, number](const absl::StatusOr<UpdateResult>& answer) {
                          server.answers.push_back(absl::StrCat(number, ": ", TextOf(answer)));
                        });
  }

  // Expects that all servers have the same map, commits and memory of requests, and that listeners have heard
  // of each revision once and in order. Those that may have skipped entries need not have all commits, and
  // their listeners miss some.
  void ExpectAgreement(bool may_skip = false) {
    Settle();
    const PinnedSnapshot first = servers_[0]->Pin();
    const std::vector<AppliedRequest> requests = servers_[0]->store.Store("arena")->requests;
    for (const auto& server : servers_) {
      EXPECT_EQ(server->Pin()->version(), first->version());
      EXPECT_EQ(server->Pin()->digest(), first->digest());
      EXPECT_EQ(server->Pin()->latest_commit_time, first->latest_commit_time);
      const std::vector<AppliedRequest> own_requests = server->store.Store("arena")->requests;
      ASSERT_EQ(own_requests.size(), requests.size());
      for (std::size_t i = 0; i < requests.size(); ++i) {
        EXPECT_EQ(own_requests[i].request_id, requests[i].request_id);
        EXPECT_EQ(own_requests[i].result.revision, requests[i].result.revision);
        EXPECT_EQ(own_requests[i].time, requests[i].time);
      }
      ExpectHeardInOrder(*server, first->revision, may_skip);
      if (!may_skip) {
        ExpectCommitsOfFirst(*server);
      }
    }
  }

 private:
  void ExpectCommitsOfFirst(const FleetServer& server) const {
    const History history = *servers_[0]->store.ReadHistory("arena", 2, 100'000);
    const History own = *server.store.ReadHistory("arena", 2, 100'000);
    ASSERT_EQ(own.commits.size(), history.commits.size());
    absl::Time last = absl::InfinitePast();
    for (std::size_t i = 0; i < own.commits.size(); ++i) {
      ASSERT_EQ(own.commits[i]->revision, i + 2);
      ASSERT_EQ(own.commits[i]->digest, history.commits[i]->digest);
      ASSERT_EQ(own.commits[i]->edits, history.commits[i]->edits);
      ASSERT_EQ(own.commits[i]->time, history.commits[i]->time);
      ASSERT_GE(own.commits[i]->time, last);
      last = own.commits[i]->time;
    }
  }

  static void ExpectHeardInOrder(const FleetServer& server, std::uint64_t last, bool may_skip) {
    std::uint64_t revision = 1;
    for (const RecordingListener::Heard& heard : server.listener.heard()) {
      if (heard.map != "arena") {
        continue;
      }
      ASSERT_FALSE(heard.is_deletion);
      for (const std::uint64_t commit : heard.commits) {
        ASSERT_EQ(commit, ++revision);
      }
      if (may_skip && heard.commits.empty()) {
        ASSERT_GT(heard.revision, revision);
        revision = heard.revision;
      }
      ASSERT_EQ(heard.revision, revision);
    }
    EXPECT_EQ(revision, last);
  }

  SharedLog log_;
  std::vector<std::unique_ptr<FleetServer>> servers_;
  std::map<const FleetServer*, int> sent_;
  bool is_started_ = false;
};

// A fleet of two.
class FleetTest : public ::testing::Test {
 protected:
  // Lets a server do all that it can alone.
  static void StepAll(FleetServer& server) {
    while (server.client.Step()) {
    }
  }
  static UpdateBatch BlockAt(int x, const std::string& request_id = "",
                             std::optional<std::uint64_t> expected = {}) {
    return {.edits = {Block({x, 0})}, .expected = {.revision = expected}, .request_id = request_id};
  }

  Fleet fleet_{2};
  FleetServer& a_ = fleet_[0];
  FleetServer& b_ = fleet_[1];
};

}  // namespace waystar::core
