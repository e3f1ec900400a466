#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/client.h"
#include "waystar/v1/path_service.pb.h"
#include "waystar/v1/types.pb.h"

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

// Scenarios of the Moving AI benchmarks; those of meshes are written alike.
// Returns the words of a line: bucket, map, width, height, start x and y, goal x and y, and mostly a length.
std::vector<absl::string_view> ScenarioWords(absl::string_view line);

// Returns whether one of the places in a file has a fraction: those of grids are cells, and those of meshes
// positions.
bool HasPositions(absl::string_view text);

// Reads the start and the goal of a line. Returns false if it has none, or words that are no such numbers.
bool ReadScenarioEnds(const std::vector<absl::string_view>& words, bool has_positions, v1::Location& start,
                      v1::Location& goal);

// Immutable set of queries to choose from, and of cells that updates may block and unblock.
class Workload {
 public:
  using Random = std::mt19937_64;

  // Draws from the server what the parts leave to chance. With `want_toggles` it also draws a few cells to
  // block from the maps of all parts; no query whose cells are given starts or ends there, and random queries
  // avoid them. Errors: those of SamplePlaces; FAILED_PRECONDITION if a map has no place to draw, or
  // none to block.
  static absl::StatusOr<Workload> Make(std::vector<Part> parts, const client::Client& client,
                                       std::uint64_t seed, bool want_toggles);

  // Returns the queries of a part, which differ in their ends; parts are picked by weight.
  const std::vector<v1::FindPathRequest>& PickPart(Random& random) const;
  static const v1::FindPathRequest& PickQuery(const std::vector<v1::FindPathRequest>& part, Random& random);

  struct Toggle {
    std::string map;
    v1::Cell cell;
  };
  const std::vector<Toggle>& toggles() const { return toggles_; }

 private:
  Workload() = default;

  std::vector<Part> parts_;
  // Prefix sums of the weights of the parts.
  std::vector<double> weights_;
  std::vector<Toggle> toggles_;
};

}  // namespace waystar::load
