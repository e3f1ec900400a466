// Maps within queries.
#pragma once

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "server/base/memory_account.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/search/query.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {

inline constexpr std::size_t kMaxInlineCells = 65'536;
inline constexpr std::size_t kMaxInlineNodes = 4'096;
inline constexpr std::size_t kMaxInlineEdges = 65'536;
inline constexpr std::size_t kMaxInlineObstacles = 256;

// A map that lives as long as its query.
struct InlineSnapshot {
  // Has no id, epoch or revision.
  core::MapSnapshot snapshot;
  MemoryAccount::Reservation memory;
};

// Makes the map. Returns the errors of CreateMap, with the field under "inline_map."; INVALID_ARGUMENT /
// BAD_SOURCE with "inline_map" unless it has exactly one source; INVALID_ARGUMENT / BAD_SIZE or
// RESOURCE_EXHAUSTED / TOO_MANY_NODES, TOO_MANY_EDGES or TOO_MANY_OBSTACLES for a map that is too large;
// RESOURCE_EXHAUSTED / MAPS_MEMORY_FULL with "inline_map"; and the errors of BeginUpkeep, as it is never made
// on threads without upkeep.
absl::StatusOr<std::unique_ptr<InlineSnapshot>> MakeInlineMap(const v1::InlineMap& map,
                                                              MemoryAccount& account,
                                                              const core::Budget& budget);

}  // namespace waystar::rpc
