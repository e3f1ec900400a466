// Has answers tell how old what they tell may be.
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

// The most that `staleness` takes in an answer.
inline constexpr std::size_t kStalenessBytes = 24;

// Has the answers of `handler` tell their staleness, if the server is one of a fleet that was quiet for
// FleetNews::kQuietTime. An answer about a map that came with its query has none. `fleet` must outlive the
// handler.
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
