// Cache of a map's views: the map as agents of different movement profiles see it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

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
// by comparing pointers. An unused view costs nothing. The kMaxKept most recently used views are kept, except
// those that were not used in the last kMaxIdleEdits revisions.
//
// Thread safety: any method may be called from any thread.
class ProfileViews {
 public:
  static constexpr std::size_t kMaxKept = 8;
  static constexpr int kMaxIdleEdits = 1024;

  ProfileViews();
  // Returns the views of a map that was made by edits from the map that these views belong to.
  std::shared_ptr<const ProfileViews> AfterEdits() const;
  ~ProfileViews();
  ProfileViews(const ProfileViews&) = delete;
  ProfileViews& operator=(const ProfileViews&) = delete;

  // Returns the view of `map`, which these views belong to. A call waits while another makes the same view.
  // REQUIRES: !rules.IsAsIn(map.settings()); the rules name the map's terrains.
  std::shared_ptr<const GridMap> Get(const GridMap& map, const TerrainRules& rules) const;

  // Returns the bytes held by the views and not by `map`, which they belong to.
  std::size_t memory_bytes(const GridMap& map) const;
  // Returns the bytes that the views hold and share neither with their maps nor with `others`, the views of
  // `other`, which is a map of the same origin.
  std::size_t BytesBeyond(const GridMap& other, const ProfileViews& others) const;

 private:
  class Slot;

  struct Kept {
    std::shared_ptr<const Slot> slot;
    std::uint64_t last_use = 0;
    int idle_edits = 0;
  };

  std::vector<Kept> Copy() const;

  mutable Mutex mutex_;
  mutable std::uint64_t uses_ ABSL_GUARDED_BY(mutex_) = 0;
  mutable std::vector<Kept> kept_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::core
