#include "server/maintenance/index_builder.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "server/core/hierarchy/hierarchy.h"
#include "server/runtime/logging.h"

namespace waystar::maintenance {

IndexBuilder::IndexBuilder(const core::MapStore& store, const IndexBuilderOptions& options)
    : store_(store), options_(options) {
  if (options_.max_bytes > 0) {
    thread_ = std::thread([this] { Run(); });
  }
}

IndexBuilder::~IndexBuilder() {
  if (!thread_.joinable()) {
    return;
  }
  {
    MutexLock lock(mutex_);
    is_stopping_ = true;
    if (building_ != nullptr) {
      building_->grid().static_index().Outdate();
    }
    stopping_.NotifyAll();
  }
  thread_.join();
}

void IndexBuilder::Run() {
  const sched_param no_priority{};
  pthread_setschedparam(pthread_self(), SCHED_IDLE, &no_priority);
  while (WaitForNextRound()) {
    BuildWhereQuiet();
  }
}

// False if it is time to stop.
bool IndexBuilder::WaitForNextRound() {
  const absl::Duration pause = std::min(options_.quiet_time / 4, absl::Seconds(1));
  const auto next = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(pause);
  MutexLock lock(mutex_);
  while (!is_stopping_ && std::chrono::steady_clock::now() < next) {
    stopping_.WaitUntil(mutex_, next);
  }
  return !is_stopping_;
}

void IndexBuilder::BuildWhereQuiet() {
  const absl::Time now = absl::Now();
  absl::flat_hash_map<std::string, Seen> still_there;
  std::vector<core::PinnedSnapshot> to_build;
  std::size_t bytes = 0;
  for (const core::PinnedSnapshot& snapshot : store_.List("", std::numeric_limits<std::size_t>::max())) {
    Seen seen{.revision = snapshot->revision, .since = now};
    if (const auto it = seen_.find(snapshot->id); it != seen_.end() && it->second.revision == seen.revision) {
      seen = it->second;
    }
    if (!snapshot->is_grid()) {
      continue;
    }
    const core::StaticIndexSlot& slot = snapshot->grid().static_index();
    if (slot.index() != nullptr) {
      bytes += slot.index()->memory_bytes();
    } else if (slot.is_wanted() && snapshot->grid().HasUniformCost() && !seen.is_given_up &&
               now - seen.since >= options_.quiet_time) {
      to_build.push_back(snapshot);
    }
    still_there.emplace(snapshot->id, seen);
  }
  seen_ = std::move(still_there);
  for (const core::PinnedSnapshot& snapshot : to_build) {
    if (bytes >= options_.max_bytes) {
      return;
    }
    Build(snapshot, options_.max_bytes - bytes, seen_[snapshot->id]);
    const core::StaticIndex* index = snapshot->grid().static_index().index();
    bytes += index == nullptr ? 0 : index->memory_bytes();
  }
}

void IndexBuilder::Build(const core::PinnedSnapshot& snapshot, std::size_t max_bytes, Seen& seen) {
  {
    MutexLock lock(mutex_);
    if (is_stopping_) {
      return;
    }
    building_ = snapshot;
  }
  core::StaticIndexSlot& slot = snapshot->grid().static_index();
  const absl::Time begin = absl::Now();
  auto built = core::Hierarchy::Build(snapshot->grid().walk(), snapshot->grid().min_straight(),
                                      snapshot->grid().min_diagonal(),
                                      {.max_bytes = max_bytes, .cancelled = &slot.is_outdated()});
  if (built.ok()) {
    runtime::Log(runtime::LogLevel::kInfo, "static_index_built",
                 {{"map", snapshot->id},
                  {"revision", snapshot->revision},
                  {"bytes", (*built)->memory_bytes()},
                  {"millis", absl::ToInt64Milliseconds(absl::Now() - begin)}});
    slot.Put(*std::move(built));
  } else if (!absl::IsCancelled(built.status())) {
    seen.is_given_up = true;
    runtime::Log(
        runtime::LogLevel::kInfo, "static_index_given_up",
        {{"map", snapshot->id}, {"revision", snapshot->revision}, {"why", built.status().message()}});
  }
  MutexLock lock(mutex_);
  building_ = nullptr;
}

}  // namespace waystar::maintenance
