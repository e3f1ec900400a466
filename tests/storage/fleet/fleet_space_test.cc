// The space that a fleet takes in etcd.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/storage/etcd/etcd_client.h"
#include "server/storage/fleet/cluster_keys.h"
#include "server/storage/fleet/cluster_values.h"
#include "tests/storage/fleet/fleet_server.h"
#include "tests/testing/random.h"

namespace waystar::cluster {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using waystar::testing::EtcdCluster;
using waystar::testing::EtcdTest;
using waystar::testing::IsOk;
using waystar::testing::Rounds;
using waystar::testing::WaitUntil;

std::vector<etcd::KeyValue> EntriesOf(etcd::Client& client, const std::string& prefix) {
  const absl::StatusOr<etcd::RangeResult> read =
      client.Range({.key = prefix, .range_end = etcd::EndOfPrefix(prefix), .keys_only = true});
  EXPECT_THAT(read, IsOk());
  return read->entries;
}

// Of servers that died on the way.
TEST_F(FleetTest, PartsThatNothingNamesAreDeletedOnceTheyAreOld) {
  const ClusterKeys keys("/waystar/");
  const auto put_parts = [&](const std::string& data) {
    for (std::size_t part = 0; part < 2; ++part) {
      ASSERT_THAT(client_->Commit({.then = {etcd::Put{PartKey(data, part), "part"}}}), IsOk());
    }
  };
  // A map whose record is in parts, and that is damaged otherwise: those are named.
  const std::string named = keys.Data("ghost", {.epoch = 5, .revision = 2}, 1);
  ASSERT_THAT(client_->Commit({.then = {etcd::Put{keys.Head("ghost"),
                                                  Encode(MapHead{.version = {.epoch = 5, .revision = 2}})},
                                        etcd::Put{keys.Log("ghost", {.epoch = 5, .revision = 2}),
                                                  Encode(LogRecord{.parts = {.data = named, .count = 2}})}}}),
              IsOk());
  put_parts(named);
  put_parts(keys.Data("ghost", {.epoch = 5, .revision = 2}, 2));
  put_parts(keys.Data("ghost", {.epoch = 5, .revision = 3}, 1));
  put_parts(keys.Data("nobody", {.epoch = 6, .revision = 1}, 1));
  FleetOptions options = FleetServer::OptionsFor(etcd_->Options());
  options.compaction_interval = absl::Milliseconds(20);
  options.kept_time = absl::Milliseconds(500);
  options.sweep_interval = absl::Milliseconds(20);
  FleetServer a(options);
  ASSERT_THAT(a.Create("arena", {"...."}), IsOk());
  const std::uint64_t epoch = (*a.store.Pin("arena"))->epoch;
  put_parts(keys.Data("arena", {.epoch = epoch, .revision = 1}, 7));
  put_parts(keys.Data("arena", {.epoch = epoch, .revision = 9}, 7));
  // Something has to happen, so that etcd has revisions to forget.
  int x = 0;
  WaitUntil(
      [&] {
        EXPECT_THAT(a.Update("arena", ++x % 4), IsOk());
        return EntriesOf(*client_, keys.AllData()).size() == 3;
      },
      "the end of what is left behind");
  EXPECT_THAT(EntriesOf(*client_, named), SizeIs(2));
  EXPECT_THAT(EntriesOf(*client_, keys.DataBegin("arena", epoch)), SizeIs(1));
  FleetServer late(*etcd_);
  ExpectSame(a, late, "arena");
}

// Parts, and names of files, are taken for left behind at any moment before the transaction that names them.
TEST_F(EtcdTest, WhatIsOnItsWaySurvivesTheSweep) {
  for (const bool is_in_files : {false, true}) {
    const EtcdCluster etcd(1);
    FleetOptions options = FleetServer::OptionsFor(etcd.Options());
    if (is_in_files) {
      options.image_dir = etcd.folder() + "/images";
      options.log.images.max_parts = 0;
      std::filesystem::create_directories(options.image_dir);
    }
    FleetServer a(options);
    std::atomic<bool> is_over = false;
    std::atomic<int> deleted = 0;
    std::thread sweeper([&] {
      const ClusterKeys keys("/waystar/");
      const auto client = etcd.NewClient();
      while (!is_over.load()) {
        for (const etcd::KeyValue& entry : EntriesOf(*client, keys.AllData())) {
          const auto parts = keys.ParseDataKey(entry.key);
          const auto result =
              client->Commit({.compares = {{.key = keys.Base(parts->id), .number = 0}},
                              .then = {etcd::Delete{parts->data, etcd::EndOfPrefix(parts->data)}}});
          EXPECT_THAT(result, IsOk());
          deleted += result->succeeded && result->results.at(0).deleted > 0 ? 1 : 0;
        }
      }
    });
    std::uint64_t creations = 0;
    for (absl::Status status; status.ok() && (creations < Rounds(40) || deleted.load() < 3); ++creations) {
      const std::string id = absl::StrCat("map-", creations % 4);
      if (creations >= 4) {
        EXPECT_THAT(a.store.Delete(id, {}), IsOk());
      }
      status = a.Create(id, {"...."});
      EXPECT_THAT(status, IsOk());
    }
    is_over = true;
    sweeper.join();
    const FleetServer late(options);
    EXPECT_THAT(late.found.damaged, IsEmpty());
    EXPECT_EQ(late.found.maps, 4U);
  }
}

TEST_F(EtcdTest, MapsCanBeDeletedWhileEtcdIsFull) {
  const EtcdCluster etcd(1, {"--quota-backend-bytes=4000000"});
  FleetServer a(etcd);
  FleetServer b(etcd);
  for (const char* const id : {"arena", "attic", "tower"}) {
    ASSERT_THAT(a.Create(id, {"...."}), IsOk());
    b.AwaitRevision(id, 1);
  }
  const auto client = etcd.NewClient();
  absl::Status full;
  for (int i = 0; i < 100 && full.ok(); ++i) {
    full =
        client->Commit({.then = {etcd::Put{absl::StrCat("/other/", i), std::string(500'000, 'x')}}}).status();
  }
  ASSERT_THAT(full, Not(IsOk()));
  WaitUntil([&] { return client->Status()->has_no_space; }, "the alarm");
  // The server does not know yet.
  ASSERT_THAT(a.store.Delete("arena", {}), IsOk());
  b.AwaitRevision("arena", 0);
  // By now it does.
  EXPECT_THAT(a.Update("tower", 1), FailsWith("STORAGE_FULL"));
  ASSERT_THAT(a.store.Delete("attic", {}), IsOk());
  b.AwaitRevision("attic", 0);
  EXPECT_THAT(a.fleet->Statistics().status, FailsWith("STORAGE_FULL"));
  EXPECT_THAT(a.Create("arena", {"."}), FailsWith("STORAGE_FULL"));
  EXPECT_THAT(b.store.Delete("attic", {}), FailsWith("MAP_NOT_FOUND"));
  EXPECT_THAT(b.Heard(), SizeIs(2));
  const FleetServer late(etcd);
  EXPECT_EQ(late.found.maps, 1U);
  EXPECT_THAT(late.found.damaged, IsEmpty());
  ASSERT_THAT(client->Commit({.then = {etcd::Delete{"/other/", etcd::EndOfPrefix("/other/")}}}), IsOk());
  ASSERT_THAT(client->Compact(client->Range({.key = "x"})->revision), IsOk());
  etcd.Control("defrag");
  etcd.Control("alarm disarm");
  WaitUntil([&] { return a.Create("arena", {"#..."}).ok(); }, "space");
  ExpectSame(a, b, "arena");
  ASSERT_THAT(b.Update("tower", 1), IsOk());
  a.AwaitRevision("tower", 2);
}

}  // namespace
}  // namespace waystar::cluster
