// The places in scenarios of the Moving AI benchmarks, which those of meshes are written like.
#pragma once

#include <vector>

#include "absl/strings/string_view.h"
#include "waystar/v1/types.pb.h"

namespace waystar::load {

// Returns the words of a line: bucket, map, width, height, start x and y, goal x and y, and mostly a length.
std::vector<absl::string_view> ScenarioWords(absl::string_view line);

// Returns whether one of the places in a file has a fraction: those of grids are cells, and those of meshes
// positions.
bool HasPositions(absl::string_view text);

// Reads the start and the goal of a line. Returns false if it has none, or words that are no such numbers.
bool ReadScenarioEnds(const std::vector<absl::string_view>& words, bool has_positions, v1::Location& start,
                      v1::Location& goal);

}  // namespace waystar::load
