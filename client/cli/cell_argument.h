#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::cli {

// "3,4" is the cell with x 3 and y 4. Whether it is on a map is for the server to say.
absl::StatusOr<v1::Cell> ParseCell(absl::string_view text);

// A shape of one part: a cell "3,4"; or a rectangle, by two opposite corners that both belong to it,
// "3,4..6,9", or by its top left cell, width and height, "3,4+4x6".
absl::StatusOr<v1::Shape> ParseShape(absl::string_view text);

std::string FormatCell(const v1::Cell& cell);

}  // namespace waystar::cli
