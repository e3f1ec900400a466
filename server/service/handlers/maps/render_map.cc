#include "server/service/handlers/maps/render_map.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/core/query/places.h"
#include "server/core/query/resolve.h"
#include "server/core/query/route_query.h"
#include "server/core/query/solve.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"
#include "server/geometry/box.h"
#include "server/geometry/shape.h"
#include "server/render/canvas/palette.h"
#include "server/render/file/picture_file.h"
#include "server/render/scene/map_scenes.h"
#include "server/service/call/status.h"
#include "server/service/convert/convert.h"
#include "server/service/convert/convert_query.h"
#include "server/service/convert/convert_shape.h"
#include "server/service/convert/hex_coordinates.h"
#include "server/service/handlers/query/answer_query.h"

namespace waystar::rpc {
namespace {

// Upper bound on the bytes of a response apart from its picture and its answer.
constexpr std::size_t kEnvelopeBytes = 256;

constexpr std::pair<v1::PictureFormat, v1::PictureFormat> kPictureFormats[] = {
    {v1::PICTURE_FORMAT_UNSPECIFIED, v1::PICTURE_FORMAT_PNG},
    {v1::PICTURE_FORMAT_PNG, v1::PICTURE_FORMAT_PNG},
    {v1::PICTURE_FORMAT_SVG, v1::PICTURE_FORMAT_SVG},
    {v1::PICTURE_FORMAT_TEXT, v1::PICTURE_FORMAT_TEXT}};

constexpr std::pair<v1::GridLines, core::RenderOptions::GridLines> kGridLines[] = {
    {v1::GRID_LINES_UNSPECIFIED, core::RenderOptions::GridLines::kAuto},
    {v1::GRID_LINES_NEVER, core::RenderOptions::GridLines::kNever},
    {v1::GRID_LINES_ALWAYS, core::RenderOptions::GridLines::kAlways}};

constexpr std::pair<v1::PictureTheme, const picture::Palette*> kPalettes[] = {
    {v1::PICTURE_THEME_UNSPECIFIED, &picture::kLightPalette},
    {v1::PICTURE_THEME_LIGHT, &picture::kLightPalette},
    {v1::PICTURE_THEME_DARK, &picture::kDarkPalette}};

absl::StatusOr<int> ToPictureSide(absl::string_view field, std::int32_t side, int otherwise) {
  if (side == 0) {
    return otherwise;
  }
  if (side < core::kMinPictureSide || side > core::kMaxPictureSide) {
    return MakeError(ErrorReason::kBadValue, field,
                     absl::StrCat("a picture's sides must be ", core::kMinPictureSide, " to ",
                                  core::kMaxPictureSide, ", got ", side));
  }
  return side;
}

absl::StatusOr<core::RenderOptions> ToRenderOptions(const v1::RenderMapRequest& request,
                                                    v1::PictureFormat format) {
  constexpr int kPixels = 1024;
  constexpr int kColumns = 120;
  constexpr int kLines = 60;
  core::RenderOptions options;
  options.is_text = format == v1::PICTURE_FORMAT_TEXT;
  WAYSTAR_ASSIGN_OR_RETURN(options.max_width, ToPictureSide("max_width", request.max_width(),
                                                            options.is_text ? kColumns : kPixels));
  WAYSTAR_ASSIGN_OR_RETURN(options.max_height, ToPictureSide("max_height", request.max_height(),
                                                             options.is_text ? kLines : kPixels));
  WAYSTAR_ASSIGN_OR_RETURN(options.grid_lines, FromWire(kGridLines, request.grid_lines(), "grid_lines"));
  WAYSTAR_ASSIGN_OR_RETURN(const picture::Palette* const palette,
                           FromWire(kPalettes, request.theme(), "theme"));
  options.palette = *palette;
  options.legend = !request.has_legend() || request.legend();
  options.labels = !request.has_labels() || request.labels();
  return options;
}

std::optional<core::Rectangle> RegionOf(const v1::RenderMapRequest& request) {
  return request.has_region() ? std::optional(ToRectangle(request.region())) : std::nullopt;
}

absl::Status CheckAreaNumber(absl::string_view name, double number, double least, double most) {
  // False for NaN as well.
  if (number >= least && number <= most) {
    return absl::OkStatus();
  }
  return MakeError(
      ErrorReason::kBadValue, absl::StrCat("area.", name),
      absl::StrFormat("the %s of an area must be %.12g to %.12g, got %.12g", name, least, most, number));
}

// The part of the world to show; unset for all of it.
absl::StatusOr<std::optional<core::Box>> AreaOf(const v1::RenderMapRequest& request) {
  if (request.has_area()) {
    constexpr double kFar = 2 * core::kMaxReach;
    constexpr double kNarrowest = 1e-6;
    const v1::WorldArea& area = request.area();
    WAYSTAR_RETURN_IF_ERROR(CheckAreaNumber("x", area.x(), -kFar, kFar));
    WAYSTAR_RETURN_IF_ERROR(CheckAreaNumber("y", area.y(), -kFar, kFar));
    WAYSTAR_RETURN_IF_ERROR(CheckAreaNumber("width", area.width(), kNarrowest, 2 * kFar));
    WAYSTAR_RETURN_IF_ERROR(CheckAreaNumber("height", area.height(), kNarrowest, 2 * kFar));
    return core::Box{area.x(), area.y(), area.x() + area.width(), area.y() + area.height()};
  }
  return core::AreaOf(RegionOf(request));
}

absl::StatusOr<core::MeshView> ViewOf(const v1::RenderMapRequest& request, bool is_text) {
  core::MeshView view;
  WAYSTAR_ASSIGN_OR_RETURN(view.area, AreaOf(request));
  WAYSTAR_ASSIGN_OR_RETURN(view.heights, Below("heights", ToHeightRange(request.heights())));
  view.is_oblique = request.oblique();
  if (view.is_oblique && is_text) {
    return MakeError(ErrorReason::kBadValue, "oblique", "text shows a mesh from above: ask for PNG or SVG");
  }
  return view;
}

// For maps that are planes.
absl::Status CheckSeenFromAbove(const v1::RenderMapRequest& request) {
  if (request.has_heights()) {
    return MakeError(ErrorReason::kWrongMapKind, "heights",
                     "only navigation meshes have heights to choose from");
  }
  if (request.oblique()) {
    return MakeError(ErrorReason::kWrongMapKind, "oblique", "only navigation meshes are seen from the side");
  }
  return absl::OkStatus();
}

void FillPoint(picture::Point point, v1::PicturePoint& out) {
  out.set_x(point.x);
  out.set_y(point.y);
}

void FillPlacement(const core::MapSnapshot& snapshot, const core::Scene& scene, v1::PicturePlacement& out) {
  out.set_width(scene.width);
  out.set_height(scene.height);
  FillRectangle(scene.region, *out.mutable_region());
  if (scene.area.has_value()) {
    out.mutable_area()->set_x(scene.area->x_low);
    out.mutable_area()->set_y(scene.area->y_low);
    out.mutable_area()->set_width(scene.area->x_high - scene.area->x_low);
    out.mutable_area()->set_height(scene.area->y_high - scene.area->y_low);
  }
  const core::Cell zero = HexCoordinates(snapshot).ToPlane(core::Cell{0, 0});
  FillPoint(scene.tiling.At(zero.x, zero.y), *out.mutable_zero());
  FillPoint(scene.tiling.x_step, *out.mutable_x_step());
  FillPoint(scene.tiling.y_step, *out.mutable_y_step());
  if (scene.z_step != picture::Point()) {
    FillPoint(scene.z_step, *out.mutable_z_step());
  }
  out.set_hexagons(scene.tiling.hexagons);
  for (const core::DrawnNode& placed : scene.placed_nodes) {
    v1::PlacedNode& node = *out.add_nodes();
    node.set_node(snapshot.graph().IdOf(placed.node));
    FillPoint(placed.at, *node.mutable_point());
  }
}

absl::Status FillImage(const core::Scene& scene, v1::PictureFormat format, const core::Budget& budget,
                       v1::RenderMapResponse& response) {
  const core::BudgetStop stop(budget);
  if (format == v1::PICTURE_FORMAT_TEXT) {
    WAYSTAR_ASSIGN_OR_RETURN(*response.mutable_image(), core::SceneText(scene, budget));
    response.set_content_type("text/plain");
    return absl::OkStatus();
  }
  if (format == v1::PICTURE_FORMAT_SVG) {
    picture::SvgSurface surface(scene.width, scene.height, scene.palette.paper, scene.title, &stop);
    WAYSTAR_RETURN_IF_ERROR(core::PaintScene(scene, surface, budget));
    response.set_image(surface.Finish());
    response.set_content_type("image/svg+xml");
    return absl::OkStatus();
  }
  picture::Canvas canvas(scene.width, scene.height, scene.palette.paper);
  picture::RasterSurface surface(canvas);
  WAYSTAR_RETURN_IF_ERROR(core::PaintScene(scene, surface, budget));
  response.set_image(picture::EncodePng(canvas, &stop));
  WAYSTAR_RETURN_IF_ERROR(stop.Check());
  response.set_content_type("image/png");
  return absl::OkStatus();
}

// Renders one request on one snapshot.
class MapRenderer {
 public:
  MapRenderer(const core::MapStore& store, const core::MapSnapshot& snapshot, std::size_t max_bytes,
              const v1::RenderMapRequest& request, v1::RenderMapResponse& response, CallContext& context)
      : store_(store),
        snapshot_(snapshot),
        max_bytes_(max_bytes),
        request_(request),
        response_(response),
        context_(context),
        budget_(core::BudgetOn(snapshot, context.budget)) {}

