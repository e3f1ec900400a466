#include "server/service/convert/convert_shape.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/service/convert/convert.h"

namespace waystar::rpc {
namespace {

core::Point ToPoint(const v1::Point& point) { return {point.x(), point.y()}; }

absl::StatusOr<core::Disc> ToDisc(const v1::Disc& disc, const HexCoordinates& coordinates) {
  if (!disc.has_center()) {
    return MissingField("center");
  }
  return core::Disc{.center = coordinates.ToPlane(ToPoint(disc.center())), .radius = disc.radius()};
}

absl::StatusOr<core::Polygon> ToPolygon(const v1::Polygon& polygon, const HexCoordinates& coordinates) {
  core::Polygon out;
  out.vertices.reserve(static_cast<std::size_t>(polygon.vertices_size()));
  for (const v1::Point& vertex : polygon.vertices()) {
    out.vertices.push_back(coordinates.ToPlane(ToPoint(vertex)));
  }
  return out;
}

absl::StatusOr<core::Line> ToLine(const v1::Line& line, const HexCoordinates& coordinates) {
  if (!line.has_start()) {
    return MissingField("start");
  }
  if (!line.has_end()) {
    return MissingField("end");
  }
  return core::Line{.start = coordinates.ToPlane(ToPoint(line.start())),
                    .end = coordinates.ToPlane(ToPoint(line.end())),
                    .width = line.width()};
}

// Converts a list of parts, named "list[i]." in errors.
template <typename Message, typename Part>
absl::Status ToParts(const google::protobuf::RepeatedPtrField<Message>& messages, absl::string_view list,
                     const HexCoordinates& coordinates,
                     absl::StatusOr<Part> (*to_part)(const Message&, const HexCoordinates&),
                     std::vector<Part>& parts) {
  parts.reserve(static_cast<std::size_t>(messages.size()));
  for (int i = 0; i < messages.size(); ++i) {
    absl::StatusOr<Part> part = to_part(messages.Get(i), coordinates);
    if (!part.ok()) {
      return WithFieldPrefix(part.status(), absl::StrCat(list, "[", i, "]."));
    }
    parts.push_back(*std::move(part));
  }
  return absl::OkStatus();
}

}  // namespace

core::Rectangle ToRectangle(const v1::Rectangle& rectangle) {
  return {rectangle.x(), rectangle.y(), rectangle.width(), rectangle.height()};
}

absl::StatusOr<core::Shape> ToShape(const v1::Shape& shape, const HexCoordinates& coordinates) {
  core::Shape out;
  out.cells = ToCells(shape.cells(), coordinates);
  out.rectangles.reserve(static_cast<std::size_t>(shape.rectangles_size()));
  for (int i = 0; i < shape.rectangles_size(); ++i) {
    const core::Rectangle rectangle = ToRectangle(shape.rectangles(i));
    if (!coordinates.IsSound(rectangle)) {
      return MakeError(ErrorReason::kBadRectangle, absl::StrCat("rectangles[", i, "]"),
                       absl::StrCat("a rectangle of columns and rows has 1 to ", core::kMaxMapSide,
                                    " of each, and does not begin far off the map"));
    }
    coordinates.ToPlane(rectangle, out.rectangles);
  }
  WAYSTAR_RETURN_IF_ERROR(ToParts(shape.discs(), "discs", coordinates, ToDisc, out.discs));
  WAYSTAR_RETURN_IF_ERROR(ToParts(shape.polygons(), "polygons", coordinates, ToPolygon, out.polygons));
  WAYSTAR_RETURN_IF_ERROR(ToParts(shape.lines(), "lines", coordinates, ToLine, out.lines));
  return out;
}

void FillRectangle(const core::Rectangle& rectangle, v1::Rectangle& out) {
  out.set_x(rectangle.x);
  out.set_y(rectangle.y);
  out.set_width(rectangle.width);
  out.set_height(rectangle.height);
}

void FillShape(const core::Shape& shape, const HexCoordinates& coordinates, v1::Shape& out) {
  for (const core::Cell cell : shape.cells) {
    FillCell(coordinates.FromPlane(cell), *out.add_cells());
  }
  std::vector<core::Rectangle> rectangles;
  for (const core::Rectangle& rectangle : shape.rectangles) {
    coordinates.FromPlane(rectangle, rectangles);
  }
  for (const core::Rectangle& rectangle : rectangles) {
    FillRectangle(rectangle, *out.add_rectangles());
  }
  const auto fill_point = [&](const core::Point& point, v1::Point& written) {
    const core::Point counted = coordinates.FromPlane(point);
    written.set_x(counted.x);
    written.set_y(counted.y);
  };
  for (const core::Disc& disc : shape.discs) {
    v1::Disc& written = *out.add_discs();
    fill_point(disc.center, *written.mutable_center());
    written.set_radius(disc.radius);
  }
  for (const core::Polygon& polygon : shape.polygons) {
    v1::Polygon& written = *out.add_polygons();
    for (const core::Point& vertex : polygon.vertices) {
      fill_point(vertex, *written.add_vertices());
    }
  }
  for (const core::Line& line : shape.lines) {
    v1::Line& written = *out.add_lines();
    fill_point(line.start, *written.mutable_start());
    fill_point(line.end, *written.mutable_end());
    written.set_width(line.width);
  }
}

}  // namespace waystar::rpc
