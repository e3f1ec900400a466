// Handler of PictureService.RenderMap.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "server/core/store/map_store.h"
#include "server/service/call/call_context.h"
#include "waystar/v1/picture_service.pb.h"

namespace waystar::rpc {

// Checks the request, answers its query, if any, and draws the map's latest snapshot. Returns
// RESOURCE_EXHAUSTED / RESPONSE_TOO_LARGE if the response exceeds `max_bytes`.
absl::Status AnswerRenderMap(const core::MapStore& store, std::size_t max_bytes,
                             const v1::RenderMapRequest& request, v1::RenderMapResponse& response,
                             CallContext& context);

}  // namespace waystar::rpc
