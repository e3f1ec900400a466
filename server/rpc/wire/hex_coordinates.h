// Cells of hexagons counted by columns and rows, in requests that say so and their answers.
#pragma once

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/message.h"
#include "server/base/status_macros.h"
#include "server/core/grid/hex_board.h"
#include "server/core/store/map_store.h"
#include "server/rpc/call/call_context.h"
#include "server/rpc/call/unary_call.h"
#include "waystar/v1/edits.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::rpc {

// Offset coordinates of one map.
class HexCoordinates {
 public:
  // INVALID_ARGUMENT / UNKNOWN_ENUM_VALUE or FAILED_PRECONDITION / WRONG_MAP_KIND with field "coordinates";
  // the errors of MapStore::Pin.
  static absl::StatusOr<HexCoordinates> Of(const core::MapStore& store, const std::string& map,
                                           v1::HexLayout coordinates);

  // Turns all cells of a message into those of the plane, be they in shapes or alone, whatever field they are
  // in. Rectangles that are parts of shapes too; others stay as they are, and so do positions.
  // INVALID_ARGUMENT / BAD_VALUE for points of shapes that are no whole numbers, BAD_RECTANGLE for rectangles
  // that are empty or larger than a map may be: the field ends with that of the part.
  absl::Status ToPlane(google::protobuf::Message& request) const;

  // Turns all cells of a message into those of the columns and rows.
  void FromPlane(google::protobuf::Message& response) const;

 private:
  HexCoordinates(core::HexLayout layout, core::Cell zero) : layout_(layout), zero_(zero) {}

  core::Cell PlaneCellOf(core::Cell offset) const;
  absl::Status ShapeToPlane(v1::Shape& shape) const;
  absl::Status PointToPlane(v1::Point& point) const;

  core::HexLayout layout_;
  // Where on the plane (0, 0) lies.
  core::Cell zero_;
};

// A handler of requests whose field `coordinates` may ask for this, around one that only knows planes.
template <typename Request, typename Response>
UnaryHandler<Request, Response> InHexCoordinates(const core::MapStore& store,
                                                 UnaryHandler<Request, Response> handler) {
  return [&store, handler = std::move(handler)](const Request& request, Response& response,
                                                CallContext& context) -> absl::Status {
    if (request.coordinates() == v1::HEX_LAYOUT_UNSPECIFIED) {
      return handler(request, response, context);
    }
    WAYSTAR_ASSIGN_OR_RETURN(const HexCoordinates coordinates,
                             HexCoordinates::Of(store, request.map(), request.coordinates()));
    Request on_plane = request;
    on_plane.clear_coordinates();
    WAYSTAR_RETURN_IF_ERROR(coordinates.ToPlane(on_plane));
    context.written = nullptr;
    WAYSTAR_RETURN_IF_ERROR(handler(on_plane, response, context));
    coordinates.FromPlane(response);
    return absl::OkStatus();
  };
}

}  // namespace waystar::rpc
