#include "server/storage/fleet/fleet.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/storage/etcd/etcd_client.h"
#include "server/storage/fleet/cluster_keys.h"
#include "server/storage/fleet/cluster_values.h"
#include "server/storage/folder/image_file.h"
#include "tests/storage/fleet/fleet_server.h"
#include "tests/testing/random.h"

namespace waystar::cluster {
namespace {

using ::testing::ElementsAre;

TEST_F(TwoServersTest, ServersHaveTheSameMaps) {
  ASSERT_THAT(a_->Create("arena", {"....", "...."}), IsOk());
  b_->AwaitRevision("arena", 1);
  ASSERT_THAT(b_->Update("arena", 1), IsOk());
  a_->AwaitRevision("arena", 2);
  ASSERT_THAT(a_->Update("arena", 2), IsOk());
  b_->AwaitRevision("arena", 3);
  EXPECT_EQ(b_->Drawn("arena"), ".##.");
  ExpectSame(*a_, *b_, "arena");
  EXPECT_THAT(a_->AwaitHeard(2), ElementsAre(2, 3));
  EXPECT_THAT(b_->AwaitHeard(2), ElementsAre(2, 3));

  EXPECT_THAT(b_->Create("arena", {"."}), FailsWith("MAP_EXISTS"));
  ASSERT_THAT(b_->store.Delete("arena", {}), IsOk());
  a_->AwaitRevision("arena", 0);
  EXPECT_THAT(a_->AwaitHeard(3), ElementsAre(2, 3, 0));
  ASSERT_THAT(a_->Create("arena", {"..", ".."}), IsOk());
  ExpectSame(*a_, *b_, "arena");
}

// An event may be of a backlog: it does not make a server newer than the last answer that it asked for.
TEST_F(FleetTest, AnEventDoesNotProveThatThereIsNothingNewer) {
  FleetServer a(*etcd_);
  FleetOptions never_asks = FleetServer::OptionsFor(etcd_->Options());
  never_asks.log.quiet_timeout = absl::Hours(10);
  const FleetServer b(never_asks);
  const FleetServer c(*etcd_);
  ASSERT_THAT(a.Create("arena", {"...."}), IsOk());
  b.AwaitRevision("arena", 1);
  const auto before = std::chrono::steady_clock::now();
  a.UpdateEach("arena", 0, 4);
  b.AwaitRevision("arena", 5);
  EXPECT_LT(b.fleet->Statistics().heard, before);
  WaitUntil([&] { return c.fleet->Statistics().heard > before; }, "an answer of etcd");
  c.AwaitRevision("arena", 5);
}

TEST_F(FleetTest, AServerThatWasLostIsNotListedBesideTheOneInItsPlace) {
  FleetOptions options = FleetServer::OptionsFor(etcd_->Options());
  options.address = "game-1:7450";
  options.start_time = absl::Now();
  const ClusterKeys keys("/waystar/");
  const absl::Time before = options.start_time - absl::Seconds(5);
  const auto report = [&](std::uint64_t server, const std::string& address, absl::Time at) {
    ASSERT_THAT(
        client_->Commit({.then = {etcd::Put{keys.Server(server), Encode(ServerReport{.address = address,
                                                                                     .start_time = before,
                                                                                     .report_time = at})}}}),
        IsOk());
  };
  report(1, "game-1:7450", before);
  report(2, "game-2:7450", before);
  // Both are there, though they have one address.
  report(3, "game-1:7450", options.start_time + absl::Hours(1));
  const FleetServer server(options);
  std::vector<std::string> listed;
  Event is_told("the servers");
  server.fleet->AskServers([&](const absl::StatusOr<std::vector<FleetMember>>& members) {
    EXPECT_THAT(members, IsOk());
    for (const FleetMember& member : *members) {
      listed.push_back(member.report.address);
    }
    is_told.Happen();
  });
  ASSERT_TRUE(is_told.Wait());
  EXPECT_THAT(listed, ElementsAre("game-1:7450", "game-1:7450", "game-2:7450"));
}

TEST_F(FleetTest, AClockThatIsAheadOfTheOthersIsSeen) {
  FleetOptions options = FleetServer::OptionsFor(etcd_->Options());
  options.presence.interval = absl::Milliseconds(20);
  const FleetServer server(options);
  const std::string other = ClusterKeys("/waystar/").Server(1);
  const absl::Time an_hour_ago = absl::Now() - absl::Hours(1);
  const auto report = [&] {
    const ServerReport late{.address = "game-1:7450", .start_time = an_hour_ago, .report_time = an_hour_ago};
    return client_->Commit({.then = {etcd::Put{other, Encode(late)}}}).ok();
  };
  WaitUntil([&] { return report() && server.fleet->ClockOffset() >= absl::Hours(1); }, "the other clock");
  ASSERT_THAT(client_->Commit({.then = {etcd::Delete{other}}}), IsOk());
  WaitUntil([&] { return server.fleet->ClockOffset() == absl::ZeroDuration(); }, "the end of the other");
}

TEST_F(TwoServersTest, NothingIsKeptOfMapsThatAreGone) {
  ASSERT_THAT(a_->Create("arena", {"...."}), IsOk());
  for (int i = 0; i < 6; ++i) {
    const std::string id = absl::StrCat("match-", i);
    ASSERT_THAT(a_->Create(id, {"...."}), IsOk());
    b_->AwaitRevision(id, 1);
    ASSERT_THAT((i % 2 == 0 ? *a_ : *b_).store.Delete(id, {}), IsOk());
  }
  for (FleetServer* const server : {&*a_, &*b_}) {
    WaitUntil([&] { return server->fleet->Statistics().maps == 1; }, "the end of what is kept");
  }
  // An id is free again at once, and no end of before is one of the new map.
  for (int i = 0; i < 6; ++i) {
    ASSERT_THAT(a_->Create("match-0", {"...."}), IsOk());
    ASSERT_THAT(a_->Update("match-0", 1), IsOk());
    b_->AwaitRevision("match-0", 2);
    ExpectSame(*a_, *b_, "match-0");
    ASSERT_THAT(a_->store.Delete("match-0", {}), IsOk());
  }
  b_->AwaitRevision("match-0", 0);
  EXPECT_EQ(a_->fleet->Statistics().broken, 0U);
  EXPECT_EQ(b_->fleet->Statistics().broken, 0U);
}

TEST_F(FleetTest, AServerThatComesLaterReadsImagesAndRecords) {
  FleetOptions options = FleetServer::OptionsFor(etcd_->Options());
  options.log.max_records = 4;
  FleetServer a(options);
  ASSERT_THAT(a.Create("arena", {"................"}), IsOk());
  ASSERT_THAT(a.Create("tower", {"..."}), IsOk());
  for (int x = 0; x < 11; ++x) {
    ASSERT_THAT(a.Update("arena", x, absl::StrCat("request-", x)), IsOk());
  }
  // Images leave less than there were.
  WaitUntil([&] { return FleetServer(options).found.records < 11; }, "an image");
  FleetServer b(options);
  EXPECT_EQ(b.found.maps, 2U);
  EXPECT_EQ(b.RevisionOf("arena"), 12U);
  ExpectSame(a, b, "arena");
  ExpectSame(a, b, "tower");
  // It knows what was asked for before it came.
  const core::UpdateResult again = b.Update("arena", 3, "request-3").value();
  EXPECT_TRUE(again.already_applied);
  EXPECT_EQ(again.revision, 5U);
  ASSERT_THAT(b.Update("arena", 12), IsOk());
  ExpectSame(a, b, "arena");
}

TEST_F(FleetTest, AnImageMayLieWithinARecord) {
  FleetServer a(*etcd_);
  const ClusterKeys keys("/waystar/");
  ASSERT_THAT(a.Create("arena", {"........"}), IsOk());
  for (int x = 0; x < 6; ++x) {
    ASSERT_THAT(a.Update("arena", x), IsOk());
    if (x == 2) {
      const absl::StatusOr<core::StoredMap> map = a.store.Store("arena");
      ASSERT_THAT(map, IsOk());
      const std::string image = storage::EncodeStoredMap(*map);
      const Parts parts = PartsOf(image, keys.Data("arena", map->snapshot->version(), 1));
      ASSERT_THAT(
          client_->Commit(
              {.then = {etcd::Put{PartKey(parts.data, 0), image},
                        etcd::Put{keys.Base("arena"),
                                  Encode(MapBase{.version = map->snapshot->version(), .image = parts})}}}),
          IsOk());
    }
  }
  // All records become one.
  const std::uint64_t epoch = (*a.store.Pin("arena"))->epoch;
  const etcd::RangeResult records =
      client_->Range({.key = keys.LogBegin("arena", epoch), .range_end = keys.LogEnd("arena", epoch)})
          .value();
  LogRecord record;
  for (const etcd::KeyValue& entry : records.entries) {
    record.entries += Decode<LogRecord>(entry.value)->entries;
  }
  ASSERT_THAT(
      client_->Commit({.then = {etcd::Delete{keys.LogBegin("arena", epoch), keys.LogEnd("arena", epoch)}}}),
      IsOk());
  ASSERT_THAT(client_->Commit({.then = {etcd::Put{records.entries.back().key, Encode(record)}}}), IsOk());
  FleetServer b(*etcd_);
  EXPECT_EQ(b.RevisionOf("arena"), 7U);
  ExpectSame(a, b, "arena");
  ASSERT_THAT(b.Update("arena", 7), IsOk());
  ExpectSame(a, b, "arena");
}

TEST_F(TwoServersTest, WhatIsTooLongForOneValueGoesInParts) {
  Random random(1);
  std::vector<std::string> lines(2048, std::string(2048, '.'));
  for (std::string& line : lines) {
    for (char& cell : line) {
      cell = random.Between(0, 1) == 0 ? '.' : '#';
    }
  }
  ASSERT_THAT(a_->Create("plain", lines), IsOk());
  ExpectSame(*a_, *b_, "plain");
  core::UpdateBatch batch;
  for (int y = 0; y < 2048; ++y) {
    for (int x = y % 2; x < 2048; x += 64) {
      batch.edits.push_back(Block({x, y}));
    }
  }
  ASSERT_THAT(b_->store.UpdateAndWait("plain", std::move(batch)), IsOk());
  ExpectSame(*a_, *b_, "plain");
  FleetServer late(*etcd_);
  ExpectSame(*a_, late, "plain");
}

}  // namespace
}  // namespace waystar::cluster
