#include "server/service/convert/convert_edits.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/duration.pb.h"
#include "server/base/error.h"
#include "server/core/grid/cells/world_frame.h"
#include "server/core/map/map_snapshot.h"
#include "server/service/convert/convert.h"
#include "server/service/convert/convert_creation.h"
#include "server/service/convert/convert_shape.h"

namespace waystar::rpc {
namespace {

constexpr std::pair<v1::Falloff, core::ObstacleEffect::Falloff> kFalloffs[] = {
    {v1::FALLOFF_UNSPECIFIED, core::ObstacleEffect::Falloff::kNone},
    {v1::FALLOFF_NONE, core::ObstacleEffect::Falloff::kNone},
    {v1::FALLOFF_LINEAR, core::ObstacleEffect::Falloff::kLinear}};

absl::StatusOr<core::ObstacleEffect> ToEffect(const v1::Obstacle& obstacle) {
  core::ObstacleEffect effect;
  WAYSTAR_ASSIGN_OR_RETURN(effect.falloff, FromWire(kFalloffs, obstacle.falloff(), "falloff"));
  switch (obstacle.effect_case()) {
    case v1::Obstacle::kCostFactor:
      effect.kind = core::ObstacleEffect::Kind::kMultiplyCost;
      effect.amount = obstacle.cost_factor();
      break;
    case v1::Obstacle::kCostAddition:
      effect.kind = core::ObstacleEffect::Kind::kAddCost;
      effect.amount = obstacle.cost_addition();
      break;
    case v1::Obstacle::EFFECT_NOT_SET:
      break;
  }
  return effect;
}

// Converts by the rules of google/protobuf/timestamp.proto: from the year 1 to the year 9999.
absl::StatusOr<absl::Time> ToRequestTime(const google::protobuf::Timestamp& time) {
  constexpr std::int64_t kMinSeconds = -62'135'596'800;
  constexpr std::int64_t kMaxSeconds = 253'402'300'799;
  constexpr std::int32_t kMaxNanos = 999'999'999;
  if (time.seconds() < kMinSeconds || time.seconds() > kMaxSeconds || time.nanos() < 0 ||
      time.nanos() > kMaxNanos) {
    return MakeError(ErrorReason::kBadValue, "request_time",
                     absl::StrCat("request_time: seconds ", time.seconds(), " and nanos ", time.nanos(),
                                  " are not a google.protobuf.Timestamp"));
  }
  return absl::FromUnixSeconds(time.seconds()) + absl::Nanoseconds(time.nanos());
}

absl::StatusOr<core::Edit> ToSetTerrain(const v1::SetTerrain& edit, const HexCoordinates& coordinates) {
  WAYSTAR_RETURN_IF_ERROR(CheckGiven(edit.has_shape(), "shape"));
  if (edit.terrain().size() != 1) {
    return MakeError(ErrorReason::kUnknownTerrain, "terrain", "a terrain's symbol is one ASCII character");
  }
  WAYSTAR_ASSIGN_OR_RETURN(core::Shape shape, Below("shape", ToShape(edit.shape(), coordinates)));
  return core::SetTerrain{.shape = std::move(shape), .symbol = edit.terrain().front()};
}

}  // namespace

absl::StatusOr<core::PutObstacle> ToPut(const v1::Obstacle& obstacle, const HexCoordinates& coordinates) {
  WAYSTAR_RETURN_IF_ERROR(CheckGiven(obstacle.has_shape(), "shape"));
  if (obstacle.has_heights()) {
    return MakeError(ErrorReason::kWrongMapKind, "heights",
                     "only obstacles on navigation meshes have heights");
  }
  core::PutObstacle put;
  put.obstacle.id = obstacle.id();
  WAYSTAR_ASSIGN_OR_RETURN(put.obstacle.shape, Below("shape", ToShape(obstacle.shape(), coordinates)));
  WAYSTAR_ASSIGN_OR_RETURN(put.obstacle.effect, ToEffect(obstacle));
  if (obstacle.has_lifetime()) {
    WAYSTAR_ASSIGN_OR_RETURN(put.lifetime,
                             ToDuration(obstacle.lifetime(), ErrorReason::kBadLifetime, "lifetime"));
  }
  return put;
}

namespace {

absl::StatusOr<core::Edit> ToPutObstacle(const v1::Obstacle& obstacle, bool replace,
                                         const HexCoordinates& coordinates) {
  if (!obstacle.has_heights()) {
    WAYSTAR_ASSIGN_OR_RETURN(core::PutObstacle put, ToPut(obstacle, coordinates));
    put.replace = replace;
    return put;
  }
  v1::Obstacle without = obstacle;
  without.clear_heights();
  core::PutMeshObstacle put;
  WAYSTAR_ASSIGN_OR_RETURN(put.put, ToPut(without, coordinates));
  WAYSTAR_ASSIGN_OR_RETURN(put.heights, Below("heights", ToHeightRange(obstacle.heights())));
  put.put.replace = replace;
  return put;
}

absl::StatusOr<core::Edit> ToResizeObstacle(const v1::ResizeObstacle& edit,
                                            const HexCoordinates& coordinates) {
  WAYSTAR_RETURN_IF_ERROR(CheckGiven(edit.has_shape(), "shape"));
  WAYSTAR_ASSIGN_OR_RETURN(core::Shape shape, Below("shape", ToShape(edit.shape(), coordinates)));
  return core::ResizeObstacle{.id = edit.id(), .shape = std::move(shape)};
}

absl::StatusOr<core::Edit> ToPutProfile(const v1::NamedProfile& profile, core::MapKind kind) {
  if (kind == core::MapKind::kMesh) {
    WAYSTAR_ASSIGN_OR_RETURN(core::MeshProfile on_mesh, ToMeshProfile(profile));
    return core::PutMeshProfile{std::move(on_mesh)};
  }
  WAYSTAR_ASSIGN_OR_RETURN(core::NamedProfile named, ToNamedProfile(profile));
  return core::PutProfile{std::move(named)};
}

absl::StatusOr<core::Edit> ToPutGround(const v1::Ground& ground, const HexCoordinates& coordinates) {
  core::PutGround put{.ground = {.id = ground.id()}};
  if (ground.has_region()) {
    WAYSTAR_ASSIGN_OR_RETURN(put.ground.region, Below("region", ToShape(ground.region(), coordinates)));
  }
  if (ground.has_heights()) {
    WAYSTAR_ASSIGN_OR_RETURN(put.ground.heights, Below("heights", ToHeightRange(ground.heights())));
  }
  if (ground.has_weld()) {
    put.ground.weld = ground.weld();
  }
  for (const v1::GroundPolygon& polygon : ground.polygons()) {
    core::GroundPolygon& added = put.ground.polygons.emplace_back(
        core::GroundPolygon{.agent_radius = polygon.agent_radius(), .terrain = polygon.terrain()});
    for (const v1::Position& corner : polygon.corners()) {
      added.corners.push_back(ToWorldPoint(corner));
    }
  }
  return put;
}

absl::StatusOr<core::Edit> ToEdit(const v1::Edit& edit, absl::string_view map,
                                  const HexCoordinates& coordinates, core::MapKind kind) {
  switch (edit.edit_case()) {
    case v1::Edit::kBlock: {
      WAYSTAR_ASSIGN_OR_RETURN(core::Shape shape, Below("block", ToShape(edit.block(), coordinates)));
      return core::BlockCells{std::move(shape)};
    }
    case v1::Edit::kUnblock: {
      WAYSTAR_ASSIGN_OR_RETURN(core::Shape shape, Below("unblock", ToShape(edit.unblock(), coordinates)));
      return core::UnblockCells{std::move(shape)};
    }
    case v1::Edit::kSetTerrain:
      return Below("set_terrain", ToSetTerrain(edit.set_terrain(), coordinates));
    case v1::Edit::kAddObstacle:
      return Below("add_obstacle", ToPutObstacle(edit.add_obstacle(), false, coordinates));
    case v1::Edit::kPutObstacle:
      return Below("put_obstacle", ToPutObstacle(edit.put_obstacle(), true, coordinates));
    case v1::Edit::kMoveObstacle:
      return core::MoveObstacle{
          .id = edit.move_obstacle().id(), .dx = edit.move_obstacle().dx(), .dy = edit.move_obstacle().dy()};
    case v1::Edit::kResizeObstacle:
      return Below("resize_obstacle", ToResizeObstacle(edit.resize_obstacle(), coordinates));
    case v1::Edit::kRemoveObstacle:
      return core::RemoveObstacle{.id = edit.remove_obstacle()};
    case v1::Edit::kAddPortal:
      return Below("add_portal", ToPutPortal(edit.add_portal(), false, map, coordinates));
    case v1::Edit::kPutPortal:
      return Below("put_portal", ToPutPortal(edit.put_portal(), true, map, coordinates));
    case v1::Edit::kRemovePortal:
      return core::RemovePortal{.id = edit.remove_portal()};
    case v1::Edit::kSwitchPortal:
      return core::SwitchPortal{.id = edit.switch_portal().id(), .closed = edit.switch_portal().closed()};
    case v1::Edit::kPutProfile:
      return Below("put_profile", ToPutProfile(edit.put_profile(), kind));
    case v1::Edit::kRemoveProfile:
      return core::RemoveProfile{.name = edit.remove_profile()};
    case v1::Edit::kAddNodes:
      return Below<core::Edit>("add_nodes", ToPutNodes(edit.add_nodes(), false));
    case v1::Edit::kPutNodes:
      return Below<core::Edit>("put_nodes", ToPutNodes(edit.put_nodes(), true));
    case v1::Edit::kRemoveNodes:
      return Below<core::Edit>("remove_nodes", ToRemoveNodes(edit.remove_nodes()));
    case v1::Edit::kAddEdges:
      return Below<core::Edit>("add_edges", ToPutEdges(edit.add_edges(), false));
    case v1::Edit::kPutEdges:
      return Below<core::Edit>("put_edges", ToPutEdges(edit.put_edges(), true));
    case v1::Edit::kRemoveEdges:
      return Below<core::Edit>("remove_edges", ToRemoveEdges(edit.remove_edges()));
    case v1::Edit::kSetEnabled:
      return Below<core::Edit>("set_enabled", ToSetEnabled(edit.set_enabled()));
    case v1::Edit::kPutGround:
      return Below("put_ground", ToPutGround(edit.put_ground(), coordinates));
    case v1::Edit::kRemoveGround:
      return core::RemoveGround{.id = edit.remove_ground()};
    case v1::Edit::EDIT_NOT_SET:
      break;
  }
  return MakeError(
      ErrorReason::kBadEdit, "",
      "an edit is one of block, unblock, set_terrain, add_obstacle, put_obstacle, move_obstacle, "
      "resize_obstacle, remove_obstacle, add_portal, put_portal, switch_portal, remove_portal, put_profile, "
      "remove_profile, add_nodes, put_nodes, remove_nodes, add_edges, put_edges, remove_edges, set_enabled, "
      "put_ground and remove_ground");
}

// Fills in everything but the lifetime of an obstacle.
void FillBody(const core::Obstacle& obstacle, const HexCoordinates& coordinates, v1::Obstacle& out) {
  out.set_id(obstacle.id);
  FillShape(obstacle.shape, coordinates, *out.mutable_shape());
  switch (obstacle.effect.kind) {
    case core::ObstacleEffect::Kind::kBlock:
      break;
    case core::ObstacleEffect::Kind::kMultiplyCost:
      out.set_cost_factor(obstacle.effect.amount);
      break;
    case core::ObstacleEffect::Kind::kAddCost:
      out.set_cost_addition(obstacle.effect.amount);
      break;
  }
  out.set_falloff(ToWire(kFalloffs, obstacle.effect.falloff));
  if (obstacle.heights) {
    FillHeightRange(*obstacle.heights, *out.mutable_heights());
  }
}

class EditFiller {
 public:
  EditFiller(const HexCoordinates& coordinates, v1::Edit& out) : coordinates_(coordinates), out_(out) {}

