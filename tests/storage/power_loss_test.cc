// Power that goes at every point of a run: what was acknowledged is there, and nothing is there by half.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/base/mutex.h"
#include "tests/storage/crashing_folder.h"
#include "tests/storage/durable_store.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/environment.h"
#include "tests/testing/patience.h"
#include "tests/testing/random.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/store_edits.h"

namespace waystar::storage {
namespace {

using ::waystar::testing::Block;
using ::waystar::testing::CrashingFolder;
using ::waystar::testing::DrawMap;
using ::waystar::testing::DurableStore;
using ::waystar::testing::IsOk;
using ::waystar::testing::Loss;
using ::waystar::testing::NumberFromEnvironment;
using ::waystar::testing::Patience;
using ::waystar::testing::Random;
using ::waystar::testing::Unblock;

constexpr int kMaps = 3;
constexpr int kSteps = 40;
constexpr int kSide = 6;

// So small that images are made all the time.
constexpr std::uint64_t kMaxLogBytes = 3000;

std::string NameOf(int map) { return absl::StrCat("m", map); }

// Points at which the power goes. Sanitizers are slow, and look for other mistakes.
#if defined(ABSL_HAVE_ADDRESS_SANITIZER) || defined(ABSL_HAVE_THREAD_SANITIZER)
constexpr std::uint64_t kWantedPoints = 500;
#else
constexpr std::uint64_t kWantedPoints = 10'000;
#endif
// What is relaxed is promised less.
constexpr std::uint64_t kRelaxedShare = 5;

// What a run has done to one map, and what of it was acknowledged.
struct Told {
  // By revision, the digest of the map that the run has asked for since the last creation.
  std::map<std::uint64_t, std::uint64_t> digests;
  std::uint64_t epoch = 0;
  // 0 if there is no map that was acknowledged.
  std::uint64_t acknowledged = 0;
  // A creation or a deletion has failed, so that it is unknown whether there is a map.
  bool is_in_doubt = false;
};

// Changes maps at random, until the power goes or there is enough of it.
class Changes {
 public:
  Changes(CrashingFolder& folder, const DataOptions& options, std::uint64_t seed)
      : folder_(folder), durable_(folder, options), random_(seed) {}

  bool has_started() const { return durable_.status().ok(); }

  std::vector<Told> Go() {
    for (int step = 0; step < kSteps && !folder_.has_crashed(); ++step) {
      const int map = random_.Between(0, kMaps - 1);
      if (next_[map] == 0) {
        Create(map);
      } else if (random_.Chance(0.03)) {
        Delete(map);
      } else {
        for (int batches = random_.Between(1, 4); batches > 0; --batches) {
          Update(map);
        }
      }
      if (random_.Chance(0.3)) {
        WaitForAll();
      }
    }
    WaitForAll();
    MutexLock lock(mutex_);
    return told_;
  }

 private:
  void Create(int map) {
    WaitForAll();
    const std::vector<std::string> rows(kSide, std::string(kSide, '.'));
    const auto created = durable_.store().Create(NameOf(map), DrawMap(rows), absl::UnixEpoch());
    MutexLock lock(mutex_);
    told_[map] = {};
    if (!created.ok()) {
      told_[map].is_in_doubt = true;
      return;
    }
    // The same without a folder tells what is to be there.
    EXPECT_THAT(oracle_.Create(NameOf(map), DrawMap(rows), absl::UnixEpoch()), IsOk());
    next_[map] = (*created)->revision + 1;
    told_[map].digests[(*created)->revision] = (*created)->digest();
    told_[map].epoch = (*created)->epoch;
    told_[map].acknowledged = (*created)->revision;
  }

  void Delete(int map) {
    WaitForAll();
    const auto deleted = durable_.store().Delete(NameOf(map));
    EXPECT_THAT(oracle_.Delete(NameOf(map)), IsOk());
    MutexLock lock(mutex_);
    if (deleted.ok()) {
      told_[map] = {};
    } else {
      told_[map].is_in_doubt = true;
    }
    next_[map] = 0;
  }

  // Asks for a batch of two edits, and does not wait for it.
  void Update(int map) {
    std::vector<core::Edit> edits;
    for (int i = 0; i < 2; ++i) {
      const core::Cell cell{random_.Between(0, kSide - 1), random_.Between(0, kSide - 1)};
      edits.push_back(random_.Chance(0.5) ? Block(cell) : Unblock(cell));
    }
    const auto expected = oracle_.UpdateAndWait(NameOf(map), {.edits = edits});
    ASSERT_THAT(expected, IsOk());
    const std::uint64_t revision = next_[map]++;
    {
      MutexLock lock(mutex_);
      told_[map].digests[revision] = expected->digest;
      ++waiting_;
    }
    std::string request = random_.Chance(0.3) ? absl::StrCat("r", ++requests_) : "";
    durable_.store().Update(NameOf(map), {.edits = std::move(edits), .request_id = std::move(request)},
                            [this, map, revision](const absl::StatusOr<core::UpdateResult>& result) {
                              MutexLock lock(mutex_);
                              if (result.ok()) {
                                EXPECT_EQ(result->revision, revision);
                                told_[map].acknowledged = revision;
                              }
                              if (--waiting_ == 0) {
                                none_waits_.NotifyAll();
                              }
                            });
  }

