#include "server/rpc/wire/convert_shape.h"

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
#include "server/rpc/wire/convert.h"

namespace waystar::rpc {
namespace {

core::Point ToPoint(const v1::Point& point) { return {point.x(), point.y()}; }

absl::StatusOr<core::Disc> ToDisc(const v1::Disc& disc, const HexCoordinates& coordinates) {
  if (!disc.has_center()) {
    return MissingField("center");
  }
  core::Disc out{.radius = disc.radius()};
  WAYSTAR_ASSIGN_OR_RETURN(out.center, coordinates.ToPlane(ToPoint(disc.center()), "center"));
  return out;
}

absl::StatusOr<core::Polygon> ToPolygon(const v1::Polygon& polygon, const HexCoordinates& coordinates) {
  core::Polygon out;
  out.vertices.reserve(static_cast<std::size_t>(polygon.vertices_size()));
  for (int i = 0; i < polygon.vertices_size(); ++i) {
    const absl::StatusOr<core::Point> vertex = coordinates.ToPlane(ToPoint(polygon.vertices(i)), "");
    if (!vertex.ok()) {
      return WithField(vertex.status(), absl::StrCat("vertices[", i, "]"));
    }
    out.vertices.push_back(*vertex);
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
  core::Line out{.width = line.width()};
  WAYSTAR_ASSIGN_OR_RETURN(out.start, coordinates.ToPlane(ToPoint(line.start()), "start"));
  WAYSTAR_ASSIGN_OR_RETURN(out.end, coordinates.ToPlane(ToPoint(line.end()), "end"));
  return out;
}

// Converts a list of parts, each of which an error names as "list[i].".
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

void FillPoint(const core::Point& point, v1::Point& out) {
  out.set_x(point.x);
  out.set_y(point.y);
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
    const absl::Status status = coordinates.ToPlane(ToRectangle(shape.rectangles(i)), out.rectangles);
    if (!status.ok()) {
      return WithField(status, absl::StrCat("rectangles[", i, "]"));
    }
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

void FillShape(const core::Shape& shape, v1::Shape& out) {
  for (const core::Cell cell : shape.cells) {
    v1::Cell& written = *out.add_cells();
    written.set_x(cell.x);
    written.set_y(cell.y);
  }
  for (const core::Rectangle& rectangle : shape.rectangles) {
    FillRectangle(rectangle, *out.add_rectangles());
  }
  for (const core::Disc& disc : shape.discs) {
    v1::Disc& written = *out.add_discs();
    FillPoint(disc.center, *written.mutable_center());
    written.set_radius(disc.radius);
  }
  for (const core::Polygon& polygon : shape.polygons) {
    v1::Polygon& written = *out.add_polygons();
    for (const core::Point& vertex : polygon.vertices) {
      FillPoint(vertex, *written.add_vertices());
    }
  }
  for (const core::Line& line : shape.lines) {
    v1::Line& written = *out.add_lines();
    FillPoint(line.start, *written.mutable_start());
    FillPoint(line.end, *written.mutable_end());
    written.set_width(line.width);
  }
}

}  // namespace waystar::rpc
