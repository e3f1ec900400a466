#include "server/storage/etcd/etcd_watch.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"
#include "server/base/mutex.h"
#include "server/storage/etcd/etcd.grpc.pb.h"
#include "server/storage/etcd/etcd_client.h"
#include "tests/storage/etcd/etcd_process.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_matchers.h"

namespace waystar::etcd {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

// What a watch has told.
struct Told {
  std::vector<std::int64_t> revisions;
  std::vector<WatchEvent> events;
  int progress = 0;
  std::optional<std::int64_t> compacted;
  int cuts = 0;
};

// Writes down what a watch tells.
class Listener {
 public:
  WatchCallbacks Callbacks() {
    return {.on_events =
                [this](std::int64_t revision, std::vector<WatchEvent> events) {
                  Note([&](Told& told) {
                    told.revisions.push_back(revision);
                    for (WatchEvent& event : events) {
                      EXPECT_EQ(event.mod_revision, revision);
                      told.events.push_back(std::move(event));
                    }
                  });
                },
            .on_progress = [this](std::int64_t /*revision*/) { Note([](Told& told) { ++told.progress; }); },
            .on_compacted =
                [this](std::int64_t compact_revision) {
                  Note([&](Told& told) {
                    EXPECT_EQ(told.compacted, std::nullopt);
                    told.compacted = compact_revision;
                  });
                },
            .on_cut = [this](const absl::Status& /*status*/) { Note([](Told& told) { ++told.cuts; }); }};
  }

  void WaitForRevision(std::int64_t revision) {
    Wait([&](const Told& told) { return !told.revisions.empty() && told.revisions.back() >= revision; },
         "a revision");
  }
  void WaitForProgress() {
    Wait([before = told().progress](const Told& told) { return told.progress > before; }, "progress");
  }
  void WaitForCut() {
    Wait([](const Told& told) { return told.cuts > 0; }, "a cut");
  }
  std::int64_t WaitForCompaction() {
    Wait([](const Told& told) { return told.compacted.has_value(); }, "a compaction");
    return told().compacted.value_or(0);
  }

  Told told() {
    MutexLock lock(mutex_);
    return told_;
  }

 private:
  template <typename Change>
  void Note(const Change& change) {
    MutexLock lock(mutex_);
    change(told_);
    changed_.NotifyAll();
  }
  template <typename Condition>
  void Wait(const Condition& condition, const std::string& what) {
    const Patience patience(what);
    MutexLock lock(mutex_);
    while (!condition(told_) && patience.Wait(changed_, mutex_)) {
    }
  }

