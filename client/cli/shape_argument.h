#pragma once

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/message.h>

#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/path_service.pb.h"
#include "waystar/v1/picture_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::cli {

// A part of a map: a rectangle of cells, or an area of the world.
using MapPart = std::variant<v1::Rectangle, v1::WorldArea>;

// Parses a rectangle, by two opposite corners that both belong to it, "3,4..6,9", or by its top left cell,
// width and height, "3,4+4x6". If a number has a fraction it is an area of the world, by two opposite
// corners, "13.4,52.5..13.42,52.52", or by its lowest corner, width and height, "0,0+2.5x4".
absl::StatusOr<MapPart> ParseMapPart(absl::string_view text);

// Parses a shape of one part: a cell "3,4"; a rectangle; "disc:X,Y,RADIUS"; "polygon:X,Y..X,Y..X,Y" and so
// on; "line:X,Y..X,Y", or "line:X,Y..X,Y,WIDTH". Cells and rectangles are whole numbers, the others need not
// be.
absl::StatusOr<v1::Shape> ParseShape(absl::string_view text);

// Writes the parts as ParseShape reads them, with blanks between; the first few of them if there are many.
std::string FormatShape(const v1::Shape& shape);

// "3,4" is the cell with x 3 and y 4. Whether it is on a map is for the server to say.
absl::StatusOr<v1::Cell> ParseCell(absl::string_view text);

// "3,4" is that cell, "harbour" the node of that name, and "3,4,0" or "3.5,4" a position. Which of these a
// map has is for the server to say.
absl::StatusOr<v1::Location> ParsePlace(absl::string_view text);

// "-3.5,4" is the shift by x -3.5 and y 4.
absl::StatusOr<v1::Point> ParseShift(absl::string_view text);

// "-3.5,4" is the position with x -3.5 and y 4; a third number is its z.
absl::StatusOr<v1::Position> ParsePosition(absl::string_view text);

// "0,0,1..8,0,1..4,6,2" is the polygon with these corners, and "water:0,0..8,0..4,6" one of that terrain.
absl::StatusOr<v1::GroundPolygon> ParseGroundPolygon(absl::string_view text);

// Returns the position that is written as the cell is, at height 0.
v1::Position PositionOf(const v1::Cell& cell);

// A width and height, such as "64x48".
absl::StatusOr<v1::BlankGrid> ParseSize(absl::string_view text);

// A positive length of time, such as "5s" or "300ms".
absl::StatusOr<absl::Duration> ParseTimeout(absl::string_view text);

absl::Duration DurationOf(const google::protobuf::Duration& duration);
google::protobuf::Duration ToMessage(absl::Duration duration);

std::string FormatCell(const v1::Cell& cell);
// With z unless that is 0.
std::string FormatPosition(const v1::Position& position);
// The cell, the position, or the name of the node.
std::string FormatLocation(const v1::Location& location);

// Merges what an argument says into a message: one of these types, a Rectangle, a Duration or a Timestamp, or
// - an EdgeName, "pier,market" for both ways, and "pier>market" for the one way from pier to market;
// - a HeightRange, "3:5", "3:" or ":5";
// - an ObstaclePrice, ID=COST with the beginning of an obstacle's id;
// - a Terrain, SYMBOL=NAME:COST, such as "~=river:3" or "^=mountain:impassable". Without NAME or :COST, or
//   both, the server's defaults hold: "~=river", "~=:3";
// - a MeshTerrain, AREA=NAME:COST, such as "1=water:3" or "2=lava:impassable", likewise;
// - a TerrainCost, TERRAIN=COST.
absl::Status ParseMessage(absl::string_view text, google::protobuf::Message& message);

}  // namespace waystar::cli
