// Adds the staleness of the server to answers.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "server/service/admission/fleet_news.h"
#include "server/service/call/call_context.h"
#include "server/service/call/unary_call.h"
#include "server/service/call/written_message.h"
#include "server/service/convert/convert.h"

namespace waystar::rpc {

// Maximum size of `staleness` in an answer.
inline constexpr std::size_t kStalenessBytes = 24;

// Wraps `handler` so that its answers have their staleness, if the server is in a fleet from which it has not
// heard for FleetNews::kQuietTime. Answers about inline maps have none. `fleet` must outlive the handler.
template <typename Request, typename Response>
void StampStaleness(const FleetNews& fleet, UnaryHandler<Request, Response>& handler) {
  if (!fleet.is_fleet()) {
    return;
  }
  handler = [&fleet, handle = std::move(handler)](const Request& request, Response& response,
                                                  CallContext& context) {
    const absl::Status status = handle(request, response, context);
    const std::optional<std::chrono::nanoseconds> age = fleet.QuietFor(context.begin);
    if (!age || !status.ok() || context.NeedsLargerLane()) {
      return status;
    }
    if constexpr (requires { request.has_inline_map(); }) {
      if (request.has_inline_map()) {
        return status;
      }
    }
    FillDuration(*age, *response.mutable_staleness());
    if (WrittenMessage* const written = context.WrittenFor(response);
        written != nullptr && !written->empty()) {
      Response rest;
      *rest.mutable_staleness() = response.staleness();
      written->AddFieldsOf(rest);
    }
    return status;
  };
}

}  // namespace waystar::rpc
