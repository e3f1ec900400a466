#pragma once

#include <google/protobuf/repeated_ptr_field.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/draw/overlay.h"
#include "client/cli/draw/picture.h"
#include "client/cli/searched_places.h"
#include "client/cli/session.h"
#include "client/client.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::cli {

// Draws a map in text format as a picture for people, with `overlay` on it, a legend and, if not all of the
// map fits the window, a caption. Errors: DATA_LOSS if the file is not the map that its header describes.
absl::StatusOr<std::string> MapPicture(const client::ExportedMap& map, const Overlay& overlay, Window window,
                                       bool color);

// Returns those of the locations that are cells.
std::vector<v1::Cell> GivenCells(const google::protobuf::RepeatedPtrField<v1::Location>& locations);

// Drawing options of the user.
struct DrawOptions {
  bool picture = true;
  // Every cell of the map, however large.
  bool full = false;
};

// --no-picture and --full.
void AddDrawOptions(CLI::App& command, DrawOptions& options);

// The characters there are for a map, next to its rulers and the lines below it.
Window WindowFor(const DrawOptions& options, const Io& io);

// Shows the map of a query, if a picture is wanted, with the answer's path and the cells of its search drawn
// on it, or tells why it cannot. Asks the server for the map, and says so if that has changed since.
void ShowAnswerPicture(const v1::FindPathRequest& request, const v1::FindPathResponse& answer,
                       const SearchedPlaces& search, const DrawOptions& options, Session& session);

// The same for what is in `overlay`, an answer for `version`.
void ShowFieldPicture(const std::string& map, const Overlay& overlay, const v1::Version& version,
                      const DrawOptions& options, Session& session);

}  // namespace waystar::cli
