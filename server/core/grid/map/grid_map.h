// A grid of square or hexagonal cells: immutable snapshot of a map at one revision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/lazy.h"
#include "server/base/memory_account.h"
#include "server/base/stop_check.h"
#include "server/core/elements/map_kind.h"
#include "server/core/elements/view_cache.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/cells/static_index.h"
#include "server/core/grid/jumps/lazily_repaired_index.h"
#include "server/core/grid/map/grid_cells.h"
#include "server/core/grid/map/movement_profile.h"
#include "server/core/grid/map/plain_cells.h"
#include "server/core/grid/walk/footprint_grids.h"
#include "server/core/grid/walk/walk_grid.h"

namespace waystar::core {

struct CostFloor;
struct CostSurvey;
class ObstacleTable;
class PortalTable;
class GridMap;
using ProfileViews = ViewCache<TerrainRules, GridMap>;

// Returns INVALID_ARGUMENT / BAD_SIZE with field "width" or "height" unless both are from 1 to `max_side`.
absl::Status CheckMapSize(std::int64_t width, std::int64_t height, int max_side);

// Snapshot of a grid map: cells, obstacles, portals and profiles, and the indexes that searches derive from
// them.
//
// Thread safety: immutable. Copies share their cells; GridMapEditor makes a changed copy.
class GridMap : public GridCells {
 public:
  // Returns a map whose cells all have terrain `fill`, with an obstacle on each if `blocked`. Returns the
  // errors of CheckMapSize for kMaxMapSide, of CheckGridSettings and of `stop`.
  // REQUIRES: fill < settings.terrains.size().
  static absl::StatusOr<GridMap> Create(std::int64_t width, std::int64_t height, GridSettings settings,
                                        TerrainId fill = 0, bool blocked = false,
                                        const StopCheck* stop = nullptr);

  MapKind kind() const { return settings().frame.hexagons ? MapKind::kHexagons : MapKind::kSquares; }

  const ObstacleTable& obstacles() const { return *obstacle_table_; }

  // Returns the portals. Only searches in portal_search.h use them.
  const PortalTable& portals() const { return *portal_table_; }

  // Time at which the jump indexes of a large map are built: by Prepare before it returns, or later by
  // BuildInBackground. Until then queries run without them.
  enum class LargeIndexes { kNow, kInBackground };
  // Builds the indexes that searches use by default, so that the first query does not wait for them. Indexes
  // over the walkable cells take at most `memory`, in this map and in maps derived from it by edits. Returns
  // early once `stop` fails; the map must not be used then.
  // REQUIRES: no other thread has access to the map.
  void Prepare(IndexMemory memory = {}, const StopCheck* stop = nullptr,
               LargeIndexes large_indexes = LargeIndexes::kNow);

  // Returns the account that the map's memory is charged to, or null.
  MemoryAccount* memory_account() const { return walk_->index_memory().account.get(); }

  // Returns the walkable cells and the indexes derived from them.
  const WalkGrid& walk() const { return *walk_; }
  // Returns the walk grid of agents of `footprint` x `footprint` cells. An agent's position is its upper left
  // cell.
  // REQUIRES: 1 <= footprint <= kMaxFootprint.
  std::shared_ptr<const WalkGrid> walk(int footprint) const {
    return footprint == 1 ? walk_ : footprint_grids_->Get(*walk_, footprint);
  }

  // Returns true if the grid of walk(footprint) is already built.
  bool HasWalk(int footprint) const { return footprint == 1 || footprint_grids_->Has(footprint); }
  // Drops the grids of larger agents and the views that were not used since the last call, or all of them if
  // `used_too`. They are rebuilt on demand.
  void DropViews(bool used_too) const;

  // As in WalkGrid, for the indexes of agents of all sizes. `before` is a map from which edits made this one.
  bool NeedsBackgroundBuild() const {
    return walk_->NeedsBackgroundBuild() || footprint_grids_->NeedsBackgroundBuild();
  }
  bool BuildInBackground(CancelFlag cancelled) const;
  void FollowCloser(const GridMap& before) const;

