#include "server/service/handlers/maps/listings.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/core/elements/obstacle.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/elements/portal.h"
#include "server/core/search/checks.h"
#include "server/core/store/update_batch.h"
#include "server/service/convert/convert.h"
#include "server/service/convert/convert_creation.h"
#include "server/service/convert/convert_edits.h"
#include "server/service/convert/convert_shape.h"
#include "server/service/convert/hex_coordinates.h"
#include "server/service/convert/page.h"

namespace waystar::rpc {
namespace {

// Maximum number of obstacles tested against the region per obstacle of a page.
constexpr std::size_t kTriesForEach = 16;

// Returns at most `limit` of the maps that the caller may read, in order, starting after `after`.
std::vector<core::MapStore::ListedMap> ListReadable(const core::MapStore& store, const Caller& caller,
                                                    absl::string_view after, std::size_t limit) {
  std::vector<core::MapStore::ListedMap> readable;
  std::string last(after);
  for (bool is_end = false; !is_end && readable.size() < limit;) {
    const std::size_t wanted = limit - readable.size();
    std::vector<core::MapStore::ListedMap> next = store.ListAll(last, wanted);
    is_end = next.size() < wanted;
    if (!is_end) {
      last = next.back().id;
    }
    for (core::MapStore::ListedMap& map : next) {
      if (caller.MayRead(map.id)) {
        readable.push_back(std::move(map));
      }
    }
  }
  return readable;
}

// A page of the obstacles that overlap a region.
struct RegionPage {
  core::Rectangle region;
  // The last id before the page.
  absl::string_view after;
  // Remaining number of obstacles that may be tested without a match.
  std::size_t tries = 0;
};

using ObstacleVisitor = absl::FunctionRef<bool(const core::Obstacle& obstacle)>;

void VisitObstacles(const core::GridMap& grid, const RegionPage& page, ObstacleVisitor add) {
  grid.obstacles().VisitOverlapping(page.region, page.after, page.tries, add);
}

core::Box BoxOf(const core::Rectangle& region) {
  return {double(region.x), double(region.y), double(region.x) + region.width,
          double(region.y) + region.height};
}

void VisitObstacles(const core::WaypointGraph& graph, const RegionPage& page, ObstacleVisitor add) {
  graph.sight().VisitObstaclesNear(BoxOf(page.region), page.after, page.tries, add);
}

void VisitObstacles(const core::NavMesh& mesh, const RegionPage& page, ObstacleVisitor add) {
  const core::Box box = BoxOf(page.region);
  mesh.obstacles().VisitAfter(page.after, [&](const core::Obstacle& obstacle) {
    return !core::SightMap::IsNear(obstacle, box) || add(obstacle);
  });
}

}  // namespace

absl::Status ListReadableMaps(const core::MapStore& store, const Caller& caller, std::size_t max_bytes,
                              const v1::ListMapsRequest& request, v1::ListMapsResponse& response) {
  constexpr int kMaxMaps = 200;
  WAYSTAR_ASSIGN_OR_RETURN(const std::size_t size,
                           PageSizeOf(request, "map", core::CheckMapId(request.page_token()).ok(), kMaxMaps));
  Page page(size, max_bytes, *response.mutable_maps());
  // One more than the page holds, to detect whether another follows.
  for (const core::MapStore::ListedMap& map : ListReadable(store, caller, request.page_token(), size + 1)) {
    const auto fill = [&](v1::MapInfo& info) {
      if (map.snapshot != nullptr) {
        FillMapInfo(store, *map.snapshot, info);
        return;
      }
      info.set_map(map.id);
      FillVersion(map.version, *info.mutable_version());
      info.set_unloaded(true);
    };
    if (!page.Add(fill)) {
      response.set_next_page_token(response.maps().rbegin()->map());
      break;
    }
  }
  return absl::OkStatus();
}

absl::Status ListNamedObstacles(const core::MapStore& store, std::size_t max_bytes,
                                const v1::ListObstaclesRequest& request,
                                v1::ListObstaclesResponse& response) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::size_t size,
                           PageSizeOf(request, "obstacle", core::CheckObstacleId(request.page_token()).ok()));
  if (request.has_region()) {
    WAYSTAR_RETURN_IF_ERROR(core::CheckRegionSides(ToRectangle(request.region())));
  }
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot, store.Pin(request.map()));
  FillVersion(snapshot->version(), *response.mutable_version());
  Page page(size, max_bytes, *response.mutable_obstacles());
  const absl::Time now = store.Now();
  const HexCoordinates coordinates(*snapshot);
  const auto add = [&](const core::Obstacle& obstacle) {
    const bool has_room = page.Add([&](v1::Obstacle& out) { FillObstacle(obstacle, coordinates, now, out); });
    if (!has_room) {
      response.set_next_page_token(response.obstacles().rbegin()->id());
    }
    return has_room;
  };
  if (!request.has_region()) {
    snapshot->obstacles().VisitAfter(request.page_token(), add);
    return absl::OkStatus();
  }
  // Limits columns and rows to those near the map: cells farther off have no rows.
  constexpr int kFar = 1 << 20;
  const core::Rectangle given = ToRectangle(request.region());
  const core::Rectangle near =
      coordinates.IsPlane() ? given : core::Intersect(given, {-kFar, -kFar, 2 * kFar, 2 * kFar});
  if (near.empty()) {
    return absl::OkStatus();
  }
  const RegionPage wanted{.region = coordinates.PlaneBoundsOf(near),
                          .after = request.page_token(),
                          .tries = kTriesForEach * size};
  std::visit([&](const auto& of_kind) { VisitObstacles(of_kind, wanted, add); }, snapshot->map);
  return absl::OkStatus();
}

