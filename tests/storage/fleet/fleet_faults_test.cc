// A fleet while members of etcd fail, and the space that it takes in etcd.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/core/store/update_log.h"
#include "server/storage/etcd/etcd_client.h"
#include "server/storage/fleet/cluster_keys.h"
#include "server/storage/fleet/cluster_values.h"
#include "server/storage/folder/record_file.h"
#include "tests/storage/etcd/etcd_process.h"
#include "tests/storage/fleet/fleet_server.h"
#include "tests/testing/certificates.h"
#include "tests/testing/own_folder.h"
#include "tests/testing/random.h"

namespace waystar::cluster {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// Returns the entries whose keys begin so, without their values.
std::vector<etcd::KeyValue> EntriesOf(etcd::Client& client, const std::string& prefix) {
  return client.Range({.key = prefix, .range_end = etcd::EndOfPrefix(prefix), .keys_only = true})
      .value()
      .entries;
}

// Waits until the image of a map is later than that revision. Returns the revision of etcd that has put it.
std::int64_t AwaitImage(etcd::Client& client, const std::string& id, std::uint64_t revision) {
  std::int64_t put_at = 0;
  WaitUntil(
      [&] {
        const absl::StatusOr<etcd::RangeResult> read =
            client.Range({.key = ClusterKeys("/waystar/").Base(id)});
        if (!read.ok()) {
          return false;
        }
        put_at = read->entries.at(0).mod_revision;
        const absl::StatusOr<MapBase> base = Decode<MapBase>(read->entries.at(0).value);
        return base.ok() && base->version.revision > revision;
      },
      "an image");
  return put_at;
}

TEST_F(EtcdTest, LosesNothingThatWasAcknowledgedWhenLeadersDie) {
  EtcdCluster etcd(3);
  FleetServer a(etcd);
  FleetServer b(etcd);
  ASSERT_THAT(a.Create("arena", {std::string(8, '.')}), IsOk());
  b.AwaitRevision("arena", 1);
  std::atomic<bool> is_over = false;
  std::atomic<int> acknowledged = 0;
  std::vector<std::thread> writers;
  for (FleetServer* server : {&a, &b}) {
    writers.emplace_back([&, server] {
      for (int i = 0; !is_over.load(); ++i) {
        const std::string request = absl::StrCat(server == &a ? "a" : "b", i);
        // As a client does: again with the same id, until there is an answer.
        while (true) {
          const absl::StatusOr<core::UpdateResult> result = server->Update("arena", i % 8, request);
          if (result.ok()) {
            acknowledged.fetch_add(1);
            break;
          }
          EXPECT_THAT(result, FailsWith("STORAGE_FAILED"));
          std::this_thread::yield();
        }
      }
    });
  }
  for (std::uint64_t death = 0; death < Rounds(4); ++death) {
    const int before = acknowledged.load();
    WaitUntil([&] { return acknowledged.load() > before + 20; }, "updates");
    const int leader = etcd.Leader();
    etcd.Kill(leader);
    etcd.Leader(leader);
    const int after = acknowledged.load();
    WaitUntil([&] { return acknowledged.load() > after + 20; }, "updates after a death");
    etcd.Restart(leader);
  }
  is_over = true;
  for (std::thread& writer : writers) {
    writer.join();
  }
  // Each request has one revision, so none was lost and none was applied twice.
  a.AwaitRevision("arena", 1 + static_cast<std::uint64_t>(acknowledged.load()));
  ExpectSame(a, b, "arena");
  EXPECT_EQ(a.fleet->Statistics().broken, 0U);
  FleetServer late(etcd);
  EXPECT_THAT(late.found.damaged, IsEmpty());
  ExpectSame(a, late, "arena");
}

TEST_F(FleetTest, AnswersGoOnWithoutEtcdAndChangesFailUntilItIsBack) {
  FleetServer a(*etcd_);
  ASSERT_THAT(a.Create("arena", {"...."}), IsOk());
  ASSERT_THAT(a.Create("tower", {"...."}), IsOk());
  etcd_->Kill(0);
  // What may have been on its way is not answered before it is known what became of it.
  absl::StatusOr<core::UpdateResult> first;
  std::thread on_its_way([&] { first = a.Update("arena", 1); });
  WaitUntil([&] { return !a.fleet->Statistics().status.ok(); }, "a failure");
  EXPECT_THAT(a.Update("tower", 1), FailsWith("STORAGE_FAILED"));
  EXPECT_THAT(a.Create("attic", {"."}), FailsWith("STORAGE_FAILED"));
  EXPECT_THAT(a.store.Delete("tower", {}), FailsWith("STORAGE_FAILED"));
  EXPECT_EQ(a.Drawn("arena"), "....");
  EXPECT_EQ(a.Drawn("tower"), "....");
  etcd_->Restart(0);
  on_its_way.join();
  EXPECT_EQ(a.Drawn("arena"), first.ok() ? ".#.." : "....");
  WaitUntil([&] { return a.Update("tower", 1).ok(); }, "etcd");
  EXPECT_EQ(a.Drawn("tower"), ".#..");
  EXPECT_THAT(a.fleet->Statistics().status, IsOk());
  EXPECT_THAT(a.Create("attic", {"."}), IsOk());
}

TEST_F(FleetTest, AServerThatNobodyAsksKnowsWhenEtcdIsAway) {
  const FleetServer a(*etcd_);
  etcd_->Kill(0);
  WaitUntil([&] { return !a.fleet->Statistics().status.ok(); }, "the end of etcd");
  etcd_->Restart(0);
  WaitUntil([&] { return a.fleet->Statistics().status.ok(); }, "etcd");
}

TEST_F(TwoServersTest, ServersRefuseChangesOnceEtcdHasGoneBack) {
  ASSERT_THAT(a_->Create("arena", {"........"}), IsOk());
  // More than what servers put of themselves until they ask.
  for (int i = 0; i < 50; ++i) {
    ASSERT_THAT(a_->Update("arena", i % 5), IsOk());
  }
  b_->AwaitRevision("arena", 51);
  etcd_->Kill(0);
  etcd_->Empty(0);
  etcd_->Restart(0);
  FleetServer late(*etcd_);
  EXPECT_EQ(late.found.maps, 0U);
  for (FleetServer* const server : {&*a_, &*b_}) {
    WaitUntil([&] { return server->fleet->Statistics().has_gone_back; }, "the notice");
    EXPECT_THAT(server->Update("arena", 6), FailsWith("STORAGE_FAILED"));
    EXPECT_THAT(server->Create("attic", {"."}), FailsWith("STORAGE_FAILED"));
    EXPECT_EQ(server->Drawn("arena"), "#####...");
    EXPECT_THAT(server->fleet->Statistics().status.message(), HasSubstr("gone back"));
    absl::Status newest;
    server->fleet->AskNewest("arena",
                             [&](const absl::StatusOr<std::int64_t>& asked) { newest = asked.status(); });
    EXPECT_THAT(newest, FailsWith("STORAGE_FAILED"));
  }
  // Whatever happens there, it is not of their history.
  ASSERT_THAT(late.Create("arena", {"..#"}), IsOk());
  ASSERT_THAT(late.Update("arena", 0), IsOk());
  for (FleetServer* const server : {&*a_, &*b_}) {
    EXPECT_THAT(server->store.Delete("arena", {}), FailsWith("STORAGE_FAILED"));
    EXPECT_EQ(server->Drawn("arena"), "#####...");
  }
  EXPECT_FALSE(late.fleet->Statistics().has_gone_back);
}

// Writers that never pause keep no timer from its turn.
TEST_F(FleetTest, ManyWritersComeThroughAnOutage) {
  FleetServer a(*etcd_);
  ASSERT_THAT(a.Create("arena", {std::string(8, '.')}), IsOk());
  std::atomic<bool> is_back = false;
  std::atomic<int> acknowledged = 0;
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 8; ++writer) {
    writers.emplace_back([&, writer] {
      for (int i = 0;; ++i) {
        const bool is_last = is_back.load();
        if (a.Update("arena", writer, absl::StrCat(writer, "-", i)).ok()) {
          acknowledged.fetch_add(1);
          if (is_last) {
            return;
          }
        }
      }
    });
  }
  WaitUntil([&] { return acknowledged.load() > 50; }, "updates");
  etcd_->Kill(0);
  WaitUntil([&] { return !a.fleet->Statistics().status.ok(); }, "a failure");
  etcd_->Restart(0);
  is_back = true;
  for (std::thread& writer : writers) {
    writer.join();
  }
  EXPECT_THAT(a.fleet->Statistics().status, IsOk());
  FleetServer late(*etcd_);
  EXPECT_THAT(late.found.damaged, IsEmpty());
  ExpectSame(a, late, "arena");
}

