// Server-wide state shared with each call, from the gate to the slots.
#pragma once

#include "server/service/admission/arrival_pause.h"
#include "server/service/admission/awaited_requests.h"
#include "server/service/admission/call_gate.h"
#include "server/service/admission/call_memory.h"
#include "server/service/admission/call_slots.h"
#include "server/service/admission/call_statistics.h"
#include "server/service/admission/executor.h"
#include "server/service/admission/fleet_news.h"
#include "server/service/admission/version_waits.h"
#include "server/service/auth/access_control.h"

namespace waystar::rpc {

// Built by the server, which owns the referenced objects; they outlive every call.
struct ServerContext {
  CallGate& gate;
  const AccessControl& access;
  // Requests of identified callers, and of all others, which have fewer places.
  AwaitedRequests& awaited_requests;
  AwaitedRequests& awaited_of_strangers;
  CallStatistics& statistics;
  // Counts the calls of each client, except those on Lane::kHere.
  ClientCalls& client_calls;
  CallMemory& memory;
  // Pauses arrival threads.
  ArrivalPause& arrival_pause;
  Executor& executor;
  // Bounds imports, exports and traces together.
  CallSlots& transfers;
  CallSlots& watches;
  // Bounds streams of queries and of updates.
  CallSlots& streams;
  VersionWaits& version_waits;
  const FleetNews& fleet;
};

}  // namespace waystar::rpc
