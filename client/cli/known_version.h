// Versions of maps that are given by their revision alone.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "client/cli/session.h"
#include "waystar/v1/types.pb.h"

namespace waystar::cli {

// Gives a revision without an epoch the epoch that the map has now: the server takes none without. Returns
// the errors of GetMap.
absl::Status CompleteVersion(Session& session, const std::string& map, v1::Version& version);

}  // namespace waystar::cli
