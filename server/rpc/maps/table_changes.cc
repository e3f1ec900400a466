#include "server/rpc/maps/table_changes.h"

#include <cstddef>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/memory_account.h"
#include "server/base/status_macros.h"
#include "server/base/stop_check.h"
#include "server/core/edit/edit_memory.h"
#include "server/rpc/call/within_memory.h"
#include "server/rpc/maps/map_creation.h"
#include "server/rpc/wire/convert.h"
#include "server/runtime/logging.h"

namespace waystar::rpc {
namespace {

CallerStop StopOf(const core::Budget& budget) { return CallerStop(budget.deadline, budget.cancelled); }

}  // namespace

void AnswerCreateMap(TableChange change, int max_side, const v1::CreateMapRequest& request,
                     v1::CreateMapResponse& response, Workbench& bench) {
  core::MapStore& store = change.store;
  const CallerStop stop = StopOf(change.budget);
  absl::StatusOr<core::ImportedMap> map =
      RunWithinMemory(bench, [&] { return MakeMap(store, max_side, request, &stop); });
  if (!map.ok()) {
    std::move(change.done)(map.status());
    return;
  }
  MemoryAccount::Reservation memory;
  const std::size_t bytes = std::visit([](const auto& kind) { return kind.memory_bytes(); }, *map);
  if (!store.memory().Reserve(bytes, memory)) {
    std::move(change.done)(core::MapsMemoryFull(store.memory(), ""));
    return;
  }
  change.changes.Submit(
      [&store, &request, &response, stop, map = *std::move(map),
       memory = std::move(memory)]() mutable -> absl::Status {
        WAYSTAR_RETURN_IF_ERROR(stop.Check());
        // The store asks for what the map really takes.
        memory = {};
        WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot,
                                 CreateInStore(store, request.map(), std::move(map), ""));
        FillMapInfo(store, *snapshot, *response.mutable_info());
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
  change.changes.Submit(
      [&store, &request, &response, stop = StopOf(change.budget)]() -> absl::Status {
        WAYSTAR_RETURN_IF_ERROR(stop.Check());
        WAYSTAR_ASSIGN_OR_RETURN(const core::MapVersion version, store.Delete(request.map()));
        runtime::Log(runtime::LogLevel::kInfo, "map_deleted",
                     {{"map", request.map()}, {"revision", version.revision}});
        FillVersion(version, *response.mutable_version());
        return absl::OkStatus();
      },
      std::move(change.done));
}

}  // namespace waystar::rpc
