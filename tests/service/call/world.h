// The parts of a server that calls share, without a socket.
#pragma once

#include <chrono>

#include "grpcpp/server_context.h"
#include "server/base/error.h"
#include "server/core/store/map_store.h"
#include "server/service/admission/awaited_requests.h"
#include "server/service/admission/call_gate.h"
#include "server/service/admission/call_memory.h"
#include "server/service/admission/call_slots.h"
#include "server/service/admission/call_statistics.h"
#include "server/service/admission/executor.h"
#include "server/service/admission/server_context.h"
#include "server/service/admission/version_waits.h"
#include "server/service/auth/access_control.h"

namespace waystar::rpc {

struct World {
  World() { gate.Open(); }

  // As a server that stops does, whose patience and time are over at once.
  void Close() {
    const auto now = std::chrono::steady_clock::now();
    gate.Close(now, now);
  }

  CallGate gate;
  AccessControl access;
  AwaitedRequests awaited_requests{"requests", {}};
  CallStatistics statistics;
  ClientCalls client_calls{10};
  CallMemory memory{1 << 20, 1 << 20};
  CallSlots transfers{1, ErrorReason::kTransfersBusy, "transfers run"};
  CallSlots watches{1, ErrorReason::kTooManyWatches, "watches are open"};
  CallSlots streams{1, ErrorReason::kClientBusy, "streams are open"};
  CallSlots agents{1, ErrorReason::kTooManyAgents, "agents are followed"};
  MethodStatistics method;
  grpc::CallbackServerContext rpc;
  Executor executor{{.workers = 1}};
  core::MapStore store{core::StoreOptions()};
  VersionWaits version_waits{store, 1};
  FleetNews fleet{false};
  const ServerContext context{.gate = gate,
                              .access = access,
                              .awaited_requests = awaited_requests,
                              .awaited_of_strangers = awaited_requests,
                              .statistics = statistics,
                              .client_calls = client_calls,
                              .memory = memory,
                              .executor = executor,
                              .transfers = transfers,
                              .watches = watches,
                              .streams = streams,
                              .agents = agents,
                              .version_waits = version_waits,
                              .fleet = fleet};
};

}  // namespace waystar::rpc
