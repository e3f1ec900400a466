// Editors for successive batches of edits on a map of each kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/base/memory_account.h"
#include "server/base/stop_check.h"
#include "server/core/edit/edit.h"
#include "server/core/edit/edit_plan.h"
#include "server/core/elements/area_collector.h"
#include "server/core/elements/map_changes.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "server/core/grid/shapes/shape_raster.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Editor of a grid.
//
// Thread safety: one thread at a time. Concurrent readers of the base are safe.
class BatchEditor {
 public:
  // The base must outlive the editor.
  explicit BatchEditor(const GridMap& base) : base_(base), editor_(base) {}

  // Applies one batch on top of the earlier ones, all or nothing: after an error the editor is unchanged.
  // Lifetimes begin at `now`. Returns the errors of PlanEdits, and MAPS_MEMORY_FULL if the map's account has
  // no room for the memory that the batch may clone; batches that only remove are always accepted. `stop` is
  // also polled before each edit is painted; after its error the editor must not be used.
  absl::StatusOr<ChangeSummary> Apply(absl::Span<const Edit> edits, absl::Time now,
                                      const StopCheck* stop = nullptr);

  // Paints all edits of a plan that was made for the current map, without a summary. Returns the error of
  // `stop`, as Apply does.
  absl::Status Paint(const EditPlan& plan, const StopCheck* stop = nullptr);

  // Returns at most AreaCollector::kMost rectangles that together contain all changed cells of the latest
  // batch, which was applied without an error; none if that is changed_bounds alone. See AreaCollector.
  const std::vector<Rectangle>& changed_areas() const { return changed_areas_; }

  // Returns the digest of the map after the batches applied so far.
  std::uint64_t digest() const { return map().digest(); }

  // The map, and the changes from the base to it.
  using Result = GridMapEditor::Result;
  // The editor must not be used afterwards. Keep it until the account has measured the result.
  Result Finish() && {
    memory_.Keep();
    return std::move(editor_).FinishAndList();
  }

 private:
  const GridMap& map() const { return editor_.map(); }
  absl::Status Reserve(const EditPlan& plan);
  template <typename Visitor>
  void ForEachSpanOnBoard(const Shape& shape, Visitor visit);
  void PaintObstacles(const Shape& shape, bool obstacle);
  void PaintTerrain(const Shape& shape, TerrainId terrain);
  void Replace(const Obstacle* before, const Obstacle* after);
  // Counts and collects the touched cells that differ from `before`, and clears touched_.
  void CountChanges(const GridMap& before, ChangeSummary& result);

  const GridMap& base_;
  GridMapEditor editor_;
  // Memory that the batches may have cloned, reserved until the account measures it.
  MemoryAccount::Reservation memory_;
  bool is_changed_ = false;
  // Cells painted by the batch, some possibly unchanged.
  SpanSet touched_;
  // Changes of the latest batch.
  std::vector<Rectangle> changed_areas_;
  // True if terrains or costs may have changed too.
  bool has_touched_costs_ = false;
  // Cells whose step costs must be recomputed.
  SpanSet stale_costs_;
};

// The map after a batch, and the summary of the batch.
struct EditResult {
  GridMap map;
  ChangeSummary summary;
};

// Applies one batch to a map; lifetimes begin at `now`. Returns the errors of PlanEdits and of `stop`.
absl::StatusOr<EditResult> ApplyEdits(const GridMap& map, absl::Span<const Edit> edits,
                                      absl::Time now = absl::UnixEpoch(), const StopCheck* stop = nullptr);

// Editor of a waypoint graph.
//
// Thread safety: one thread at a time. Concurrent readers of the base are safe.
class GraphBatchEditor {
 public:
  explicit GraphBatchEditor(const WaypointGraph& base) : graph_(base) {}

  // Applies one batch on top of the earlier ones, all or nothing: after an error the editor is unchanged.
  // Lifetimes begin at `now`. Returns the errors of GraphEditor, with fields below the edit
  // ("edits[3].add_nodes.nodes[0].id"); INVALID_ARGUMENT / EMPTY_BATCH or BAD_LIFETIME; FAILED_PRECONDITION /
  // WRONG_MAP_KIND for an edit that graphs do not support.
  absl::StatusOr<ChangeSummary> Apply(absl::Span<const Edit> edits, absl::Time now);

  // Returns the digest of the graph after the batches applied so far.
  std::uint64_t digest() const { return graph_.digest(); }

  // As BatchEditor::changed_areas, around the changed nodes, edges and obstacles, in whole units of the
  // world.
  std::vector<Rectangle> changed_areas() const { return areas_.Areas(); }

  // Returns the changes since the base.
  MapChanges changes() const { return {.graph = places_}; }

  // The editor must not be used afterwards.
  WaypointGraph Finish() && { return std::move(graph_); }

 private:
  WaypointGraph graph_;
  GraphPlaces places_;
  // Changes of the latest batch.
  AreaCollector areas_;
};

// Editor of the obstacles, portals, grounds and profiles of a navigation mesh.
//
// Thread safety: one thread at a time. Concurrent readers of the base are safe.
class MeshBatchEditor {
 public:
  explicit MeshBatchEditor(NavMesh base) : mesh_(std::move(base)) {}

  // Applies a batch, all or nothing. Errors have the field of the edit, such as
  // "edits[0].add_portal.from_position": EMPTY_BATCH; WRONG_MAP_KIND; BAD_LIFETIME; those of
  // MeshObstacleEditor and WithSurfacesUpdated; those of CheckPortal and CheckPortalId; OFF_MAP if an end on
  // this mesh is off its surface; PORTAL_EXISTS, PORTAL_OVERLAPS, TOO_MANY_PORTALS or PORTAL_NOT_FOUND; those
  // of CheckProfileName, InsertProfile and RemoveProfileNamed, and of CheckProfile below "profile."; those of
  // CheckGround and WithGrounds; TOO_MANY_ITEMS for too many grounds, GROUND_NOT_FOUND. Each new portal
  // costs O(log polygons) and a scan of all portals. A change of ground costs what WithGrounds and all
  // obstacles do.
  absl::StatusOr<ChangeSummary> Apply(absl::Span<const Edit> edits, absl::Time now,
                                      const StopCheck* stop = nullptr);

  // Applies the edits, whose portals may end where there is no ground, and adds obstacles, which keep their
  // expiry. Returns the errors of Apply.
  absl::Status PutAll(absl::Span<const Edit> edits, std::vector<std::shared_ptr<const Obstacle>> obstacles,
                      const StopCheck* stop);

  std::uint64_t digest() const { return mesh_.digest(); }
  // Returns the memory that the latest batch has added to the mesh.
  std::size_t added_bytes() const { return added_bytes_; }
  // As BatchEditor::changed_areas. They are the bounds of ChangeSummary. Portals have no area.
  std::vector<Rectangle> changed_areas() const { return {}; }
  // Returns the changes since the base.
  const MapChanges& changes() const { return changes_; }

  // The editor must not be used afterwards.
  NavMesh Finish() && { return mesh_.AfterEdits(); }

 private:
  NavMesh mesh_;
  MapChanges changes_;
  std::size_t added_bytes_ = 0;
};

}  // namespace waystar::core
