// Fields of the values of maps, such as obstacles and profiles, in the order of images and logs.
#pragma once

#include <limits>

#include "server/base/stop_check.h"
#include "server/core/codec/fields.h"
#include "server/core/edit/edit.h"
#include "server/core/elements/tags.h"
#include "server/core/grid/cells/grid_settings.h"

namespace waystar::core {

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

void Fields(Is<Terrain> auto& terrain, const auto& visit) {
  visit(terrain.symbol, AtMost(terrain.name, kMaxTerrainNameBytes), terrain.cost, terrain.impassable);
}

void Fields(Is<HexBoard> auto& board, const auto& visit) {
  visit(AtMost(board.layout, HexLayout::kEvenColumns), AtMost(board.columns, kMaxMapSide),
        AtMost(board.rows, kMaxMapSide));
}

void Fields(Is<GridSettings> auto& settings, const auto& visit) {
  visit(AtMost(settings.connectivity, Connectivity::kSix), settings.diagonal_cost,
        AtMost(settings.terrains, kMaxTerrains), AtMost(settings.world, kMaxWorldBytes),
        settings.frame.origin, settings.frame.cell_size, settings.frame.hexagons);
}

void Fields(Is<ObstacleEffect> auto& effect, const auto& visit) {
  visit(AtMost(effect.kind, ObstacleEffect::Kind::kAddCost), effect.amount,
        AtMost(effect.falloff, ObstacleEffect::Falloff::kLinear));
}

void Fields(Is<Obstacle> auto& obstacle, const auto& visit) {
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
    visit(portal.cost);
  }
  visit(portal.both_ways, TagsField(portal.tags), portal.closed);
}

void Fields(Is<TerrainCost> auto& terrain, const auto& visit) { visit(terrain.symbol, terrain.cost); }

void Fields(Is<NamedProfile> auto& named, const auto& visit) {
  auto& profile = named.profile;
  visit(NameField(named.name), AtMost(profile.footprint, kMaxMapSide),
        AtMost(profile.corner_rule, CornerRule::kAlways), AtMost(profile.terrain_costs, kMaxTerrains),
        AtMost(profile.forbidden_terrains, kMaxTerrains), TagsField(profile.required_tags),
        profile.no_diagonals);
}

void Fields(Is<WaypointNode> auto& node, const auto& visit) {
  visit(NameField(node.id), node.position, node.enabled, TagsField(node.tags),
        AtMost(node.label, kMaxLabelBytes));
}

// Writes the number of items of an IdTable, then the items in the order of their ids.
template <typename Item, typename Table>
void WriteTable(const Table& table, ValueWriter& to, const StopCheck* stop) {
  to.PutNumber(table.size());
  table.VisitAfter("", [&](const Item& item) {
    WriteValue(item, to);
    return !IsStopped(stop);
  });
}

}  // namespace waystar::core