  Mutex mutex_;
  CondVar changed_;
  Told told_ ABSL_GUARDED_BY(mutex_);
};

using EtcdWatchTest = waystar::EtcdTest;
using MemberWatchTest = waystar::OneMemberTest;

// Returns the revision. Tries until it is sure.
std::int64_t PutValue(Client& client, const std::string& key, const std::string& value) {
  std::int64_t revision = 0;
  waystar::WaitUntil(
      [&] {
        const auto result = client.Commit({.then = {Put{key, value}}});
        revision = result.ok() ? result->revision : 0;
        return result.ok();
      },
      "a write");
  return revision;
}

TEST_F(MemberWatchTest, TellsWhatEachRevisionChanged) {
  const std::int64_t first = PutValue(*client_, "/w/old", "0");
  Listener listener;
  Watch watch(*client_, "/w/", first, listener.Callbacks());
  PutValue(*client_, "/v/other", "");
  const auto both = client_->Commit({.then = {Put{"/w/b", "1"}, Put{"/w/a", "2"}, Put{"/v/", ""}}}).value();
  const auto mixed = client_->Commit({.then = {Delete{"/w/b", ""}, Put{"/w/a", "3"}}}).value();
  listener.WaitForRevision(mixed.revision);
  watch.Stop();
  EXPECT_THAT(listener.told().revisions, ElementsAre(first, both.revision, mixed.revision));
  EXPECT_THAT(
      listener.told().events,
      ElementsAre(WatchEvent{false, "/w/old", "0", first}, WatchEvent{false, "/w/b", "1", both.revision},
                  WatchEvent{false, "/w/a", "2", both.revision}, WatchEvent{true, "/w/b", "", mixed.revision},
                  WatchEvent{false, "/w/a", "3", mixed.revision}));
  EXPECT_EQ(listener.told().cuts, 0);
}

TEST_F(MemberWatchTest, WaitsForARevisionToCome) {
  const std::int64_t first = PutValue(*client_, "/w/", "0");
  Listener listener;
  const Watch watch(*client_, "/w/", first + 2, listener.Callbacks());
  PutValue(*client_, "/w/", "1");
  const std::int64_t third = PutValue(*client_, "/w/", "2");
  listener.WaitForRevision(third);
  EXPECT_THAT(listener.told().revisions, ElementsAre(third));
}

// One revision of several mebibytes, of which etcd makes several messages.
TEST_F(EtcdWatchTest, PutsFragmentsTogether) {
  const EtcdCluster cluster(1, {"--max-request-bytes=10000000"});
  const auto client = cluster.NewClient();
  Txn txn;
  for (int i = 0; i < 8; ++i) {
    txn.then.emplace_back(Put{absl::StrCat("/w/", i), std::string(1'000'000, static_cast<char>('a' + i))});
  }
  const auto result = client->Commit(txn).value();
  const auto next = client->Commit(txn).value();
  const std::int64_t last = PutValue(*client, "/w/last", "");
  Listener listener;
  const Watch watch(*client, "/w/", result.revision, listener.Callbacks());
  listener.WaitForRevision(last);
  EXPECT_THAT(listener.told().revisions, ElementsAre(result.revision, next.revision, last));
  EXPECT_EQ(listener.told().events.size(), 17U);
}

TEST_F(EtcdWatchTest, GoesOnWithAnotherMemberWhenItsOwnDies) {
  EtcdCluster cluster(3);
  const auto client = cluster.NewClient();
  const std::int64_t first = PutValue(*client, "/w/", "0");
  Listener listener;
  Watch watch(*client, "/w/", first, listener.Callbacks());
  std::vector<std::int64_t> revisions = {first};
  for (int i = 0; i < cluster.size(); ++i) {
    for (int put = 0; put < 5; ++put) {
      // What was tried in vain may have been applied as well; the watch tells.
      revisions.push_back(PutValue(*client, "/w/", absl::StrCat(i, ".", put)));
    }
    listener.WaitForRevision(revisions.back());
    cluster.Kill(i);
    revisions.push_back(PutValue(*client, "/w/", "while one is dead"));
    listener.WaitForRevision(revisions.back());
    cluster.Restart(i);
  }
  watch.Stop();
  EXPECT_GE(listener.told().cuts, 1);
  EXPECT_THAT(listener.told().revisions, ::testing::IsSupersetOf(revisions));
  // Nothing else is written, so there is no gap.
  for (std::size_t i = 0; i < listener.told().revisions.size(); ++i) {
    ASSERT_EQ(listener.told().revisions[i], first + static_cast<std::int64_t>(i));
  }
}

TEST_F(EtcdWatchTest, LeavesAMemberThatIsQuietForTooLong) {
  EtcdCluster cluster(3);
  ClientOptions options = cluster.Options();
  // A write to a member that hangs takes so long.
  options.call_timeout = absl::Seconds(1);
  const auto client = OpenClient(options);
  const std::int64_t first = PutValue(*client, "/w/", "0");
  Listener listener;
  const Watch watch(*client, "/w/", first, listener.Callbacks(), {.quiet_timeout = absl::Seconds(1)});
  listener.WaitForRevision(first);
  std::int64_t last = first;
  for (int i = 0; i < cluster.size(); ++i) {
    cluster.Freeze(i);
    last = PutValue(*client, "/w/", absl::StrCat(i));
    listener.WaitForRevision(last);
    cluster.Thaw(i);
  }
  EXPECT_GE(listener.told().cuts, 1);
}

TEST_F(MemberWatchTest, AsksAQuietMemberForASignOfLife) {
  Listener listener;
  const Watch watch(*client_, "/w/", 1, listener.Callbacks(), {.quiet_timeout = absl::Milliseconds(500)});
  listener.WaitForProgress();
  listener.WaitForProgress();
  PutValue(*client_, "/w/", "0");
  listener.WaitForRevision(1);
}

TEST_F(MemberWatchTest, TellsThatItsRevisionIsCompacted) {
  const std::int64_t first = PutValue(*client_, "/w/", "0");
  PutValue(*client_, "/w/", "1");
  const std::int64_t third = PutValue(*client_, "/w/", "2");
  ASSERT_THAT(client_->Compact(third), IsOk());
  Listener listener;
  Watch watch(*client_, "/w/", first, listener.Callbacks());
  EXPECT_EQ(listener.WaitForCompaction(), third);
  watch.Stop();
  EXPECT_TRUE(listener.told().events.empty());

  Listener afresh;
  const Watch again(*client_, "/w/", third + 1, afresh.Callbacks());
  const std::int64_t fourth = PutValue(*client_, "/w/", "3");
  afresh.WaitForRevision(fourth);
  EXPECT_THAT(afresh.told().revisions, ElementsAre(fourth));
}

TEST_F(EtcdWatchTest, TellsOfACompactionWhileItWasCut) {
  EtcdCluster cluster(3);
  const auto client = cluster.NewClient();
  const std::int64_t first = PutValue(*client, "/w/", "0");
  const auto watching = OpenClient(cluster.OptionsOf(0));
  Listener listener;
  Watch watch(*watching, "/w/", first, listener.Callbacks());
  listener.WaitForRevision(first);
  cluster.Kill(0);
  listener.WaitForCut();
  PutValue(*client, "/w/", "1");
  const std::int64_t third = PutValue(*client, "/w/", "2");
  ASSERT_THAT(client->Compact(third), IsOk());
  cluster.Restart(0);
  EXPECT_EQ(listener.WaitForCompaction(), third);
  EXPECT_THAT(listener.told().revisions, ElementsAre(first));
}

TEST_F(MemberWatchTest, StopsWhileNobodyAnswers) {
  PutValue(*client_, "/w/", "0");
  Listener listener;
  Watch watch(*client_, "/w/", 1, listener.Callbacks());
  listener.WaitForRevision(1);
  Watch frozen(*client_, "/w/", 1, listener.Callbacks());
  etcd_->Freeze(0);
  frozen.Stop();
  frozen.Stop();
  etcd_->Kill(0);
  listener.WaitForCut();
  watch.Stop();
}

// A member of etcd that is told nothing new, though it looks well. Real ones get there when their leader does
// not hear them.

constexpr std::int64_t kLatest = 100;

// Reads are answered by the leader, as those of etcd are; a watch tells of this member's own state. The first
// watches fail, if any are to. If there is a late event, of the member's revision, the first progress comes
// before it.
class FakeMember final : public etcdserverpb::KV::Service, public etcdserverpb::Watch::Service {
 public:
  explicit FakeMember(std::int64_t revision, int failures = 0, bool has_late_event = false)
      : revision_(revision), failures_(failures), has_late_event_(has_late_event) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(static_cast<etcdserverpb::KV::Service*>(this));
    builder.RegisterService(static_cast<etcdserverpb::Watch::Service*>(this));
    server_ = builder.BuildAndStart();
  }

