#include "server/maintenance/index_builder.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "server/core/grid/cells/static_index.h"
#include "server/core/grid/hierarchy/hierarchy.h"
#include "server/runtime/logging.h"

namespace waystar::maintenance {
namespace {

// About the time to build one jump index of a map of 4096 x 4096.
constexpr std::chrono::milliseconds kJumpIndexPause{50};

bool NeedsBuild(const core::MapSnapshot& snapshot) {
  const core::GridMap* const grid = snapshot.as_grid();
  return grid != nullptr && grid->NeedsBackgroundBuild();
}

// Returns true if so few cells differ that an index of the one may serve the other for some time.
bool ChangedLittle(const core::BitPlane& before, const core::BitPlane& now) {
  return core::DifferencesBetween(before, now).size() <= core::StaticIndexSlot::kMostChanged / 8;
}

}  // namespace

IndexBuilder::IndexBuilder(core::MapStore& store, const IndexBuilderOptions& options)
    : store_(store), options_(options), next_static_round_(Clock::now()) {
  thread_.Start("index-builder", [this] { Run(); });
}

IndexBuilder::~IndexBuilder() {
  thread_.Stop(mutex_);
  {
    MutexLock lock(mutex_);
    if (building_ != nullptr) {
      building_->grid().static_index().GiveUp();
    }
  }
  if (static_thread_.joinable()) {
    static_thread_.join();
  }
}

void IndexBuilder::OnCommit(const core::PinnedSnapshot& snapshot,
                            absl::Span<const core::CommitPtr> /*commits*/,
                            const core::MapChanges& /*changes*/) {
  NoteIfDue(*snapshot);
}

void IndexBuilder::LookAtMaps() {
  for (const core::PinnedSnapshot& snapshot : store_.List("", std::numeric_limits<std::size_t>::max())) {
    NoteIfDue(*snapshot);
  }
}

void IndexBuilder::NoteIfDue(const core::MapSnapshot& snapshot) {
  if (!NeedsBuild(snapshot)) {
    return;
  }
  MutexLock lock(mutex_);
  if (noted_.insert(snapshot.id).second && noted_.size() == 1) {
    thread_.Wake();
  }
}

void IndexBuilder::Run() {
  const Clock::duration static_pause =
      absl::ToChronoNanoseconds(std::min(options_.quiet_time / 4, absl::Seconds(1)));
  while (WaitForRound()) {
    BuildJumpIndexes();
    if (const auto now = Clock::now(); now >= next_static_round_) {
      // Replaces reserved upper bounds by measured sizes, which may free room for an index.
      if (store_.memory().room() < store_.memory().max_bytes() / 4) {
        store_.memory().Measure();
      }
      LookForStaticIndex();
      next_static_round_ = now + static_pause;
    }
  }
}

bool IndexBuilder::WaitForRound() {
  const auto next_jump_round = Clock::now() + kJumpIndexPause;
  MutexLock lock(mutex_);
  while (!thread_.is_stopping()) {
    const auto next = noted_.empty() ? next_static_round_ : std::min(next_static_round_, next_jump_round);
    if (Clock::now() >= next) {
      return true;
    }
    thread_.WaitUntil(mutex_, next);
  }
  return false;
}

void IndexBuilder::BuildJumpIndexes() {
  Ids maps;
  {
    MutexLock lock(mutex_);
    maps.swap(noted_);
  }
  absl::erase_if(maps, [this](const std::string& map) { return !BuildJumpIndexesOf(map); });
  MutexLock lock(mutex_);
  noted_.merge(maps);
}

bool IndexBuilder::BuildJumpIndexesOf(const std::string& map) {
  if (thread_.is_stopping()) {
    return false;
  }
  const absl::Time begin = absl::Now();
  const absl::StatusOr<bool> is_built = store_.BuildInBackground(map, &thread_.is_stopping());
  if (!is_built.ok()) {
    return false;
  }
  if (*is_built) {
    runtime::Log(runtime::LogLevel::kDebug, "jump_indexes_built",
                 {{"map", map}, {"millis", absl::ToInt64Milliseconds(absl::Now() - begin)}});
  }
  const absl::StatusOr<core::PinnedSnapshot> latest = store_.Pin(map);
  return latest.ok() && NeedsBuild(**latest);
}

bool IndexBuilder::IsBuildingStaticIndex() {
  core::PinnedSnapshot building;
  {
    MutexLock lock(mutex_);
    building = building_;
  }
  if (building == nullptr) {
    return false;
  }
  const auto latest = store_.Pin(building->id);
  if (!latest.ok() || (*latest)->epoch != building->epoch || !(*latest)->grid().HasUniformCost() ||
      core::DifferencesBetween(building->grid().walkable(), (*latest)->grid().walkable()).size() >
          core::StaticIndexSlot::kMostChanged) {
    building->grid().static_index().GiveUp();
  }
  return true;
}

void IndexBuilder::LookForStaticIndex() {
  if (options_.max_static_bytes == 0 || IsBuildingStaticIndex()) {
    return;
  }
  const absl::Time now = absl::Now();
  absl::flat_hash_map<std::string, Seen> still_there;
  core::PinnedSnapshot to_build;
  std::size_t bytes = 0;
  for (const core::PinnedSnapshot& snapshot : store_.List("", std::numeric_limits<std::size_t>::max())) {
    const core::GridMap* const grid = snapshot->as_grid();
    if (grid == nullptr) {
      continue;
    }
    const core::StaticIndexSlot& slot = grid->static_index();
    const std::shared_ptr<const core::StaticIndexSlot::Held> held = slot.held();
    bytes += held == nullptr ? 0 : held->index->memory_bytes();
    if (!slot.is_wanted() || slot.is_given_up() || !grid->HasUniformCost()) {
      continue;
    }
    Seen seen{.epoch = snapshot->epoch, .cells = grid->walkable(), .since = now, .wait = options_.quiet_time};
    if (const auto it = seen_.find(snapshot->id); it != seen_.end() && it->second.epoch == seen.epoch) {
      seen.wait = it->second.wait;
      if (ChangedLittle(it->second.cells, seen.cells)) {
        seen = std::move(it->second);
      }
    }
    if (held != nullptr && held->changed.size() < core::StaticIndexSlot::kMostChanged / 2) {
      seen.wait = options_.quiet_time;
    } else if (to_build == nullptr && now - seen.since >= seen.wait) {
      to_build = snapshot;
      seen.wait = 2 * seen.wait;
    }
    still_there.emplace(snapshot->id, std::move(seen));
  }
  seen_ = std::move(still_there);
  if (to_build != nullptr && bytes < options_.max_static_bytes) {
    StartStaticIndex(to_build, std::min(options_.max_static_bytes - bytes, store_.memory().room() / 2));
  }
}

void IndexBuilder::StartStaticIndex(const core::PinnedSnapshot& snapshot, std::size_t max_bytes) {
  {
    MutexLock lock(mutex_);
    building_ = snapshot;
  }
  if (static_thread_.joinable()) {
    static_thread_.join();
  }
  static_thread_ = StartThread("static-index", [this, snapshot, max_bytes] {
    BuildStaticIndex(*snapshot, max_bytes);
    MutexLock lock(mutex_);
    building_ = nullptr;
  });
}

void IndexBuilder::BuildStaticIndex(const core::MapSnapshot& snapshot, std::size_t max_bytes) {
  const sched_param no_priority{};
  pthread_setschedparam(pthread_self(), SCHED_IDLE, &no_priority);
  const core::GridMap& grid = snapshot.grid();
  core::StaticIndexSlot& slot = grid.static_index();
  const absl::Time begin = absl::Now();
  auto built = core::Hierarchy::Build(grid.walk(), grid.min_straight(), grid.min_diagonal(),
                                      {.max_bytes = max_bytes, .cancelled = &slot.is_given_up()});
  if (built.ok()) {
    const std::shared_ptr<const core::StaticIndex> index = *std::move(built);
    runtime::Log(runtime::LogLevel::kInfo, "static_index_built",
                 {{"map", snapshot.id},
                  {"revision", snapshot.revision},
                  {"bytes", index->memory_bytes()},
                  {"millis", absl::ToInt64Milliseconds(absl::Now() - begin)}});
    store_.memory().Add(index->memory_bytes());
    store_.PutStaticIndex(snapshot, index);
  } else if (!absl::IsCancelled(built.status())) {
    slot.GiveUp();
    runtime::Log(runtime::LogLevel::kInfo, "static_index_given_up",
                 {{"map", snapshot.id}, {"revision", snapshot.revision}, {"why", built.status().message()}});
  }
}

}  // namespace waystar::maintenance