absl::Status ListMapPortals(const core::MapStore& store, std::size_t max_bytes,
                            const v1::ListPortalsRequest& request, v1::ListPortalsResponse& response) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::size_t size,
                           PageSizeOf(request, "portal", core::CheckPortalId(request.page_token()).ok()));
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot, store.Pin(request.map()));
  FillVersion(snapshot->version(), *response.mutable_version());
  Page page(size, max_bytes, *response.mutable_portals());
  const HexCoordinates coordinates(*snapshot);
  const auto list = [&](const auto& portals) {
    portals.VisitAfter(request.page_token(), [&](const auto& portal) {
      const bool has_room = page.Add([&](v1::Portal& out) { FillPortal(portal, coordinates, out); });
      if (!has_room) {
        response.set_next_page_token(response.portals().rbegin()->id());
      }
      return has_room;
    });
  };
  if (const core::NavMesh* const mesh = snapshot->as_mesh()) {
    list(mesh->portals());
    return absl::OkStatus();
  }
  WAYSTAR_ASSIGN_OR_RETURN(const core::GridMap* const grid, core::GridOf(*snapshot));
  list(grid->portals());
  return absl::OkStatus();
}

absl::Status ListWaypointNodes(const core::MapStore& store, std::size_t max_bytes,
                               const v1::ListNodesRequest& request, v1::ListNodesResponse& response) {
  core::NodeNumber first = 0;
  const bool is_token = request.page_token().empty() || absl::SimpleAtoi(request.page_token(), &first);
  WAYSTAR_ASSIGN_OR_RETURN(const std::size_t size, PageSizeOf(request, "node", is_token));
  if (request.ids_size() > kMaxPageSize) {
    return MakeError(ErrorReason::kBadValue, "ids",
                     absl::StrCat("at most ", kMaxPageSize, " ids, got ", request.ids_size()));
  }
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot, store.Pin(request.map()));
  WAYSTAR_ASSIGN_OR_RETURN(const core::WaypointGraph* const found, core::GraphOf(*snapshot));
  const core::WaypointGraph& graph = *found;
  FillVersion(snapshot->version(), *response.mutable_version());
  Page page(request.ids().empty() ? size : kMaxPageSize, max_bytes, *response.mutable_nodes());
  const auto add = [&](core::NodeNumber node) {
    return page.Add([&](v1::WaypointNodeInfo& info) { FillNodeInfo(graph, node, info); });
  };
  if (!request.ids().empty()) {
    for (const std::string& id : request.ids()) {
      const core::NodeNumber node = graph.FindNode(id);
      if (node != core::kNoNodeNumber && !add(node)) {
        return MakeError(ErrorReason::kResponseTooLarge, "ids",
                         "these nodes do not fit into a message: ask for fewer");
      }
    }
    return absl::OkStatus();
  }
  for (core::NodeNumber node = first; node < graph.number_limit(); ++node) {
    if (graph.Exists(node) && !add(node)) {
      response.set_next_page_token(absl::StrCat(node));
      break;
    }
  }
  return absl::OkStatus();
}

}  // namespace waystar::rpc
