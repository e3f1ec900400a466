#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "client/cli/draw_options.h"
#include "client/cli/search_cells.h"
#include "client/cli/session.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::cli {

// Draws the map of a query, fetched from the server, with the answer's path and the cells of its search. The
// picture says so if the map has changed since.
absl::StatusOr<std::string> AnswerPicture(const v1::FindPathRequest& request,
                                          const v1::FindPathResponse& answer, const SearchCells& search,
                                          const DrawOptions& options, Session& session);

}  // namespace waystar::cli
