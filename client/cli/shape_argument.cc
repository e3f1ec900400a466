#include "client/cli/shape_argument.h"

#include <google/protobuf/timestamp.pb.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace waystar::cli {
namespace {

constexpr absl::string_view kDisc = "disc:";
constexpr absl::string_view kPolygon = "polygon:";
constexpr absl::string_view kLine = "line:";

bool ReadNumber(absl::string_view text, int32_t& number) { return absl::SimpleAtoi(text, &number); }
bool ReadNumber(absl::string_view text, double& number) { return absl::SimpleAtod(text, &number); }

// Numbers with separators between them; none if one is malformed.
template <typename T>
std::vector<T> ParseNumbers(absl::string_view text, char separator = ',') {
  std::vector<T> numbers;
  for (const absl::string_view part : absl::StrSplit(text, separator)) {
    if (!ReadNumber(part, numbers.emplace_back())) {
      return {};
    }
  }
  return numbers;
}

bool IsNodeName(absl::string_view text) {
  return !text.empty() && absl::ascii_isalnum(static_cast<unsigned char>(text.front())) &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return absl::ascii_isalnum(c) || absl::StrContains("_.:-", static_cast<char>(c));
         });
}

// Points with ".." between them, each of which is numbers; none if one is malformed.
template <typename T>
std::vector<std::vector<T>> ParsePoints(absl::string_view text) {
  std::vector<std::vector<T>> points;
  for (const absl::string_view point : absl::StrSplit(text, "..")) {
    if (points.emplace_back(ParseNumbers<T>(point)).empty()) {
      return {};
    }
  }
  return points;
}

// Reads a part of a map by two corners or by a corner and its size: x, y, width and height.
template <typename T>
std::optional<std::array<double, 4>> ParseBox(absl::string_view text) {
  const std::vector<std::vector<T>> corners = ParsePoints<T>(text);
  if (corners.size() == 2 && corners[0].size() == 2 && corners[1].size() == 2) {
    const auto at = [&corners](int corner, int axis) { return static_cast<double>(corners[corner][axis]); };
    // Both cells belong to a rectangle.
    const double more = std::is_integral_v<T> ? 1.0 : 0.0;
    return {{std::min(at(0, 0), at(1, 0)), std::min(at(0, 1), at(1, 1)), std::abs(at(0, 0) - at(1, 0)) + more,
             std::abs(at(0, 1) - at(1, 1)) + more}};
  }
  const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(text, absl::MaxSplits('+', 1));
  const std::vector<T> corner = ParseNumbers<T>(parts.first);
  const std::vector<T> size = ParseNumbers<T>(parts.second, 'x');
  if (corner.size() != 2 || size.size() != 2) {
    return std::nullopt;
  }
  return {{static_cast<double>(corner[0]), static_cast<double>(corner[1]), static_cast<double>(size[0]),
           static_cast<double>(size[1])}};
}

std::optional<v1::Rectangle> RectangleOf(absl::string_view text) {
  const auto box = ParseBox<int32_t>(text);
  if (!box || std::max((*box)[2], (*box)[3]) > std::numeric_limits<int32_t>::max()) {
    return std::nullopt;
  }
  v1::Rectangle rectangle;
  rectangle.set_x(static_cast<int32_t>((*box)[0]));
  rectangle.set_y(static_cast<int32_t>((*box)[1]));
  rectangle.set_width(static_cast<int32_t>((*box)[2]));
  rectangle.set_height(static_cast<int32_t>((*box)[3]));
  return rectangle;
}

void SetPoint(const std::vector<double>& numbers, v1::Point& point) {
  point.set_x(numbers[0]);
  point.set_y(numbers[1]);
}

bool ParseDisc(absl::string_view text, v1::Disc& disc) {
  const std::vector<double> numbers = ParseNumbers<double>(text);
  if (numbers.size() != 3) {
    return false;
  }
  SetPoint(numbers, *disc.mutable_center());
  disc.set_radius(numbers[2]);
  return true;
}

