// Conversion between the messages of the contract and the values of the core: edits and named obstacles.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "server/core/edit/edit.h"
#include "server/core/elements/obstacle.h"
#include "server/core/store/map_store.h"
#include "server/core/store/update_batch.h"
#include "server/service/convert/hex_coordinates.h"
#include "waystar/v1/edits.pb.h"
#include "waystar/v1/map_service.pb.h"

namespace waystar::rpc {

// The following convert from the wire. Errors are INVALID_ARGUMENT with the field by its path from the
// request's root ("edits[3].put_obstacle.obstacle.shape.discs[0].center"): MISSING_FIELD, UNKNOWN_ENUM_VALUE,
// BAD_EDIT for an edit that is none, UNKNOWN_TERRAIN for a symbol of another length than one byte,
// BAD_LIFETIME for a Duration that is none. The core checks all else. `map` is the id of the map to change.
absl::StatusOr<std::vector<core::Edit>> ToEdits(const google::protobuf::RepeatedPtrField<v1::Edit>& edits,
                                                absl::string_view map, const HexCoordinates& coordinates);
absl::StatusOr<core::PutObstacle> ToPut(const v1::Obstacle& obstacle, const HexCoordinates& coordinates);
// Returns UNAVAILABLE / MAP_LOADING as well for a map that is being loaded: its layout is not known yet.
// Returns OUT_OF_RANGE / OFF_MAP for a cell to block, to unblock or to give a terrain that is off a board of
// hexagons.
absl::StatusOr<core::UpdateBatch> ToUpdateBatch(const core::MapStore& store,
                                                const v1::UpdateObstaclesRequest& request);

// The following fill messages that are empty. ToEdits makes of what FillEdit wrote the edit that it was.
void FillEdit(const core::Edit& edit, const HexCoordinates& coordinates, v1::Edit& out);
// Fills in the obstacle with the lifetime that is left at `now`.
void FillObstacle(const core::Obstacle& obstacle, const HexCoordinates& coordinates, absl::Time now,
                  v1::Obstacle& out);

}  // namespace waystar::rpc
