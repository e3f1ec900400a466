#include "server/rpc/wire/convert_shape.h"

#include <cstddef>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/rpc/wire/convert.h"

namespace waystar::rpc {
namespace {

core::Point ToPoint(const v1::Point& point) { return {point.x(), point.y()}; }

absl::StatusOr<core::Disc> ToDisc(const v1::Disc& disc) {
  if (!disc.has_center()) {
    return MissingField("center");
  }
  return core::Disc{.center = ToPoint(disc.center()), .radius = disc.radius()};
}

core::Polygon ToPolygon(const v1::Polygon& polygon) {
  core::Polygon out;
  out.vertices.reserve(static_cast<std::size_t>(polygon.vertices_size()));
  for (const v1::Point& vertex : polygon.vertices()) {
    out.vertices.push_back(ToPoint(vertex));
  }
  return out;
}

absl::StatusOr<core::Line> ToLine(const v1::Line& line) {
  if (!line.has_start()) {
    return MissingField("start");
  }
  if (!line.has_end()) {
    return MissingField("end");
  }
  return core::Line{.start = ToPoint(line.start()), .end = ToPoint(line.end()), .width = line.width()};
}

void FillPoint(const core::Point& point, v1::Point& out) {
  out.set_x(point.x);
  out.set_y(point.y);
}

}  // namespace

core::Rectangle ToRectangle(const v1::Rectangle& rectangle) {
  return {rectangle.x(), rectangle.y(), rectangle.width(), rectangle.height()};
}

absl::StatusOr<core::Shape> ToShape(const v1::Shape& shape) {
  core::Shape out;
  out.cells.reserve(static_cast<std::size_t>(shape.cells_size()));
  for (const v1::Cell& cell : shape.cells()) {
    out.cells.push_back(ToCell(cell));
  }
  out.rectangles.reserve(static_cast<std::size_t>(shape.rectangles_size()));
  for (const v1::Rectangle& rectangle : shape.rectangles()) {
    out.rectangles.push_back(ToRectangle(rectangle));
  }
  out.discs.reserve(static_cast<std::size_t>(shape.discs_size()));
  for (int i = 0; i < shape.discs_size(); ++i) {
    absl::StatusOr<core::Disc> disc = ToDisc(shape.discs(i));
    if (!disc.ok()) {
      return WithFieldPrefix(disc.status(), absl::StrCat("discs[", i, "]."));
    }
    out.discs.push_back(*disc);
  }
  out.polygons.reserve(static_cast<std::size_t>(shape.polygons_size()));
  for (const v1::Polygon& polygon : shape.polygons()) {
    out.polygons.push_back(ToPolygon(polygon));
  }
  out.lines.reserve(static_cast<std::size_t>(shape.lines_size()));
  for (int i = 0; i < shape.lines_size(); ++i) {
    absl::StatusOr<core::Line> line = ToLine(shape.lines(i));
    if (!line.ok()) {
      return WithFieldPrefix(line.status(), absl::StrCat("lines[", i, "]."));
    }
    out.lines.push_back(*line);
  }
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
