// What the server shares with each call: where it enters, who may make it, where it runs, how it is counted.
#pragma once

#include "server/rpc/access/access_control.h"
#include "server/rpc/admission/arrival_pause.h"
#include "server/rpc/admission/call_gate.h"
#include "server/rpc/admission/call_slots.h"
#include "server/rpc/admission/call_statistics.h"
#include "server/rpc/admission/client_calls.h"
#include "server/rpc/admission/executor.h"

namespace waystar::rpc {

// Built by the server, which owns all of it; everything named here outlives every call.
struct ServerContext {
  CallGate& gate;
  const AccessControl& access;
  CallStatistics& statistics;
  // Calls of each client. Those that are answered on the thread that they arrive on are not counted.
  ClientCalls& client_calls;
  // Of the threads that calls arrive on.
  ArrivalPause& arrival_pause;
  Executor& executor;
  // Of imports, exports and traces.
  CallSlots& transfers;
  CallSlots& watches;
};

}  // namespace waystar::rpc
