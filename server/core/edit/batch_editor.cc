#include "server/core/edit/batch_editor.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/core/edit/edit_work.h"
#include "server/core/edit/mesh_obstacles.h"
#include "server/core/elements/obstacle.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/elements/profile_table.h"
#include "server/core/elements/waypoint.h"
#include "server/core/graph/map/graph_editor.h"
#include "server/core/grid/cells/world_frame.h"
#include "server/core/grid/shapes/shape_check.h"
#include "server/core/mesh/map/mesh_views.h"
#include "server/core/mesh/search/landmarks.h"

namespace waystar::core {
namespace {

bool Blocks(const Obstacle* obstacle) {
  return obstacle != nullptr && obstacle->effect.kind == ObstacleEffect::Kind::kBlock;
}

bool TakesAway(const PlannedEdit& edit) {
  return edit.kind == PlannedEdit::Kind::kReplace && edit.after == nullptr;
}

// Clips a span to the board of a hexagonal map.
RowSpan OnBoard(const GridMap& map, RowSpan span) {
  const std::optional<HexBoard>& board = map.settings().frame.hexagons;
  if (board && HasOffsets(board->layout)) {
    const HexBoard::Span row = board->InRow(span.y);
    span.x_begin = std::max(span.x_begin, row.begin);
    span.x_end = std::max(span.x_begin, std::min(span.x_end, row.end));
  }
  return span;
}

// Counts the cells of a shape that lie off the map, once per part that covers them, up to 2^63 - 1.
std::int64_t CountOffMap(const Shape& shape, const GridMap& map) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  std::int64_t off_board = 0;
  if (const auto& board = map.settings().frame.hexagons; board && HasOffsets(board->layout)) {
    ForEachSpan(shape, map.lattice(), map.bounds(), [&](const RowSpan& span) {
      const RowSpan on_board = OnBoard(map, span);
      off_board += (span.x_end - span.x_begin) - (on_board.x_end - on_board.x_begin);
    });
  }
  const std::int64_t off_plane = CountOutside(shape, map.lattice(), map.bounds());
  return off_plane > kMax - off_board ? kMax : off_plane + off_board;
}

// Counts cells that the edits cover, not those that they uncover.
std::int64_t CountClipped(const EditPlan& plan, const GridMap& map) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  std::int64_t clipped = 0;
  for (const PlannedEdit& edit : plan.edits) {
    const Shape* shape = edit.after != nullptr ? &edit.after->shape : edit.shape;
    const std::int64_t more = shape == nullptr ? 0 : CountOffMap(*shape, map);
    clipped = more > kMax - clipped ? kMax : clipped + more;
  }
  return clipped;
}

// Returns the cells of a word in which the maps differ.
Word Differences(const GridMap& a, const GridMap& b, int y, std::size_t index, Word cells, bool costs_too) {
  Word changed = (a.ObstacleWord(y, index) ^ b.ObstacleWord(y, index)) & cells;
  if (costs_too) {
    const WordChange others{y, static_cast<std::int32_t>(index), cells & ~changed};
    ForEachCell(others, [&](Cell cell) {
      if (a.TerrainAt(cell) != b.TerrainAt(cell) || a.StraightCost(cell) != b.StraightCost(cell)) {
        changed |= Word{1} << (static_cast<unsigned>(cell.x + 1) % kWordBits);
      }
    });
  }
  return changed;
}

}  // namespace

absl::Status BatchEditor::Paint(const EditPlan& plan, const StopCheck* stop) {
  for (const PlannedEdit& edit : plan.edits) {
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
    switch (edit.kind) {
      case PlannedEdit::Kind::kBlock:
      case PlannedEdit::Kind::kUnblock:
        PaintObstacles(*edit.shape, edit.kind == PlannedEdit::Kind::kBlock);
        break;
      case PlannedEdit::Kind::kSetTerrain:
        PaintTerrain(*edit.shape, edit.terrain);
        break;
      case PlannedEdit::Kind::kReplace:
        Replace(edit.before.get(), edit.after.get());
        break;
    }
  }
  if (plan.obstacles != nullptr) {
    editor_.SetObstacleTable(plan.obstacles);
  }
  if (plan.portals != nullptr) {
    editor_.SetPortalTable(plan.portals);
  }
  if (plan.profiles != nullptr) {
    editor_.SetProfiles(plan.profiles);
  }
  if (!stale_costs_.empty()) {
    editor_.RefreshCosts(stale_costs_.Sorted());
    stale_costs_.Clear();
  }
  return absl::OkStatus();
}

