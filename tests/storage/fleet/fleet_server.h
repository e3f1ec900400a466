// A server's store in a fleet, for tests.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/core/store/map_store.h"
#include "server/storage/fleet/fleet.h"
#include "tests/storage/etcd/etcd_process.h"
#include "tests/storage/folder/durable_store.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/store_edits.h"

namespace waystar::cluster {

class FleetServer {
 public:
  static FleetOptions OptionsFor(const etcd::ClientOptions& client) {
    FleetOptions options{.client = client, .prefix = "/waystar/"};
    options.client.call_timeout = absl::Seconds(1);
    options.log.quiet_timeout = absl::Seconds(2);
    options.log.retry_interval = absl::Milliseconds(20);
    return options;
  }

  explicit FleetServer(const FleetOptions& options) {
    store.AddListener(&listener);
    auto opened = Fleet::Open(options, store, found);
    EXPECT_THAT(opened, IsOk());
    fleet = *std::move(opened);
  }
  explicit FleetServer(const EtcdCluster& etcd) : FleetServer(OptionsFor(etcd.Options())) {}

  absl::Status Create(const std::string& id, const std::vector<std::string>& lines) {
    return store.Create(id, DrawMap(lines), store.Now()).status();
  }
  // Blocks a cell.
  absl::StatusOr<core::UpdateResult> Update(const std::string& id, int x,
                                            const std::string& request_id = "") {
    return store.UpdateAndWait(id, {.edits = {Block({x, 0})}, .request_id = request_id});
  }
  // Blocks these cells, one after the other.
  void UpdateEach(const std::string& id, int begin, int end) {
    for (int x = begin; x < end; ++x) {
      EXPECT_THAT(Update(id, x), IsOk());
    }
  }
  // Returns 0 if there is no such map.
  std::uint64_t RevisionOf(const std::string& id) const {
    const absl::StatusOr<core::PinnedSnapshot> latest = store.Pin(id);
    return latest.ok() ? (*latest)->revision : 0;
  }
  void AwaitRevision(const std::string& id, std::uint64_t revision) const {
    WaitUntil([&] { return RevisionOf(id) == revision; }, "the fleet's revision");
  }
  // Returns the revisions that listeners have heard of, and 0 where a map ended.
  std::vector<std::uint64_t> Heard() {
    std::vector<std::uint64_t> revisions;
    for (const RecordingListener::Heard& heard : listener.heard()) {
      revisions.insert(revisions.end(), heard.commits.begin(), heard.commits.end());
      if (heard.is_deletion) {
        revisions.push_back(0);
      }
    }
    return revisions;
  }
  // Returns the same once there are `count`: listeners hear of a revision after queries see it.
  std::vector<std::uint64_t> AwaitHeard(std::size_t count) {
    WaitUntil([&] { return Heard().size() >= count; }, "what listeners hear");
    return Heard();
  }
  std::string Drawn(const std::string& id) const { return DrawPath((*store.Pin(id))->grid(), {})[0]; }

  core::MapStore store{core::StoreOptions()};
  RecordingListener listener;
  FleetFound found;
  std::unique_ptr<Fleet> fleet;
};

// Returns the status of a start with an empty store.
inline absl::Status StatusOfStart(const FleetOptions& options) {
  core::MapStore store{core::StoreOptions()};
  FleetFound found;
  return Fleet::Open(options, store, found).status();
}

// Returns the images in a cache's folder, once its list is there: it is written after them.
inline std::vector<std::string> ImagesIn(const std::filesystem::path& cache) {
  return std::filesystem::exists(cache / "fleet") ? FilesThatBegin("image-", cache)
                                                  : std::vector<std::string>();
}

// Waits until both have the same version of the map, and judges that it is the same map.
inline void ExpectSame(const FleetServer& a, const FleetServer& b, const std::string& id) {
  WaitUntil(
      [&] {
        const absl::StatusOr<core::PinnedSnapshot> of_a = a.store.Pin(id);
        const absl::StatusOr<core::PinnedSnapshot> of_b = b.store.Pin(id);
        return of_a.ok() && of_b.ok() && (*of_a)->version() == (*of_b)->version();
      },
      "the same version");
  EXPECT_EQ((*a.store.Pin(id))->digest(), (*b.store.Pin(id))->digest());
}

MATCHER_P(FailsWith, reason, "") { return ErrorReasonOf(AsStatus(arg)) == reason; }

using FleetTest = OneMemberTest;

// Test of two servers.
class TwoServersTest : public FleetTest {
 protected:
  void SetUp() override {
    FleetTest::SetUp();
    if (!IsSkipped()) {
      a_.emplace(*etcd_);
      b_.emplace(*etcd_);
    }
  }

  std::optional<FleetServer> a_;
  std::optional<FleetServer> b_;
};

}  // namespace waystar::cluster
