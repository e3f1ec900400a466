#include "client/cli/shape_argument.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
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
constexpr absl::string_view kImpassable = "impassable";

// Two integers with `separator` between them.
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

bool IsNodeName(absl::string_view text) {
  return !text.empty() && absl::ascii_isalnum(static_cast<unsigned char>(text.front())) &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return absl::ascii_isalnum(c) || absl::StrContains("_.:-", static_cast<char>(c));
         });
}

v1::Rectangle MakeRectangle(int32_t x, int32_t y, int32_t width, int32_t height) {
  v1::Rectangle rectangle;
  rectangle.set_x(x);
  rectangle.set_y(y);
  rectangle.set_width(width);
  rectangle.set_height(height);
  return rectangle;
}

std::optional<v1::Rectangle> BetweenCorners(absl::string_view one, absl::string_view other) {
  const auto a = ParsePair(one, ',');
  const auto b = ParsePair(other, ',');
  if (!a || !b) {
    return std::nullopt;
  }
  const int64_t width = std::abs(int64_t{a->first} - b->first) + 1;
  const int64_t height = std::abs(int64_t{a->second} - b->second) + 1;
  if (std::max(width, height) > std::numeric_limits<int32_t>::max()) {
    return std::nullopt;
  }
  return MakeRectangle(std::min(a->first, b->first), std::min(a->second, b->second),
                       static_cast<int32_t>(width), static_cast<int32_t>(height));
}

std::optional<v1::Rectangle> WithSize(absl::string_view corner, absl::string_view size) {
  const auto top_left = ParsePair(corner, ',');
  const auto extent = ParsePair(size, 'x');
  if (!top_left || !extent) {
    return std::nullopt;
  }
  return MakeRectangle(top_left->first, top_left->second, extent->first, extent->second);
}

std::optional<v1::Rectangle> RectangleOf(absl::string_view text) {
  if (const size_t dots = text.find(".."); dots != absl::string_view::npos) {
    return BetweenCorners(text.substr(0, dots), text.substr(dots + 2));
  }
  if (const size_t plus = text.find('+'); plus != absl::string_view::npos) {
    return WithSize(text.substr(0, plus), text.substr(plus + 1));
  }
  return std::nullopt;
}

// Numbers with commas between them; none if one is malformed.
std::vector<double> ParseNumbers(absl::string_view text) {
  std::vector<double> numbers;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    if (!absl::SimpleAtod(part, &numbers.emplace_back())) {
      return {};
    }
  }
  return numbers;
}

void SetPoint(const std::vector<double>& numbers, v1::Point& point) {
  point.set_x(numbers[0]);
  point.set_y(numbers[1]);
}

bool ParseDisc(absl::string_view text, v1::Disc& disc) {
  const std::vector<double> numbers = ParseNumbers(text);
  if (numbers.size() != 3) {
    return false;
  }
  SetPoint(numbers, *disc.mutable_center());
  disc.set_radius(numbers[2]);
  return true;
}

bool ParsePolygon(absl::string_view text, v1::Polygon& polygon) {
  for (const absl::string_view vertex : absl::StrSplit(text, "..")) {
    const std::vector<double> numbers = ParseNumbers(vertex);
    if (numbers.size() != 2) {
      return false;
    }
    SetPoint(numbers, *polygon.add_vertices());
  }
  return true;
}

bool ParseLine(absl::string_view text, v1::Line& line) {
  const std::vector<absl::string_view> ends = absl::StrSplit(text, "..");
  if (ends.size() != 2) {
    return false;
  }
  const std::vector<double> start = ParseNumbers(ends[0]);
  const std::vector<double> end = ParseNumbers(ends[1]);
  if (start.size() != 2 || end.size() < 2 || end.size() > 3) {
    return false;
  }
  SetPoint(start, *line.mutable_start());
  SetPoint(end, *line.mutable_end());
  if (end.size() == 3) {
    line.set_width(end[2]);
  }
  return true;
}

std::string FormatPoint(const v1::Point& point) { return absl::StrCat(point.x(), ",", point.y()); }