bool ParsePolygon(absl::string_view text, v1::Polygon& polygon) {
  const std::vector<std::vector<double>> corners = ParsePoints<double>(text);
  for (const std::vector<double>& corner : corners) {
    if (corner.size() != 2) {
      return false;
    }
    SetPoint(corner, *polygon.add_vertices());
  }
  return !corners.empty();
}

bool ParseLine(absl::string_view text, v1::Line& line) {
  const std::vector<std::vector<double>> ends = ParsePoints<double>(text);
  if (ends.size() != 2 || ends[0].size() != 2 || ends[1].size() < 2 || ends[1].size() > 3) {
    return false;
  }
  SetPoint(ends[0], *line.mutable_start());
  SetPoint(ends[1], *line.mutable_end());
  if (ends[1].size() == 3) {
    line.set_width(ends[1][2]);
  }
  return true;
}

std::string FormatPoint(const v1::Point& point) { return absl::StrCat(point.x(), ",", point.y()); }

absl::Status Malformed(absl::string_view text, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("'", text, "' is ", what));
}

absl::StatusOr<google::protobuf::Duration> ParseDuration(absl::string_view text) {
  const absl::StatusOr<absl::Duration> time = ParseTimeout(text);
  return time.ok() ? absl::StatusOr<google::protobuf::Duration>(ToMessage(*time)) : time.status();
}

absl::StatusOr<google::protobuf::Timestamp> ParseTime(absl::string_view text) {
  absl::Time time;
  std::string problem;
  if (!absl::ParseTime(absl::RFC3339_full, text, &time, &problem)) {
    return absl::InvalidArgumentError(absl::StrCat("is not a time such as 2026-01-31T12:00:00Z: ", problem));
  }
  google::protobuf::Timestamp message;
  message.set_seconds(absl::ToUnixSeconds(time));
  return message;
}

absl::StatusOr<v1::Rectangle> ParseRectangle(absl::string_view text) {
  if (const auto rectangle = RectangleOf(text)) {
    return *rectangle;
  }
  return Malformed(text, "not a rectangle: write such as 3,4..6,9 or 3,4+4x6");
}

absl::StatusOr<v1::HeightRange> ParseHeights(absl::string_view text) {
  const std::vector<absl::string_view> ends = absl::StrSplit(text, ':');
  v1::HeightRange heights;
  double low = 0.0;
  double high = 0.0;
  if (ends.size() != 2 || (!ends[0].empty() && !absl::SimpleAtod(ends[0], &low)) ||
      (!ends[1].empty() && !absl::SimpleAtod(ends[1], &high))) {
    return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" are not heights such as 3:5, 3: or :5"));
  }
  if (!ends[0].empty()) {
    heights.set_low(low);
  }
  if (!ends[1].empty()) {
    heights.set_high(high);
  }
  return heights;
}

// Reads NAME=NUMBER. Returns false if it is no such text.
bool ReadAssignment(absl::string_view text, std::string& name, double& number) {
  const size_t equals = text.rfind('=');
  if (equals == absl::string_view::npos || !absl::SimpleAtod(text.substr(equals + 1), &number)) {
    return false;
  }
  name = std::string(text.substr(0, equals));
  return true;
}

absl::StatusOr<v1::ObstaclePrice> ParseObstaclePrice(absl::string_view text) {
  v1::ObstaclePrice price;
  double amount = 0.0;
  if (!ReadAssignment(text, *price.mutable_id_prefix(), amount)) {
    return absl::InvalidArgumentError("a price is the beginning of an obstacle's id, =, and a number");
  }
  price.set_price(amount);
  return price;
}