  int watches() const { return watches_; }
  Endpoint endpoint() const { return {.host = "127.0.0.1", .port = static_cast<std::uint16_t>(port_)}; }

  grpc::Status Range(grpc::ServerContext* /*context*/, const etcdserverpb::RangeRequest* /*request*/,
                     etcdserverpb::RangeResponse* response) override {
    response->mutable_header()->set_revision(kLatest);
    return grpc::Status::OK;
  }
  grpc::Status Watch(
      grpc::ServerContext* /*context*/,
      grpc::ServerReaderWriter<etcdserverpb::WatchResponse, etcdserverpb::WatchRequest>* stream) override {
    if (watches_++ < failures_) {
      return {grpc::StatusCode::UNAVAILABLE, "not yet"};
    }
    etcdserverpb::WatchRequest request;
    for (int requests = 0; stream->Read(&request); ++requests) {
      if (requests == 2 && has_late_event_) {
        etcdserverpb::WatchResponse late;
        late.mutable_header()->set_revision(revision_);
        late.add_events()->mutable_kv()->set_mod_revision(revision_);
        stream->Write(late);
      }
      etcdserverpb::WatchResponse response;
      response.mutable_header()->set_revision(revision_);
      response.set_created(request.has_create_request());
      stream->Write(response);
    }
    return grpc::Status::OK;
  }

 private:
  const std::int64_t revision_;
  const int failures_;
  const bool has_late_event_;
  std::atomic<int> watches_ = 0;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

TEST(EtcdStaleMemberTest, IsLeftAndItsProgressDoesNotCount) {
  const FakeMember stale(5);
  // So that the watch comes to the stale one, wherever it begins.
  const FakeMember other(kLatest, 1);
  const auto client = OpenClient({.endpoints = {stale.endpoint(), other.endpoint()}});
  waystar::WaitUntil([&] { return client->Range({.key = "/"}).ok(); }, "a member");
  Mutex mutex;
  std::vector<std::int64_t> told;
  Event is_told("progress");
  WatchCallbacks callbacks;
  callbacks.on_progress = [&](std::int64_t revision) {
    MutexLock lock(mutex);
    told.push_back(revision);
    is_told.Happen();
  };
  const Watch watch(*client, "/", 1, callbacks, {.quiet_timeout = absl::Milliseconds(200)});
  ASSERT_TRUE(is_told.Wait());
  MutexLock lock(mutex);
  EXPECT_THAT(told, Each(kLatest));
  EXPECT_GT(stale.watches(), 0);
}

// Before 3.4.25 and 3.5.8, etcd tells its progress past events that are still on their way.
TEST(EtcdProgressTest, DoesNotCountBeforeTheEventsUpToIt) {
  const FakeMember member(kLatest, 0, true);
  const auto client = OpenClient({.endpoints = {member.endpoint()}});
  Mutex mutex;
  std::vector<std::string> told;
  Event is_told("progress");
  WatchCallbacks callbacks;
  callbacks.on_events = [&](std::int64_t revision, const std::vector<WatchEvent>& /*events*/) {
    MutexLock lock(mutex);
    told.push_back(absl::StrCat("event ", revision));
  };
  callbacks.on_progress = [&](std::int64_t revision) {
    MutexLock lock(mutex);
    told.push_back(absl::StrCat("progress ", revision));
    is_told.Happen();
  };
  const Watch watch(*client, "/", 1, callbacks, {.progress_interval = absl::Milliseconds(1)});
  ASSERT_TRUE(is_told.Wait());
  MutexLock lock(mutex);
  ASSERT_GE(told.size(), 2U);
  EXPECT_EQ(told[0], "event 100");
  EXPECT_EQ(told[1], "progress 100");
}

}  // namespace
}  // namespace waystar::etcd
