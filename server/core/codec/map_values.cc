#include "server/core/codec/map_values.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "server/core/codec/value_lists.h"
#include "server/core/elements/tags.h"

namespace waystar::core {
namespace {

void WritePoint(const Point& point, ValueWriter& to) {
  to.PutDouble(point.x);
  to.PutDouble(point.y);
}

Point ReadPoint(ValueReader& from) {
  Point point;
  point.x = from.Double();
  point.y = from.Double();
  return point;
}

void WriteWorldPoint(const WorldPoint& point, ValueWriter& to) {
  to.PutDouble(point.x);
  to.PutDouble(point.y);
  to.PutDouble(point.z);
}

WorldPoint ReadWorldPoint(ValueReader& from) {
  WorldPoint point;
  point.x = from.Double();
  point.y = from.Double();
  point.z = from.Double();
  return point;
}

void WriteCell(Cell cell, ValueWriter& to) {
  to.PutSigned(cell.x);
  to.PutSigned(cell.y);
}

Cell ReadCell(ValueReader& from) {
  Cell cell;
  cell.x = ReadInt(from);
  cell.y = ReadInt(from);
  return cell;
}

}  // namespace

void WriteShape(const Shape& shape, ValueWriter& to) {
  WriteList(shape.cells, to, [&](Cell cell) { WriteCell(cell, to); });
  WriteList(shape.rectangles, to, [&](const Rectangle& rectangle) {
    WriteCell({rectangle.x, rectangle.y}, to);
    WriteCell({rectangle.width, rectangle.height}, to);
  });
  WriteList(shape.discs, to, [&](const Disc& disc) {
    WritePoint(disc.center, to);
    to.PutDouble(disc.radius);
  });
  WriteList(shape.polygons, to, [&](const Polygon& polygon) {
    WriteList(polygon.vertices, to, [&](const Point& vertex) { WritePoint(vertex, to); });
  });
  WriteList(shape.lines, to, [&](const Line& line) {
    WritePoint(line.start, to);
    WritePoint(line.end, to);
    to.PutDouble(line.width);
  });
}

Shape ReadShape(ValueReader& from) {
  Shape shape;
  shape.cells = ReadList(from, kAnyCount, [&] { return ReadCell(from); });
  shape.rectangles = ReadList(from, kAnyCount, [&] {
    const Cell corner = ReadCell(from);
    const Cell size = ReadCell(from);
    return Rectangle{corner.x, corner.y, size.x, size.y};
  });
  shape.discs = ReadList(from, kAnyCount, [&] {
    Disc disc{.center = ReadPoint(from)};
    disc.radius = from.Double();
    return disc;
  });
  shape.polygons = ReadList(from, kAnyCount, [&] {
    return Polygon{.vertices = ReadList(from, kMaxVertices, [&] { return ReadPoint(from); })};
  });
  shape.lines = ReadList(from, kAnyCount, [&] {
    Line line;
    line.start = ReadPoint(from);
    line.end = ReadPoint(from);
    line.width = from.Double();
    return line;
  });
  return shape;
}

void WriteTime(absl::Time time, ValueWriter& to) {
  to.PutBool(time != absl::InfiniteFuture());
  if (time != absl::InfiniteFuture()) {
    to.PutSigned(absl::ToUnixNanos(time));
  }
}

absl::Time ReadTime(ValueReader& from) {
  constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  return from.Bool() ? absl::FromUnixNanos(from.Signed(kMin, kMax)) : absl::InfiniteFuture();
}

void WriteTags(const std::vector<std::string>& tags, ValueWriter& to) {
  WriteList(tags, to, [&](const std::string& tag) { to.PutText(tag); });
}

std::vector<std::string> ReadTags(ValueReader& from) {
  return ReadList(from, kMaxTags, [&] { return from.Text(kMaxTagBytes); });
}

void WriteSettings(const GridSettings& settings, ValueWriter& to) {
  WriteEnum(settings.connectivity, to);
  to.PutDouble(settings.diagonal_cost);
  WriteList(settings.terrains, to, [&](const Terrain& terrain) {
    to.PutByte(static_cast<std::uint8_t>(terrain.symbol));
    to.PutText(terrain.name);
    to.PutDouble(terrain.cost);
    to.PutBool(terrain.impassable);
  });
  to.PutText(settings.world);
  to.PutDouble(settings.frame.origin.x);
  to.PutDouble(settings.frame.origin.y);
  to.PutDouble(settings.frame.origin.z);
  to.PutDouble(settings.frame.cell_size);
  to.PutBool(settings.frame.hexagons.has_value());
  if (settings.frame.hexagons) {
    WriteEnum(settings.frame.hexagons->layout, to);
    to.PutNumber(static_cast<std::uint64_t>(settings.frame.hexagons->columns));
    to.PutNumber(static_cast<std::uint64_t>(settings.frame.hexagons->rows));
  }
}

GridSettings ReadSettings(ValueReader& from) {
  GridSettings settings;
  settings.connectivity = ReadEnum(from, Connectivity::kSix);
  settings.diagonal_cost = from.Double();
  settings.terrains = ReadList(from, kMaxTerrains, [&] {
    Terrain terrain;
    terrain.symbol = static_cast<char>(from.Byte());
    terrain.name = from.Text(kMaxTerrainNameBytes);
    terrain.cost = from.Double();
    terrain.impassable = from.Bool();
    return terrain;
  });
  settings.world = from.Text(kMaxWorldBytes);
  settings.frame.origin.x = from.Double();
  settings.frame.origin.y = from.Double();
  settings.frame.origin.z = from.Double();
  settings.frame.cell_size = from.Double();
  if (from.Bool()) {
    HexBoard& board = settings.frame.hexagons.emplace();
    board.layout = ReadEnum(from, HexLayout::kEvenColumns);
    board.columns = static_cast<std::int32_t>(from.Number(kMaxMapSide));
    board.rows = static_cast<std::int32_t>(from.Number(kMaxMapSide));
  }
  return settings;
}

void WriteObstacle(const Obstacle& obstacle, ValueWriter& to) {
  to.PutText(obstacle.id);
  WriteShape(obstacle.shape, to);
  WriteEnum(obstacle.effect.kind, to);
  to.PutDouble(obstacle.effect.amount);
  WriteEnum(obstacle.effect.falloff, to);
  WriteTime(obstacle.expiry, to);
}

Obstacle ReadObstacle(ValueReader& from) {
  Obstacle obstacle;
  obstacle.id = from.Text(kMaxNameBytes);
  obstacle.shape = ReadShape(from);
  obstacle.effect.kind = ReadEnum(from, ObstacleEffect::Kind::kAddCost);
  obstacle.effect.amount = from.Double();
  obstacle.effect.falloff = ReadEnum(from, ObstacleEffect::Falloff::kLinear);
  obstacle.expiry = ReadTime(from);
  return obstacle;
}

void WritePortal(const Portal& portal, ValueWriter& to) {
  to.PutText(portal.id);
  WriteCell(portal.from, to);
  to.PutText(portal.to_map);
  WriteCell(portal.to, to);
  to.PutNumber(static_cast<std::uint64_t>(portal.cost));
  to.PutBool(portal.both_ways);
  WriteTags(portal.tags, to);
  to.PutBool(portal.closed);
}

void WriteMeshPortal(const MeshPortal& portal, ValueWriter& to) {
  to.PutText(portal.id);
  WriteWorldPoint(portal.from, to);
  to.PutText(portal.to_map);
  WriteWorldPoint(portal.to, to);
  to.PutDouble(portal.cost);
  to.PutBool(portal.both_ways);
  WriteTags(portal.tags, to);
  to.PutBool(portal.closed);
}

MeshPortal ReadMeshPortal(ValueReader& from) {
  MeshPortal portal;
  portal.id = from.Text(kMaxNameBytes);
  portal.from = ReadWorldPoint(from);
  portal.to_map = from.Text(kMaxNameBytes);
  portal.to = ReadWorldPoint(from);
  portal.cost = from.Double();
  portal.both_ways = from.Bool();
  portal.tags = ReadTags(from);
  portal.closed = from.Bool();
  return portal;
}

Portal ReadPortal(ValueReader& from) {
  Portal portal;
  portal.id = from.Text(kMaxNameBytes);
  portal.from = ReadCell(from);
  portal.to_map = from.Text(kMaxNameBytes);
  portal.to = ReadCell(from);
  portal.cost = static_cast<Cost>(from.Number(std::numeric_limits<Cost>::max()));
  portal.both_ways = from.Bool();
  portal.tags = ReadTags(from);
  portal.closed = from.Bool();
  return portal;
}

void WriteProfile(const NamedProfile& named, ValueWriter& to) {
  const MovementProfile& profile = named.profile;
  to.PutText(named.name);
  to.PutNumber(static_cast<std::uint64_t>(profile.footprint));
  WriteEnum(profile.corner_rule, to);
  WriteList(profile.terrain_costs, to, [&](const TerrainCost& terrain) {
    to.PutByte(static_cast<std::uint8_t>(terrain.symbol));
    to.PutDouble(terrain.cost);
  });
  to.PutText(absl::string_view(profile.forbidden_terrains.data(), profile.forbidden_terrains.size()));
  WriteTags(profile.required_tags, to);
  to.PutBool(profile.no_diagonals);
}

NamedProfile ReadProfile(ValueReader& from) {
  NamedProfile named;
  MovementProfile& profile = named.profile;
  named.name = from.Text(kMaxNameBytes);
  profile.footprint = static_cast<int>(from.Number(kMaxMapSide));
  profile.corner_rule = ReadEnum(from, CornerRule::kAlways);
  profile.terrain_costs = ReadList(from, kMaxTerrains, [&] {
    TerrainCost terrain;
    terrain.symbol = static_cast<char>(from.Byte());
    terrain.cost = from.Double();
    return terrain;
  });
  const std::string forbidden = from.Text(kMaxTerrains);
  profile.forbidden_terrains.assign(forbidden.begin(), forbidden.end());
  profile.required_tags = ReadTags(from);
  profile.no_diagonals = from.Bool();
  return named;
}

}  // namespace waystar::core