TEST_F(EtcdTest, AServerThatWasCutOffReadsAfreshWhatWasCompacted) {
  EtcdCluster etcd(3);
  FleetServer a(FleetServer::OptionsFor(etcd.OptionsOf(0)));
  FleetServer b(FleetServer::OptionsFor(etcd.OptionsOf(1)));
  ASSERT_THAT(a.Create("arena", {"........"}), IsOk());
  ASSERT_THAT(a.Create("tower", {"..."}), IsOk());
  ASSERT_THAT(a.Create("yard", {"..."}), IsOk());
  for (const char* const id : {"arena", "tower", "yard"}) {
    b.AwaitRevision(id, 1);
  }
  etcd.Kill(1);
  etcd.Leader(1);
  WaitUntil([&] { return a.Update("arena", 0).ok(); }, "a new leader");
  const std::uint64_t base = a.RevisionOf("arena");
  a.UpdateEach("arena", 1, 8);
  ASSERT_THAT(a.store.Delete("tower", {}), IsOk());
  ASSERT_THAT(a.store.Delete("yard", {}), IsOk());
  ASSERT_THAT(a.Create("yard", {"#.."}), IsOk());
  ASSERT_THAT(a.Create("attic", {"."}), IsOk());
  const auto client = etcd.NewClient();
  ASSERT_THAT(client->Compact(a.fleet->Statistics().revision), IsOk());
  etcd.Restart(1);
  b.AwaitRevision("arena", base + 7);
  WaitUntil([&] { return b.RevisionOf("attic") == 1 && b.RevisionOf("tower") == 0; }, "the other maps");
  for (const char* const id : {"arena", "attic", "yard"}) {
    ExpectSame(a, b, id);
  }
  EXPECT_EQ(b.Drawn("yard"), "#..");
  // It has followed all by another connection than that by which it writes.
  WaitUntil([&] { return b.Update("yard", 1).ok(); }, "etcd");
  ExpectSame(a, b, "yard");
}

