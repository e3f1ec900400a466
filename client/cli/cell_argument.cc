#include "client/cli/cell_argument.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace waystar::cli {
namespace {

constexpr absl::string_view kImpassable = "impassable";

absl::Status Malformed(absl::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat(
      "'", text, "' is not a terrain: write SYMBOL=NAME:COST such as ~=river:3 or ^=mountain:impassable"));
}

bool IsNodeName(absl::string_view text) {
  return !text.empty() && absl::ascii_isalnum(static_cast<unsigned char>(text.front())) &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return absl::ascii_isalnum(c) || absl::StrContains("_.:-", static_cast<char>(c));
         });
}

}  // namespace

std::optional<std::pair<int32_t, int32_t>> ParsePair(absl::string_view text, char separator) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits(separator, 1));
  int32_t first = 0;
  int32_t second = 0;
  if (!absl::SimpleAtoi(parts.first, &first) || !absl::SimpleAtoi(parts.second, &second)) {
    return std::nullopt;
  }
  return std::pair(first, second);
}

absl::StatusOr<v1::Cell> ParseCell(absl::string_view text) {
  const auto pair = ParsePair(text, ',');
  if (!pair) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not a cell: write X,Y such as 3,4"));
  }
  v1::Cell cell;
  cell.set_x(pair->first);
  cell.set_y(pair->second);
  return cell;
}

absl::StatusOr<v1::Location> ParsePlace(absl::string_view text) {
  v1::Location place;
  if (const absl::StatusOr<v1::Cell> cell = ParseCell(text); cell.ok()) {
    *place.mutable_cell() = *cell;
    return place;
  }
  if (const absl::StatusOr<v1::Position> position = ParsePosition(text); position.ok()) {
    *place.mutable_position() = *position;
    return place;
  }
  const bool has_letters = std::any_of(text.begin(), text.end(), absl::ascii_isalpha);
  // A number with a point is half a position.
  if (!IsNodeName(text) || (!has_letters && absl::StrContains(text, '.'))) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", text,
        "' is not a cell: write X,Y such as 3,4, on a waypoint graph the name of a node, or a position such "
        "as 3.5,4 or 3,4,0"));
  }
  place.set_node(std::string(text));
  return place;
}

absl::StatusOr<v1::EdgeName> ParseEdge(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> ends =
      absl::StrSplit(text, absl::MaxSplits(absl::ByAnyChar(",>"), 1));
  if (!IsNodeName(ends.first) || !IsNodeName(ends.second)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", text, "' is not an edge: write FROM,TO such as pier,market, or 'FROM>TO' for one way alone"));
  }
  v1::EdgeName edge;
  edge.set_from(std::string(ends.first));
  edge.set_to(std::string(ends.second));
  edge.set_one_way(absl::StrContains(text, '>'));
  return edge;
}

std::optional<v1::Point> ParsePoint(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(text, absl::MaxSplits(',', 1));
  double x = 0;
  double y = 0;
  if (!absl::SimpleAtod(parts.first, &x) || !absl::SimpleAtod(parts.second, &y)) {
    return std::nullopt;
  }
  v1::Point point;
  point.set_x(x);
  point.set_y(y);
  return point;
}

absl::StatusOr<v1::Position> ParsePosition(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ',');
  double values[3] = {0.0, 0.0, 0.0};
  bool is_good = parts.size() == 2 || parts.size() == 3;
  for (size_t i = 0; is_good && i < parts.size(); ++i) {
    is_good = absl::SimpleAtod(parts[i], &values[i]);
  }
  if (!is_good) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is not a position: write X,Y or X,Y,Z such as 3.5,-4"));
  }
  v1::Position position;
  position.set_x(values[0]);
  position.set_y(values[1]);
  position.set_z(values[2]);
  return position;
}

v1::Position PositionOf(const v1::Cell& cell) {
  v1::Position position;
  position.set_x(cell.x());
  position.set_y(cell.y());
  return position;
}

absl::StatusOr<v1::BlankGrid> ParseSize(absl::string_view text) {
  const auto sides = ParsePair(text, 'x');
  if (!sides) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not a size: write such as 64x48"));
  }
  v1::BlankGrid size;
  size.set_width(sides->first);
  size.set_height(sides->second);
  return size;
}

absl::StatusOr<absl::Duration> ParseTimeout(absl::string_view text) {
  absl::Duration timeout;
  if (!absl::ParseDuration(text, &timeout) || timeout <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is not a length of time: write such as 5s or 300ms"));
  }
  return timeout;
}

absl::Duration DurationOf(const google::protobuf::Duration& duration) {
  return absl::Seconds(duration.seconds()) + absl::Nanoseconds(duration.nanos());
}

std::string FormatCell(const v1::Cell& cell) { return absl::StrCat(cell.x(), ",", cell.y()); }

std::string FormatPosition(const v1::Position& position) {
  const std::string plane = absl::StrFormat("%.10g,%.10g", position.x(), position.y());
  return position.z() == 0.0 ? plane : absl::StrFormat("%s,%.10g", plane, position.z());
}

std::string FormatLocation(const v1::Location& location) {
  switch (location.place_case()) {
    case v1::Location::kPosition:
      return FormatPosition(location.position());
    case v1::Location::kNode:
      return location.node();
    default:
      return FormatCell(location.cell());
  }
}

absl::StatusOr<v1::Terrain> ParseTerrain(absl::string_view text) {
  if (text.size() < 2 || text[1] != '=') {
    return Malformed(text);
  }
  v1::Terrain terrain;
  terrain.set_symbol(std::string(text.substr(0, 1)));
  const absl::string_view properties = text.substr(2);
  const size_t colon = properties.rfind(':');
  terrain.set_name(std::string(properties.substr(0, colon)));
  if (colon == absl::string_view::npos) {
    return terrain;
  }
  const absl::string_view cost = properties.substr(colon + 1);
  if (cost == kImpassable) {
    terrain.set_impassable(true);
    return terrain;
  }
  double value = 0;
  if (!absl::SimpleAtod(cost, &value)) {
    return Malformed(text);
  }
  terrain.set_cost(value);
  return terrain;
}

}  // namespace waystar::cli
