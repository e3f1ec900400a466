// Reader of the .scen files of the Moving AI benchmark: queries, and the lengths of their optimal paths.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/cli/session.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::cli {

struct ScenarioQuery {
  // The line of the file, counted from 1.
  int line = 0;
  v1::Cell start;
  v1::Cell goal;
  double length = 0.0;
  // By how much a length may differ from what the file says: a unit of the last digit that it has there, and
  // a millionth, as files were computed in single precision.
  double tolerance = 0.0;
};

// Parses a file. Errors: INVALID_ARGUMENT that names the line.
absl::StatusOr<std::vector<ScenarioQuery>> ParseScenario(absl::string_view text);

// Asks for the paths of a file, with all else as `request` and `each` say, and prints how many are as long as
// the file says, and which are not. Returns kFailure if any is not.
ExitCode CheckScenario(const std::string& file, const v1::FindPathsRequest& request,
                       const v1::FindPathRequest& each, Session& session);

}  // namespace waystar::cli
