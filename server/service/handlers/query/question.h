// A question about one map, ready to be answered by the code for its kind.
#pragma once

#include <cstddef>
#include <optional>

#include "server/core/map/map_snapshot.h"
#include "server/core/query/route_query.h"
#include "server/core/store/map_store.h"
#include "server/service/call/call_context.h"
#include "server/service/convert/hex_coordinates.h"

namespace waystar::rpc {

// Fields common to all questions. The referenced objects must outlive it.
struct Question {
  const core::MapStore& store;
  const core::MapSnapshot& snapshot;
  // Coordinates of the cells of the request and the answer.
  HexCoordinates coordinates;
  core::AgentQuery agent;
  std::optional<core::Snap> snap;
  // Larger answers are rejected.
  std::size_t max_bytes = 0;
  CallContext& context;
};

}  // namespace waystar::rpc
