#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "waystar/v1/types.pb.h"

namespace waystar::cli {

// Parses two integers with `separator` between them.
std::optional<std::pair<int32_t, int32_t>> ParsePair(absl::string_view text, char separator);

// Parses a cell: "3,4" is the one with x 3 and y 4. Whether it is on a map is for the server to say.
absl::StatusOr<v1::Cell> ParseCell(absl::string_view text);

// Parses a position: "-3.5,4" is the one with x -3.5 and y 4; a third number is its z.
absl::StatusOr<v1::Position> ParsePosition(absl::string_view text);

std::string FormatCell(const v1::Cell& cell);
// Writes a position, with z unless that is 0.
std::string FormatPosition(const v1::Position& position);

}  // namespace waystar::cli