  // Returns the plain cells, which searches over non-uniform costs use. The first call creates them without
  // judging any tile; later edits keep the judged tiles up to date.
  // REQUIRES: 8-connected.
  const PlainCells& plain_cells() const {
    return plain_cells_->Get([&] {
      PlainCells cells(*this);
      if (MemoryAccount* const account = memory_account()) {
        account->Add(cells.memory_bytes());
      }
      return cells;
    });
  }

  // Returns lower bounds for heuristics. The first call of this or HasNoisyCosts computes them.
  const CostFloor& cost_floor() const;
  bool HasCostFloor() const { return cost_survey_->GetIfMade() != nullptr; }
  // Returns CostSurvey::is_noise.
  bool HasNoisyCosts() const;

  // Returns the slot for an index over this snapshot or an earlier one. Its content is not part of the map.
  StaticIndexSlot& static_index() const { return *static_index_; }

  const ProfileTable& profiles() const { return *profiles_; }
  // REQUIRES: no other thread has access to the map; PutInTable made the table for the settings of this map.
  void SetProfiles(ProfileTable profiles) {
    SetProfiles(std::make_shared<const ProfileTable>(std::move(profiles)));
  }
  // Returns the cache of ViewUnder (profile_views.h): the map as seen by agents under other terrain rules.
  const ProfileViews& profile_views() const { return *profile_views_; }

  // Returns the digest of the map's image (see map_image.h). Maps with the same content have the same 64-bit
  // digest, whatever edits produced them, on every machine. Expiry times of obstacles are not included. Edits
  // keep it up to date.
  // REQUIRES: the map is not a view of another.
  std::uint64_t digest() const;

  // Returns the bytes held by this revision, including shared parts.
  std::size_t memory_bytes() const;
  // Adds these bytes to `use` by kind, and the memory reserved for background indexes.
  void AddTo(MemoryUse& use) const;
  // Returns the bytes held by this revision and not by `other`: the cost of keeping this one while the other
  // lives. Time is proportional to the bands and blocks that differ.
  // REQUIRES: one was made from the other by edits, or both from a third.
  std::size_t BytesBeyond(const GridMap& other) const;

 private:
  const CostSurvey& survey() const;

  friend class GridMapEditor;
  friend GridMap MakeView(const GridMap& map, const TerrainRules& rules);
  friend std::uint64_t CellsToView(const GridMap& map, const TerrainRules& rules);

  // Planes that, with the terrains and named obstacles, determine the nameless obstacles.
  struct NamelessPlanes {
    explicit NamelessPlanes(const GridMap& map) : hidden(map.hidden_), walkable(map.walkable_) {}
    BitPlane hidden;
    BitPlane walkable;
  };

  GridMap() = default;

  void SetProfiles(std::shared_ptr<const ProfileTable> profiles) {
    profiles_digest_ = DigestOf(*profiles);
    profiles_ = std::move(profiles);
  }

  // BytesBeyond without terrains and named obstacles, which views share with their map.
  std::size_t DerivedBytesBeyond(const GridMap& other) const;

  std::shared_ptr<const ObstacleTable> obstacle_table_;
  std::shared_ptr<const PortalTable> portal_table_;
  // Planes of the map from which a view took its nameless obstacles. Null unless the view has different
  // passable terrains.
  std::shared_ptr<const NamelessPlanes> viewed_;
  std::shared_ptr<const WalkGrid> walk_;
  std::shared_ptr<const FootprintGrids> footprint_grids_;
  std::shared_ptr<StaticIndexSlot> static_index_;
  std::shared_ptr<const Lazy<PlainCells>> plain_cells_;
  std::shared_ptr<const Lazy<CostSurvey>> cost_survey_;
  std::shared_ptr<const ProfileTable> profiles_;
  std::uint64_t profiles_digest_ = 0;
  std::shared_ptr<const ProfileViews> profile_views_;
};

}  // namespace waystar::core
