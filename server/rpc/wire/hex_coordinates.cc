#include "server/rpc/wire/hex_coordinates.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/grid/grid_settings.h"
#include "server/core/shape/shape.h"
#include "server/rpc/wire/convert.h"

namespace waystar::rpc {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// Calls visit(part) for a message and all messages in it, the outer first, until it is an error; not for
// those in a message that it returns false for.
absl::Status ForEachMessage(Message& message, absl::FunctionRef<absl::StatusOr<bool>(Message&)> visit) {
  WAYSTAR_ASSIGN_OR_RETURN(const bool goes_on, visit(message));
  if (!goes_on) {
    return absl::OkStatus();
  }
  const Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      continue;
    }
    if (!field->is_repeated()) {
      WAYSTAR_RETURN_IF_ERROR(ForEachMessage(*reflection.MutableMessage(&message, field), visit));
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
      WAYSTAR_RETURN_IF_ERROR(ForEachMessage(*reflection.MutableRepeatedMessage(&message, field, i), visit));
    }
  }
  return absl::OkStatus();
}

// The message as one of that type, or null.
template <typename Type>
Type* As(Message& message) {
  return message.GetDescriptor() == Type::descriptor() ? static_cast<Type*>(&message) : nullptr;
}

void Set(core::Cell to, v1::Cell& cell) {
  cell.set_x(to.x);
  cell.set_y(to.y);
}

// What is so far out is off every map, before and after.
bool IsNear(const v1::Cell& cell) {
  return std::abs(std::int64_t{cell.x()}) <= std::int64_t{core::kMaxMapSide} * 4 &&
         std::abs(std::int64_t{cell.y()}) <= std::int64_t{core::kMaxMapSide} * 4;
}

}  // namespace

absl::StatusOr<HexCoordinates> HexCoordinates::Of(const core::MapStore& store, const std::string& map,
                                                  v1::HexLayout coordinates) {
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot, store.Pin(map));
  if (snapshot->is_graph() || !snapshot->grid().settings().frame.hexagons) {
    return MakeError(absl::StatusCode::kFailedPrecondition, ErrorReason::kWrongMapKind, "coordinates",
                     "only maps of hexagons have these coordinates");
  }
  const core::HexBoard& board = *snapshot->grid().settings().frame.hexagons;
  WAYSTAR_ASSIGN_OR_RETURN(const core::HexLayout layout, ToHexLayout(coordinates, "coordinates"));
  return core::HasOffsets(layout) ? HexCoordinates(layout, board.zero()) : HexCoordinates(layout, {0, 0});
}

core::Cell HexCoordinates::PlaneCellOf(core::Cell offset) const {
  const core::Cell axial = core::AxialOf(layout_, offset);
  return {axial.x + zero_.x, axial.y + zero_.y};
}

absl::Status HexCoordinates::ToPlane(Message& request) const {
  if (!core::HasOffsets(layout_)) {
    return absl::OkStatus();
  }
  return ForEachMessage(request, [this](Message& message) -> absl::StatusOr<bool> {
    if (auto* cell = As<v1::Cell>(message)) {
      if (IsNear(*cell)) {
        Set(PlaneCellOf(ToCell(*cell)), *cell);
      }
      return false;
    }
    if (auto* shape = As<v1::Shape>(message)) {
      WAYSTAR_RETURN_IF_ERROR(ShapeToPlane(*shape));
    }
    return true;
  });
}

void HexCoordinates::FromPlane(Message& response) const {
  if (!core::HasOffsets(layout_)) {
    return;
  }
  const absl::Status status = ForEachMessage(response, [this](Message& message) -> absl::StatusOr<bool> {
    if (auto* cell = As<v1::Cell>(message)) {
      Set(core::OffsetOf(layout_, {cell->x() - zero_.x, cell->y() - zero_.y}), *cell);
      return false;
    }
    return true;
  });
  static_cast<void>(status);
}

absl::Status HexCoordinates::ShapeToPlane(v1::Shape& shape) const {
  for (v1::Disc& disc : *shape.mutable_discs()) {
    WAYSTAR_RETURN_IF_ERROR(PointToPlane(*disc.mutable_center()));
  }
  for (v1::Polygon& polygon : *shape.mutable_polygons()) {
    for (v1::Point& vertex : *polygon.mutable_vertices()) {
      WAYSTAR_RETURN_IF_ERROR(PointToPlane(vertex));
    }
  }
  for (v1::Line& line : *shape.mutable_lines()) {
    WAYSTAR_RETURN_IF_ERROR(PointToPlane(*line.mutable_start()));
    WAYSTAR_RETURN_IF_ERROR(PointToPlane(*line.mutable_end()));
  }
  // Each row of a rectangle, or each column, is one on the plane.
  google::protobuf::RepeatedPtrField<v1::Rectangle> rectangles;
  rectangles.Swap(shape.mutable_rectangles());
  const bool is_flat = core::IsFlatTopped(layout_);
  for (const v1::Rectangle& r : rectangles) {
    const int lines = is_flat ? r.width() : r.height();
    const bool is_sound = r.width() >= 1 && r.height() >= 1 && lines <= core::kMaxMapSide &&
                          std::abs(static_cast<double>(r.x())) <= core::kMaxReach &&
                          std::abs(static_cast<double>(r.y())) <= core::kMaxReach;
    if (!is_sound) {
      return InvalidArgument(ErrorReason::kBadRectangle, "rectangles",
                             absl::StrCat("a rectangle of columns and rows has 1 to ", core::kMaxMapSide,
                                          " of each, and does not begin far off the map"));
    }
    for (int line = 0; line < lines; ++line) {
      const core::Cell first = PlaneCellOf({r.x() + (is_flat ? line : 0), r.y() + (is_flat ? 0 : line)});
      v1::Rectangle& part = *shape.add_rectangles();
      part.set_x(first.x);
      part.set_y(first.y);
      part.set_width(is_flat ? 1 : r.width());
      part.set_height(is_flat ? r.height() : 1);
    }
  }
  return absl::OkStatus();
}

absl::Status HexCoordinates::PointToPlane(v1::Point& point) const {
  const bool is_cell = std::abs(point.x()) <= core::kMaxReach && std::abs(point.y()) <= core::kMaxReach &&
                       point.x() == std::floor(point.x()) && point.y() == std::floor(point.y());
  if (!is_cell) {
    return InvalidArgument(
        ErrorReason::kBadValue, "coordinates",
        "by columns and rows, the points of shapes are centres of hexagons: whole numbers");
  }
  const core::Cell cell =
      PlaneCellOf({static_cast<std::int32_t>(point.x()), static_cast<std::int32_t>(point.y())});
  point.set_x(cell.x);
  point.set_y(cell.y);
  return absl::OkStatus();
}

}  // namespace waystar::rpc