absl::StatusOr<v1::TerrainCost> ParseTerrainCost(absl::string_view text) {
  v1::TerrainCost terrain;
  double cost = 0.0;
  if (!ReadAssignment(text, *terrain.mutable_terrain(), cost)) {
    return Malformed(text, "not the cost of a terrain: write TERRAIN=COST such as water=3");
  }
  terrain.set_cost(cost);
  return terrain;
}

absl::StatusOr<v1::EdgeName> ParseEdge(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> ends =
      absl::StrSplit(text, absl::MaxSplits(absl::ByAnyChar(",>"), 1));
  if (!IsNodeName(ends.first) || !IsNodeName(ends.second)) {
    return Malformed(text, "not an edge: write FROM,TO such as pier,market, or 'FROM>TO' for one way alone");
  }
  v1::EdgeName edge;
  edge.set_from(std::string(ends.first));
  edge.set_to(std::string(ends.second));
  edge.set_one_way(absl::StrContains(text, '>'));
  return edge;
}

// Reads NAME:COST into a terrain of a grid or of a mesh. Returns false if COST is malformed.
template <typename Terrain>
bool ReadGround(absl::string_view text, Terrain& terrain) {
  const size_t colon = text.rfind(':');
  terrain.set_name(std::string(text.substr(0, colon)));
  if (colon == absl::string_view::npos) {
    return true;
  }
  const absl::string_view cost = text.substr(colon + 1);
  if (cost == "impassable") {
    terrain.set_impassable(true);
    return true;
  }
  double value = 0;
  const bool is_number = absl::SimpleAtod(cost, &value);
  terrain.set_cost(value);
  return is_number;
}

absl::StatusOr<v1::Terrain> ParseTerrain(absl::string_view text) {
  v1::Terrain terrain;
  terrain.set_symbol(std::string(text.substr(0, 1)));
  if (text.size() < 2 || text[1] != '=' || !ReadGround(text.substr(2), terrain)) {
    return Malformed(text,
                     "not a terrain: write SYMBOL=NAME:COST such as ~=river:3 or ^=mountain:impassable");
  }
  return terrain;
}

absl::StatusOr<v1::MeshTerrain> ParseMeshTerrain(absl::string_view text) {
  v1::MeshTerrain terrain;
  const size_t equals = text.find('=');
  int area = 0;
  if (equals == absl::string_view::npos || !absl::SimpleAtoi(text.substr(0, equals), &area) ||
      !ReadGround(text.substr(equals + 1), terrain)) {
    return Malformed(text, "not a terrain: write AREA=NAME:COST such as 1=water:3 or 2=lava:impassable");
  }
  terrain.set_area(area);
  return terrain;
}

template <auto parse>
absl::Status MergeParsed(absl::string_view text, google::protobuf::Message& message) {
  const auto parsed = parse(text);
  if (parsed.ok()) {
    message.MergeFrom(*parsed);
  }
  return parsed.status();
}

}  // namespace

absl::StatusOr<MapPart> ParseMapPart(absl::string_view text) {
  if (const auto rectangle = RectangleOf(text)) {
    return *rectangle;
  }
  if (const auto box = ParseBox<double>(text)) {
    v1::WorldArea area;
    area.set_x((*box)[0]);
    area.set_y((*box)[1]);
    area.set_width((*box)[2]);
    area.set_height((*box)[3]);
    return area;
  }
  return Malformed(text,
                   "not a part of a map: write such as 3,4..6,9 or 3,4+4x6, or, of a graph or mesh, "
                   "13.4,52.5..13.42,52.52");
}

