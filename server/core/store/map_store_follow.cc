// Changes by other servers, applied to a store.

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/store/map_record.h"
#include "server/core/store/map_store.h"
#include "server/core/store/store_listener.h"
#include "server/core/store/update_batch.h"

namespace waystar::core {
namespace {

absl::Status IsThereAlready(absl::string_view id) {
  return absl::FailedPreconditionError(absl::StrCat("map \"", id, "\" is there, and the log creates it"));
}

}  // namespace

absl::Status MapStore::FollowCommits(absl::string_view id, std::uint64_t epoch,
                                     absl::Span<const LoggedCommit> commits) {
  while (const RecordPtr record = FindOrNull(id)) {
    absl::Status followed = record->Follow(epoch, commits);
    if (LoadingMapOf(followed).empty()) {
      return followed;
    }
    // The map was unloaded in the meantime.
  }
  MutexLock lock(context_.readers);
  const auto absent = absent_.find(id);
  if (absent == absent_.end()) {
    return NoSuchMap(id);
  }
  absent->second.last = {.epoch = epoch, .revision = commits.back().commit->revision};
  return absl::OkStatus();
}

absl::StatusOr<MapStore::RecordPtr> MapStore::MakeRecord(MapState first, MemoryAccount::Reservation& memory) {
  WAYSTAR_RETURN_IF_ERROR(CheckMapId(first.snapshot.id));
  Prepare(first.snapshot.map, nullptr, GridMap::LargeIndexes::kInBackground);
  WAYSTAR_RETURN_IF_ERROR(ReserveFor(first.snapshot, memory));
  return std::make_shared<MapRecord>(context_, Shared(std::move(first)));
}

bool MapStore::HasRoomFor(const MapSnapshot& first) const {
  return context_.residence == nullptr || context_.memory->room() >= first.memory_bytes();
}

absl::Status MapStore::FollowCreation(MapState first) {
  if (!HasRoomFor(first.snapshot)) {
    WAYSTAR_RETURN_IF_ERROR(CheckMapId(first.snapshot.id));
    MutexLock lock(context_.readers);
    if (records_.contains(first.snapshot.id) ||
        !absent_.emplace(first.snapshot.id, AbsentMap{.last = first.snapshot.version()}).second) {
      return IsThereAlready(first.snapshot.id);
    }
    return absl::OkStatus();
  }
  MemoryAccount::Reservation memory;
  WAYSTAR_ASSIGN_OR_RETURN(const RecordPtr record, MakeRecord(std::move(first), memory));
  {
    MutexLock lock(context_.readers);
    if (records_.contains(record->id()) || absent_.contains(record->id())) {
      return IsThereAlready(record->id());
    }
  }
  Insert(record);
  memory.Keep();
  return absl::OkStatus();
}

absl::Status MapStore::FollowReplacement(MapState first, MapVersion replaced) {
  if (!HasRoomFor(first.snapshot)) {
    WAYSTAR_RETURN_IF_ERROR(CheckMapId(first.snapshot.id));
    WAYSTAR_RETURN_IF_ERROR(FollowDeletion(first.snapshot.id, replaced));
    AddUnloaded(first.snapshot.id, first.snapshot.version());
    return absl::OkStatus();
  }
  MemoryAccount::Reservation memory;
  WAYSTAR_ASSIGN_OR_RETURN(const RecordPtr record, MakeRecord(std::move(first), memory));
  while (const RecordPtr old = FindOrNull(record->id())) {
    const MapRecord::Ended ended =
        old->FollowEnd(replaced, [&](absl::FunctionRef<void()> tell) { SwapInTable(old, record, tell); });
    if (!LoadingMapOf(ended.status).empty()) {
      // The map was unloaded in the meantime.
      continue;
    }
    WAYSTAR_RETURN_IF_ERROR(ended.status);
    NoteOld(ended.last);
    TellOfExpiry(*record);
    memory.Keep();
    return absl::OkStatus();
  }
  {
    MutexLock lock(context_.readers);
    if (absent_.erase(record->id()) == 0) {
      return NoSuchMap(record->id());
    }
  }
  Insert(record);
  memory.Keep();
  return absl::OkStatus();
}

absl::Status MapStore::FollowImage(MapState later) {
  const auto snapshot = std::make_shared<MapSnapshot>(std::move(later.snapshot));
  while (const RecordPtr record = FindOrNull(snapshot->id)) {
    Prepare(snapshot->map, nullptr, GridMap::LargeIndexes::kInBackground);
    MemoryAccount::Reservation memory;
    WAYSTAR_RETURN_IF_ERROR(ReserveFor(*snapshot, memory));
    const absl::Status followed = record->FollowImage(
        {.snapshot = snapshot, .requests = later.requests, .request_horizon = later.request_horizon});
    if (LoadingMapOf(followed).empty()) {
      if (followed.ok()) {
        memory.Keep();
      }
      return followed;
    }
    // The map was unloaded in the meantime.
  }
  MutexLock lock(context_.readers);
  const auto absent = absent_.find(snapshot->id);
  if (absent == absent_.end() || absent->second.is_damaged) {
    return NoSuchMap(snapshot->id);
  }
  absent->second.last = snapshot->version();
  return absl::OkStatus();
}

absl::Status MapStore::FollowDeletion(absl::string_view id, MapVersion last) {
  while (const RecordPtr record = FindOrNull(id)) {
    const MapRecord::Ended ended =
        record->FollowEnd(last, [&](absl::FunctionRef<void()> tell) { RemoveFromTable(record, tell); });
    if (!LoadingMapOf(ended.status).empty()) {
      continue;
    }
    WAYSTAR_RETURN_IF_ERROR(ended.status);
    NoteOld(ended.last);
    return absl::OkStatus();
  }
  MutexLock lock(context_.readers);
  return absent_.erase(std::string(id)) == 1 ? absl::OkStatus() : NoSuchMap(id);
}

}  // namespace waystar::core
