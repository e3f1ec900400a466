// Conversion between the messages of the contract and the values of the core: movement profiles.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/map/movement_profile.h"
#include "waystar/v1/types.pb.h"

namespace waystar::rpc {

// Converts from the wire; core::CheckProfile must still check it against a map. Errors are INVALID_ARGUMENT
// with the field: UNKNOWN_ENUM_VALUE, BAD_VALUE, UNKNOWN_TERRAIN for an invalid symbol.
absl::StatusOr<core::MovementProfile> ToMovementProfile(const v1::MovementProfile& profile);
// Like the above, with fields under "profile.", and MISSING_FIELD.
absl::StatusOr<core::NamedProfile> ToNamedProfile(const v1::NamedProfile& named);

// Adds the profiles of a request that creates `map`. Returns the errors of the above and of core::PutInTable,
// with the field under "profiles[i].".
absl::Status AddProfiles(const v1::GridOptions& options, core::GridMap& map);

// Converts to the wire.
void FillNamedProfile(const core::NamedProfile& named, v1::NamedProfile& out);

}  // namespace waystar::rpc
