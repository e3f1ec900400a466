// Conversion between the messages of the contract and the values of the core: shapes.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "server/core/edit/edit.h"
#include "server/core/elements/portal.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/map/movement_profile.h"
#include "server/core/grid/portal/portal_search.h"
#include "server/core/mesh/map/mesh_terrain.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/portal/mesh_portal_search.h"
#include "server/geometry/cell.h"
#include "server/geometry/shape.h"
#include "server/service/convert/hex_coordinates.h"
#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/path_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::rpc {

// The following convert from the wire. Errors are INVALID_ARGUMENT / MISSING_FIELD with the field path from
// the shape, such as "discs[0].center", and those of `coordinates`. The core checks everything else.
core::Rectangle ToRectangle(const v1::Rectangle& rectangle);
absl::StatusOr<core::Shape> ToShape(const v1::Shape& shape, const HexCoordinates& coordinates);

// The following fill empty messages. ToShape is the inverse of FillShape.
void FillRectangle(const core::Rectangle& rectangle, v1::Rectangle& out);
void FillShape(const core::Shape& shape, const HexCoordinates& coordinates, v1::Shape& out);

// Converts from the wire; core::CheckProfile must still check it against a map. Errors are INVALID_ARGUMENT
// with the field: UNKNOWN_ENUM_VALUE, BAD_VALUE, UNKNOWN_TERRAIN for an invalid symbol.
absl::StatusOr<core::MovementProfile> ToMovementProfile(const v1::MovementProfile& profile);
// Returns what the profile says of the ground of a navigation mesh.
core::GroundRules ToGroundRules(const v1::MovementProfile& profile);
// Like the above, with fields under "profile.", and MISSING_FIELD.
absl::StatusOr<core::NamedProfile> ToNamedProfile(const v1::NamedProfile& named);

// Returns a profile of a navigation mesh; core::CheckProfile must still check it. Errors have fields under
// "profile.": MISSING_FIELD, UNKNOWN_ENUM_VALUE, or WRONG_MAP_KIND for a field that meshes do not support.
absl::StatusOr<core::MeshProfile> ToMeshProfile(const v1::NamedProfile& named);

// Adds the profiles of a request that creates `map`. Returns the errors of the above and of core::PutInTable,
// with the field under "profiles[i].".
absl::Status AddProfiles(const v1::GridOptions& options, core::GridMap& map);

// Convert to the wire.
void FillNamedProfile(const core::NamedProfile& named, v1::NamedProfile& out);
void FillNamedProfile(const core::MeshProfile& named, v1::NamedProfile& out);

// The following convert from the wire. Errors are INVALID_ARGUMENT with the field relative to the message:
// MISSING_FIELD, BAD_PORTAL (mixed ends), BAD_VALUE (a cost that is NaN), BAD_MAP_ID; and for a width
// WRONG_MAP_KIND, or NOT_IMPLEMENTED on meshes. The core checks everything else. A portal to its own map
// stays within it. One with a position at an end is a portal of navigation meshes.
absl::StatusOr<core::Edit> ToPutPortal(const v1::Portal& portal, bool replace, absl::string_view map,
                                       const HexCoordinates& coordinates);
// `behind` are the coordinates of the maps that the crossings lead to.
std::vector<core::CrossedPortal> ToCrossedPortals(
    const google::protobuf::RepeatedPtrField<v1::PortalCrossing>& crossings,
    absl::Span<const HexCoordinates> behind);

std::vector<core::CrossedMeshPortal> ToCrossedMeshPortals(
    const google::protobuf::RepeatedPtrField<v1::PortalCrossing>& crossings);

// Fill an empty message.
void FillPortal(const core::Portal& portal, const HexCoordinates& coordinates, v1::Portal& out);
void FillPortal(const core::MeshPortal& portal, const HexCoordinates& coordinates, v1::Portal& out);

}  // namespace waystar::rpc
