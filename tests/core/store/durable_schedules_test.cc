// Random schedules of updates, creations, deletions, expiries and losses, against a model that follows what
// is told.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/store/map_store.h"
#include "tests/core/store/held_log.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/patience.h"
#include "tests/testing/random.h"
#include "tests/testing/slow_digest.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/store_edits.h"

namespace waystar::core {
namespace {

using ::testing::AnyOf;
using ::testing::StrEq;

constexpr int kSideOfMap = 8;

GridMap FirstMap() { return DrawMap(std::vector<std::string>(kSideOfMap, std::string(kSideOfMap, '.'))); }

bool IsRemoval(const Commit& commit) {
  return std::ranges::all_of(commit.edits,
                             [](const Edit& edit) { return std::holds_alternative<RemoveObstacle>(edit); });
}

// Calls that wait for the log are made by a thread, of which there is one at a time. All others are made
// while it waits, so that a seed always gives the same schedule.
class Schedule final : public StoreListener {
 public:
  explicit Schedule(std::uint64_t seed)
      : random_(seed),
        store_({.max_waiting_batches = static_cast<std::size_t>(random_.Between(2, 30)),
                .max_fold_batches = static_cast<std::size_t>(random_.Between(1, 4)),
                .max_folds_in_a_row = random_.Between(1, 8),
                .defer =
                    [this](const DeferredWork&, std::function<void()> task) {
                      if (random_.Chance(0.3)) {
                        return false;
                      }
                      deferred_.push_back(std::move(task));
                      return true;
                    },
                .large_work = random_.Between(0, 200),
                .clock = &clock_}) {
    store_.AddListener(this);
    store_.OnEarlierExpiry([this](absl::Time expiry) { expire_at_ = std::min(expire_at_, expiry); });
    store_.SetLog(&log_);
  }
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;
  ~Schedule() override { Drain(); }

  void Step() {
    const int dice = random_.Between(0, 99);
    if (dice < 45) {
      Submit(AnyBatch());
    } else if (dice < 70) {
      Land(true);
    } else if (dice < 75) {
      Land(false);
    } else if (dice < 85) {
      RunDeferred();
    } else if (dice < 95) {
      Expire(absl::Milliseconds(random_.Between(0, 1500)));
    } else if (dice < 96 || !exists_) {
      CreateOrDelete();
    }
    Check();
  }

  void Finish() {
    Drain();
    if (!exists_) {
      CreateOrDelete();
      Drain();
    }
    // Nothing is stuck.
    ASSERT_TRUE(exists_);
    const std::uint64_t revision = revision_;
    Submit({.edits = {Block({0, 0})}});
    Drain();
    EXPECT_EQ(revision_, revision + 1);
    // What is due goes, whatever was lost.
    for (int i = 0; i < 10; ++i) {
      Expire(absl::Seconds(1));
      Drain();
    }
    const PinnedSnapshot latest = *store_.Pin("arena");
    EXPECT_EQ(latest->obstacles().size(), 0U);
    EXPECT_EQ(latest->version(), (MapVersion{.epoch = epoch_, .revision = revision_}));
    EXPECT_EQ(latest->digest(), SlowDigest(*map_));
    EXPECT_EQ(SlowDigest(latest->grid()), SlowDigest(*map_));
    EXPECT_EQ(answered_.size(), static_cast<std::size_t>(submitted_));
    for (const auto& [ignored, commit] : commits_) {
      EXPECT_TRUE(IsRemoval(*commit.commit) || commit.is_answered) << commit.commit->revision;
    }
    std::map<std::string, std::uint64_t> stored;
    const StoredMap last = *store_.Store("arena");
    for (const AppliedRequest& request : last.requests) {
      stored.emplace(request.request_id, request.result.revision);
    }
    EXPECT_EQ(stored, applied_);
    std::vector<CommitPtr> durable;
    for (const LogEntry& entry : log_.durable()) {
      for (const LoggedCommit& logged : entry.commits) {
        durable.push_back(logged.commit);
      }
    }
    EXPECT_EQ(heard_, durable);
  }

  int count(const std::string& outcome) const {
    const auto it = counts_.find(outcome);
    return it == counts_.end() ? 0 : it->second;
  }