  void operator()(const core::BlockCells& edit) const {
    FillShape(edit.shape, coordinates_, *out_.mutable_block());
  }
  void operator()(const core::UnblockCells& edit) const {
    FillShape(edit.shape, coordinates_, *out_.mutable_unblock());
  }
  void operator()(const core::SetTerrain& edit) const {
    FillShape(edit.shape, coordinates_, *out_.mutable_set_terrain()->mutable_shape());
    out_.mutable_set_terrain()->set_terrain(std::string(1, edit.symbol));
  }
  void operator()(const core::PutObstacle& edit) const {
    v1::Obstacle& obstacle = edit.replace ? *out_.mutable_put_obstacle() : *out_.mutable_add_obstacle();
    FillBody(edit.obstacle, coordinates_, obstacle);
    if (edit.lifetime) {
      FillDuration(*edit.lifetime, *obstacle.mutable_lifetime());
    }
  }
  void operator()(const core::PutMeshObstacle& edit) const {
    (*this)(edit.put);
    v1::Obstacle& obstacle = edit.put.replace ? *out_.mutable_put_obstacle() : *out_.mutable_add_obstacle();
    FillHeightRange(edit.heights, *obstacle.mutable_heights());
  }
  void operator()(const core::MoveObstacle& edit) const {
    v1::MoveObstacle& move = *out_.mutable_move_obstacle();
    move.set_id(edit.id);
    move.set_dx(edit.dx);
    move.set_dy(edit.dy);
  }
  void operator()(const core::ResizeObstacle& edit) const {
    out_.mutable_resize_obstacle()->set_id(edit.id);
    FillShape(edit.shape, coordinates_, *out_.mutable_resize_obstacle()->mutable_shape());
  }
  void operator()(const core::RemoveObstacle& edit) const { out_.set_remove_obstacle(edit.id); }
  // For the portals of grids and of meshes.
  template <typename PutPortal>
  requires requires(PutPortal edit) { edit.portal; }
  void operator()(const PutPortal& edit) const {
    FillPortal(edit.portal, coordinates_,
               edit.replace ? *out_.mutable_put_portal() : *out_.mutable_add_portal());
  }
  void operator()(const core::RemovePortal& edit) const { out_.set_remove_portal(edit.id); }
  void operator()(const core::SwitchPortal& edit) const {
    out_.mutable_switch_portal()->set_id(edit.id);
    out_.mutable_switch_portal()->set_closed(edit.closed);
  }
  void operator()(const core::PutProfile& edit) const {
    FillNamedProfile(edit.named, *out_.mutable_put_profile());
  }
  void operator()(const core::PutMeshProfile& edit) const {
    FillNamedProfile(edit.profile, *out_.mutable_put_profile());
  }
  void operator()(const core::RemoveProfile& edit) const { out_.set_remove_profile(edit.name); }
  void operator()(const core::PutNodes& edit) const {
    FillNodes(edit.nodes, edit.replace ? *out_.mutable_put_nodes() : *out_.mutable_add_nodes());
  }
  void operator()(const core::RemoveNodes& edit) const {
    FillRemoveNodes(edit, *out_.mutable_remove_nodes());
  }
  void operator()(const core::PutEdges& edit) const {
    FillEdges(edit.edges, edit.replace ? *out_.mutable_put_edges() : *out_.mutable_add_edges());
  }
  void operator()(const core::RemoveEdges& edit) const {
    FillRemoveEdges(edit, *out_.mutable_remove_edges());
  }
  void operator()(const core::SetEnabled& edit) const { FillSetEnabled(edit, *out_.mutable_set_enabled()); }
  void operator()(const core::PutGround& edit) const {
    v1::Ground& out = *out_.mutable_put_ground();
    out.set_id(edit.ground.id);
    out.set_weld(edit.ground.weld);
    if (edit.ground.region) {
      FillShape(*edit.ground.region, coordinates_, *out.mutable_region());
    }
    if (!edit.ground.heights.IsAll()) {
      FillHeightRange(edit.ground.heights, *out.mutable_heights());
    }
    for (const core::GroundPolygon& polygon : edit.ground.polygons) {
      v1::GroundPolygon& added = *out.add_polygons();
      added.set_terrain(polygon.terrain);
      added.set_agent_radius(polygon.agent_radius);
      for (const core::WorldPoint& corner : polygon.corners) {
        FillPosition(corner, *added.add_corners());
      }
    }
  }
  void operator()(const core::RemoveGround& edit) const { out_.set_remove_ground(edit.id); }

