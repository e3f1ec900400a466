#pragma once

#include <google/protobuf/duration.pb.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/path_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::cli {

// Two integers with `separator` between them.
std::optional<std::pair<int32_t, int32_t>> ParsePair(absl::string_view text, char separator);

// "3,4" is the cell with x 3 and y 4. Whether it is on a map is for the server to say.
absl::StatusOr<v1::Cell> ParseCell(absl::string_view text);

// "3,4" is that cell, "harbour" the node of that name, and "3,4,0" or "3.5,4" a position. Which of these a
// map has is for the server to say.
absl::StatusOr<v1::Location> ParsePlace(absl::string_view text);

// "pier,market" is the edge between these nodes both ways, and "pier>market" the one way from pier to market.
absl::StatusOr<v1::EdgeName> ParseEdge(absl::string_view text);

// "-3.5,4" is the point, or the shift, with x -3.5 and y 4.
std::optional<v1::Point> ParsePoint(absl::string_view text);

// "-3.5,4" is the position with x -3.5 and y 4; a third number is its z.
absl::StatusOr<v1::Position> ParsePosition(absl::string_view text);

// Returns the position that is written as the cell is, at height 0.
v1::Position PositionOf(const v1::Cell& cell);

// A width and height, such as "64x48".
absl::StatusOr<v1::BlankGrid> ParseSize(absl::string_view text);

// A positive length of time, such as "5s" or "300ms".
absl::StatusOr<absl::Duration> ParseTimeout(absl::string_view text);

absl::Duration DurationOf(const google::protobuf::Duration& duration);

std::string FormatCell(const v1::Cell& cell);
// With z unless that is 0.
std::string FormatPosition(const v1::Position& position);
// The cell, the position, or the name of the node.
std::string FormatLocation(const v1::Location& location);

// SYMBOL=NAME:COST, such as "~=river:3" or "^=mountain:impassable". Without NAME or :COST, or both, the
// server's defaults hold: "~=river", "~=:3".
absl::StatusOr<v1::Terrain> ParseTerrain(absl::string_view text);

}  // namespace waystar::cli
