// Conversion between the messages of the contract and the values of the core: fields, rays and samples.
#pragma once

#include <optional>
#include <vector>

#include "server/core/grid/cells/world_frame.h"
#include "server/core/grid/field/cost_matrix.h"
#include "server/core/grid/field/grid_fields.h"
#include "server/core/grid/field/sample_cells.h"
#include "server/core/grid/path/cell_ray.h"
#include "server/core/grid/search/agent.h"
#include "server/geometry/cell.h"
#include "server/service/convert/hex_coordinates.h"
#include "waystar/v1/fields.pb.h"

namespace waystar::rpc {

// The following convert everything but agents and locations from the wire. `region` is that of the plane.
core::ReachQuery ToReachQuery(const v1::FindReachableRequest& request,
                              const std::optional<core::Rectangle>& region);
// `goals` must outlive the query.
core::FlowFieldQuery ToFlowFieldQuery(const v1::ComputeFlowFieldRequest& request,
                                      const std::vector<core::Cell>& goals,
                                      const std::optional<core::Rectangle>& region);
core::SampleQuery ToSampleQuery(const v1::SampleCellsRequest& request,
                                const std::optional<core::Rectangle>& region);

// The following convert to the wire.
void FillReachable(const core::ReachableCells& reachable, const HexCoordinates& coordinates,
                   v1::FindReachableResponse& response);
// `part` is the region of the field in client coordinates.
void FillFlowField(const core::FlowField& field, const core::Rectangle& part,
                   const HexCoordinates& coordinates, v1::ComputeFlowFieldResponse& response);
void FillRayHit(const core::RayHit& hit, const core::WorldFrame& frame, const HexCoordinates& coordinates,
                v1::CastRayResponse& response);

}  // namespace waystar::rpc
