// A map as agents of different movement profiles see it.
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
// obstacles with the map and differs in what steps cost and which terrains can be entered. What obstacles do
// to costs they do to the view's: a factor is times the cost that the profile gives the terrain.
//
// A view is made when it is first asked for, which costs time in proportion to the map unless the profile
// enters the same terrains, and shared by all queries. Edits leave views alone. Who asks for one after an
// edit brings it up to date, at a cost in proportion to the bands of rows that differ, which two maps find by
// comparing pointers; so a view costs nobody anything while nobody asks for it. Keeps kMaxKept views; of
// more, those asked for last; and none that was not asked for in the last kMaxIdleEdits revisions.
//
// Thread safety: any method from any thread.
class ProfileViews {
 public:
  static constexpr std::size_t kMaxKept = 8;
  static constexpr int kMaxIdleEdits = 1024;

  ProfileViews();
  // Of a map that came by edits of another, whose views these are.
  std::shared_ptr<const ProfileViews> AfterEdits() const;
  ~ProfileViews();
  ProfileViews(const ProfileViews&) = delete;
  ProfileViews& operator=(const ProfileViews&) = delete;

  // The view of `map`, whose views these are. Who asks while another makes the same one waits for it.
  // REQUIRES: !rules.IsAsIn(map.settings()); the rules name the map's terrains.
  std::shared_ptr<const GridMap> Get(const GridMap& map, const TerrainRules& rules) const;

  // Held by the views and not by `map`, whose views these are.
  std::size_t memory_bytes(const GridMap& map) const;
  // Held by the views, as far as they do not share it with the maps, and not by those of `other`, which is a
  // map of the same origin.
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
