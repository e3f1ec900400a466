// Conversion between the messages of the contract and the values of the core: edits and named obstacles.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "server/core/edit/edit.h"
#include "server/core/elements/map_kind.h"
#include "server/core/elements/obstacle.h"
#include "server/core/store/map_store.h"
#include "server/core/store/update_batch.h"
#include "server/service/convert/hex_coordinates.h"
#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::rpc {

// The following convert from the wire. Errors are INVALID_ARGUMENT with the field path from the request's
// root ("edits[3].add_obstacle.shape.discs[0].center"): MISSING_FIELD, UNKNOWN_ENUM_VALUE, BAD_EDIT
// for an empty or unknown edit, UNKNOWN_TERRAIN for a symbol that is not one byte, BAD_LIFETIME for an
// invalid Duration, those of ToPutPortal; and WRONG_MAP_KIND for heights. The core checks everything else.
// `map` is the id of the map to change, and `kind` its kind: profiles differ on meshes.
absl::StatusOr<std::vector<core::Edit>> ToEdits(const google::protobuf::RepeatedPtrField<v1::Edit>& edits,
                                                absl::string_view map, const HexCoordinates& coordinates,
                                                core::MapKind kind = core::MapKind::kSquares);
absl::StatusOr<core::PutObstacle> ToPut(const v1::Obstacle& obstacle, const HexCoordinates& coordinates);
// Also returns UNAVAILABLE / MAP_LOADING for a map that is being loaded, whose layout is not known yet, and
// OUT_OF_RANGE / OFF_MAP for a cell off a board of hexagons that is to be blocked, unblocked or given a
// terrain, and NOT_IMPLEMENTED for a named obstacle on a mesh.
absl::StatusOr<core::UpdateBatch> ToUpdateBatch(const core::MapStore& store,
                                                const v1::UpdateMapRequest& request);

// The following fill empty messages. ToEdits is the inverse of FillEdit.
void FillEdit(const core::Edit& edit, const HexCoordinates& coordinates, v1::Edit& out);
// Fills in the obstacle with its remaining lifetime at `now`.
void FillObstacle(const core::Obstacle& obstacle, const HexCoordinates& coordinates, absl::Time now,
                  v1::Obstacle& out);

}  // namespace waystar::rpc
