#pragma once

#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "waystar/v1/picture_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::cli {

// The help of arguments that ParseShape reads.
extern const char kShapeHelp[];

// Parses a rectangle, by two opposite corners that both belong to it, "3,4..6,9", or by its top left cell,
// width and height, "3,4+4x6".
absl::StatusOr<v1::Rectangle> ParseRectangle(absl::string_view text);

// A part of a map: a rectangle of cells, or an area of the world.
using MapPart = std::variant<v1::Rectangle, v1::WorldArea>;

// Parses a rectangle as ParseRectangle does. If a number has a fraction it is an area of the world, by two
// opposite corners, "13.4,52.5..13.42,52.52", or by its lowest corner, width and height, "0,0+2.5x4".
absl::StatusOr<MapPart> ParseMapPart(absl::string_view text);

// Parses a shape of one part: a cell "3,4"; a rectangle; "disc:X,Y,RADIUS"; "polygon:X,Y..X,Y..X,Y" and so
// on; "line:X,Y..X,Y", or "line:X,Y..X,Y,WIDTH". Cells and rectangles are whole numbers, the others need not
// be.
absl::StatusOr<v1::Shape> ParseShape(absl::string_view text);

// Writes the parts as ParseShape reads them, with blanks between; the first few of them if there are many.
std::string FormatShape(const v1::Shape& shape);

std::string FormatRectangle(const v1::Rectangle& rectangle);

}  // namespace waystar::cli