// What the records held is in an image alone: watchers hear of a gap, and not of an end.
TEST_F(EtcdTest, AServerThatWasCutOffGoesOnFromAnImage) {
  EtcdCluster etcd(3);
  FleetOptions options = FleetServer::OptionsFor(etcd.OptionsOf(0));
  options.log.max_records = 4;
  FleetServer a(options);
  FleetServer b(FleetServer::OptionsFor(etcd.OptionsOf(1)));
  ASSERT_THAT(a.Create("arena", {"................"}), IsOk());
  ASSERT_THAT(a.Update("arena", 0), IsOk());
  b.AwaitRevision("arena", 2);
  etcd.Kill(1);
  etcd.Leader(1);
  WaitUntil([&] { return a.Update("arena", 0, "first").ok(); }, "a new leader");
  for (int x = 1; x < 9; ++x) {
    ASSERT_THAT(a.Update("arena", x, absl::StrCat(x)), IsOk());
  }
  const auto client = etcd.NewClient();
  ASSERT_THAT(client->Compact(AwaitImage(*client, "arena", 3)), IsOk());
  etcd.Restart(1);
  ExpectSame(a, b, "arena");
  const std::vector<std::uint64_t> heard = b.Heard();
  EXPECT_THAT(heard, Not(Contains(0U)));
  EXPECT_EQ(heard.front(), 2U);
  EXPECT_EQ(b.store.ReadHistory("arena", 3, 1)->kind, core::History::Kind::kGone);
  EXPECT_EQ(b.fleet->Statistics().broken, 0U);
  absl::StatusOr<core::UpdateResult> again;
  WaitUntil([&] { return (again = b.Update("arena", 1, "1")).ok(); }, "changes that are taken");
  EXPECT_TRUE(again->already_applied);
  WaitUntil([&] { return b.Update("arena", 12, "12").ok(); }, "changes that are taken");
  ExpectSame(a, b, "arena");
}

