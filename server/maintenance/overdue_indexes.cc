#include "server/maintenance/overdue_indexes.h"

#include <chrono>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/runtime/logging.h"

namespace waystar::maintenance {
namespace {

// About as long as it takes to make one index of a map of 4096 x 4096.
constexpr std::chrono::milliseconds kPause{50};

}  // namespace

OverdueIndexes::OverdueIndexes(core::MapStore& store) : store_(store) {
  thread_ = std::thread([this] { Run(); });
}

OverdueIndexes::~OverdueIndexes() {
  {
    MutexLock lock(mutex_);
    is_stopping_ = true;
    wake_.NotifyAll();
  }
  thread_.join();
}

void OverdueIndexes::OnCommit(const core::PinnedSnapshot& snapshot,
                              absl::Span<const core::SharedCommit> /*commits*/,
                              const core::MapChanges& /*changes*/) {
  if (!snapshot->is_grid() || !snapshot->grid().NeedsBackgroundBuild()) {
    return;
  }
  MutexLock lock(mutex_);
  if (noted_.insert(snapshot->id).second && noted_.size() == 1) {
    wake_.NotifyAll();
  }
}

// Look finds out for itself.
void OverdueIndexes::OnDelete(const core::PinnedSnapshot& /*last*/) {}

void OverdueIndexes::Run() {
  for (Ids maps = WaitForMaps(); !maps.empty(); maps = WaitForMaps()) {
    absl::erase_if(maps, [this](const std::string& map) { return !Look(map); });
    MutexLock lock(mutex_);
    noted_.merge(maps);
  }
}

OverdueIndexes::Ids OverdueIndexes::WaitForMaps() {
  const auto next = std::chrono::steady_clock::now() + kPause;
  MutexLock lock(mutex_);
  while (!is_stopping_ && std::chrono::steady_clock::now() < next) {
    wake_.WaitUntil(mutex_, next);
  }
  while (!is_stopping_ && noted_.empty()) {
    wake_.Wait(mutex_);
  }
  return is_stopping_ ? Ids() : std::exchange(noted_, {});
}

bool OverdueIndexes::Look(const std::string& map) {
  if (is_stopping_) {
    return false;
  }
  const absl::Time begin = absl::Now();
  const absl::StatusOr<bool> has_made = store_.BuildInBackground(map, &is_stopping_);
  if (!has_made.ok()) {
    return false;
  }
  if (*has_made) {
    runtime::Log(runtime::LogLevel::kDebug, "overdue_indexes_made",
                 {{"map", map}, {"millis", absl::ToInt64Milliseconds(absl::Now() - begin)}});
  }
  const absl::StatusOr<core::PinnedSnapshot> latest = store_.Pin(map);
  return latest.ok() && (*latest)->is_grid() && (*latest)->grid().NeedsBackgroundBuild();
}

}  // namespace waystar::maintenance
