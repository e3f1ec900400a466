// Nets of the portals that some agents can use, on a map and on the maps that portals lead to, for all kinds
// of maps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/base/error.h"

namespace waystar::core {

// Maps that portals may lead to.
template <typename MapType>
class WorldOf {
 public:
  using Map = MapType;

  virtual ~WorldOf() = default;

  // Returns the map with that id as seen by the query, or null if there is none or its agent cannot go there.
  // The result is the same at each call, and lives as long as this.
  virtual const Map* Find(absl::string_view id) = 0;
};

// The empty id stands for the map that queries start on, which does not know its own id.
inline constexpr absl::string_view kSameMap = "";

// Returns true if the portal is open and has all of these sorted tags.
template <typename Portal>
bool MayPass(const Portal& portal, absl::Span<const std::string> required_tags) {
  return !portal.closed &&
         std::includes(portal.tags.begin(), portal.tags.end(), required_tags.begin(), required_tags.end());
}

// A portal in one direction.
template <typename Portal, typename Place>
struct PortalDoor {
  const Portal* portal = nullptr;
  // If true, the door leads from `to` to `from`.
  bool is_reversed = false;
  // Indices in PortalNet::maps.
  std::uint32_t from_map = 0;
  std::uint32_t to_map = 0;
  Place from;
  Place to;
};

// Passage of a path through a portal.
template <typename Portal, typename Point>
struct Crossing {
  // The portal; owned by the map that it starts on.
  const Portal* portal = nullptr;
  // If true, the path goes from `to` to `from`.
  bool is_reversed = false;
  // Id of the map that the path enters; empty for the query's map.
  absl::string_view map;
  Point arrival;
  // Number of points of the path before it; number of directions with PathForm::kDirections.
  std::size_t index = 0;
};

// The maps and doors of a net. `Layer` describes a map by `id`, `map` and what a kind of map adds. Ids are
// kept as `Id`: absl::string_view if they outlive the net.
//
// Not thread-safe.
template <typename World, typename Layer, typename Door, typename Id>
class PortalNet {
 public:
  using Map = typename World::Map;

  // The first is the map that queries start on; its id is empty.
  const std::vector<Layer>& maps() const { return maps_; }
  const Map& home() const { return *maps_.front().map; }
  // Returns the index of a map, which is added if it is not in the list, or nothing if no map has that id.
  std::optional<std::uint32_t> FindMap(absl::string_view id) {
    if (id == kSameMap) {
      return 0;
    }
    const auto [entry, is_new] = indexes_.try_emplace(Id(id));
    if (is_new) {
      if (const Map* const map = world_.Find(id); map == &home()) {
        entry->second = 0;
      } else if (map != nullptr) {
        entry->second = static_cast<std::uint32_t>(maps_.size());
        Add(entry->first, *map);
      }
    }
    return entry->second;
  }

  // Calls visit(portal, is_reversed) for each direction in which the agent may pass the portal.
  template <typename Portal, typename Visitor>
  void VisitDirections(const Portal& portal, const Visitor& visit) const {
    if (MayPass(portal, required_tags_)) {
      visit(portal, false);
      if (portal.both_ways) {
        visit(portal, true);
      }
    }
  }

  const std::vector<Door>& doors() const { return doors_; }
  std::size_t door_count() const { return doors_.size(); }
  const Door& door(std::uint32_t number) const { return doors_[number]; }
  Door& door(std::uint32_t number) { return doors_[number]; }

 protected:
  // Includes portals that have all of these sorted tags. The arguments must outlive this.
  PortalNet(const Map& home, World& world, absl::Span<const std::string> required_tags)
      : world_(world), required_tags_(required_tags) {
    Add(kSameMap, home);
  }

  // Calls add(portal, is_reversed) for each direction of the usable portals of a map, in id order.
  template <typename Adder>
  void VisitDoorsOf(std::uint32_t map, Adder add) {
    maps_[map].map->portals().VisitAfter("", [&](const auto& portal) {
      VisitDirections(portal, add);
      return true;
    });
  }

  World& world_;
  const absl::Span<const std::string> required_tags_;
  std::vector<Layer> maps_;
  std::vector<Door> doors_;

 private:
  void Add(absl::string_view id, const Map& map) {
    maps_.emplace_back();
    maps_.back().id = id;
    maps_.back().map = &map;
  }

  // Indices of the maps that were looked up; nothing for ids without a map.
  std::map<Id, std::optional<std::uint32_t>> indexes_;
};

// Least costs of doors, found by Dijkstra's algorithm. Costs O(log doors) per improvement.
//
// Not thread-safe.
template <typename Cost>
class DoorCosts {
 public:
  // Cost of a door that was not reached.
  static constexpr Cost kFar = std::numeric_limits<Cost>::has_infinity ? std::numeric_limits<Cost>::infinity()
                                                                       : std::numeric_limits<Cost>::max();

  explicit DoorCosts(std::size_t door_count = 0) : costs_(door_count, kFar) {}

  Cost operator[](std::uint32_t door) const { return costs_[door]; }
  void Reach(std::uint32_t door, Cost cost) {
    if (cost < costs_[door]) {
      costs_[door] = cost;
      open_.push_back({cost, door});
      std::push_heap(open_.begin(), open_.end(), std::greater<>());
    }
  }
  // Calls visit(door, cost), which may reach other doors, for each reached door in ascending order of cost.
  // Stops with its error.
  template <typename Visitor>
  absl::Status Spread(Visitor visit) {
    while (!open_.empty()) {
      std::pop_heap(open_.begin(), open_.end(), std::greater<>());
      const auto [cost, door] = open_.back();
      open_.pop_back();
      if (cost <= costs_[door]) {
        WAYSTAR_RETURN_IF_ERROR(visit(door, cost));
      }
    }
    return absl::OkStatus();
  }

 private:
  std::vector<Cost> costs_;
  std::vector<std::pair<Cost, std::uint32_t>> open_;
};

}  // namespace waystar::core