// Skips cells off the board of a hexagonal map, which never change.
template <typename Visitor>
void BatchEditor::ForEachSpanOnBoard(const Shape& shape, Visitor visit) {
  ForEachSpan(shape, map().lattice(), map().bounds(), [&](const RowSpan& span) {
    if (const RowSpan on_board = OnBoard(map(), span); on_board.x_begin < on_board.x_end) {
      visit(on_board);
    }
  });
}

void BatchEditor::PaintObstacles(const Shape& shape, bool obstacle) {
  SpanSet cells;
  ForEachSpanOnBoard(shape, [&](const RowSpan& span) { cells.Add(span); });
  for (const RowSpan& span : cells.Sorted()) {
    editor_.SetObstacles(span.y, span.x_begin, span.x_end, obstacle);
    touched_.Add(span);
  }
}

void BatchEditor::PaintTerrain(const Shape& shape, TerrainId terrain) {
  has_touched_costs_ = true;
  ForEachSpanOnBoard(shape, [&](const RowSpan& span) {
    editor_.SetTerrains(span.y, span.x_begin, span.x_end, terrain);
    touched_.Add(span);
    // Replace marks the cells of cost obstacles that the batch itself adds or removes.
    if (map().obstacles().cost_obstacles() > 0) {
      stale_costs_.Add(span);
    }
  });
}

void BatchEditor::Replace(const Obstacle* before, const Obstacle* after) {
  const auto cover_of = [&](const Obstacle* obstacle) {
    return Blocks(obstacle) ? SpansOf(obstacle->shape, map().lattice(), map().bounds()) : SpanSet();
  };
  SpanSet old_cover = cover_of(before);
  SpanSet new_cover = cover_of(after);
  ForEachDifference(old_cover.Sorted(), new_cover.Sorted(), [&](const RowSpan& span, bool is_old) {
    editor_.Cover(span.y, span.x_begin, span.x_end, is_old ? -1 : 1);
    touched_.Add(span);
  });
  for (const Obstacle* obstacle : {before, after}) {
    if (obstacle != nullptr && !Blocks(obstacle)) {
      has_touched_costs_ = true;
      ForEachSpan(obstacle->shape, map().lattice(), map().bounds(), [&](const RowSpan& span) {
        touched_.Add(span);
        stale_costs_.Add(span);
      });
    }
  }
}

absl::StatusOr<ChangeSummary> BatchEditor::Apply(absl::Span<const Edit> edits, absl::Time now,
                                                 const StopCheck* stop) {
  WAYSTAR_ASSIGN_OR_RETURN(const EditPlan plan, PlanEdits(map(), edits, now));
  WAYSTAR_RETURN_IF_ERROR(Reserve(plan));
  std::optional<GridMap> before;
  if (is_changed_) {
    before = editor_.Snapshot();
  }
  is_changed_ = true;
  WAYSTAR_RETURN_IF_ERROR(Paint(plan, stop));
  ChangeSummary result;
  result.clipped_cells = CountClipped(plan, base_);
  result.work = plan.work;
  CountChanges(before ? *before : base_, result);
  return result;
}

absl::Status BatchEditor::Reserve(const EditPlan& plan) {
  MemoryAccount* const account = base_.memory_account();
  if (account == nullptr || plan.edits.empty()) {
    return absl::OkStatus();
  }
  const std::size_t bytes = MostBytesOf(plan, base_);
  if (std::ranges::all_of(plan.edits, TakesAway)) {
    account->Add(bytes);
    return absl::OkStatus();
  }
  return account->Reserve(bytes, memory_) ? absl::OkStatus() : MapsMemoryFull(*account, "");
}

void BatchEditor::CountChanges(const GridMap& before, ChangeSummary& result) {
  absl::InlinedVector<WordChange, 16> changes;
  for (const RowSpan& span : touched_.Sorted()) {
    ForEachWord(span.x_begin, span.x_end, [&](std::size_t i, Word cells) {
      const Word changed = Differences(before, map(), span.y, i, cells, has_touched_costs_);
      if (changed != 0) {
        result.changed_cells += std::popcount(changed);
        changes.push_back({span.y, static_cast<std::int32_t>(i), changed});
      }
    });
  }
  changed_areas_ = AreasOf(changes, result.changed_cells, result.changed_bounds);
  touched_.Clear();
  has_touched_costs_ = false;
}