 private:
  const HexCoordinates& coordinates_;
  v1::Edit& out_;
};

}  // namespace

absl::StatusOr<std::vector<core::Edit>> ToEdits(const google::protobuf::RepeatedPtrField<v1::Edit>& edits,
                                                absl::string_view map, const HexCoordinates& coordinates,
                                                core::MapKind kind) {
  std::vector<core::Edit> out;
  out.reserve(static_cast<std::size_t>(edits.size()));
  for (int i = 0; i < edits.size(); ++i) {
    absl::StatusOr<core::Edit> edit = ToEdit(edits.Get(i), map, coordinates, kind);
    if (!edit.ok()) {
      const absl::string_view dot = ErrorFieldOf(edit.status()).empty() ? "" : ".";
      return WithFieldPrefix(edit.status(), absl::StrCat("edits[", i, "]", dot));
    }
    out.push_back(*std::move(edit));
  }
  return out;
}

namespace {

// The shape whose parts must all be on the map, and its field; null if the edit has none.
struct PaintedShape {
  const v1::Shape* shape = nullptr;
  absl::string_view field;
};

PaintedShape PaintedBy(const v1::Edit& edit) {
  switch (edit.edit_case()) {
    case v1::Edit::kBlock:
      return {&edit.block(), "block"};
    case v1::Edit::kUnblock:
      return {&edit.unblock(), "unblock"};
    case v1::Edit::kSetTerrain:
      return {&edit.set_terrain().shape(), "set_terrain.shape"};
    default:
      return {};
  }
}

// Checks that cells and rectangles overlap a board. Fields are relative to the shape.
absl::Status CheckOverlap(const core::HexBoard& board, const v1::Shape& shape) {
  const auto off_board = [&](absl::string_view what, int x, int y, const std::string& field) {
    return MakeError(ErrorReason::kOffMap, field,
                     absl::StrCat(what, "column ", x, " of row ", y, " is off the map, which has ",
                                  board.columns, " columns and ", board.rows, " rows"));
  };
  for (int i = 0; i < shape.cells_size(); ++i) {
    const v1::Cell& cell = shape.cells(i);
    if (!board.bounds().Contains(ToCell(cell))) {
      return off_board("", cell.x(), cell.y(), absl::StrCat("cells[", i, "]"));
    }
  }
  for (int i = 0; i < shape.rectangles_size(); ++i) {
    const core::Rectangle rectangle = ToRectangle(shape.rectangles(i));
    // The core rejects shapes without cells.
    if (!rectangle.empty() && core::Intersect(rectangle, board.bounds()).empty()) {
      return off_board("the rectangle at ", rectangle.x, rectangle.y, absl::StrCat("rectangles[", i, "]"));
    }
  }
  return absl::OkStatus();
}

// The core accepts cells and rectangles beside the board, on the plane or off it. Parts wholly off the board
// are rejected here only, so that older logs can still be read.
absl::Status CheckOnBoard(const core::HexBoard& board, const v1::UpdateMapRequest& request) {
  for (int i = 0; i < request.edits_size(); ++i) {
    const PaintedShape painted = PaintedBy(request.edits(i));
    if (painted.shape == nullptr) {
      continue;
    }
    if (const absl::Status status = CheckOverlap(board, *painted.shape); !status.ok()) {
      return WithFieldPrefix(status, absl::StrCat("edits[", i, "].", painted.field, "."));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<core::UpdateBatch> ToUpdateBatch(const core::MapStore& store,
                                                const v1::UpdateMapRequest& request) {
  HexCoordinates coordinates;
  core::MapKind kind = core::MapKind::kSquares;
  // The core reports a missing map.
  if (const absl::StatusOr<core::PinnedSnapshot> snapshot = store.Pin(request.map()); snapshot.ok()) {
    coordinates = HexCoordinates(**snapshot);
    kind = (*snapshot)->kind();
  } else if (!core::LoadingMapOf(snapshot.status()).empty()) {
    return snapshot.status();
  }
  core::UpdateBatch batch;
  WAYSTAR_ASSIGN_OR_RETURN(batch.edits, ToEdits(request.edits(), request.map(), coordinates, kind));
  if (coordinates.board() != nullptr) {
    WAYSTAR_RETURN_IF_ERROR(CheckOnBoard(*coordinates.board(), request));
  }
  WAYSTAR_ASSIGN_OR_RETURN(batch.expected, ToExpectedVersion(request.expected_version()));
  batch.request_id = request.request_id();
  if (request.has_request_time()) {
    WAYSTAR_ASSIGN_OR_RETURN(batch.request_time, ToRequestTime(request.request_time()));
  }
  return batch;
}

void FillEdit(const core::Edit& edit, const HexCoordinates& coordinates, v1::Edit& out) {
  std::visit(EditFiller(coordinates, out), edit);
}

void FillObstacle(const core::Obstacle& obstacle, const HexCoordinates& coordinates, absl::Time now,
                  v1::Obstacle& out) {
  FillBody(obstacle, coordinates, out);
  if (obstacle.expiry != absl::InfiniteFuture()) {
    FillDuration(std::max(obstacle.expiry - now, absl::ZeroDuration()), *out.mutable_lifetime());
  }
}

}  // namespace waystar::rpc