  absl::StatusOr<core::Scene> Draw(core::RenderOptions options) {
    options.title = snapshot_.id;
    WAYSTAR_RETURN_IF_ERROR(CheckQuery());
    return std::visit([&](const auto& map) { return Draw(map, std::move(options)); }, snapshot_.map);
  }

 private:
  absl::Status CheckQuery() const {
    if (request_.with_search() && !request_.has_query()) {
      return MakeError(ErrorReason::kBadValue, "with_search", "there is no query to search for");
    }
    if (request_.max_events() != 0 && !request_.with_search()) {
      return MakeError(ErrorReason::kBadValue, "max_events", "max_events requires with_search");
    }
    if (!request_.query().map().empty() && request_.query().map() != request_.map()) {
      return MakeError(ErrorReason::kBadValue, "query.map",
                       absl::StrCat("the query is about the map \"", request_.map(), "\""));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<core::Scene> Draw(const core::WaypointGraph& plain, core::RenderOptions options) {
    WAYSTAR_RETURN_IF_ERROR(CheckSeenFromAbove(request_));
    WAYSTAR_ASSIGN_OR_RETURN(const std::optional<core::Box> area, AreaOf(request_));
    options.facts = absl::StrCat(plain.node_count(), plain.node_count() == 1 ? " node, " : " nodes, ",
                                 plain.arc_count(), " one-way edges, revision ", snapshot_.revision);
    return DrawWithAnswer(plain, options,
                          [&](const core::WaypointGraph& graph, const core::AnsweredQuery* answered) {
                            return core::MakeGraphScene(graph, area, options, answered, budget_);
                          });
  }

  absl::StatusOr<core::Scene> Draw(const core::NavMesh& plain, core::RenderOptions options) {
    WAYSTAR_ASSIGN_OR_RETURN(const core::MeshView view, ViewOf(request_, options.is_text));
    const std::size_t polygons = plain.polygon_count() - plain.closed_count();
    options.facts =
        absl::StrCat(polygons, polygons == 1 ? " polygon" : " polygons", ", revision ", snapshot_.revision);
    return DrawWithAnswer(plain, options,
                          [&](const core::NavMesh& mesh, const core::AnsweredQuery* answered) {
                            return core::MakeMeshScene(mesh, view, options, answered, budget_);
                          });
  }

  absl::StatusOr<core::Scene> Draw(const core::GridMap& plain, core::RenderOptions options) {
    WAYSTAR_RETURN_IF_ERROR(CheckSeenFromAbove(request_));
    if (request_.has_area()) {
      return MakeError(ErrorReason::kWrongMapKind, "area", "the part of a grid is a region, in cells");
    }
    WAYSTAR_ASSIGN_OR_RETURN(const core::Rectangle region,
                             core::CheckCountedRegion(plain, RegionOf(request_)));
    options.facts = FactsOf(plain);
    return DrawWithAnswer(plain, options, [&](const core::GridMap& map, const core::AnsweredQuery* answered) {
      return core::MakeGridScene(map, region, options, answered, budget_);
    });
  }

  // Return the map that a query of the plain map searches, with what its view adds.
  static const core::WaypointGraph& Searched(const core::WaypointGraph& /*plain*/, const core::Route& route,
                                             const core::ResolvedRoute& /*resolved*/) {
    return *route.graph;
  }
  static const core::NavMesh& Searched(const core::NavMesh& /*plain*/, const core::Route& route,
                                       const core::ResolvedRoute& /*resolved*/) {
    return route.mesh_agent->mesh();
  }
  static const core::GridMap& Searched(const core::GridMap& /*plain*/, const core::Route& /*route*/,
                                       const core::ResolvedRoute& resolved) {
    return resolved.grid().agent->map();
  }

  // Returns the scene that make(map, answered) returns, of the plain map without a query. Sets the caption
  // before.
  template <typename Map, typename Make>
  absl::StatusOr<core::Scene> DrawWithAnswer(const Map& plain, core::RenderOptions& options, Make make) {
    if (!request_.has_query()) {
      return make(plain, nullptr);
    }
    WAYSTAR_ASSIGN_OR_RETURN(const std::size_t max_events, ToMaxEvents(request_.max_events(), kMaxEvents));
    core::SearchRecorder recorder(max_events);
    core::SearchRecorder* const search = request_.with_search() ? &recorder : nullptr;
    absl::StatusOr<core::Scene> scene;
    const auto draw = [&](const core::RouteQuery& query, const core::Route& route,
                          const core::ResolvedRoute& resolved) {
      options.caption = core::CaptionOf(route);
      const core::AnsweredQuery answered = {snapshot_.id, query, route, search};
      scene = make(Searched(plain, route, resolved), &answered);
    };
    WAYSTAR_RETURN_IF_ERROR(BelowQuery(Answer(draw, search)));
    return scene;
  }

  // Answers the query, and passes the answer to `draw` before it is written.
  absl::Status Answer(absl::FunctionRef<void(const core::RouteQuery& query, const core::Route& route,
                                             const core::ResolvedRoute& resolved)>
                          draw,
                      core::SearchRecorder* recorder) {
    const v1::FindPathRequest& asked = request_.query();
    WAYSTAR_RETURN_IF_ERROR(CheckNamesMap(asked));
    WAYSTAR_RETURN_IF_ERROR(TakeView(snapshot_, asked.view(), context_));
    WAYSTAR_ASSIGN_OR_RETURN(core::RouteQuery query,
                             ToRouteQuery(asked, snapshot_.id, HexCoordinates(snapshot_)));
    // The picture of a path on a mesh shows its heights.
    query.with_corridor |= std::holds_alternative<core::NavMesh>(snapshot_.map);
    if (recorder != nullptr) {
      WAYSTAR_RETURN_IF_ERROR(core::CheckOneGoal(query));
    }
    WAYSTAR_ASSIGN_OR_RETURN(const core::ResolvedRoute resolved,
                             core::Resolve(snapshot_, query, MapsFor(store_, context_), context_.budget));
    WAYSTAR_ASSIGN_OR_RETURN(core::Route route,
                             core::Solve(resolved, context_.budget, context_.bench, recorder));
    draw(query, route, resolved);
    if (!asked.with_corridor()) {
      route.corridor = {};
    }
    return WriteAnswer(route, snapshot_, max_bytes_, asked, *response_.mutable_answer(), context_);
  }

  std::string FactsOf(const core::GridMap& map) const {
    const auto& hexagons = map.settings().frame.hexagons;
    const bool is_board = hexagons.has_value() && core::HasOffsets(hexagons->layout);
    return absl::StrCat(is_board ? hexagons->columns : map.width(), " x ",
                        is_board ? hexagons->rows : map.height(),
                        hexagons.has_value() ? " hexagons" : " cells", ", revision ", snapshot_.revision);
  }

  const core::MapStore& store_;
  const core::MapSnapshot& snapshot_;
  const std::size_t max_bytes_;
  const v1::RenderMapRequest& request_;
  v1::RenderMapResponse& response_;
  CallContext& context_;
  const core::Budget budget_;
};

}  // namespace

absl::Status AnswerRenderMap(const core::MapStore& store, std::size_t max_bytes,
                             const v1::RenderMapRequest& request, v1::RenderMapResponse& response,
                             CallContext& context) {
  WAYSTAR_ASSIGN_OR_RETURN(const v1::PictureFormat format,
                           FromWire(kPictureFormats, request.format(), "format"));
  WAYSTAR_ASSIGN_OR_RETURN(core::RenderOptions options, ToRenderOptions(request, format));
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot, store.Pin(request.map()));
  MapRenderer renderer(store, *snapshot, max_bytes, request, response, context);
  WAYSTAR_ASSIGN_OR_RETURN(const core::Scene scene, renderer.Draw(std::move(options)));
  FillVersion(snapshot->version(), *response.mutable_version());
  FillPlacement(*snapshot, scene, *response.mutable_placement());
  WAYSTAR_RETURN_IF_ERROR(FillImage(scene, format, context.budget, response));
  return CheckAnswerFits(response.image().size() + response.answer().ByteSizeLong() +
                             response.placement().ByteSizeLong() + kEnvelopeBytes,
                         max_bytes, "max_width", "ask for a smaller picture");
}

}  // namespace waystar::rpc
