#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::load {

// A part of the queries of a load.
struct Part {
  // The weight of the part: its share of all queries is in proportion to the weights of the others.
  double weight = 1;
  // Fields common to its queries: at least the map.
  v1::FindPathRequest common;
  std::vector<v1::FindPathRequest> queries;
  // How many pairs of random cells to add.
  int random_pairs = 0;
};

// Makes the query lead from one place to the other, and to no other goal.
void SetEnds(const v1::Location& start, const v1::Location& goal, v1::FindPathRequest& query);

using FileReader = std::function<absl::StatusOr<std::string>(const std::string& name)>;

// Reads a mix of queries: one part a line, by a weight and a map.
//
//   # Lines like this one, and empty ones, are passed over.
//   70 arena random 1000
//   20 arena pair 1,1 60,40 {"path_form": "PATH_FORM_CORNERS"}
//    9 arena scen arena.map.scen {"agent": {"profile_name": "tank"}}
//    1 islands query {"start": {"node": "harbour"}, "goals": [{"node": "lighthouse"}]}
//
// "random" is pairs of cells that an agent can be on, of nodes or of points of a mesh, and "scen" the
// scenarios of a file of the Moving AI benchmarks: of cells, or of positions if one of the numbers in it has
// a point. The end of a line is JSON of a FindPathRequest. Errors: INVALID_ARGUMENT that names the line.
absl::StatusOr<std::vector<Part>> ParseScenario(absl::string_view text, const FileReader& read_file);

}  // namespace waystar::load
