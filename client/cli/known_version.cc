#include "client/cli/known_version.h"

#include "absl/status/statusor.h"
#include "waystar/v1/map_service.pb.h"

namespace waystar::cli {

absl::Status CompleteVersion(Session& session, const std::string& map, v1::Version& version) {
  if (version.revision() == 0 || version.epoch() != 0) {
    return absl::OkStatus();
  }
  v1::GetMapRequest request;
  request.set_map(map);
  const absl::StatusOr<v1::GetMapResponse> got = session.client().GetMap(request);
  if (got.ok()) {
    version.set_epoch(got->info().version().epoch());
  }
  return got.status();
}

}  // namespace waystar::cli