absl::StatusOr<EditResult> ApplyEdits(const GridMap& map, absl::Span<const Edit> edits, absl::Time now,
                                      const StopCheck* stop) {
  BatchEditor editor(map);
  WAYSTAR_ASSIGN_OR_RETURN(const ChangeSummary summary, editor.Apply(edits, now, stop));
  return EditResult{.map = std::move(editor).Finish().map, .summary = summary};
}

namespace {

Box AllOf(const NavMesh& mesh) {
  const MeshBounds& bounds = mesh.bounds();
  return {bounds.low.x, bounds.low.y, bounds.high.x, bounds.high.y};
}

// Applies the edits of a batch in order. Error fields are those of the applier below the edit.
template <typename Applier>
absl::Status ApplyEach(absl::Span<const Edit> edits, absl::string_view kind, Applier&& applier) {
  if (edits.empty()) {
    return MakeError(ErrorReason::kEmptyBatch, "edits", "a batch has at least one edit");
  }
  for (std::size_t i = 0; i < edits.size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR_AT(absl::StrCat("edits[", i, "]."), ApplyEdit(edits[i], kind, applier));
  }
  return absl::OkStatus();
}

// Applies edits to a graph. Error fields are relative to the edit's value.
class GraphEditApplier {
 public:
  GraphEditApplier(GraphEditor& editor, absl::Time now) : editor_(editor), now_(now) {}

  absl::Status operator()(const PutNodes& edit) { return editor_.PutNodes(edit.nodes, edit.replace); }
  absl::Status operator()(const RemoveNodes& edit) { return editor_.RemoveNodes(edit.nodes); }
  absl::Status operator()(const PutEdges& edit) { return editor_.PutEdges(edit.edges, edit.replace); }
  absl::Status operator()(const RemoveEdges& edit) { return editor_.RemoveEdges(edit.edges); }
  absl::Status operator()(const SetEnabled& edit) {
    WAYSTAR_RETURN_IF_ERROR(editor_.SetNodesEnabled(edit.nodes, edit.enabled));
    return editor_.SetEdgesEnabled(edit.edges, edit.enabled);
  }
  absl::Status operator()(const PutObstacle& edit) {
    WAYSTAR_ASSIGN_OR_RETURN(std::shared_ptr<const Obstacle> obstacle, ObstacleOf(edit, now_));
    return editor_.PutObstacle(std::move(obstacle), edit.replace);
  }
  absl::Status operator()(const MoveObstacle& edit) {
    return editor_.MoveObstacle(edit.id, edit.dx, edit.dy);
  }
  absl::Status operator()(const ResizeObstacle& edit) { return editor_.ResizeObstacle(edit.id, edit.shape); }
  absl::Status operator()(const RemoveObstacle& edit) { return editor_.RemoveObstacle(edit.id); }

 private:
  GraphEditor& editor_;
  absl::Time now_;
};

// Applies the edits of a batch to copies of the obstacles, portals, grounds and profiles of a mesh. Error
// fields are relative to the edit's value.
class MeshEditApplier {
 public:
  MeshEditApplier(const NavMesh& mesh, absl::Time now, const StopCheck* stop)
      : mesh_(mesh),
        ground_(mesh.WithCuts(nullptr)),
        now_(now),
        stop_(stop),
        obstacles_(mesh),
        portals_(mesh.portals()),
        grounds_(mesh.grounds()) {}

  // Lets new portals end where there is no ground.
  void AllowPortalsAnywhere() { portals_may_be_anywhere_ = true; }

  absl::Status operator()(const PutGround& edit) {
    if (edit.ground.region) {
      WAYSTAR_RETURN_IF_ERROR_AT("region", CheckShape(*edit.ground.region, Rectangle{}, ShapeOverlap::kNone));
    }
    WAYSTAR_RETURN_IF_ERROR(CheckGround(edit.ground, mesh_));
    const std::shared_ptr<const MeshGround> before =
        grounds_.Put(std::make_shared<const MeshGround>(edit.ground));
    if (grounds_.size() > kMaxGrounds) {
      return MakeError(ErrorReason::kTooManyItems, "",
                       absl::StrCat("a map has at most ", kMaxGrounds, " grounds"));
    }
    NoteGround(grounds_.Find(edit.ground.id));
    if (before != nullptr) {
      NoteGround(before);
    }
    return absl::OkStatus();
  }

