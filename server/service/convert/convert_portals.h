// Conversion between the messages of the contract and the values of the core: portals.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "server/core/edit/edit.h"
#include "server/core/elements/portal.h"
#include "server/core/grid/portal/portal_validation.h"
#include "server/core/mesh/map/mesh_portal.h"
#include "server/core/mesh/portal/mesh_portal_validation.h"
#include "server/service/convert/hex_coordinates.h"
#include "waystar/v1/edits.pb.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {

// The following convert from the wire. Errors are INVALID_ARGUMENT with the field relative to the message:
// MISSING_FIELD, BAD_PORTAL (mixed ends), BAD_VALUE (a cost that is NaN), BAD_MAP_ID. The core checks
// everything else. A portal to its own map stays within it. One with a position at an end is a portal of
// navigation meshes.
absl::StatusOr<core::Edit> ToPutPortal(const v1::PutPortal& edit, absl::string_view map,
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
