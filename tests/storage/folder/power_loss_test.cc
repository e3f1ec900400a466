// Power that goes, and processes that end, at every point of a run and several times in a row: what was
// acknowledged or seen is there, and nothing is there by half.

#include <cstdint>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/base/config.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/base/mutex.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "tests/storage/folder/crashing_folder.h"
#include "tests/storage/folder/durable_store.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/environment.h"
#include "tests/testing/patience.h"
#include "tests/testing/random.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/store_edits.h"

namespace waystar::storage {
namespace {

constexpr int kMaps = 3;
constexpr int kSteps = 40;
// Of the runs that follow one that was cut short.
constexpr int kLaterSteps = 6;
constexpr int kSide = 6;

// So small that images are made all the time.
constexpr std::uint64_t kMaxLogBytes = 6000;

// The last of the maps is a navigation mesh, a square.
bool IsMesh(int map) { return map == kMaps - 1; }

core::AnyMap NewMap(int map, char cell) {
  if (!IsMesh(map)) {
    return DrawMap(std::vector<std::string>(kSide, std::string(kSide, cell)));
  }
  const double side = cell == '.' ? kSide : 2 * kSide;
  core::MeshSpec spec{.vertices = {{0, 0}, {side, 0}, {side, side}, {0, side}}};
  spec.AddPolygon({0, 1, 2, 3});
  return *core::NavMesh::Create(std::move(spec));
}

std::string NameOf(int map) { return absl::StrCat("m", map); }

// Runs that were cut short. Sanitizers are slow, and look for other mistakes.
#if defined(ABSL_HAVE_ADDRESS_SANITIZER) || defined(ABSL_HAVE_THREAD_SANITIZER)
constexpr std::uint64_t kWantedPoints = 100;
constexpr std::int64_t kCrashStep = 7;
#else
constexpr std::uint64_t kWantedPoints = 4000;
constexpr std::int64_t kCrashStep = 1;
#endif
// What is relaxed is promised less.
constexpr std::uint64_t kRelaxedShare = 5;

// What runs have done to one map, and what of it was acknowledged or seen.
struct Told {
  // By revision, the digest of the map that was asked for since the last creation.
  std::map<std::uint64_t, std::uint64_t> digests;
  std::uint64_t epoch = 0;
  // 0 if there is no map that was acknowledged.
  std::uint64_t acknowledged = 0;
  // The revision that the last start has found, which no loss takes, unless the map was deleted since.
  std::uint64_t found = 0;
  // A creation or a deletion has failed, so that it is unknown whether there is a map.
  bool is_in_doubt = false;
  // A replacement has failed: the digest of the new map, of which it is unknown whether it is there.
  std::optional<std::uint64_t> new_digest;
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
    if (found.ok() && told.new_digest && (*found)->epoch != told.epoch) {
      EXPECT_EQ((*found)->digest(), *told.new_digest);
      EXPECT_EQ((*found)->revision, 1U);
    } else if (found.ok()) {
      ASSERT_EQ((*found)->epoch, told.epoch);
    }
  }
  if (told.found > 0 && !told.is_in_doubt) {
    ASSERT_THAT(found, IsOk());
    const bool is_new = told.new_digest && (*found)->revision == 1 && (*found)->digest() == *told.new_digest;
    EXPECT_TRUE(is_new || (*found)->revision >= told.found) << (*found)->revision;
  }
  // Two histories never have one epoch.
  if (found.ok() && (*found)->epoch == told.epoch) {
    EXPECT_GE((*found)->revision, told.acknowledged);
    const auto digest = told.digests.find((*found)->revision);
    ASSERT_NE(digest, told.digests.end()) << (*found)->revision;
    EXPECT_EQ((*found)->digest(), digest->second) << (*found)->revision;
  }
}

// A run from a start on: it checks what is there, and changes maps at random until it is cut short or there
// is enough of it.
class ServerRun {
 public:
  ServerRun(CrashingFolder& folder, Durability durability, std::uint64_t seed, std::vector<Told>& told)
      : folder_(folder), told_(told), durable_(folder, OptionsOf(durability)), random_(seed) {
    if (durable_.status().ok()) {
      for (int map = 0; map < kMaps; ++map) {
        ExpectAsTold(durable_.store(), map, told_[static_cast<std::size_t>(map)], durability);
        TakeOver(map);
      }
    }
  }