  void OnCommit(const PinnedSnapshot& snapshot, absl::Span<const CommitPtr> commits,
                const MapChanges& /*changes*/) override {
    EXPECT_EQ(snapshot->version(), log_.DurableVersion("arena"));
    EXPECT_EQ(snapshot->epoch, epoch_);
    for (const CommitPtr& commit : commits) {
      EXPECT_EQ(commit->revision, ++revision_);
      const absl::StatusOr<EditResult> edited = ApplyEdits(*map_, commit->edits, commit->time);
      ASSERT_THAT(edited, IsOk());
      map_ = edited->map;
      EXPECT_EQ(map_->digest(), commit->digest);
      commits_[{epoch_, revision_}] = {.commit = commit};
      heard_.push_back(commit);
      if (IsRemoval(*commit)) {
        last_told_.reset();
      }
    }
    EXPECT_EQ(snapshot->revision, revision_);
    EXPECT_EQ(snapshot->digest(), map_->digest());
  }

  void OnDelete(const PinnedSnapshot& last) override {
    EXPECT_EQ(last->version(), (MapVersion{.epoch = epoch_, .revision = revision_}));
    EXPECT_EQ(log_.DurableVersion("arena").epoch, 0U);
    EXPECT_TRUE(std::exchange(exists_, false));
  }

 private:
  struct Heard {
    CommitPtr commit;
    bool is_answered = false;
  };

  UpdateBatch AnyBatch() {
    if (!sent_.empty() && random_.Chance(0.3)) {
      const int back = random_.Between(1, static_cast<int>(std::min<std::size_t>(sent_.size(), 10)));
      return sent_[sent_.size() - static_cast<std::size_t>(back)];
    }
    UpdateBatch batch;
    const Cell cell{random_.Between(0, kSideOfMap - 1), random_.Between(0, kSideOfMap - 1)};
    switch (random_.Between(0, 9)) {
      case 0:
        batch.edits = {Block({kSideOfMap, 0})};
        break;
      case 1:
      case 2:
        batch.edits = {PutObstacle{
            .obstacle = {.id = absl::StrCat("o", random_.Between(0, 5)), .shape = {.cells = {cell}}},
            .lifetime = absl::Milliseconds(random_.Between(1, 4000)),
            .replace = true}};
        break;
      case 3:
        batch.edits = {Unblock(cell)};
        break;
      default:
        batch.edits = {Block(cell)};
    }
    if (random_.Chance(0.3)) {
      batch.expected.revision = revision_ + static_cast<std::uint64_t>(random_.Between(0, 3));
    }
    if (random_.Chance(0.5)) {
      batch.request_id = absl::StrCat("r", sent_.size());
      sent_.push_back(batch);
    }
    return batch;
  }

  void Submit(const UpdateBatch& batch) {
    const int number = submitted_++;
    store_.Update("arena", batch, [this, number, batch](const absl::StatusOr<UpdateResult>& answer) {
      EXPECT_TRUE(answered_.insert(number).second);
      const std::string reason = answer.ok() ? "" : ErrorReasonOf(answer.status());
      ++counts_[answer.ok() && answer->already_applied ? "again" : reason];
      if (reason == "UPDATES_BUSY" || reason == "MAP_NOT_FOUND") {
        return;
      }
      EXPECT_GT(number, std::exchange(last_answered_, number));
      if (answer.ok()) {
        CheckApplied(batch, *answer);
      } else if (reason == "STALE_REVISION") {
        // Nothing that is lost was taken for the latest revision.
        if (last_told_ == revision_) {
          EXPECT_NE(*batch.expected.revision, revision_);
        }
      } else {
        EXPECT_THAT(reason, AnyOf(StrEq("STORAGE_FAILED"), StrEq("OFF_MAP")));
      }
    });
  }

  void CheckApplied(const UpdateBatch& batch, const UpdateResult& result) {
    EXPECT_EQ(result.epoch, epoch_);
    const auto commit = commits_.find({result.epoch, result.revision});
    ASSERT_NE(commit, commits_.end());
    EXPECT_EQ(commit->second.commit->edits, batch.edits);
    EXPECT_EQ(commit->second.commit->digest, result.digest);
    EXPECT_EQ(std::exchange(commit->second.is_answered, true), result.already_applied);
    if (!result.already_applied) {
      last_told_ = result.revision;
      if (batch.expected.revision) {
        EXPECT_EQ(*batch.expected.revision + 1, result.revision);
      }
    }
    if (!batch.request_id.empty()) {
      EXPECT_EQ(applied_.emplace(batch.request_id, result.revision).second, !result.already_applied);
      EXPECT_EQ(applied_[batch.request_id], result.revision);
    }
  }

  void Land(bool is_to_land) {
    if (log_.waiting() == 0) {
      return;
    }
    if (is_to_land) {
      log_.LandNext();
    } else {
      log_.FailNext();
    }
    if (call_.joinable() && log_.appends() - log_.waiting() >= call_append_) {
      call_.join();
    }
  }