  void WaitForAll() {
    const Patience patience("the answers to all batches");
    MutexLock lock(mutex_);
    while (waiting_ > 0 && patience.Wait(none_waits_, mutex_)) {
    }
  }

  const CrashingFolder& folder_;
  core::MapStore oracle_{kMaps};
  std::vector<std::uint64_t> next_ = std::vector<std::uint64_t>(kMaps, 0);
  int requests_ = 0;
  Mutex mutex_;
  CondVar none_waits_;
  std::vector<Told> told_ ABSL_GUARDED_BY(mutex_) = std::vector<Told>(kMaps);
  int waiting_ ABSL_GUARDED_BY(mutex_) = 0;
  // It ends first: the above is used by what waits in it.
  DurableStore durable_;
  Random random_;
};

DataOptions OptionsOf(Durability durability) {
  DataOptions options{.max_log_bytes = kMaxLogBytes};
  options.log.durability = durability;
  options.log.sync_interval = absl::Milliseconds(1);
  return options;
}

void ExpectAsTold(core::MapStore& store, int map, const Told& told, Durability durability) {
  SCOPED_TRACE(NameOf(map));
  const auto found = store.Pin(NameOf(map));
  if (durability == Durability::kSync && !told.is_in_doubt) {
    ASSERT_EQ(found.ok(), told.acknowledged > 0);
    if (found.ok()) {
      ASSERT_EQ((*found)->epoch, told.epoch);
      EXPECT_GE((*found)->revision, told.acknowledged);
    }
  }
  if (found.ok() && (*found)->epoch == told.epoch) {
    const auto digest = told.digests.find((*found)->revision);
    ASSERT_NE(digest, told.digests.end()) << (*found)->revision;
    EXPECT_EQ((*found)->digest(), digest->second) << (*found)->revision;
  }
}

// Checks what is found when the power is back, that it can be changed, and that this is found, too.
void ExpectRecovery(CrashingFolder& folder, const std::vector<Told>& told, Durability durability) {
  std::vector<std::optional<core::UpdateResult>> updated;
  {
    DurableStore store(folder, OptionsOf(durability));
    ASSERT_THAT(store.status(), IsOk());
    for (int map = 0; map < kMaps; ++map) {
      ExpectAsTold(store.store(), map, told[static_cast<std::size_t>(map)], durability);
      const auto result = store.store().UpdateAndWait(NameOf(map), {.edits = {Block({map, 0})}});
      updated.push_back(result.ok() ? std::optional(*result) : std::nullopt);
      EXPECT_EQ(result.ok(), store.store().Pin(NameOf(map)).ok());
    }
  }
  DurableStore again(folder, OptionsOf(durability));
  ASSERT_THAT(again.status(), IsOk());
  for (int map = 0; map < kMaps; ++map) {
    const auto found = again.store().Pin(NameOf(map));
    const auto& result = updated[static_cast<std::size_t>(map)];
    ASSERT_EQ(found.ok(), result.has_value());
    if (found.ok()) {
      EXPECT_EQ((*found)->digest(), result->digest);
    }
  }
}

class PowerLossTest : public ::testing::TestWithParam<Durability> {};

TEST_P(PowerLossTest, LosesNothingAtAnyPoint) {
  struct Outcome {
    Loss loss;
    int seeds;
  };
  constexpr Outcome kOutcomes[] = {{Loss::kDrop, 1}, {Loss::kKeep, 1}, {Loss::kTear, 3}, {Loss::kReorder, 3}};
  const std::uint64_t wanted = NumberFromEnvironment("WAYSTAR_POWER_LOSSES", kWantedPoints) /
                               (GetParam() == Durability::kSync ? 1 : kRelaxedShare);
  std::uint64_t points = 0;
  for (std::uint64_t seed = 1; points < wanted; ++seed) {
    for (std::int64_t crash = 0;; ++crash) {
      CrashingFolder folder;
      folder.CrashAfter(crash);
      std::vector<Told> told(kMaps);
      {
        Changes run(folder, OptionsOf(GetParam()), seed);
        if (run.has_started()) {
          told = run.Go();
        }
      }
      for (const auto& [loss, seeds] : kOutcomes) {
        for (int i = 0; i < seeds; ++i, ++points) {
          SCOPED_TRACE(
              absl::StrCat("run ", seed, ", crash ", crash, ", loss ", static_cast<int>(loss), ", ", i));
          const auto after = folder.AfterCrash(loss, seed * 1000 + static_cast<std::uint64_t>(i));
          ExpectRecovery(*after, told, GetParam());
          if (HasFailure()) {
            return;
          }
        }
      }
      if (!folder.has_crashed()) {
        break;
      }
    }
  }
  RecordProperty("points", static_cast<int>(points));
}

INSTANTIATE_TEST_SUITE_P(Durabilities, PowerLossTest,
                         ::testing::Values(Durability::kSync, Durability::kRelaxed),
                         [](const auto& param_info) {
                           return param_info.param == Durability::kSync ? "Sync" : "Relaxed";
                         });

}  // namespace
}  // namespace waystar::storage