  const absl::Status& status() const { return durable_.status(); }

  void Go(int steps) {
    for (int step = 0; step < steps && !folder_.has_crashed(); ++step) {
      const int map = random_.Between(0, kMaps - 1);
      if (next_[map] == 0) {
        Create(map);
      } else if (random_.Chance(0.03)) {
        Delete(map);
      } else if (random_.Chance(0.05)) {
        Replace(map);
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
  }

 private:
  static int& NumberOfRuns() {
    static int runs = 0;
    return runs;
  }

  // From now on readers may have seen what was found.
  void TakeOver(int map) {
    MutexLock lock(mutex_);
    Told& told = told_[static_cast<std::size_t>(map)];
    told = {};
    const auto found = durable_.store().Pin(NameOf(map));
    if (!found.ok()) {
      return;
    }
    const core::MapSnapshot& snapshot = **found;
    EXPECT_THAT(oracle_.Restore({.snapshot = {.id = snapshot.id,
                                              .epoch = snapshot.epoch,
                                              .revision = snapshot.revision,
                                              .create_time = snapshot.create_time,
                                              .map = snapshot.map}}),
                IsOk());
    told = {.digests = {{snapshot.revision, snapshot.digest()}},
            .epoch = snapshot.epoch,
            .acknowledged = snapshot.revision,
            .found = snapshot.revision};
    next_[map] = snapshot.revision + 1;
  }

  void Create(int map) {
    WaitForAll();
    const auto created = durable_.store().Create(NameOf(map), NewMap(map, '.'), absl::UnixEpoch());
    MutexLock lock(mutex_);
    told_[map] = {};
    if (!created.ok()) {
      told_[map].is_in_doubt = true;
      return;
    }
    // The same without a folder tells what is to be there.
    EXPECT_THAT(oracle_.Create(NameOf(map), NewMap(map, '.'), absl::UnixEpoch()), IsOk());
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

  void Replace(int map) {
    WaitForAll();
    const auto replaced = durable_.store().Replace(NameOf(map), NewMap(map, '#'), absl::UnixEpoch());
    MutexLock lock(mutex_);
    if (!replaced.ok()) {
      // There is the old map, or the new one.
      told_[map].new_digest = std::visit([](const auto& kind) { return kind.digest(); }, NewMap(map, '#'));
      next_[map] = 0;
      return;
    }
    EXPECT_THAT(oracle_.Replace(NameOf(map), NewMap(map, '#'), absl::UnixEpoch()), IsOk());
    told_[map] = {.digests = {{(*replaced)->revision, (*replaced)->digest()}},
                  .epoch = (*replaced)->epoch,
                  .acknowledged = (*replaced)->revision};
    next_[map] = (*replaced)->revision + 1;
  }

  core::Edit AnyEdit(int map) {
    const core::Cell cell{random_.Between(0, kSide - 1), random_.Between(0, kSide - 1)};
    if (!IsMesh(map)) {
      return random_.Chance(0.5) ? Block(cell) : Unblock(cell);
    }
    return core::PutObstacle{.obstacle = {.id = absl::StrCat("crate", random_.Between(0, 3)),
                                          .shape = {.rectangles = {{cell.x, cell.y, 1, 2}}}},
                             .replace = true};
  }

  // Asks for a batch of two edits, and does not wait for it.
  void Update(int map) {
    std::vector<core::Edit> edits;
    for (int i = 0; i < 2; ++i) {
      edits.push_back(AnyEdit(map));
    }
    const auto expected = oracle_.UpdateAndWait(NameOf(map), {.edits = edits});
    ASSERT_THAT(expected, IsOk());
    const std::uint64_t revision = next_[map]++;
    {
      MutexLock lock(mutex_);
      told_[map].digests[revision] = expected->digest;
      ++waiting_;
    }
    std::string request = random_.Chance(0.3) ? absl::StrCat("r", run_, "-", ++requests_) : "";
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
  // Requests of two runs never have the same id.
  const int run_ = NumberOfRuns()++;
  int requests_ = 0;
  Mutex mutex_;
  CondVar none_waits_;
  std::vector<Told>& told_ ABSL_GUARDED_BY(mutex_);
  int waiting_ ABSL_GUARDED_BY(mutex_) = 0;
  // It ends first: the above is used by what waits in it.
  DurableStore durable_;
  Random random_;
};

// How a run was cut short.
struct End {
  // Only the process has ended.
  bool is_kill = false;
  Loss loss = Loss::kKeep;

  friend std::ostream& operator<<(std::ostream& out, const End& end) {
    return end.is_kill ? out << "kill" : out << "loss " << static_cast<int>(end.loss);
  }
};

constexpr End kKill{.is_kill = true};
constexpr End kDrop{.loss = Loss::kDrop};
constexpr End kKeep{.loss = Loss::kKeep};
constexpr End kTear{.loss = Loss::kTear};
constexpr End kReorder{.loss = Loss::kReorder};

// Up to three in a row. The first is tried at every point of a run, those that follow at some.
const std::vector<std::vector<End>> kSequences = {
    {kDrop},
    {kKeep},
    {kTear},
    {kReorder},
    {kKill, kDrop},
    {kKill, kReorder},
    {kTear, kDrop},
    {kDrop, kTear},
    {kKill, kKill, kDrop},
    {kKill, kTear, kReorder},
    {kReorder, kKill, kDrop},
};

std::unique_ptr<CrashingFolder> After(const CrashingFolder& folder, const End& end, std::uint64_t seed) {
  return end.is_kill ? folder.AfterKill() : folder.AfterCrash(end.loss, seed);
}

// Runs on what is left again and again, and checks each time what is found. The last run is not cut short.
void ExpectRecoveries(const CrashingFolder& crashed, const std::vector<End>& ends, std::vector<Told> told,
                      Durability durability, std::uint64_t seed) {
  Random random(seed);
  std::unique_ptr<CrashingFolder> folder = After(crashed, ends[0], seed);
  for (std::size_t i = 1; i < ends.size(); ++i) {
    // Half of them while the server starts.
    folder->CrashAfter(random.Between(0, random.Chance(0.5) ? 12 : 40));
    {
      ServerRun run(*folder, durability, seed + i, told);
      if (run.status().ok()) {
        run.Go(kLaterSteps);
      } else {
        ASSERT_TRUE(folder->has_crashed()) << run.status();
      }
    }
    folder = After(*folder, ends[i], seed + i);
  }
  for (int i = 0; i < 2; ++i) {
    ServerRun run(*folder, durability, seed, told);
    ASSERT_THAT(run.status(), IsOk());
    run.Go(kLaterSteps);
  }
}

class PowerLossTest : public ::testing::TestWithParam<Durability> {};

TEST_P(PowerLossTest, LosesNothingAtAnyPoint) {
  const std::uint64_t wanted = NumberFromEnvironment("WAYSTAR_POWER_LOSSES", kWantedPoints) /
                               (GetParam() == Durability::kSync ? 1 : kRelaxedShare);
  std::uint64_t points = 0;
  for (std::uint64_t seed = 1; points < wanted; ++seed) {
    for (std::int64_t crash = 0;; crash += kCrashStep) {
      CrashingFolder folder;
      folder.CrashAfter(crash);
      std::vector<Told> told(kMaps);
      {
        ServerRun run(folder, GetParam(), seed, told);
        if (run.status().ok()) {
          run.Go(kSteps);
        }
      }
      for (const std::vector<End>& ends : kSequences) {
        SCOPED_TRACE(absl::StrCat("run ", seed, ", crash ", crash, ", ",
                                  absl::StrJoin(ends, " and ", absl::StreamFormatter())));
        ExpectRecoveries(folder, ends, told, GetParam(), ++points);
        if (HasFailure()) {
          return;
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