  absl::Status operator()(const RemoveGround& edit) {
    const std::shared_ptr<const MeshGround> before = grounds_.Find(edit.id);
    if (before == nullptr) {
      return MakeError(ErrorReason::kGroundNotFound, "",
                       absl::StrCat("the map has no ground \"", edit.id, "\""));
    }
    grounds_.Remove(edit.id);
    NoteGround(before);
    return absl::OkStatus();
  }

  absl::Status operator()(const PutObstacle& edit) {
    WAYSTAR_ASSIGN_OR_RETURN(std::shared_ptr<const Obstacle> obstacle, ObstacleOf(edit, now_));
    return Put(std::move(obstacle), edit.replace);
  }
  absl::Status operator()(const PutMeshObstacle& edit) {
    WAYSTAR_ASSIGN_OR_RETURN(std::shared_ptr<const Obstacle> obstacle, ObstacleOf(edit, now_));
    return Put(std::move(obstacle), edit.put.replace);
  }
  absl::Status Put(std::shared_ptr<const Obstacle> obstacle, bool replace) {
    return obstacles_.Put(std::move(obstacle), replace);
  }
  absl::Status operator()(const MoveObstacle& edit) { return obstacles_.Move(edit.id, edit.dx, edit.dy); }
  absl::Status operator()(const ResizeObstacle& edit) { return obstacles_.Resize(edit.id, edit.shape); }
  absl::Status operator()(const RemoveObstacle& edit) { return obstacles_.Remove(edit.id); }

  absl::Status operator()(const PutMeshPortal& edit) {
    WAYSTAR_RETURN_IF_ERROR(CheckPortal(edit.portal));
    WAYSTAR_RETURN_IF_ERROR(CheckMayPut<PlacedPortal>(portals_, edit.portal.id, edit.replace));
    WAYSTAR_RETURN_IF_ERROR(UpdateGround());
    auto portal = std::make_shared<PlacedPortal>(ground_.Placed(edit.portal));
    std::sort(portal->tags.begin(), portal->tags.end());
    if (!portals_may_be_anywhere_) {
      WAYSTAR_RETURN_IF_ERROR(CheckPlaces(portal->lanes.front(), *portal));
    }
    WAYSTAR_RETURN_IF_ERROR(
        CheckIsApart(*portal, "place", [&](const auto& visit) { portals_.VisitAlike(*portal, visit); }));
    WAYSTAR_RETURN_IF_ERROR(CheckRoomFor<PlacedPortal>(portals_, *portal, kMaxMeshPortals));
    put_.insert(portal->id);
    portals_.Put(std::move(portal));
    return absl::OkStatus();
  }

  absl::Status operator()(const PutPortal& /*edit*/) {
    return MakeError(ErrorReason::kWrongMapKind, "from",
                     "the map is a navigation mesh, on which portals end at positions");
  }

  absl::Status operator()(const RemovePortal& edit) {
    WAYSTAR_RETURN_IF_ERROR(FindPortal<PlacedPortal>(portals_, edit.id, "").status());
    portals_.Remove(edit.id);
    return absl::OkStatus();
  }

  absl::Status operator()(const SwitchPortal& edit) {
    WAYSTAR_ASSIGN_OR_RETURN(std::shared_ptr<const PlacedPortal> portal,
                             Switched<PlacedPortal>(portals_, edit));
    if (portal != nullptr) {
      portals_.Put(portal);
    }
    return absl::OkStatus();
  }

  absl::Status operator()(const PutMeshProfile& edit) {
    WAYSTAR_RETURN_IF_ERROR(CheckProfileName(edit.profile.name));
    WAYSTAR_RETURN_IF_ERROR_AT("profile.", CheckProfile(edit.profile, mesh_));
    return InsertProfile(edit.profile, OwnProfiles());
  }
  absl::Status operator()(const RemoveProfile& edit) { return RemoveProfileNamed(edit.name, OwnProfiles()); }

  // Returns boxes around the changed obstacles and grounds.
  MeshPlaces places() const {
    MeshPlaces places = obstacles_.places();
    places.blocked.Add(changed_ground_);
    places.opened.Add(changed_ground_);
    return places;
  }

