#include "server/core/graph/search/graph_overlay.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/elements/obstacle.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/graph/map/graph_editor.h"
#include "server/core/search/checks.h"

namespace waystar::core {
namespace {

absl::Status CheckOverlayList(absl::string_view list, std::size_t count) {
  if (count <= kMaxOverlayEntries) {
    return absl::OkStatus();
  }
  return MakeError(ErrorReason::kBadValue, absl::StrCat("overlay.", list),
                   absl::StrCat("a query may have at most ", kMaxOverlayEntries, " of these, got ", count));
}

// Renames the editor's fields "nodes" and "edges".
absl::Status BelowOverlay(const absl::Status& status) {
  return status.ok() ? status : WithFieldPrefix(status, "overlay.blocked_");
}

absl::Status IgnoreObstacles(const std::vector<std::string>& ids, const StopCheck* stop,
                             GraphEditor& editor) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
    const std::string field = absl::StrCat("overlay.", IndexedField("ignored_obstacles", i));
    WAYSTAR_RETURN_IF_ERROR_AT(field, CheckObstacleId(ids[i]));
    if (editor.graph().sight().obstacles().Find(ids[i]) != nullptr) {
      WAYSTAR_RETURN_IF_ERROR_AT(field, editor.RemoveObstacle(ids[i]));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<WaypointGraph> WithGraphOverlay(const WaypointGraph& graph, const GraphOverlay& overlay,
                                               const StopCheck* stop) {
  WAYSTAR_RETURN_IF_ERROR(CheckOverlayList("ignored_obstacles", overlay.ignored_obstacles.size()));
  WAYSTAR_RETURN_IF_ERROR(CheckOverlayList("blocked_nodes", overlay.blocked_nodes.size()));
  WAYSTAR_RETURN_IF_ERROR(CheckOverlayList("blocked_edges", overlay.blocked_edges.size()));
  GraphEditor editor(graph, stop);
  WAYSTAR_RETURN_IF_ERROR(IgnoreObstacles(overlay.ignored_obstacles, stop, editor));
  WAYSTAR_RETURN_IF_ERROR(BelowOverlay(editor.SetNodesEnabled(overlay.blocked_nodes, false)));
  WAYSTAR_RETURN_IF_ERROR(BelowOverlay(editor.SetEdgesEnabled(overlay.blocked_edges, false)));
  if (overlay.blocked) {
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
    if (PartCount(*overlay.blocked) > kMaxOverlayEntries) {
      return MakeError(
          ErrorReason::kBatchTooLarge, "overlay.blocked",
          absl::StrCat("on a graph an overlay's shape has at most ", kMaxOverlayEntries, " parts"));
    }
    WAYSTAR_RETURN_IF_ERROR_AT("overlay.blocked", editor.BlockArea(*overlay.blocked));
  }
  return std::move(editor).Finish();
}

}  // namespace waystar::core
