#include "server/storage/etcd/etcd_watch.h"

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
#include "server/base/mutex.h"
#include "server/storage/etcd/etcd_client.h"
#include "tests/storage/etcd/etcd_process.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_matchers.h"

namespace waystar::etcd {
namespace {

using ::testing::ElementsAre;
using waystar::testing::EtcdCluster;
using waystar::testing::IsOk;
using waystar::testing::Patience;

// What a watch has told.
class Told {
 public:
  WatchCallbacks Callbacks() {
    return {.on_events =
                [this](std::int64_t revision, std::vector<WatchEvent> events) {
                  MutexLock lock(mutex_);
                  revisions_.push_back(revision);
                  for (WatchEvent& event : events) {
                    EXPECT_EQ(event.mod_revision, revision);
                    events_.push_back(std::move(event));
                  }
                  changed_.NotifyAll();
                },
            .on_progress =
                [this](std::int64_t /*revision*/) {
                  MutexLock lock(mutex_);
                  ++progress_;
                  changed_.NotifyAll();
                },
            .on_compacted =
                [this](std::int64_t compact_revision) {
                  MutexLock lock(mutex_);
                  EXPECT_EQ(compacted_, std::nullopt);
                  compacted_ = compact_revision;
                  changed_.NotifyAll();
                },
            .on_cut =
                [this](const absl::Status& /*status*/) {
                  MutexLock lock(mutex_);
                  ++cuts_;
                  changed_.NotifyAll();
                }};
  }

  void WaitForRevision(std::int64_t revision) {
    Wait(
        [&] {
          mutex_.AssertHeld();
          return !revisions_.empty() && revisions_.back() >= revision;
        },
        "a revision");
  }
  void WaitForProgress() {
    MutexLock lock(mutex_);
    const int before = progress_;
    WaitLocked(
        [&] {
          mutex_.AssertHeld();
          return progress_ > before;
        },
        "progress");
  }
  void WaitForCut() {
    Wait(
        [&] {
          mutex_.AssertHeld();
          return cuts_ > 0;
        },
        "a cut");
  }
  std::int64_t WaitForCompaction() {
    Wait(
        [&] {
          mutex_.AssertHeld();
          return compacted_.has_value();
        },
        "a compaction");
    MutexLock lock(mutex_);
    return compacted_.value_or(0);
  }

  std::vector<std::int64_t> Revisions() {
    MutexLock lock(mutex_);
    return revisions_;
  }
  std::vector<WatchEvent> Events() {
    MutexLock lock(mutex_);
    return events_;
  }
  int Cuts() {
    MutexLock lock(mutex_);
    return cuts_;
  }

 private:
  template <typename Condition>
  void Wait(const Condition& condition, const std::string& what) {
    MutexLock lock(mutex_);
    WaitLocked(condition, what);
  }
  template <typename Condition>
  void WaitLocked(const Condition& condition, const std::string& what) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const Patience patience(what);
    while (!condition() && patience.Wait(changed_, mutex_)) {
    }
  }

  Mutex mutex_;
  CondVar changed_;
  std::vector<std::int64_t> revisions_ ABSL_GUARDED_BY(mutex_);
  std::vector<WatchEvent> events_ ABSL_GUARDED_BY(mutex_);
  int progress_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<std::int64_t> compacted_ ABSL_GUARDED_BY(mutex_);
  int cuts_ ABSL_GUARDED_BY(mutex_) = 0;
};

class EtcdWatchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!EtcdCluster::IsInstalled()) {
      GTEST_SKIP() << "there is no etcd on the PATH: apt-get install etcd-server etcd-client";
    }
  }
};

// Returns the revision. Tries until it is sure.
std::int64_t PutValue(Client& client, const std::string& key, const std::string& value) {
  std::int64_t revision = 0;
  waystar::testing::WaitUntil(
      [&] {
        const auto result = client.Commit({.then = {Put{key, value}}});
        revision = result.ok() ? result->revision : 0;
        return result.ok();
      },
      "a write");
  return revision;
}

