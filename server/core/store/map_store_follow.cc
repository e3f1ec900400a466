// The way of what other servers have done into a store.

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/core/store/map_id.h"
#include "server/core/store/map_record.h"
#include "server/core/store/map_store.h"

namespace waystar::core {

absl::Status MapStore::FollowCommits(absl::string_view id, std::uint64_t epoch,
                                     absl::Span<const LoggedCommit> commits) {
  const absl::StatusOr<RecordPtr> record = FindRecord(id);
  if (record.ok()) {
    return (*record)->Follow(epoch, commits);
  }
  MutexLock lock(context_.readers);
  const auto damaged = damaged_.find(id);
  if (damaged == damaged_.end()) {
    return record.status();
  }
  damaged->second = {.epoch = epoch, .revision = commits.back().commit->revision};
  return absl::OkStatus();
}

absl::StatusOr<MapStore::RecordPtr> MapStore::MakeFollowed(MapSnapshot first,
                                                           std::vector<AppliedRequest> requests,
                                                           const RequestHorizon& request_horizon,
                                                           MemoryAccount::Reservation& memory) {
  WAYSTAR_RETURN_IF_ERROR(CheckMapId(first.id));
  Prepare(first.map, nullptr, GridMap::LargeIndexes::kInBackground);
  WAYSTAR_RETURN_IF_ERROR(ReserveFor(first, memory));
  return std::make_shared<MapRecord>(
      context_, StoredMap{.snapshot = std::make_shared<const MapSnapshot>(std::move(first)),
                          .requests = std::move(requests),
                          .request_horizon = request_horizon});
}

absl::Status MapStore::FollowCreation(MapSnapshot first, std::vector<AppliedRequest> requests,
                                      const RequestHorizon& request_horizon) {
  MemoryAccount::Reservation memory;
  WAYSTAR_ASSIGN_OR_RETURN(const RecordPtr record,
                           MakeFollowed(std::move(first), std::move(requests), request_horizon, memory));
  {
    MutexLock lock(context_.readers);
    if (records_.contains(record->id()) || damaged_.contains(record->id())) {
      return absl::FailedPreconditionError(
          absl::StrCat("map \"", record->id(), "\" is there, and the log creates it"));
    }
  }
  Insert(record);
  memory.Keep();
  return absl::OkStatus();
}

absl::Status MapStore::FollowReplacement(MapSnapshot first, std::vector<AppliedRequest> requests,
                                         const RequestHorizon& request_horizon, MapVersion replaced) {
  MemoryAccount::Reservation memory;
  WAYSTAR_ASSIGN_OR_RETURN(const RecordPtr record,
                           MakeFollowed(std::move(first), std::move(requests), request_horizon, memory));
  const absl::StatusOr<RecordPtr> old = FindRecord(record->id());
  if (old.ok()) {
    const MapRecord::Ended ended =
        (*old)->FollowEnd(replaced, [&](absl::FunctionRef<void()> tell) { SwapInTable(*old, record, tell); });
    WAYSTAR_RETURN_IF_ERROR(ended.status);
    NoteOld(ended.last);
    TellOfExpiry(*record);
  } else {
    {
      MutexLock lock(context_.readers);
      if (damaged_.erase(record->id()) == 0) {
        return old.status();
      }
    }
    Insert(record);
  }
  memory.Keep();
  return absl::OkStatus();
}

absl::Status MapStore::FollowDeletion(absl::string_view id, MapVersion last) {
  const absl::StatusOr<RecordPtr> record = FindRecord(id);
  if (record.ok()) {
    const MapRecord::Ended ended =
        (*record)->FollowEnd(last, [&](absl::FunctionRef<void()> tell) { RemoveFromTable(*record, tell); });
    WAYSTAR_RETURN_IF_ERROR(ended.status);
    NoteOld(ended.last);
    return absl::OkStatus();
  }
  MutexLock lock(context_.readers);
  return damaged_.erase(id) == 1 ? absl::OkStatus() : record.status();
}

}  // namespace waystar::core
