// Fields of edits and of the values in them, listed once for whatever reads, writes or hashes them.
//
// A type T has a function that passes its fields to `visit`, in the order of the bytes of images and logs:
//
//   void Fields(Is<T> auto& value, const auto& visit) { visit(value.a, AtMost(value.b, kMaxB)); }
//
// The function stands in the namespace of T. A field that decides about later ones goes to `visit` before
// them. The order must not change, since images, logs and fingerprints are stored.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "server/core/edit/edit.h"
#include "server/core/elements/tags.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/mesh/map/mesh_terrain.h"

namespace waystar::core {

// True if V is T or const T.
template <typename V, typename T>
concept Is = std::same_as<std::remove_const_t<V>, T>;

// Field with a maximum: of a number or enumeration, which is stored without a sign, of the bytes of a text,
// or of the items of a list. `max_item_bytes` is for texts in a list.
template <typename V>
struct Bounded {
  V& value;
  std::uint64_t max = 0;
  std::uint64_t max_item_bytes = 0;
};

template <typename V>
Bounded<V> AtMost(V& value, auto max, std::uint64_t max_item_bytes = 0) {
  return {value, static_cast<std::uint64_t>(max), max_item_bytes};
}

inline constexpr std::uint64_t kAnyCount = std::numeric_limits<std::uint32_t>::max();

void Fields(Is<Cell> auto& cell, const auto& visit) { visit(cell.x, cell.y); }

void Fields(Is<Point> auto& point, const auto& visit) { visit(point.x, point.y); }

void Fields(Is<WorldPoint> auto& point, const auto& visit) { visit(point.x, point.y, point.z); }

void Fields(Is<Rectangle> auto& rectangle, const auto& visit) {
  visit(rectangle.x, rectangle.y, rectangle.width, rectangle.height);
}

void Fields(Is<Disc> auto& disc, const auto& visit) { visit(disc.center, disc.radius); }

void Fields(Is<Polygon> auto& polygon, const auto& visit) { visit(AtMost(polygon.vertices, kMaxVertices)); }

void Fields(Is<Line> auto& line, const auto& visit) { visit(line.start, line.end, line.width); }

void Fields(Is<Shape> auto& shape, const auto& visit) {
  visit(shape.cells, shape.rectangles, shape.discs, shape.polygons, shape.lines);
}

auto TagsField(auto& tags) { return AtMost(tags, kMaxTags, kMaxTagBytes); }

auto NameField(auto& name) { return AtMost(name, kMaxNameBytes); }

void Fields(Is<ObstacleEffect> auto& effect, const auto& visit) {
  visit(AtMost(effect.kind, ObstacleEffect::Kind::kAddCost), effect.amount,
        AtMost(effect.falloff, ObstacleEffect::Falloff::kLinear));
}

void Fields(Is<HeightRange> auto& heights, const auto& visit) { visit(heights.low, heights.high); }

void Fields(Is<Obstacle> auto& obstacle, const auto& visit) {
  // Heights are stored by meshes alone.
  visit(NameField(obstacle.id), obstacle.shape, obstacle.effect, obstacle.expiry);
}

// The cost differs: it is a Cost on grids, and a double on meshes.
template <typename V>
requires Is<V, Portal> || Is<V, MeshPortal>
void Fields(V& portal, const auto& visit) {
  visit(NameField(portal.id), portal.from, NameField(portal.to_map), portal.to);
  if constexpr (Is<V, Portal>) {
    visit(AtMost(portal.cost, std::numeric_limits<Cost>::max()));
  } else {
    visit(portal.cost, portal.width);
  }
  visit(portal.both_ways, TagsField(portal.tags), portal.closed);
}

void Fields(Is<MeshTerrain> auto& terrain, const auto& visit) {
  visit(NameField(terrain.name), TagsField(terrain.tags), terrain.cost, terrain.is_impassable);
}

void Fields(Is<GroundPolygon> auto& polygon, const auto& visit) {
  visit(polygon.agent_radius, NameField(polygon.terrain), AtMost(polygon.corners, kMaxPolygonCorners));
}

void Fields(Is<MeshGround> auto& ground, const auto& visit) {
  visit(NameField(ground.id), ground.region, ground.heights, AtMost(ground.polygons, kMaxGroundPolygons),
        ground.weld);
}

void Fields(Is<TerrainCost> auto& terrain, const auto& visit) { visit(terrain.symbol, terrain.cost); }

void Fields(Is<NamedProfile> auto& named, const auto& visit) {
  auto& profile = named.profile;
  visit(NameField(named.name), AtMost(profile.footprint, kMaxMapSide),
        AtMost(profile.corner_rule, CornerRule::kAlways), AtMost(profile.terrain_costs, kMaxTerrains),
        AtMost(profile.forbidden_terrains, kMaxTerrains), TagsField(profile.required_tags),
        profile.no_diagonals);
}

void Fields(Is<GroundCost> auto& cost, const auto& visit) { visit(NameField(cost.terrain), cost.cost); }

void Fields(Is<MeshProfile> auto& profile, const auto& visit) {
  auto& ground = profile.ground;
  visit(NameField(profile.name), AtMost(ground.costs, kMaxMeshAreas),
        AtMost(ground.forbidden, kMaxMeshAreas, kMaxNameBytes), TagsField(ground.allowed_tags),
        TagsField(ground.forbidden_tags), TagsField(profile.required_tags));
}

void Fields(Is<WaypointNode> auto& node, const auto& visit) {
  visit(NameField(node.id), node.position, node.enabled, TagsField(node.tags),
        AtMost(node.label, kMaxLabelBytes));
}

auto NodesField(auto& nodes) { return AtMost(nodes, kAnyCount, kMaxNameBytes); }

template <typename V>
requires Is<V, BlockCells> || Is<V, UnblockCells>
void Fields(V& edit, const auto& visit) { visit(edit.shape); }

void Fields(Is<SetTerrain> auto& edit, const auto& visit) { visit(edit.shape, edit.symbol); }

void Fields(Is<PutObstacle> auto& edit, const auto& visit) {
  visit(edit.obstacle, edit.lifetime, edit.replace);
}

void Fields(Is<PutMeshObstacle> auto& edit, const auto& visit) { visit(edit.put, edit.heights); }

void Fields(Is<PutGround> auto& edit, const auto& visit) { visit(edit.ground); }

void Fields(Is<MoveObstacle> auto& edit, const auto& visit) { visit(NameField(edit.id), edit.dx, edit.dy); }

void Fields(Is<ResizeObstacle> auto& edit, const auto& visit) { visit(NameField(edit.id), edit.shape); }

template <typename V>
requires Is<V, RemoveObstacle> || Is<V, RemovePortal> || Is<V, RemoveGround>
void Fields(V& edit, const auto& visit) { visit(NameField(edit.id)); }

template <typename V>
requires Is<V, PutPortal> || Is<V, PutMeshPortal>
void Fields(V& edit, const auto& visit) { visit(edit.portal, edit.replace); }

void Fields(Is<SwitchPortal> auto& edit, const auto& visit) { visit(NameField(edit.id), edit.closed); }

void Fields(Is<PutProfile> auto& edit, const auto& visit) { visit(edit.named); }

void Fields(Is<PutMeshProfile> auto& edit, const auto& visit) { visit(edit.profile); }

void Fields(Is<RemoveProfile> auto& edit, const auto& visit) { visit(NameField(edit.name)); }

void Fields(Is<EdgeName> auto& name, const auto& visit) {
  visit(NameField(name.from), NameField(name.to), name.one_way);
}

void Fields(Is<WaypointEdge> auto& edge, const auto& visit) {
  visit(edge.name, edge.cost, edge.enabled, TagsField(edge.tags));
}

void Fields(Is<PutNodes> auto& edit, const auto& visit) { visit(edit.nodes, edit.replace); }

void Fields(Is<RemoveNodes> auto& edit, const auto& visit) { visit(NodesField(edit.nodes)); }

void Fields(Is<PutEdges> auto& edit, const auto& visit) { visit(edit.edges, edit.replace); }

void Fields(Is<RemoveEdges> auto& edit, const auto& visit) { visit(edit.edges); }

void Fields(Is<SetEnabled> auto& edit, const auto& visit) {
  visit(NodesField(edit.nodes), edit.edges, edit.enabled);
}

}  // namespace waystar::core
