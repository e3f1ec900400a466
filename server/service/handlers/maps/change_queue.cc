#include "server/service/handlers/maps/change_queue.h"

#include <new>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/base/error.h"
#include "server/base/memory_account.h"
#include "server/base/stop_check.h"
#include "server/core/edit/edit_work.h"
#include "server/runtime/logging.h"
#include "server/service/call/call_context.h"
#include "server/service/convert/convert.h"
#include "server/service/handlers/maps/map_creation.h"

namespace waystar::rpc {
namespace {

// A change takes about as long as a sync, unless the disk hangs.
constexpr absl::Duration kRetryDelay = absl::Milliseconds(500);

absl::Status Make(ChangeQueue::Change change) {
  try {
    return std::move(change)();
  } catch (const std::bad_alloc&) {
    return core::SystemMemoryFull();
  }
}

}  // namespace

void ChangeQueue::Submit(Change change, Done done) {
  {
    MutexLock lock(mutex_);
    if (waiting_.size() < kMaxWaiting) {
      Add(std::move(change), std::move(done));
      return;
    }
  }
  std::move(done)(Refusal(ErrorReason::kUpdatesBusy, kRetryDelay,
                          "as many creations and deletions of maps wait as the server lets wait"));
}

void ChangeQueue::SubmitOwed(Change change, Done done) {
  MutexLock lock(mutex_);
  Add(std::move(change), std::move(done));
}

void ChangeQueue::Add(Change change, Done done) {
  waiting_.push_back({.change = std::move(change), .done = std::move(done)});
  thread_.Wake();
}

void ChangeQueue::Run() {
  while (true) {
    Waiting next;
    {
      MutexLock lock(mutex_);
      while (waiting_.empty() && !thread_.is_stopping()) {
        thread_.Wait(mutex_);
      }
      if (waiting_.empty()) {
        return;
      }
      next = std::move(waiting_.front());
      waiting_.pop_front();
    }
    const absl::Status status = Make(std::move(next.change));
    std::move(next.done)(status);
  }
}

namespace {

CallerStop StopOf(const core::Budget& budget) { return CallerStop(budget.deadline, budget.cancelled); }

// Answers a request that has already created its map. Returns true if it has, or REQUEST_ID_REUSED.
absl::StatusOr<bool> AnswerIfCreated(const core::MapStore& store, const std::string& map,
                                     const core::CreationRequest& request, v1::CreateMapResponse& response) {
  if (request.request_id.empty()) {
    return false;
  }
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot, store.FindCreated(map, request));
  if (snapshot == nullptr) {
    return false;
  }
  FillMapInfo(store, *snapshot, *response.mutable_info());
  response.set_already_created(true);
  return true;
}

// Returns the error of a creation, unless the same request created the existing map: another server may have
// handled it, and this one may have followed it meanwhile.
absl::Status AnswerRefused(const core::MapStore& store, const std::string& map,
                           const core::CreationRequest& request, const absl::Status& refusal,
                           v1::CreateMapResponse& response) {
  if (ErrorReasonOf(refusal) != ErrorReasonName(ErrorReason::kMapExists)) {
    return refusal;
  }
  WAYSTAR_ASSIGN_OR_RETURN(const bool is_created, AnswerIfCreated(store, map, request, response));
  return is_created ? absl::OkStatus() : refusal;
}

}  // namespace

void AnswerCreateMap(TableChange change, int max_side, const v1::CreateMapRequest& request,
                     v1::CreateMapResponse& response, Workbench& bench) {
  core::MapStore& store = change.store;
  const CallerStop stop = StopOf(change.budget);
  core::CreationRequest creation;
  const absl::StatusOr<bool> is_there = RunWithinMemory(bench, [&] {
    creation = CreationRequestOf(request);
    return AnswerIfCreated(store, request.map(), creation, response);
  });
  if (!is_there.ok() || *is_there) {
    std::move(change.done)(is_there.status());
    return;
  }
  absl::StatusOr<MadeMap> made =
      RunWithinMemory(bench, [&] { return MakeMap(store, max_side, request, &stop); });
  if (!made.ok()) {
    std::move(change.done)(AnswerRefused(store, request.map(), creation, made.status(), response));
    return;
  }
  MemoryAccount::Reservation memory;
  const std::size_t bytes = std::visit([](const auto& kind) { return kind.memory_bytes(); }, made->map);
  // The store makes room, if it can, where that may take time.
  if (!store.memory().Reserve(bytes, memory) && !store.CanMakeRoom()) {
    std::move(change.done)(core::MapsMemoryFull(store.memory(), ""));
    return;
  }
  change.changes.Submit(
      [&store, &request, &response, stop, creation = std::move(creation), made = *std::move(made),
       memory = std::move(memory)]() mutable -> absl::Status {
        WAYSTAR_RETURN_IF_ERROR(stop.Check());
        // The store reserves the actual memory of the map.
        memory = {};
        const absl::StatusOr<core::PinnedSnapshot> snapshot =
            CreateInStore(store, request.map(), std::move(made.map), "", IfExists::kRefuse, creation);
        if (!snapshot.ok()) {
          return AnswerRefused(store, request.map(), creation, snapshot.status(), response);
        }
        FillMapInfo(store, **snapshot, *response.mutable_info());
        FillNotes(made.notes, *response.mutable_notes());
        return absl::OkStatus();
      },
      std::move(change.done));
}

void AnswerDeleteMap(TableChange change, const v1::DeleteMapRequest& request,
                     v1::DeleteMapResponse& response) {
  core::MapStore& store = change.store;
  if (const absl::Status status = store.CheckCanDelete(request.map()); !status.ok()) {
    std::move(change.done)(status);
    return;
  }
  absl::StatusOr<core::ExpectedVersion> expected = ToExpectedVersion(request.expected_version());
  if (!expected.ok()) {
    std::move(change.done)(expected.status());
    return;
  }
  change.changes.Submit(
      [&store, &request, &response, expected = *std::move(expected),
       stop = StopOf(change.budget)]() -> absl::Status {
        WAYSTAR_RETURN_IF_ERROR(stop.Check());
        WAYSTAR_ASSIGN_OR_RETURN(const core::MapVersion version, store.Delete(request.map(), expected));
        runtime::Log(runtime::LogLevel::kInfo, "map_deleted",
                     {{"map", request.map()}, {"revision", version.revision}});
        FillVersion(version, *response.mutable_version());
        return absl::OkStatus();
      },
      std::move(change.done));
}

}  // namespace waystar::rpc
