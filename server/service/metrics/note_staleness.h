// Staleness of the server, for answers.
#pragma once

#include <utility>

#include "server/service/admission/fleet_news.h"
#include "server/service/call/call_context.h"
#include "server/service/call/unary_call.h"

namespace waystar::rpc {

// Wraps `handler` so that its context has the server's staleness. `fleet` must outlive the handler.
template <typename Request, typename Response>
void NoteStaleness(const FleetNews& fleet, UnaryHandler<Request, Response>& handler) {
  if (!fleet.is_fleet()) {
    return;
  }
  handler = [&fleet, handle = std::move(handler)](const Request& request, Response& response,
                                                  CallContext& context) {
    context.staleness = fleet.QuietFor(context.begin);
    return handle(request, response, context);
  };
}

}  // namespace waystar::rpc
