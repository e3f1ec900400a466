#include "server/rpc/obstacle_listing.h"

namespace waystar::rpc {

absl::Status ListNamedObstacles(const core::MapStore& /*store*/, const v1::ListObstaclesRequest& /*request*/,
                                v1::ListObstaclesResponse& /*response*/) {
  return absl::UnimplementedError("not yet");
}

}  // namespace waystar::rpc
