// Conversion of fields and rays to messages.
#pragma once

#include "server/core/grid/cells/world_frame.h"
#include "server/core/grid/field/cost_matrix.h"
#include "server/core/grid/field/grid_fields.h"
#include "server/core/grid/field/sample_cells.h"
#include "server/core/grid/path/line_of_sight.h"
#include "server/core/grid/search/agent.h"
#include "server/geometry/cell.h"
#include "server/service/convert/hex_coordinates.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {

void FillReachable(const core::ReachableCells& reachable, const HexCoordinates& coordinates,
                   v1::FindReachableResponse& response);
// `part` is the region of the field in client coordinates.
void FillFlowField(const core::FlowField& field, const core::Rectangle& part,
                   const HexCoordinates& coordinates, v1::ComputeFlowFieldResponse& response);
void FillRayHit(const core::RayHit& hit, const core::WorldFrame& frame, const HexCoordinates& coordinates,
                v1::CastRayResponse& response);

}  // namespace waystar::rpc
