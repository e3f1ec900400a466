// Lists the portals of a map.
#pragma once

#include "absl/status/status.h"
#include "server/core/store/map_store.h"
#include "waystar/v1/map_service.pb.h"

namespace waystar::rpc {

// One page, in the order of ids; a page token is the last id of the page before. Errors as the contract says.
absl::Status ListMapPortals(const core::MapStore& store, const v1::ListPortalsRequest& request,
                            v1::ListPortalsResponse& response);

}  // namespace waystar::rpc