// etcd forgets what a server reads that starts: what it has read by then is a beginning.
TEST_F(FleetTest, AServerThatStartsReadsAgainWhatWasCompacted) {
  FleetOptions options = FleetServer::OptionsFor(etcd_->Options());
  options.log.max_records = 3;
  FleetServer a(options);
  for (const char* const id : {"a-gone", "a-kept", "a-long", "a-other", "b-gone", "b-kept"}) {
    ASSERT_THAT(a.Create(id, {"........"}), IsOk());
  }
  ASSERT_THAT(a.Update("a-kept", 0), IsOk());
  const ClusterKeys keys("/waystar/");
  int calls = 0;
  options.on_progress = [&](std::size_t read, std::size_t /*total*/) {
    if (read == 4 && ++calls == 1) {
      EXPECT_THAT(a.store.Delete("a-gone", {}), IsOk());
      EXPECT_THAT(a.store.Delete("b-gone", {}), IsOk());
      EXPECT_THAT(a.store.Replace("a-other", DrawMap({"#."}), a.store.Now()), IsOk());
      EXPECT_THAT(a.Update("a-kept", 1), IsOk());
      for (int x = 0; x < 5; ++x) {
        EXPECT_THAT(a.Update("a-long", x), IsOk());
      }
      AwaitImage(*client_, "a-long", 1);
      EXPECT_THAT(a.Create("new", {"."}), IsOk());
      EXPECT_THAT(client_->Compact(client_->Range({.key = keys.Head("new")})->revision), IsOk());
    }
    return true;
  };
  const FleetServer b(options);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(b.found.maps, 5U);
  EXPECT_THAT(b.found.damaged, IsEmpty());
  EXPECT_EQ(b.store.size(), 5U);
  for (const char* const id : {"a-kept", "a-long", "a-other", "b-kept", "new"}) {
    ExpectSame(a, b, id);
  }
  ASSERT_THAT(a.Create("a-gone", {"."}), IsOk());
  ExpectSame(a, b, "a-gone");
}

