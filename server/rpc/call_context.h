// What a handler may know of the call it serves, beside the request.
#pragma once

#include <chrono>

#include "grpcpp/server_context.h"
#include "server/core/field/field_scratch.h"
#include "server/core/graph_search/graph_scratch.h"
#include "server/core/search/query.h"
#include "server/core/search/scratch.h"

namespace waystar::rpc {

struct CallContext {
  // The worker's own; nobody else uses them while the handler runs.
  core::Scratch& scratch;
  core::FieldScratch& field_scratch;
  // Deadline and cancellation of the call.
  core::Budget budget;
  // How long the call waited for a worker.
  std::chrono::nanoseconds queued{0};
  // As `scratch`. Null where no waypoint graph is searched.
  core::GraphScratch* graph_scratch = nullptr;
  // The RPC library's side of the call: metadata and peer. Null where there is none.
  const grpc::CallbackServerContext* rpc = nullptr;
};

// The call's deadline on the clock of core::Budget; its max if there is none.
std::chrono::steady_clock::time_point DeadlineOf(const grpc::CallbackServerContext& context);

}  // namespace waystar::rpc
