// Between the messages of the contract and the values of the core: portals.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "server/core/edit/edit.h"
#include "server/core/map/portal.h"
#include "server/core/portal/portal_validation.h"
#include "server/rpc/wire/hex_coordinates.h"
#include "waystar/v1/edits.pb.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {

// From the wire. Errors are INVALID_ARGUMENT with the field below the message: MISSING_FIELD, BAD_VALUE (a
// cost that is no number), BAD_MAP_ID. All else is for the core to check. A portal that names the map it lies
// on as the one it leads to leads to the same.
absl::StatusOr<core::PutPortal> ToPutPortal(const v1::PutPortal& edit, absl::string_view map,
                                            const HexCoordinates& coordinates);
std::vector<core::CrossedPortal> ToCrossedPortals(
    const google::protobuf::RepeatedPtrField<v1::PortalCrossing>& crossings,
    const HexCoordinates& coordinates);

// To the wire: into messages that are empty.
void FillPortal(const core::Portal& portal, v1::Portal& out);

}  // namespace waystar::rpc
