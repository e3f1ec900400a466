#include "client/cli/hex_counting.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "client/cli/arguments.h"
#include "client/cli/draw/hex_cells.h"
#include "client/cli/shape_argument.h"
#include "waystar/v1/edits.pb.h"

namespace waystar::cli {
namespace {

// Far beyond any map, and far from where numbers of cells overflow.
constexpr std::int32_t kFar = 1 << 24;

bool IsNear(std::int64_t x, std::int64_t y) { return std::abs(x) <= kFar && std::abs(y) <= kFar; }

v1::Cell CellAt(std::int32_t x, std::int32_t y) {
  v1::Cell cell;
  cell.set_x(x);
  cell.set_y(y);
  return cell;
}

bool IsByColumns(v1::HexLayout layout) {
  return layout == v1::HEX_LAYOUT_ODD_COLUMNS || layout == v1::HEX_LAYOUT_EVEN_COLUMNS;
}

// Adds a part of one row, or of one column, to the rectangle of those before it, if it goes on with that.
void AddLine(const v1::Rectangle& line, bool is_column, v1::Shape& shape) {
  if (!shape.rectangles().empty()) {
    v1::Rectangle& last = *shape.mutable_rectangles()->rbegin();
    if (!is_column && last.x() == line.x() && last.width() == line.width() &&
        last.y() + last.height() == line.y()) {
      last.set_height(last.height() + 1);
      return;
    }
    if (is_column && last.y() == line.y() && last.height() == line.height() &&
        last.x() + last.width() == line.x()) {
      last.set_width(last.width() + 1);
      return;
    }
  }
  *shape.add_rectangles() = line;
}

// A rectangle of the plane is slanted on the board: each of its rows, or columns, lies elsewhere.
bool AddRectangle(const HexCounting& counting, const v1::Rectangle& rectangle, v1::Shape& shape) {
  constexpr int kMostLines = 1000;
  const bool by_columns = IsByColumns(counting.layout());
  const int lines = by_columns ? rectangle.width() : rectangle.height();
  if (lines > kMostLines || !IsNear(rectangle.x(), rectangle.y()) ||
      !IsNear(rectangle.width(), rectangle.height())) {
    return false;
  }
  for (int i = 0; i < lines; ++i) {
    const v1::Cell first = counting.FromPlane(
        CellAt(rectangle.x() + (by_columns ? i : 0), rectangle.y() + (by_columns ? 0 : i)));
    v1::Rectangle line;
    line.set_x(first.x());
    line.set_y(first.y());
    line.set_width(by_columns ? 1 : rectangle.width());
    line.set_height(by_columns ? rectangle.height() : 1);
    AddLine(line, by_columns, shape);
  }
  return true;
}

bool MovePoint(const HexCounting& counting, v1::Point& point) {
  if (point.x() != std::floor(point.x()) || point.y() != std::floor(point.y()) ||
      std::abs(point.x()) > kFar || std::abs(point.y()) > kFar) {
    return false;
  }
  const v1::Cell cell =
      counting.FromPlane(CellAt(static_cast<std::int32_t>(point.x()), static_cast<std::int32_t>(point.y())));
  point.set_x(cell.x());
  point.set_y(cell.y());
  return true;
}

// Nothing if columns and rows cannot tell the shape.
std::optional<v1::Shape> OnBoard(const HexCounting& counting, const v1::Shape& of_plane) {
  v1::Shape shape = of_plane;
  shape.clear_rectangles();
  for (v1::Cell& cell : *shape.mutable_cells()) {
    cell = counting.FromPlane(cell);
  }
  const auto move = [&](v1::Point& point) { return MovePoint(counting, point); };
  const bool is_told =
      std::ranges::all_of(of_plane.rectangles(),
                          [&](const v1::Rectangle& part) { return AddRectangle(counting, part, shape); }) &&
      std::ranges::all_of(*shape.mutable_discs(),
                          [&](v1::Disc& disc) { return move(*disc.mutable_center()); }) &&
      std::ranges::all_of(
          *shape.mutable_polygons(),
          [&](v1::Polygon& polygon) { return std::ranges::all_of(*polygon.mutable_vertices(), move); }) &&
      std::ranges::all_of(*shape.mutable_lines(), [&](v1::Line& line) {
        return move(*line.mutable_start()) && move(*line.mutable_end());
      });
  return is_told ? std::optional(shape) : std::nullopt;
}

// Whether the call that follows can tell as well what is wrong, or nothing is.
bool MayGoOn(const absl::Status& status) {
  return absl::IsPermissionDenied(status) || absl::IsUnauthenticated(status) || absl::IsNotFound(status) ||
         absl::IsInvalidArgument(status) || absl::IsUnimplemented(status);
}

}  // namespace

bool HexCounting::IsPlane() const { return !HasOffsets(layout_); }

v1::Cell HexCounting::ToPlane(const v1::Cell& cell) const {
  return IsNear(cell.x(), cell.y()) ? PlaneCellOf(map_, layout_, cell) : cell;
}

v1::Cell HexCounting::FromPlane(const v1::Cell& cell) const {
  return IsNear(cell.x(), cell.y()) ? OffsetOf(map_, layout_, cell) : cell;
}

v1::Rectangle HexCounting::Around(const v1::Rectangle& of_plane) const {
  if (IsPlane() || !IsNear(of_plane.x(), of_plane.y()) || !IsNear(of_plane.width(), of_plane.height())) {
    return of_plane;
  }
  // Columns and rows grow with both coordinates of the plane.
  const v1::Cell first = FromPlane(CellAt(of_plane.x(), of_plane.y()));
  const v1::Cell last =
      FromPlane(CellAt(of_plane.x() + of_plane.width() - 1, of_plane.y() + of_plane.height() - 1));
  v1::Rectangle around;
  around.set_x(first.x());
  around.set_y(first.y());
  around.set_width(last.x() - first.x() + 1);
  around.set_height(last.y() - first.y() + 1);
  return around;
}

std::string HexCounting::TextOf(const v1::Shape& of_plane) const {
  if (IsPlane()) {
    return FormatShape(of_plane);
  }
  const std::optional<v1::Shape> on_board = OnBoard(*this, of_plane);
  return on_board ? FormatShape(*on_board) : absl::StrCat("axial ", FormatShape(of_plane));
}

void AddCoordinates(CLI::App& command, const std::function<void(v1::HexLayout)>& accept) {
  AddChoice<v1::HexLayout>(
      command, "--coordinates", accept,
      {{"axial", v1::HEX_LAYOUT_AXIAL_POINTY},
       {"odd-rows", v1::HEX_LAYOUT_ODD_ROWS},
       {"even-rows", v1::HEX_LAYOUT_EVEN_ROWS},
       {"odd-columns", v1::HEX_LAYOUT_ODD_COLUMNS},
       {"even-columns", v1::HEX_LAYOUT_EVEN_COLUMNS}},
      "On a map of hexagons, how cells are counted: as cells of the plane, or by columns "
      "and rows of such a board [as pictures of the map label them]");
}

absl::StatusOr<HexCounting> CountingOf(Session& session, const std::string& map, v1::HexLayout asked) {
  if (map.empty() || (asked != v1::HEX_LAYOUT_UNSPECIFIED && !HasOffsets(asked))) {
    return HexCounting();
  }
  const absl::StatusOr<v1::MapInfo>& info = session.InfoOf(map);
  if (!info.ok() && !MayGoOn(info.status())) {
    return info.status();
  }
  const v1::HexInfo hexagons = info.ok() ? info->grid().hexagons() : v1::HexInfo();
  return HexCounting(asked == v1::HEX_LAYOUT_UNSPECIFIED ? hexagons.layout() : asked, hexagons);
}

bool HasPlaces(const google::protobuf::Message& message) {
  using google::protobuf::FieldDescriptor;
  const google::protobuf::Descriptor* const type = message.GetDescriptor();
  if (type == v1::Cell::descriptor() || type == v1::Position::descriptor() ||
      type == v1::Shape::descriptor()) {
    return true;
  }
  const google::protobuf::Reflection& fields = *message.GetReflection();
  std::vector<const FieldDescriptor*> given;
  fields.ListFields(message, &given);
  return absl::c_any_of(given, [&](const FieldDescriptor* field) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      return false;
    }
    if (!field->is_repeated()) {
      return HasPlaces(fields.GetMessage(message, field));
    }
    for (int i = 0; i < fields.FieldSize(message, field); ++i) {
      if (HasPlaces(fields.GetRepeatedMessage(message, field, i))) {
        return true;
      }
    }
    return false;
  });
}

}  // namespace waystar::cli