absl::StatusOr<v1::Shape> ParseShape(absl::string_view text) {
  v1::Shape shape;
  absl::string_view rest = text;
  if (absl::ConsumePrefix(&rest, kDisc)) {
    if (!ParseDisc(rest, *shape.add_discs())) {
      return Malformed(text, "not a disc: write disc:X,Y,RADIUS such as disc:10,4,2.5");
    }
  } else if (absl::ConsumePrefix(&rest, kPolygon)) {
    if (!ParsePolygon(rest, *shape.add_polygons())) {
      return Malformed(text, "not a polygon: write its corners such as polygon:0,0..8,0..4,6");
    }
  } else if (absl::ConsumePrefix(&rest, kLine)) {
    if (!ParseLine(rest, *shape.add_lines())) {
      return Malformed(text, "not a line: write such as line:0,0..9,4 or, 2 cells wide, line:0,0..9,4,2");
    }
  } else if (const auto cell = ParseCell(text); cell.ok()) {
    *shape.add_cells() = *cell;
  } else if (const auto rectangle = RectangleOf(text)) {
    *shape.add_rectangles() = *rectangle;
  } else {
    return Malformed(text,
                     "neither a cell such as 3,4 nor a rectangle such as 3,4..6,9 or 3,4+4x6, nor one of "
                     "disc:X,Y,RADIUS, polygon:X,Y..X,Y..X,Y and line:X,Y..X,Y");
  }
  return shape;
}

std::string FormatShape(const v1::Shape& shape) {
  constexpr size_t kMaxParts = 6;
  std::vector<std::string> parts;
  for (const v1::Cell& cell : shape.cells()) {
    parts.push_back(FormatCell(cell));
  }
  for (const v1::Rectangle& rectangle : shape.rectangles()) {
    parts.push_back(
        absl::StrCat(rectangle.x(), ",", rectangle.y(), "+", rectangle.width(), "x", rectangle.height()));
  }
  for (const v1::Disc& disc : shape.discs()) {
    parts.push_back(absl::StrCat(kDisc, FormatPoint(disc.center()), ",", disc.radius()));
  }
  for (const v1::Polygon& polygon : shape.polygons()) {
    const auto append = [](std::string* out, const v1::Point& point) { out->append(FormatPoint(point)); };
    parts.push_back(absl::StrCat(kPolygon, absl::StrJoin(polygon.vertices(), "..", append)));
  }
  for (const v1::Line& line : shape.lines()) {
    parts.push_back(absl::StrCat(kLine, FormatPoint(line.start()), "..", FormatPoint(line.end()),
                                 line.width() == 0 ? "" : absl::StrCat(",", line.width())));
  }
  if (parts.size() > kMaxParts) {
    const size_t more = parts.size() - kMaxParts;
    parts.resize(kMaxParts);
    parts.push_back(absl::StrCat("and ", more, " more"));
  }
  return absl::StrJoin(parts, " ");
}

absl::StatusOr<v1::Cell> ParseCell(absl::string_view text) {
  const std::vector<int32_t> numbers = ParseNumbers<int32_t>(text);
  if (numbers.size() != 2) {
    return Malformed(text, "not a cell: write X,Y such as 3,4");
  }
  v1::Cell cell;
  cell.set_x(numbers[0]);
  cell.set_y(numbers[1]);
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
    return Malformed(text,
                     "not a cell: write X,Y such as 3,4, on a waypoint graph the name of a node, or a "
                     "position such as 3.5,4 or 3,4,0");
  }
  place.set_node(std::string(text));
  return place;
}

absl::StatusOr<v1::Point> ParseShift(absl::string_view text) {
  const std::vector<double> numbers = ParseNumbers<double>(text);
  if (numbers.size() != 2) {
    return Malformed(text, "not a shift: write DX,DY such as 2,0 or -1.5,3");
  }
  v1::Point shift;
  SetPoint(numbers, shift);
  return shift;
}

absl::StatusOr<v1::Position> ParsePosition(absl::string_view text) {
  const std::vector<double> numbers = ParseNumbers<double>(text);
  if (numbers.size() != 2 && numbers.size() != 3) {
    return Malformed(text, "not a position: write X,Y or X,Y,Z such as 3.5,-4");
  }
  v1::Position position;
  position.set_x(numbers[0]);
  position.set_y(numbers[1]);
  position.set_z(numbers.size() == 3 ? numbers[2] : 0.0);
  return position;
}

