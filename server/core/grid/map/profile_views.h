// Cache of a map's views: the map as seen by agents of different movement profiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "server/base/mutex.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/map/movement_profile.h"

namespace waystar::core {

class GridMap;

// Cache of views. A view is a complete grid map. It shares terrains and obstacles with its map and differs in
// step costs and passable terrains. Obstacles that change costs apply to the view: a factor multiplies the
// profile's cost of the terrain.
//
// A view is made on first use and shared by all queries. This takes time proportional to the map unless the
// profile has the same passable terrains. Edits do not touch views: the first use after an edit repairs the
// view, at a cost proportional to the bands of rows that differ, found by comparing pointers. The kAlwaysKept
// most recently used views are kept, and up to kMaxKept while they fit into the map's memory limit for views,
// except those unused for the last kMaxIdleEdits revisions.
//
// Thread safety: thread-safe.
class ProfileViews {
 public:
  static constexpr std::size_t kAlwaysKept = 8;
  static constexpr std::size_t kMaxKept = 16;
  static constexpr int kMaxIdleEdits = 16 * 1024;

  ProfileViews();
  // Returns the views for a map made by edits from this one's map.
  std::shared_ptr<const ProfileViews> AfterEdits() const;
  ~ProfileViews();
  ProfileViews(const ProfileViews&) = delete;
  ProfileViews& operator=(const ProfileViews&) = delete;

  // Makes a view from the same view of an earlier state of the map, or from scratch if `before` is null.
  using Maker = absl::FunctionRef<std::shared_ptr<const GridMap>(const GridMap* before)>;

  // Returns the bytes that a view takes beyond its map.
  using Weigher = absl::FunctionRef<std::size_t(const GridMap* view)>;

  // Returns the view under these rules; calls `make` if it is not cached. Blocks while another thread makes
  // the same view. More than kAlwaysKept views are kept only while they take at most `max_bytes` by `weigh`.
  std::shared_ptr<const GridMap> Get(const TerrainRules& rules, Maker make, std::size_t max_bytes,
                                     Weigher weigh) const;

  // Returns true if the view under these rules is made.
  bool Has(const TerrainRules& rules) const;
  // Drops the views that were not used since the last call, or all if `used_too`. Current holders keep
  // theirs.
  void Drop(bool used_too) const;

  struct View {
    std::shared_ptr<const TerrainRules> rules;
    std::shared_ptr<const GridMap> map;
  };
  // Returns the cached views, each as of its last use.
  std::vector<View> Held() const;
  // Returns the cached view under these rules, or null.
  std::shared_ptr<const GridMap> FindHeld(const TerrainRules& rules) const;

 private:
  class Slot;

  struct Kept {
    std::shared_ptr<const Slot> slot;
    std::uint64_t last_use = 0;
    int idle_edits = 0;
    bool was_used = true;
  };

  // Evicts the least recently used views, except the one under these rules.
  void LetGo(const TerrainRules& rules, std::size_t max_bytes, Weigher weigh) const;

  mutable Mutex mutex_;
  mutable std::uint64_t uses_ ABSL_GUARDED_BY(mutex_) = 0;
  mutable std::vector<Kept> kept_ ABSL_GUARDED_BY(mutex_);
};

// Returns the map under other terrain rules, from its ProfileViews, which documents the cost.
// REQUIRES: the rules name the terrains of the map and differ from the map's own.
std::shared_ptr<const GridMap> ViewUnder(const GridMap& map, const TerrainRules& rules);

// Returns the approximate number of cells that ViewUnder reads: those in bands that changed since the view
// was last used, or all. Cells whose cost an obstacle changes count 24 times.
std::uint64_t CellsToView(const GridMap& map, const TerrainRules& rules);

}  // namespace waystar::core