TEST_F(EtcdWatchTest, TellsWhatEachRevisionChanged) {
  const EtcdCluster cluster(1);
  const auto client = cluster.NewClient();
  const std::int64_t first = PutValue(*client, "/w/old", "0");
  Told told;
  Watch watch(*client, "/w/", first, told.Callbacks());
  PutValue(*client, "/v/other", "");
  const auto both = client->Commit({.then = {Put{"/w/b", "1"}, Put{"/w/a", "2"}, Put{"/v/", ""}}});
  ASSERT_THAT(both, IsOk());
  const auto mixed = client->Commit({.then = {Delete{"/w/b", ""}, Put{"/w/a", "3"}}});
  ASSERT_THAT(mixed, IsOk());
  told.WaitForRevision(mixed->revision);
  watch.Stop();
  EXPECT_THAT(told.Revisions(), ElementsAre(first, both->revision, mixed->revision));
  EXPECT_THAT(told.Events(), ElementsAre(WatchEvent{false, "/w/old", "0", first},
                                         WatchEvent{false, "/w/b", "1", both->revision},
                                         WatchEvent{false, "/w/a", "2", both->revision},
                                         WatchEvent{true, "/w/b", "", mixed->revision},
                                         WatchEvent{false, "/w/a", "3", mixed->revision}));
  EXPECT_EQ(told.Cuts(), 0);
}

TEST_F(EtcdWatchTest, WaitsForARevisionToCome) {
  const EtcdCluster cluster(1);
  const auto client = cluster.NewClient();
  const std::int64_t first = PutValue(*client, "/w/", "0");
  Told told;
  const Watch watch(*client, "/w/", first + 2, told.Callbacks());
  PutValue(*client, "/w/", "1");
  const std::int64_t third = PutValue(*client, "/w/", "2");
  told.WaitForRevision(third);
  EXPECT_THAT(told.Revisions(), ElementsAre(third));
}

// One revision of several mebibytes, of which etcd makes several messages.
TEST_F(EtcdWatchTest, PutsFragmentsTogether) {
  const EtcdCluster cluster(1, {"--max-request-bytes=10000000"});
  const auto client = cluster.NewClient();
  Txn txn;
  for (int i = 0; i < 8; ++i) {
    txn.then.emplace_back(Put{absl::StrCat("/w/", i), std::string(1'000'000, static_cast<char>('a' + i))});
  }
  const auto result = client->Commit(txn);
  ASSERT_THAT(result, IsOk());
  const auto next = client->Commit(txn);
  ASSERT_THAT(next, IsOk());
  const std::int64_t last = PutValue(*client, "/w/last", "");
  Told told;
  const Watch watch(*client, "/w/", result->revision, told.Callbacks());
  told.WaitForRevision(last);
  EXPECT_THAT(told.Revisions(), ElementsAre(result->revision, next->revision, last));
  EXPECT_EQ(told.Events().size(), 17U);
}

TEST_F(EtcdWatchTest, GoesOnWithAnotherMemberWhenItsOwnDies) {
  EtcdCluster cluster(3);
  const auto client = cluster.NewClient();
  const std::int64_t first = PutValue(*client, "/w/", "0");
  Told told;
  Watch watch(*client, "/w/", first, told.Callbacks());
  std::vector<std::int64_t> revisions = {first};
  for (int i = 0; i < cluster.size(); ++i) {
    for (int put = 0; put < 5; ++put) {
      // What was tried in vain may have been applied as well; the watch tells.
      revisions.push_back(PutValue(*client, "/w/", absl::StrCat(i, ".", put)));
    }
    told.WaitForRevision(revisions.back());
    cluster.Kill(i);
    revisions.push_back(PutValue(*client, "/w/", "while one is dead"));
    told.WaitForRevision(revisions.back());
    cluster.Restart(i);
  }
  watch.Stop();
  EXPECT_GE(told.Cuts(), 1);
  EXPECT_THAT(told.Revisions(), ::testing::IsSupersetOf(revisions));
  // Nothing else is written, so there is no gap.
  for (std::size_t i = 0; i < told.Revisions().size(); ++i) {
    ASSERT_EQ(told.Revisions()[i], first + static_cast<std::int64_t>(i));
  }
}