absl::StatusOr<v1::GroundPolygon> ParseGroundPolygon(absl::string_view text) {
  v1::GroundPolygon polygon;
  const std::size_t colon = text.find(':');
  if (colon != absl::string_view::npos) {
    polygon.set_terrain(std::string(text.substr(0, colon)));
  }
  const absl::string_view corners = colon == absl::string_view::npos ? text : text.substr(colon + 1);
  for (const absl::string_view corner : absl::StrSplit(corners, "..")) {
    const absl::StatusOr<v1::Position> position = ParsePosition(corner);
    if (!position.ok()) {
      return Malformed(text, "not a polygon: write its corners such as 0,0,1..8,0,1..4,6,2");
    }
    *polygon.add_corners() = *position;
  }
  return polygon;
}

v1::Position PositionOf(const v1::Cell& cell) {
  v1::Position position;
  position.set_x(cell.x());
  position.set_y(cell.y());
  return position;
}

absl::StatusOr<v1::BlankGrid> ParseSize(absl::string_view text) {
  const std::vector<int32_t> sides = ParseNumbers<int32_t>(text, 'x');
  if (sides.size() != 2) {
    return Malformed(text, "not a size: write such as 64x48");
  }
  v1::BlankGrid size;
  size.set_width(sides[0]);
  size.set_height(sides[1]);
  return size;
}

absl::StatusOr<absl::Duration> ParseTimeout(absl::string_view text) {
  absl::Duration timeout;
  if (!absl::ParseDuration(text, &timeout) || timeout <= absl::ZeroDuration()) {
    return Malformed(text, "not a length of time: write such as 5s or 300ms");
  }
  return timeout;
}

absl::Duration DurationOf(const google::protobuf::Duration& duration) {
  return absl::Seconds(duration.seconds()) + absl::Nanoseconds(duration.nanos());
}

google::protobuf::Duration ToMessage(absl::Duration duration) {
  const absl::Duration rest = duration % absl::Seconds(1);
  google::protobuf::Duration message;
  message.set_seconds(absl::ToInt64Seconds(duration - rest));
  message.set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(rest)));
  return message;
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

absl::Status ParseMessage(absl::string_view text, google::protobuf::Message& message) {
  using Merge = absl::Status (*)(absl::string_view, google::protobuf::Message&);
  static const auto* const kMerges = new std::map<const google::protobuf::Descriptor*, Merge>{
      {v1::BlankGrid::descriptor(), &MergeParsed<&ParseSize>},
      {v1::EdgeName::descriptor(), &MergeParsed<&ParseEdge>},
      {v1::GroundPolygon::descriptor(), &MergeParsed<&ParseGroundPolygon>},
      {v1::HeightRange::descriptor(), &MergeParsed<&ParseHeights>},
      {v1::Location::descriptor(), &MergeParsed<&ParsePlace>},
      {v1::ObstaclePrice::descriptor(), &MergeParsed<&ParseObstaclePrice>},
      {v1::MeshTerrain::descriptor(), &MergeParsed<&ParseMeshTerrain>},
      {v1::Position::descriptor(), &MergeParsed<&ParsePosition>},
      {v1::Rectangle::descriptor(), &MergeParsed<&ParseRectangle>},
      {v1::Shape::descriptor(), &MergeParsed<&ParseShape>},
      {v1::Terrain::descriptor(), &MergeParsed<&ParseTerrain>},
      {v1::TerrainCost::descriptor(), &MergeParsed<&ParseTerrainCost>},
      {google::protobuf::Duration::descriptor(), &MergeParsed<&ParseDuration>},
      {google::protobuf::Timestamp::descriptor(), &MergeParsed<&ParseTime>},
  };
  return kMerges->at(message.GetDescriptor())(text, message);
}

}  // namespace waystar::cli
