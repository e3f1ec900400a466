// Handlers of MapService.CreateMap and DeleteMap.
#pragma once

#include "server/core/search/query.h"
#include "server/core/store/map_store.h"
#include "server/service/admission/workbench.h"
#include "server/service/call/unary_call.h"
#include "server/service/handlers/maps/change_queue.h"
#include "waystar/v1/map_service.pb.h"

namespace waystar::rpc {

// Dependencies of a creation or deletion. The messages and the objects referenced by the budget live until
// `done` is called.
struct TableChange {
  core::MapStore& store;
  ChangeQueue& changes;
  core::Budget budget;
  UnaryDone done;
};

// Both change nothing if the caller is gone or its deadline has passed when their turn in the queue comes. A
// change that has begun is made, and answered as usual.

// Makes the map on this thread, and queues its creation.
void AnswerCreateMap(TableChange change, int max_side, const v1::CreateMapRequest& request,
                     v1::CreateMapResponse& response, Workbench& bench);

void AnswerDeleteMap(TableChange change, const v1::DeleteMapRequest& request,
                     v1::DeleteMapResponse& response);

}  // namespace waystar::rpc