  // Returns the error of the ground as a whole, with field "edits". It may also be that of an edit that needs
  // the ground, but the edit is not at fault.
  const absl::Status& ground_status() const { return ground_status_; }

  // Returns the edited mesh, or the errors of MeshObstacleEditor::FinishOn and WithGrounds. No edit may
  // follow.
  absl::StatusOr<NavMesh> Finish() {
    BoxSet changed = obstacles_.places().blocked;
    changed.Add(obstacles_.places().opened);
    WAYSTAR_RETURN_IF_ERROR(UpdateGround());
    if (has_changed_ground_) {
      WAYSTAR_ASSIGN_OR_RETURN(ground_, WithLandmarksAsFile(ground_, stop_));
      changed.Add(AllOf(ground_));
    }
    WAYSTAR_ASSIGN_OR_RETURN(NavMesh cut, obstacles_.FinishOn(has_changed_ground_ ? ground_ : mesh_, stop_));
    if (profiles_.has_value() || has_changed_ground_) {
      cut = cut.WithProfiles(profiles_.value_or(mesh_.profiles()));
    }
    // Portals may be put where obstacles are, and are usable once these are gone.
    for (const std::string& id : put_) {
      if (const auto portal = portals_.Find(id); portal != nullptr && cut.is_cut()) {
        portals_.Put(std::make_shared<const PlacedPortal>(cut.Placed(*portal)));
      }
    }
    return cut.WithPortals(std::move(portals_)).WithPortalsPlaced(changed.boxes(), stop_);
  }

 private:
  void NoteGround(std::shared_ptr<const MeshGround> ground) {
    stale_grounds_.push_back(std::move(ground));
    has_changed_ground_ = true;
  }

  // Brings the ground, and the places of portals on it, up to the grounds.
  absl::Status UpdateGround() {
    if (stale_grounds_.empty()) {
      return absl::OkStatus();
    }
    constexpr int kMostUpdates = 4;
    absl::StatusOr<NavMesh> made =
        ++ground_updates_ <= kMostUpdates
            ? WithGrounds(mesh_, grounds_, stop_)
            : MakeError(ErrorReason::kBatchTooLarge, "",
                        "a batch changes ground before portals, not between them over and over");
    if (!made.ok()) {
      ground_status_ =
          ErrorReasonOf(made.status()).empty() ? made.status() : WithField(made.status(), "edits");
      return ground_status_;
    }
    ground_ = *std::move(made);
    for (const std::shared_ptr<const MeshGround>& ground : stale_grounds_) {
      AddBoxes(*ground, mesh_, changed_ground_);
    }
    stale_grounds_.clear();
    MeshPortalTable portals(ground_.polygon_count());
    portals_.VisitAfter("", [&](const PlacedPortal& portal) {
      portals.Put(std::make_shared<const PlacedPortal>(ground_.Placed(portal)));
      return true;
    });
    portals_ = std::move(portals);
    return absl::OkStatus();
  }

  // Returns the profiles after the edits so far.
  MeshProfileTable& OwnProfiles() {
    if (!profiles_.has_value()) {
      profiles_ = mesh_.profiles();
    }
    return *profiles_;
  }

  static absl::Status CheckPlaces(const PortalLane& lane, const MeshPortal& portal) {
    const bool is_from_off = lane.from.polygon == kNoPolygon;
    if (is_from_off || (portal.to_map.empty() && lane.to.polygon == kNoPolygon)) {
      return MakeError(ErrorReason::kOffMap, is_from_off ? "from_position" : "to_position",
                       "no surface of the mesh is there");
    }
    return absl::OkStatus();
  }

  const NavMesh& mesh_;
  // Has no holes.
  NavMesh ground_;
  const absl::Time now_;
  const StopCheck* const stop_;
  MeshObstacleEditor obstacles_;
  MeshPortalTable portals_;
  GroundTable grounds_;
  BoxSet changed_ground_;
  bool has_changed_ground_ = false;
  // Grounds, before and after their edits, that `ground_` does not follow yet.
  std::vector<std::shared_ptr<const MeshGround>> stale_grounds_;
  absl::Status ground_status_;
  int ground_updates_ = 0;
  bool portals_may_be_anywhere_ = false;
  // Set if a profile was edited.
  std::optional<MeshProfileTable> profiles_;
  // Ids of the portals that were put.
  std::set<std::string> put_;
};

}  // namespace

