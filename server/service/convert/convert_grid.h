// Conversion of messages to grids.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "server/base/stop_check.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/grid_map.h"
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

}  // namespace waystar::rpc
