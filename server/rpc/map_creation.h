// From what a request says of a map to a map in the store.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/map/grid_map.h"
#include "server/core/store/map_store.h"
#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::rpc {

// The map that a CreateMap request draws, with no side over `max_side`. Errors of the contract, with their
// fields.
absl::StatusOr<core::GridMap> DrawMap(const v1::CreateMapRequest& request, int max_side);

// Parses a file. `prefix` goes before the fields "format" and "grid"; `bytes_field` is to blame for bad
// bytes.
absl::StatusOr<core::GridMap> ParseMapFile(v1::MapFormat format, const std::string& bytes,
                                           const v1::GridOptions& options, int max_side,
                                           absl::string_view prefix, absl::string_view bytes_field);

// The waypoint graph that a CreateMap request describes, with its reference map as it is now.
absl::StatusOr<core::WaypointGraph> BuildGraph(const core::MapStore& store,
                                               const v1::CreateMapRequest& request);

// Puts a map into the store and logs that. `prefix` goes before the field "map".
absl::StatusOr<core::PinnedSnapshot> CreateInStore(core::MapStore& store, const std::string& id,
                                                   core::GridMap grid, absl::string_view prefix);
absl::StatusOr<core::PinnedSnapshot> CreateInStore(core::MapStore& store, const std::string& id,
                                                   core::WaypointGraph graph);

}  // namespace waystar::rpc
