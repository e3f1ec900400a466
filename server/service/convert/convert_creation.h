// Conversion between the messages of the contract and the values of the core: options of grids, and graphs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "server/base/stop_check.h"
#include "server/core/edit/edit.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/grid_map.h"
#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/path_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::rpc {

// The following make maps, or parts of them, from options and other data. They return the errors of
// CreateMap, with the field from the root of the message that holds `grid`, and that of `stop`.
absl::StatusOr<core::GridSettings> ToGridSettings(const v1::GridOptions& options);
absl::StatusOr<core::GridMap> GridFromRows(const google::protobuf::RepeatedPtrField<std::string>& rows,
                                           const v1::GridOptions& options, int max_side,
                                           const StopCheck* stop);
absl::StatusOr<core::GridMap> GridFromBits(const v1::BitGrid& bits, const v1::GridOptions& options,
                                           int max_side, const StopCheck* stop);
// Adds the profiles of the options to the map.
absl::StatusOr<core::GridMap> WithProfiles(absl::StatusOr<core::GridMap> map, const v1::GridOptions& options);

// The following convert from the wire. Errors are INVALID_ARGUMENT with the field path from the message:
// MISSING_FIELD, and the errors of ToPut for obstacles. The core checks everything else. `grid` is the
// reference map, if any.
absl::StatusOr<core::WaypointSpec> ToWaypointSpec(const v1::WaypointGraph& graph,
                                                  std::shared_ptr<const core::GridSight> grid);
absl::StatusOr<core::PutNodes> ToPutNodes(const v1::WaypointNodes& nodes, bool replace);
absl::StatusOr<core::RemoveNodes> ToRemoveNodes(const v1::RemoveNodes& edit);
absl::StatusOr<core::PutEdges> ToPutEdges(const v1::WaypointEdges& edges, bool replace);
absl::StatusOr<core::RemoveEdges> ToRemoveEdges(const v1::RemoveEdges& edit);
absl::StatusOr<core::SetEnabled> ToSetEnabled(const v1::SetEnabled& edit);
std::vector<core::EdgeName> ToEdgeNames(const google::protobuf::RepeatedPtrField<v1::EdgeName>& names);

// The following fill empty messages; the functions above are their inverses.
void FillNodes(const std::vector<core::WaypointNode>& nodes, v1::WaypointNodes& out);
void FillRemoveNodes(const core::RemoveNodes& edit, v1::RemoveNodes& out);
void FillEdges(const std::vector<core::WaypointEdge>& edges, v1::WaypointEdges& out);
void FillRemoveEdges(const core::RemoveEdges& edit, v1::RemoveEdges& out);
void FillSetEnabled(const core::SetEnabled& edit, v1::SetEnabled& out);

void FillGraphInfo(const core::WaypointGraph& graph, v1::WaypointGraphInfo& out);
void FillNodeInfo(const core::WaypointGraph& graph, core::NodeNumber node, v1::WaypointNodeInfo& out);

}  // namespace waystar::rpc