std::string FormatPolygon(const v1::Polygon& polygon) {
  const auto append = [](std::string* out, const v1::Point& point) { out->append(FormatPoint(point)); };
  return absl::StrCat(kPolygon, absl::StrJoin(polygon.vertices(), "..", append));
}

std::string FormatLine(const v1::Line& line) {
  return absl::StrCat(kLine, FormatPoint(line.start()), "..", FormatPoint(line.end()),
                      line.width() == 0 ? "" : absl::StrCat(",", line.width()));
}

std::optional<v1::WorldArea> AreaOf(absl::string_view text) {
  v1::WorldArea area;
  if (const size_t dots = text.find(".."); dots != absl::string_view::npos) {
    const auto a = ParsePoint(text.substr(0, dots));
    const auto b = ParsePoint(text.substr(dots + 2));
    if (!a || !b) {
      return std::nullopt;
    }
    area.set_x(std::min(a->x(), b->x()));
    area.set_y(std::min(a->y(), b->y()));
    area.set_width(std::abs(a->x() - b->x()));
    area.set_height(std::abs(a->y() - b->y()));
    return area;
  }
  const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(text, absl::MaxSplits('+', 1));
  const std::pair<absl::string_view, absl::string_view> size =
      absl::StrSplit(parts.second, absl::MaxSplits('x', 1));
  const auto corner = ParsePoint(parts.first);
  double width = 0.0;
  double height = 0.0;
  if (!corner || !absl::SimpleAtod(size.first, &width) || !absl::SimpleAtod(size.second, &height)) {
    return std::nullopt;
  }
  area.set_x(corner->x());
  area.set_y(corner->y());
  area.set_width(width);
  area.set_height(height);
  return area;
}

absl::Status Malformed(absl::string_view text, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("'", text, "' is ", what));
}

}  // namespace

const char kShapeHelp[] =
    "Cells X,Y; rectangles by two opposite corners X,Y..X,Y or by the top left cell and the size X,Y+WxH; "
    "disc:X,Y,RADIUS; polygon:X,Y..X,Y..X,Y; line:X,Y..X,Y or line:X,Y..X,Y,WIDTH";

absl::StatusOr<v1::Rectangle> ParseRectangle(absl::string_view text) {
  if (const auto rectangle = RectangleOf(text)) {
    return *rectangle;
  }
  return Malformed(text, "not a rectangle: write such as 3,4..6,9 or 3,4+4x6");
}

absl::StatusOr<MapPart> ParseMapPart(absl::string_view text) {
  if (const auto rectangle = RectangleOf(text)) {
    return *rectangle;
  }
  if (const auto area = AreaOf(text)) {
    return *area;
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
    parts.push_back(FormatPolygon(polygon));
  }
  for (const v1::Line& line : shape.lines()) {
    parts.push_back(FormatLine(line));
  }
  if (parts.size() > kMaxParts) {
    const size_t more = parts.size() - kMaxParts;
    parts.resize(kMaxParts);
    parts.push_back(absl::StrCat("and ", more, " more"));
  }
  return absl::StrJoin(parts, " ");
}

absl::StatusOr<v1::Cell> ParseCell(absl::string_view text) {
  const auto pair = ParsePair(text, ',');
  if (!pair) {
    return Malformed(text, "not a cell: write X,Y such as 3,4");
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
    return Malformed(text,
                     "not a cell: write X,Y such as 3,4, on a waypoint graph the name of a node, or a "
                     "position such as 3.5,4 or 3,4,0");
  }
  place.set_node(std::string(text));
  return place;
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
    return Malformed(text, "not a position: write X,Y or X,Y,Z such as 3.5,-4");
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
    return Malformed(text, "not a size: write such as 64x48");
  }
  v1::BlankGrid size;
  size.set_width(sides->first);
  size.set_height(sides->second);
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

absl::StatusOr<v1::Terrain> ParseTerrain(absl::string_view text) {
  const absl::Status malformed =
      Malformed(text, "not a terrain: write SYMBOL=NAME:COST such as ~=river:3 or ^=mountain:impassable");
  if (text.size() < 2 || text[1] != '=') {
    return malformed;
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
    return malformed;
  }
  terrain.set_cost(value);
  return terrain;
}

}  // namespace waystar::cli