  void RunDeferred() {
    if (!deferred_.empty()) {
      const std::function<void()> task = std::move(deferred_.front());
      deferred_.erase(deferred_.begin());
      task();
    }
  }

  // As the thread that removes what is due: it comes when it was told to, and no sooner.
  void Expire(absl::Duration time) {
    clock_.Advance(time);
    if (clock_.Now() >= expire_at_) {
      expire_at_ = absl::InfiniteFuture();
      const absl::Time next = store_.ExpireDue(clock_.Now());
      expire_at_ = std::min(expire_at_, next);
    }
  }

  void CreateOrDelete() {
    if (call_.joinable()) {
      return;
    }
    call_append_ = log_.appends() + 1;
    has_returned_ = false;
    call_ = std::thread([this, is_deletion = exists_] {
      if (is_deletion) {
        ++counts_[store_.Delete("arena").ok() ? "deleted" : "not deleted"];
      } else {
        Create();
      }
      has_returned_ = true;
    });
    WaitUntil([&] { return has_returned_ || log_.appends() >= call_append_; }, "an append");
    if (log_.appends() < call_append_) {
      call_.join();
    }
  }

  void Create() {
    const absl::StatusOr<PinnedSnapshot> created = store_.Create("arena", FirstMap(), clock_.Now());
    ++counts_[created.ok() ? "created" : "not created"];
    if (created.ok()) {
      EXPECT_EQ((*created)->revision, 1U);
      EXPECT_NE((*created)->epoch, epoch_);
      revision_ = (*created)->revision;
      epoch_ = (*created)->epoch;
      map_ = FirstMap();
      last_told_ = revision_;
      exists_ = true;
      applied_.clear();
    }
  }

  void Drain() {
    while (log_.waiting() > 0 || !deferred_.empty()) {
      RunDeferred();
      Land(true);
    }
  }

  // Nobody can see what is not durable.
  void Check() {
    const absl::StatusOr<PinnedSnapshot> pinned = store_.Pin("arena");
    EXPECT_EQ(pinned.ok(), exists_);
    if (!exists_ || !pinned.ok()) {
      return;
    }
    EXPECT_EQ((*pinned)->version(), log_.DurableVersion("arena"));
    EXPECT_EQ((*pinned)->revision, revision_);
    EXPECT_EQ(store_.ReadHistory("arena", revision_ + 1, 9)->latest_revision, revision_);
    const StoredMap stored = *store_.Store("arena");
    EXPECT_EQ(stored.snapshot, *pinned);
    EXPECT_TRUE(stored.requests.empty() || stored.requests.back().result.revision <= revision_);
  }

  Random random_;
  FakeClock clock_;
  HeldLog log_;
  std::vector<std::function<void()>> deferred_;
  absl::Time expire_at_ = absl::InfiniteFuture();
  std::thread call_;
  std::atomic<bool> has_returned_ = false;
  // The number of the append for which it waits.
  std::size_t call_append_ = 0;

  // Of the map, or the one before.
  bool exists_ = false;
  std::uint64_t epoch_ = 0;
  std::uint64_t revision_ = 0;
  std::optional<GridMap> map_;
  // The latest revision as far as answers tell, unless obstacles were removed since.
  std::optional<std::uint64_t> last_told_;
  std::map<std::string, std::uint64_t> applied_;
  // Of all maps, by epoch and revision.
  std::map<std::pair<std::uint64_t, std::uint64_t>, Heard> commits_;
  std::vector<CommitPtr> heard_;
  // The batches that may be sent again.
  std::vector<UpdateBatch> sent_;
  int submitted_ = 0;
  int last_answered_ = -1;
  std::set<int> answered_;
  std::map<std::string, int> counts_;

  MapStore store_;
};

TEST(DurableSchedulesTest, NothingIsToldThatIsNotDurableAndNothingDurableIsLost) {
  std::map<std::string, int> counts;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Schedule schedule(seed);
    for (int step = 0; step < 400; ++step) {
      schedule.Step();
    }
    schedule.Finish();
    if (::testing::Test::HasFailure()) {
      return;
    }
    for (const char* outcome : {"", "again", "STALE_REVISION", "STORAGE_FAILED", "OFF_MAP", "UPDATES_BUSY",
                                "MAP_NOT_FOUND", "created", "not created", "deleted", "not deleted"}) {
      counts[outcome] += schedule.count(outcome);
    }
  }
  // All of it happens.
  for (const auto& [outcome, count] : counts) {
    EXPECT_GE(count, 20) << outcome;
  }
}

}  // namespace
}  // namespace waystar::core
