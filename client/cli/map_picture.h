#pragma once

#include <google/protobuf/repeated_ptr_field.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "client/cli/draw/overlay.h"
#include "client/cli/draw/picture.h"
#include "client/cli/session.h"
#include "client/client.h"
#include "waystar/v1/path_service.pb.h"
#include "waystar/v1/picture_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::cli {

// The places of a search, gathered from its events: cells of a grid, nodes of a waypoint graph, or intervals
// of edges of a navigation mesh.
class SearchedPlaces {
 public:
  // Takes the next event.
  void Add(const v1::SearchEvent& event);

  // Returns how many were generated and not expanded.
  std::size_t open() const { return places_.size() - expanded_.size(); }

  // Return for each place the event that last reached it, with the costs of the last event about it: those
  // that were expanded, in the order of their expansion, and those that are open, in the order in which they
  // were first generated.
  std::vector<v1::SearchEvent> Expanded() const;
  std::vector<v1::SearchEvent> Open() const;

 private:
  struct Place {
    v1::SearchEvent reached;
    bool is_expanded = false;
  };

  // In the order in which they were first generated.
  std::vector<Place> places_;
  // Indices of places_.
  std::vector<std::size_t> expanded_;
  absl::flat_hash_map<std::string, std::size_t> indices_;
};

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