absl::StatusOr<ChangeSummary> GraphBatchEditor::Apply(absl::Span<const Edit> edits, absl::Time now) {
  GraphEditor editor(graph_);
  WAYSTAR_RETURN_IF_ERROR(ApplyEach(edits, "waypoint graph", GraphEditApplier(editor, now)));
  const GraphChanges& changes = editor.changes();
  Box bounds;
  for (const Box& box : changes.places.changed.boxes()) {
    bounds = bounds.And(box);
  }
  places_.Add(changes.places);
  areas_ = changes.areas;
  const ChangeSummary summary{
      .changed_bounds = UnitsAround(bounds), .changed_nodes = changes.nodes, .changed_edges = changes.arcs};
  graph_ = std::move(editor).Finish();
  return summary;
}

absl::StatusOr<ChangeSummary> MeshBatchEditor::Apply(absl::Span<const Edit> edits, absl::Time now,
                                                     const StopCheck* stop) {
  MeshEditApplier applier(mesh_, now, stop);
  const absl::Status applied = ApplyEach(edits, "navigation mesh", applier);
  WAYSTAR_RETURN_IF_ERROR(applier.ground_status());
  WAYSTAR_RETURN_IF_ERROR(applied);
  WAYSTAR_ASSIGN_OR_RETURN(const NavMesh smallest, applier.Finish());
  const MeshPlaces places = applier.places();
  absl::StatusOr<NavMesh> edited = WithSurfacesUpdated(smallest, stop);
  if (!ErrorReasonOf(edited.status()).empty()) {
    return WithFieldPrefix(edited.status(), "edits");
  }
  WAYSTAR_RETURN_IF_ERROR(edited.status());
  added_bytes_ = edited->memory_bytes() - std::min(edited->memory_bytes(), mesh_.memory_bytes());
  changes_.portals |= edited->portals().digest() != mesh_.portals().digest();
  changes_.is_everything |= edited->profiles() != mesh_.profiles();
  changes_.mesh.blocked.Add(places.blocked);
  changes_.mesh.opened.Add(places.opened);
  mesh_ = *std::move(edited);
  Box bounds;
  for (const BoxSet* const boxes : {&places.blocked, &places.opened}) {
    for (const Box& box : boxes->boxes()) {
      bounds = bounds.And(box);
    }
  }
  return ChangeSummary{.changed_bounds = UnitsAround(bounds)};
}

absl::Status MeshBatchEditor::PutAll(absl::Span<const Edit> edits,
                                     std::vector<std::shared_ptr<const Obstacle>> obstacles,
                                     const StopCheck* stop) {
  if (!edits.empty()) {
    MeshEditApplier applier(mesh_, absl::UnixEpoch(), stop);
    applier.AllowPortalsAnywhere();
    WAYSTAR_RETURN_IF_ERROR(ApplyEach(edits, "navigation mesh", applier));
    WAYSTAR_ASSIGN_OR_RETURN(mesh_, applier.Finish());
  }
  // Portals are placed at the end, once.
  const MeshPortalTable portals = mesh_.portals();
  mesh_ = mesh_.WithPortals(MeshPortalTable(mesh_.polygon_count()));
  // A part of the obstacles at a time, as a batch is limited.
  constexpr std::size_t kAtOnce = 256;
  for (std::size_t i = 0; i < obstacles.size();) {
    MeshEditApplier applier(mesh_, absl::UnixEpoch(), stop);
    for (const std::size_t end = std::min(i + kAtOnce, obstacles.size()); i < end; ++i) {
      WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
      WAYSTAR_RETURN_IF_ERROR(applier.Put(std::move(obstacles[i]), false));
    }
    WAYSTAR_ASSIGN_OR_RETURN(mesh_, applier.Finish());
  }
  mesh_ = mesh_.WithPortals(portals);
  if (mesh_.is_cut()) {
    WAYSTAR_ASSIGN_OR_RETURN(mesh_, mesh_.WithPortalsPlaced({AllOf(mesh_)}, stop));
  }
  WAYSTAR_ASSIGN_OR_RETURN(mesh_, WithSurfacesUpdated(mesh_, stop));
  return absl::OkStatus();
}

}  // namespace waystar::core
