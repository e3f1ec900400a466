// Cache of a map's views: the map as agents of different movement profiles see it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "server/base/mutex.h"
#include "server/core/map/movement_profile.h"

namespace waystar::core {

class GridMap;

// A view is a grid map of its own, on which everything works that works on maps: it shares terrains and
// obstacles with the map and differs in what steps cost and which terrains can be entered. Obstacles that
// change costs change the view's costs: a factor multiplies the cost that the profile gives the terrain.
//
// A view is made when it is first asked for, and shared by all queries. Making it takes time in proportion to
// the map unless the profile enters the same terrains. Edits leave views alone: the first use after an edit
// brings the view up to date, at a cost in proportion to the bands of rows that differ, which two maps find
// by comparing pointers. An unused view costs nothing. The kAlwaysKept most recently used views are kept, and
// up to kMaxKept while all of them take no more than the map may spend on them, except those that were not
// used in the last kMaxIdleEdits revisions.
//
// Thread safety: any method may be called from any thread.
class ProfileViews {
 public:
  static constexpr std::size_t kAlwaysKept = 8;
  static constexpr std::size_t kMaxKept = 16;
  static constexpr int kMaxIdleEdits = 16 * 1024;

  ProfileViews();
  // Returns the views of a map that was made by edits from the map that these views belong to.
  std::shared_ptr<const ProfileViews> AfterEdits() const;
  ~ProfileViews();
  ProfileViews(const ProfileViews&) = delete;
  ProfileViews& operator=(const ProfileViews&) = delete;

  // Makes a view out of the same view of an earlier state of the map, or from nothing if `before` is null.
  using Maker = absl::FunctionRef<std::shared_ptr<const GridMap>(const GridMap* before)>;

  // Returns the bytes that a view takes beside its map.
  using Weigher = absl::FunctionRef<std::size_t(const GridMap* view)>;

  // Returns the view under these rules, made by `make` if it is not there. A call waits while another makes
  // the same view. More than kAlwaysKept views are kept while they take at most `max_bytes` by `weigh`.
  std::shared_ptr<const GridMap> Get(const TerrainRules& rules, Maker make, std::size_t max_bytes,
                                     Weigher weigh) const;

  // Returns whether Get would find that view made.
  bool Has(const TerrainRules& rules) const;
  // Lets go of the views that were not asked for since the last call, or of all. Those who have one keep it.
  void Drop(bool used_too) const;

  struct View {
    std::shared_ptr<const TerrainRules> rules;
    std::shared_ptr<const GridMap> map;
  };
  // Returns the views that are there, each up to date or as it was when it was last used.
  std::vector<View> Held() const;
  // Returns the one of them under these rules, or null.
  std::shared_ptr<const GridMap> FindHeld(const TerrainRules& rules) const;

 private:
  class Slot;

  struct Kept {
    std::shared_ptr<const Slot> slot;
    std::uint64_t last_use = 0;
    int idle_edits = 0;
    bool was_used = true;
  };

  // Lets go of the views that were not used for longest, other than the one under these rules.
  void LetGo(const TerrainRules& rules, std::size_t max_bytes, Weigher weigh) const;

  mutable Mutex mutex_;
  mutable std::uint64_t uses_ ABSL_GUARDED_BY(mutex_) = 0;
  mutable std::vector<Kept> kept_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::core
