// A grid of square or hexagonal cells: the immutable state of a map at one revision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/memory_account.h"
#include "server/base/stop_check.h"
#include "server/core/grid/bit_plane.h"
#include "server/core/grid/grid_settings.h"
#include "server/core/grid/lazy.h"
#include "server/core/jump_index/cancelled.h"
#include "server/core/map/grid_cells.h"
#include "server/core/map/map_kind.h"
#include "server/core/map/movement_profile.h"
#include "server/core/map/plain_cells.h"
#include "server/core/map/static_index.h"
#include "server/core/walk/footprint_grids.h"
#include "server/core/walk/walk_grid.h"

namespace waystar::core {

struct CostFloor;
struct CostSurvey;
class ObstacleTable;
class PortalTable;
class ProfileViews;

// Returns INVALID_ARGUMENT / BAD_SIZE with field "width" or "height" unless both are from 1 to `max_side`.
absl::Status CheckMapSize(std::int64_t width, std::int64_t height, int max_side);

// The cells of a map, what lies on them and links them, and what is derived from them for searches.
//
// Thread safety: immutable, so any number of threads may read it. Copies share their cells; GridMapEditor
// makes a changed copy.
class GridMap : public GridCells {
 public:
  // Returns a map whose cells all have terrain `fill`, with an obstacle on each if `blocked`. Returns
  // INVALID_ARGUMENT / BAD_SIZE with field "width" or "height" if a side is not from 1 to kMaxMapSide, and
  // the errors of CheckGridSettings and of `stop`. REQUIRES: fill < settings.terrains.size().
  static absl::StatusOr<GridMap> Create(std::int64_t width, std::int64_t height, GridSettings settings,
                                        TerrainId fill = 0, bool blocked = false,
                                        const StopCheck* stop = nullptr);

  MapKind kind() const { return settings().frame.hexagons ? MapKind::kHexagons : MapKind::kSquares; }

  // Returns the named obstacles.
  const ObstacleTable& obstacles() const { return *obstacle_table_; }

  // Returns the portals. Only searches through portals follow them: see portal_search.h.
  const PortalTable& portals() const { return *portal_table_; }

  // When Prepare's jump indexes of large maps are made: before it returns, or by BuildInBackground. Queries
  // do without meanwhile.
  enum class LargeIndexes { kNow, kInBackground };
  // Makes what searches use by default, so that the first query does not wait for it. Indexes over the
  // walkable cells take at most `memory`, in this map and in those that edits make of it. Once `stop` fails
  // it ends early: the map must not be used then. REQUIRES: no other thread knows the map yet.
  void Prepare(IndexMemory memory = {}, const StopCheck* stop = nullptr,
               LargeIndexes large_indexes = LargeIndexes::kNow);

  // Returns the account of the memory that is taken for this map's sake; null if nobody counts.
  MemoryAccount* memory_account() const { return walk_->index_memory().account.get(); }

  // Returns the walkable cells and what is derived from them.
  const WalkGrid& walk() const { return *walk_; }
  // Returns the same for agents of `footprint` x `footprint` cells, which stand with their upper left cell on
  // the cell that is set. REQUIRES: 1 <= footprint <= kMaxFootprint.
  std::shared_ptr<const WalkGrid> walk(int footprint) const {
    return footprint == 1 ? walk_ : footprint_grids_->Get(*walk_, footprint);
  }

  // Returns whether walk(footprint) would find the grid made.
  bool HasWalk(int footprint) const { return footprint == 1 || footprint_grids_->Has(footprint); }
  // Lets go of the grids of larger agents and of the views that nobody asked for since the last call, or of
  // all of them. They are made again when they are asked for.
  void DropViews(bool used_too) const;

  // As in WalkGrid, for the indexes over the walkable cells of agents of any size. `before` is a map that
  // edits made this one of.
  bool NeedsBackgroundBuild() const {
    return walk_->NeedsBackgroundBuild() || footprint_grids_->NeedsBackgroundBuild();
  }
  bool BuildInBackground(CancelFlag cancelled) const;
  void FollowCloser(const GridMap& before) const;

  // Returns what searches over cells of different costs need besides, none of which is judged by the first
  // call; from then on edits keep up to date what is. REQUIRES: 8-connected.
  const PlainCells& plain_cells() const {
    return plain_cells_->Get([&] {
      PlainCells cells(*this);
      if (MemoryAccount* const account = memory_account()) {
        account->Add(cells.memory_bytes());
      }
      return cells;
    });
  }

  // Returns what heuristics may count on. The first call for these costs finds it, here and below.
  const CostFloor& cost_floor() const;
  // Returns whether it has been found.
  bool HasCostFloor() const { return cost_survey_->GetIfMade() != nullptr; }
  // Returns CostSurvey::is_noise.
  bool HasNoisyCosts() const;

  // Returns the slot for an index over this state of the map. What the slot holds is no part of the map.
  StaticIndexSlot& static_index() const { return *static_index_; }

  // Returns the named movement profiles of this map.
  const ProfileTable& profiles() const { return *profiles_; }
  // REQUIRES: no other thread knows the map yet; PutInTable made the table, for the settings of this map.
  void SetProfiles(ProfileTable profiles) {
    SetProfiles(std::make_shared<const ProfileTable>(std::move(profiles)));
  }
  // Returns the cache in which ViewUnder (map_view.h) keeps the map as agents under other rules see it.
  const ProfileViews& profile_views() const { return *profile_views_; }

  // Returns the digest of the map's image (see map_image.h): 64 bits that are the same for all maps that hold
  // the same, whatever edits led there, and on every machine. The times at which obstacles expire have no
  // part in it. It was kept up to date by the edits. REQUIRES: the map is not a view of another.
  std::uint64_t digest() const;

  // Returns the bytes held by this revision, shared parts included.
  std::size_t memory_bytes() const;
  // Adds them to `use`, by kind, and the room that was promised to indexes in the background.
  void AddTo(MemoryUse& use) const;
  // Returns the bytes held by this revision and not by `other`: the memory that is kept for its sake if the
  // other lives anyway. The cost is proportional to the bands and blocks that differ. REQUIRES: one of the
  // two was made from the other by edits, or both from a third.
  std::size_t BytesBeyond(const GridMap& other) const;

 private:
  const CostSurvey& survey() const;

  friend class GridMapEditor;
  friend GridMap MakeView(const GridMap& map, const TerrainRules& rules);
  friend std::uint64_t CellsToView(const GridMap& map, const TerrainRules& rules);

  // The planes that, together with terrains and named obstacles, say where the nameless obstacles are.
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

  // As BytesBeyond, without terrains and named obstacles, which the views of a map share with it.
  std::size_t DerivedBytesBeyond(const GridMap& other) const;

  std::shared_ptr<const ObstacleTable> obstacle_table_;
  std::shared_ptr<const PortalTable> portal_table_;
  // The planes of the map that a view took its nameless obstacles from; null unless it enters other terrains.
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
