// Handlers of MapService.CreateMap and DeleteMap.
#pragma once

#include "server/core/search/query.h"
#include "server/core/store/map_store.h"
#include "server/service/admission/workbench.h"
#include "server/service/call/unary_call.h"
#include "server/service/handlers/maps/change_queue.h"
#include "waystar/v1/map_service.pb.h"

namespace waystar::rpc {

// What a creation or deletion uses. The messages and what the budget names live until `done` is called.
struct TableChange {
  core::MapStore& store;
  ChangeQueue& changes;
  core::Budget budget;
  UnaryDone done;
};

// Both change nothing for a caller who is gone or whose deadline has passed before their turn in the queue
// comes. A change that has begun by then is made, and answered as usual.

// Makes the map on this thread, and leaves it to the queue.
void AnswerCreateMap(TableChange change, int max_side, const v1::CreateMapRequest& request,
                     v1::CreateMapResponse& response, Workbench& bench);

void AnswerDeleteMap(TableChange change, const v1::DeleteMapRequest& request,
                     v1::DeleteMapResponse& response);

}  // namespace waystar::rpc