TEST_F(EtcdWatchTest, LeavesAMemberThatIsQuietForTooLong) {
  EtcdCluster cluster(3);
  ClientOptions options = cluster.Options();
  // A write to a member that hangs takes so long.
  options.call_timeout = absl::Seconds(1);
  const auto opened = Client::Open(options);
  ASSERT_THAT(opened, IsOk());
  Client* const client = opened->get();
  const std::int64_t first = PutValue(*client, "/w/", "0");
  Told told;
  const Watch watch(*client, "/w/", first, told.Callbacks(), {.quiet_timeout = absl::Seconds(1)});
  told.WaitForRevision(first);
  std::int64_t last = first;
  for (int i = 0; i < cluster.size(); ++i) {
    cluster.Freeze(i);
    last = PutValue(*client, "/w/", absl::StrCat(i));
    told.WaitForRevision(last);
    cluster.Thaw(i);
  }
  EXPECT_GE(told.Cuts(), 1);
}

TEST_F(EtcdWatchTest, AsksAQuietMemberForASignOfLife) {
  const EtcdCluster cluster(1);
  const auto client = cluster.NewClient();
  Told told;
  const Watch watch(*client, "/w/", 1, told.Callbacks(), {.quiet_timeout = absl::Milliseconds(500)});
  told.WaitForProgress();
  told.WaitForProgress();
  PutValue(*client, "/w/", "0");
  told.WaitForRevision(1);
}

TEST_F(EtcdWatchTest, TellsThatItsRevisionIsCompacted) {
  const EtcdCluster cluster(1);
  const auto client = cluster.NewClient();
  const std::int64_t first = PutValue(*client, "/w/", "0");
  PutValue(*client, "/w/", "1");
  const std::int64_t third = PutValue(*client, "/w/", "2");
  ASSERT_THAT(client->Compact(third), IsOk());
  Told told;
  Watch watch(*client, "/w/", first, told.Callbacks());
  EXPECT_EQ(told.WaitForCompaction(), third);
  watch.Stop();
  EXPECT_TRUE(told.Events().empty());

  Told afresh;
  const Watch again(*client, "/w/", third + 1, afresh.Callbacks());
  const std::int64_t fourth = PutValue(*client, "/w/", "3");
  afresh.WaitForRevision(fourth);
  EXPECT_THAT(afresh.Revisions(), ElementsAre(fourth));
}

TEST_F(EtcdWatchTest, TellsOfACompactionWhileItWasCut) {
  EtcdCluster cluster(3);
  const auto client = cluster.NewClient();
  const std::int64_t first = PutValue(*client, "/w/", "0");
  const auto watching = Client::Open(cluster.OptionsOf(0));
  ASSERT_THAT(watching, IsOk());
  Told told;
  Watch watch(**watching, "/w/", first, told.Callbacks());
  told.WaitForRevision(first);
  cluster.Kill(0);
  told.WaitForCut();
  PutValue(*client, "/w/", "1");
  const std::int64_t third = PutValue(*client, "/w/", "2");
  ASSERT_THAT(client->Compact(third), IsOk());
  cluster.Restart(0);
  EXPECT_EQ(told.WaitForCompaction(), third);
  EXPECT_THAT(told.Revisions(), ElementsAre(first));
}

TEST_F(EtcdWatchTest, StopsWhileNobodyAnswers) {
  EtcdCluster cluster(1);
  const auto client = cluster.NewClient();
  PutValue(*client, "/w/", "0");
  Told told;
  Watch watch(*client, "/w/", 1, told.Callbacks());
  told.WaitForRevision(1);
  Watch frozen(*client, "/w/", 1, told.Callbacks());
  cluster.Freeze(0);
  frozen.Stop();
  frozen.Stop();
  cluster.Kill(0);
  told.WaitForCut();
  watch.Stop();
}

}  // namespace
}  // namespace waystar::etcd
