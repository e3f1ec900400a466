#include "server/core/store/map_store.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/store/map_id.h"

namespace waystar::core {
namespace {

absl::Status NotFound(absl::string_view id) {
  return MakeError(absl::StatusCode::kNotFound, ErrorReason::kMapNotFound, "map",
                   absl::StrCat("there is no map \"", id, "\""));
}

}  // namespace

absl::Status MapStore::CheckCanCreateLocked(absl::string_view id) const {
  if (records_.contains(id)) {
    return MakeError(absl::StatusCode::kAlreadyExists, ErrorReason::kMapExists, "map",
                     absl::StrCat("there is a map \"", id, "\" already"));
  }
  if (records_.size() >= max_maps_) {
    return MakeError(absl::StatusCode::kResourceExhausted, ErrorReason::kTooManyMaps, "",
                     absl::StrCat("the server holds ", max_maps_, " maps, its limit"));
  }
  return absl::OkStatus();
}

absl::Status MapStore::CheckCanCreate(absl::string_view id) const {
  WAYSTAR_RETURN_IF_ERROR(CheckMapId(id));
  MutexLock lock(mutex_);
  return CheckCanCreateLocked(id);
}

absl::StatusOr<PinnedSnapshot> MapStore::Create(absl::string_view id, GridMap grid, absl::Time now) {
  WAYSTAR_RETURN_IF_ERROR(CheckCanCreate(id));
  grid.Prepare(max_index_bytes_);
  auto record = std::make_shared<Record>();
  MutexLock lock(mutex_);
  WAYSTAR_RETURN_IF_ERROR(CheckCanCreateLocked(id));
  PinnedSnapshot snapshot = std::make_shared<const MapSnapshot>(MapSnapshot{
      .id = std::string(id), .revision = first_revision_, .create_time = now, .grid = std::move(grid)});
  {
    MutexLock record_lock(record->mutex);
    record->latest = snapshot;
  }
  records_.emplace(std::string(id), std::move(record));
  return snapshot;
}

absl::StatusOr<std::shared_ptr<MapStore::Record>> MapStore::FindRecord(absl::string_view id) const {
  WAYSTAR_RETURN_IF_ERROR(CheckMapId(id));
  MutexLock lock(mutex_);
  const auto it = records_.find(id);
  if (it == records_.end()) {
    return NotFound(id);
  }
  return it->second;
}

absl::StatusOr<PinnedSnapshot> MapStore::Pin(absl::string_view id) const {
  WAYSTAR_ASSIGN_OR_RETURN(const std::shared_ptr<Record> record, FindRecord(id));
  return record->Latest();
}

std::vector<PinnedSnapshot> MapStore::List(absl::string_view after, std::size_t limit) const {
  std::vector<PinnedSnapshot> snapshots;
  MutexLock lock(mutex_);
  for (auto it = records_.upper_bound(after); it != records_.end() && snapshots.size() < limit; ++it) {
    snapshots.push_back(it->second->Latest());
  }
  return snapshots;
}

absl::StatusOr<std::uint64_t> MapStore::Delete(absl::string_view id) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::shared_ptr<Record> record, FindRecord(id));
  // An update under way commits first; one that waits behind this finds the map gone.
  MutexLock writer(record->writer);
  if (record->deleted) {
    return NotFound(id);
  }
  record->deleted = true;
  const std::uint64_t revision = record->Latest()->revision;
  MutexLock lock(mutex_);
  records_.erase(records_.find(id));
  first_revision_ = std::max(first_revision_, revision + 1);
  return revision;
}

absl::StatusOr<UpdateResult> MapStore::Update(absl::string_view id, absl::Span<const Edit> edits,
                                              std::optional<std::uint64_t> expected_revision) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::shared_ptr<Record> record, FindRecord(id));
  MutexLock writer(record->writer);
  if (record->deleted) {
    return NotFound(id);
  }
  const PinnedSnapshot old = record->Latest();
  if (expected_revision && *expected_revision != old->revision) {
    return MakeError(
        absl::StatusCode::kAborted, ErrorReason::kStaleRevision, "expected_revision",
        absl::StrCat("map \"", id, "\" is at revision ", old->revision, ", not ", *expected_revision));
  }
  WAYSTAR_ASSIGN_OR_RETURN(EditResult edited, ApplyEdits(old->grid, edits));
  PinnedSnapshot next = std::make_shared<const MapSnapshot>(MapSnapshot{.id = old->id,
                                                                        .revision = old->revision + 1,
                                                                        .create_time = old->create_time,
                                                                        .grid = std::move(edited.map)});
  const std::uint64_t revision = next->revision;
  const StaticIndexSlot* const static_index = &next->grid.static_index();
  {
    MutexLock lock(record->mutex);
    record->latest.swap(next);
  }
  if (&old->grid.static_index() != static_index) {
    old->grid.static_index().Outdate();
  }
  return UpdateResult{.revision = revision,
                      .changed_cells = edited.changed_cells,
                      .changed_bounds = edited.changed_bounds,
                      .clipped_cells = edited.clipped_cells};
}

}  // namespace waystar::core
