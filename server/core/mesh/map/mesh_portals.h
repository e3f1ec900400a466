// The portals of a navigation mesh, by id and by the polygons at their ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/core/elements/id_table.h"
#include "server/core/elements/portal.h"
#include "server/core/elements/sorted_chunks.h"
#include "server/core/mesh/map/mesh_spec.h"
#include "server/core/mesh/map/sparse_table.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// A way through a portal, from a place at one end to the place opposite. A place without a polygon is not on
// the mesh, or is on another one. Agents can use the lane only if it has both places.
struct PortalLane {
  MeshPlace from;
  MeshPlace to;

  bool is_open() const { return from.polygon != kNoPolygon && to.polygon != kNoPolygon; }

  friend bool operator==(const PortalLane&, const PortalLane&) = default;
};

// Minimum cost of a portal that is not a shortcut, as a share of the straight line. Clients that give the
// distance between two positions do so before these are rounded.
inline constexpr double kLineShare = 1.0 - 1.0 / (1 << 16);

// A portal with its ends on its own mesh.
struct PlacedPortal : MeshPortal {
  // The lane in the middle, followed by those beside it if the portal has a width.
  std::vector<PortalLane> lanes;
  // Polygons of the uncut mesh at the ends of all lanes, in ascending order. The list may include others that
  // touch such a place, but are not connected to it.
  std::vector<PolygonNumber> polygons;
  // True if the portal leads to another map, or costs less than kLineShare of the straight line between its
  // ends seen from above. A path without such portals costs at least that share of the straight line.
  bool is_shortcut = false;
};

// Number of lanes of a portal with a width. They divide the width into equal parts; the outermost ones are at
// its ends.
inline constexpr int kPortalLanes = 5;

// Returns its memory, including its entries in a MeshPortalTable.
inline std::size_t BytesOf(const PlacedPortal& portal) {
  // The list of a polygon that has a single portal.
  constexpr std::size_t kEntryBytes = 128;
  return BytesOf<MeshPortal>(portal) + sizeof(PlacedPortal) - sizeof(MeshPortal) +
         portal.lanes.capacity() * sizeof(PortalLane) +
         portal.polygons.capacity() * (sizeof(PolygonNumber) + kEntryBytes);
}

// Portals of a mesh by id, by polygon and by their ends. Copies share what they have in common. A change
// costs O(log portals), plus a few hundred pointers for each polygon at the portal's ends.
//
// Thread safety: const methods may run concurrently with each other and with changes to another copy.
class MeshPortalTable : public IdTable<PlacedPortal> {
 public:
  using Portals = IdTable<PlacedPortal>;

  explicit MeshPortalTable(std::size_t polygon_count)
      : by_polygon_(static_cast<std::uint32_t>(polygon_count)) {}

  // Inserts or replaces a portal.
  void Put(const std::shared_ptr<const PlacedPortal>& portal) {
    if (const auto before = IdTable::Put(portal)) {
      Unlist(before);
    }
    by_ends_.Put(portal);
    if (portal->is_shortcut) {
      shortcuts_.Put(portal);
    }
    for (const PolygonNumber polygon : portal->polygons) {
      const Portals* const before = by_polygon_.Find(polygon);
      auto portals = before == nullptr ? std::make_shared<Portals>() : std::make_shared<Portals>(*before);
      portals->Put(portal);
      by_polygon_.Put(polygon, std::move(portals));
    }
  }
  // REQUIRES: it exists.
  void Remove(absl::string_view id) { Unlist(IdTable::Remove(id)); }

  // Returns the portals with an end in this polygon of the uncut mesh, or null if there is none.
  const Portals* At(PolygonNumber polygon) const { return by_polygon_.Find(polygon); }
  // Returns the portals with is_shortcut.
  const Portals& shortcuts() const { return shortcuts_; }
  // Calls visit(other) for the portals with the same two ends, in any direction, until it returns false.
  template <typename Visitor>
  void VisitAlike(const MeshPortal& portal, Visitor visit) const {
    by_ends_.VisitFrom(EndsOf(portal), [&](const std::shared_ptr<const PlacedPortal>& other) {
      return EndsOf(*other) == EndsOf(portal) && visit(*other);
    });
  }

 private:
  using Ends = std::tuple<absl::string_view, WorldPoint, WorldPoint>;

  // Returns the same for both directions of a portal within the map.
  static Ends EndsOf(const MeshPortal& portal) {
    const bool is_first = !portal.to_map.empty() || portal.from < portal.to;
    return {portal.to_map, is_first ? portal.from : portal.to, is_first ? portal.to : portal.from};
  }

  struct EndsLess {
    using Value = std::shared_ptr<const PlacedPortal>;
    bool operator()(const Value& a, const Value& b) const {
      return std::tuple(EndsOf(*a), absl::string_view(a->id)) <
             std::tuple(EndsOf(*b), absl::string_view(b->id));
    }
    bool operator()(const Value& a, const Ends& b) const { return EndsOf(*a) < b; }
  };

  // Removes the portal from the indexes.
  void Unlist(const std::shared_ptr<const PlacedPortal>& portal) {
    by_ends_.Remove(portal);
    if (portal->is_shortcut) {
      shortcuts_.Remove(portal->id);
    }
    for (const PolygonNumber polygon : portal->polygons) {
      auto portals = std::make_shared<Portals>(*by_polygon_.Find(polygon));
      portals->Remove(portal->id);
      by_polygon_.Put(polygon, portals->empty() ? nullptr : std::move(portals));
    }
  }

  SortedChunks<std::shared_ptr<const PlacedPortal>, EndsLess> by_ends_;
  Portals shortcuts_;
  SparseTable<Portals> by_polygon_;
};

}  // namespace waystar::core