TEST_F(FleetTest, AServerThatStartsReadsAgainUntilItIsToStop) {
  FleetServer a(*etcd_);
  ASSERT_THAT(a.Create("arena", {"........"}), IsOk());
  FleetOptions options = FleetServer::OptionsFor(etcd_->Options());
  int tries = 0;
  options.on_progress = [&](std::size_t /*read*/, std::size_t total) {
    if (total > 0) {
      ++tries;
      EXPECT_THAT(a.Update("arena", tries % 8), IsOk());
      EXPECT_THAT(client_->Compact(client_->Range({.key = "x"})->revision), IsOk());
    }
    return tries < 4;
  };
  EXPECT_EQ(StatusOfStart(options).code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(tries, 4);
}

TEST_F(FleetTest, AMapThatComesOutWrongIsNotServed) {
  FleetServer a(*etcd_);
  ASSERT_THAT(a.Create("arena", {"...."}), IsOk());
  ASSERT_THAT(a.Create("tower", {"...."}), IsOk());
  ASSERT_THAT(a.Update("arena", 1), IsOk());
  const core::MapVersion version = (*a.store.Pin("arena"))->version();
  {
    const auto client = etcd_->NewClient();
    ASSERT_THAT(
        client->Commit({.then = {etcd::Put{ClusterKeys("/waystar/").Log("arena", version), "\1nonsense"}}}),
        IsOk());
  }
  FleetServer b(*etcd_);
  EXPECT_THAT(b.found.damaged, SizeIs(1));
  EXPECT_EQ(b.found.maps, 1U);
  EXPECT_EQ(b.fleet->Statistics().broken, 1U);
  EXPECT_EQ(b.RevisionOf("arena"), 0U);
  EXPECT_THAT(b.Create("arena", {"."}), FailsWith("MAP_EXISTS"));
  // The other server goes on, and this one can take it away.
  ASSERT_THAT(a.Update("arena", 2), IsOk());
  ASSERT_THAT(b.store.Delete("arena", {}), IsOk());
  a.AwaitRevision("arena", 0);
  ASSERT_THAT(b.Create("arena", {".."}), IsOk());
  ExpectSame(a, b, "arena");
}

// It concerns no other map.
TEST_F(FleetTest, AMapWhoseHeadIsDamagedCanBeReplacedAndDeleted) {
  FleetServer a(*etcd_);
  ASSERT_THAT(a.Create("arena", {"...."}), IsOk());
  ASSERT_THAT(a.Create("tower", {"...."}), IsOk());
  ASSERT_THAT(a.Update("arena", 1), IsOk());
  const ClusterKeys keys("/waystar/");
  const auto damage = [&] {
    ASSERT_THAT(client_->Commit({.then = {etcd::Put{keys.Head("arena"), "\1nonsense"}}}), IsOk());
    a.AwaitRevision("arena", 0);
  };
  damage();
  WaitUntil([&] { return a.fleet->Statistics().broken == 1; }, "the damage");
  FleetServer b(*etcd_);
  EXPECT_THAT(b.found.damaged, SizeIs(1));
  EXPECT_EQ(b.found.maps, 1U);
  EXPECT_EQ(b.RevisionOf("tower"), 1U);
  EXPECT_EQ(b.RevisionOf("arena"), 0U);
  EXPECT_THAT(b.Create("arena", {"."}), FailsWith("MAP_EXISTS"));
  EXPECT_THAT(a.Create("arena", {"."}), FailsWith("MAP_EXISTS"));
  ASSERT_THAT(b.store.Replace("arena", DrawMap({"#."}), b.store.Now()), IsOk());
  ExpectSame(a, b, "arena");
  ASSERT_THAT(a.Update("arena", 1), IsOk());
  b.AwaitRevision("arena", 2);
  damage();
  b.AwaitRevision("arena", 0);
  const FleetServer c(*etcd_);
  EXPECT_THAT(c.found.damaged, SizeIs(1));
  ASSERT_THAT(a.store.Delete("arena", {}), IsOk());
  WaitUntil([&] { return b.Create("arena", {".."}).ok(); }, "the deletion");
  for (const FleetServer* const other : std::vector<const FleetServer*>{&a, &c}) {
    other->AwaitRevision("arena", 1);
    ExpectSame(*other, b, "arena");
  }
  // Nothing of the damaged maps is left.
  const std::uint64_t epoch = (*b.store.Pin("arena"))->epoch;
  for (const etcd::KeyValue& entry : EntriesOf(*client_, "/waystar/")) {
    EXPECT_FALSE(entry.key.starts_with("/waystar/maps/arena/log/")) << entry.key;
    EXPECT_TRUE(!entry.key.starts_with("/waystar/data/arena/") ||
                entry.key.starts_with(keys.DataBegin("arena", epoch)))
        << entry.key;
  }
}

TEST(FleetStartTest, EndsForACertificateThatIsRefused) {
  const Authority authority;
  const OwnFolder folder;
  const std::string ca = folder.PathOf("ca");
  std::ofstream(ca) << Authority().cert();
  const TlsMember member(authority.Issue(TlsMember::kHost));
  FleetOptions options = FleetServer::OptionsFor({.endpoints = {member.endpoint()}, .uses_tls = true});
  options.client.tls.ca = ca;
  options.client.call_timeout = absl::Milliseconds(50);
  const absl::Status opened = StatusOfStart(options);
  EXPECT_EQ(etcd::FailureOf(opened), etcd::Failure::kDenied);
  EXPECT_THAT(std::string(opened.message()), HasSubstr("the certificate of etcd at"));
}

TEST_F(FleetTest, AHeadOfALaterVersionEndsTheStart) {
  ASSERT_THAT(client_->Commit(
                  {.then = {etcd::Put{ClusterKeys("/waystar/").Head("arena"), storage::WithChecksum("\2")}}}),
              IsOk());
  const absl::Status opened = StatusOfStart(FleetServer::OptionsFor(etcd_->Options()));
  EXPECT_EQ(opened.code(), absl::StatusCode::kFailedPrecondition);
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
  const auto is_full = [&] { return client->Commit({.then = {etcd::Put{"x", ""}}}).status(); };
  WaitUntil([&] { return etcd::FailureOf(is_full()) == etcd::Failure::kNoSpace; }, "the alarm");
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
  EXPECT_THAT(b.AwaitHeard(2), SizeIs(2));
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
