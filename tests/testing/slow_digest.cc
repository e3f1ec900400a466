#include "tests/testing/slow_digest.h"

#include <bit>
#include <cstddef>
#include <string>
#include <vector>

#include "server/core/elements/obstacle_table.h"
#include "server/core/elements/portal.h"
#include "server/core/graph/map/sight_line.h"

namespace waystar {
namespace {

using core::Cell;
using core::GridMap;
using core::WaypointGraph;

// What an element is made of: its kind, then its values.
using Values = std::vector<std::uint64_t>;

std::uint64_t Hash(const Values& values) {
  std::uint64_t hash = 0;
  for (const std::uint64_t value : values) {
    hash = (hash ^ value) + 0x9e3779b97f4a7c15U;
    hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9U;
    hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebU;
    hash = hash ^ (hash >> 31);
  }
  return hash;
}

void Put(Values& values, double number) { values.push_back(std::bit_cast<std::uint64_t>(number + 0.0)); }
void Put(Values& values, std::int64_t number) { values.push_back(static_cast<std::uint64_t>(number)); }
void Put(Values& values, int number) { Put(values, std::int64_t{number}); }
void Put(Values& values, bool flag) { values.push_back(flag ? 1 : 0); }
void Put(Values& values, std::size_t number) { values.push_back(number); }
void Put(Values& values, const std::string& text) {
  Put(values, text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i % 8 == 0) {
      values.push_back(0);
    }
    values.back() += std::uint64_t{static_cast<unsigned char>(text[i])} << (i % 8 * 8);
  }
}

// Puts all of them.
template <typename... T>
void PutAll(Values& values, const T&... each) {
  (Put(values, each), ...);
}

void PutSymbol(Values& values, char symbol) { values.push_back(static_cast<unsigned char>(symbol)); }

void PutTags(Values& values, const std::vector<std::string>& tags) {
  std::uint64_t sum = 0;
  for (const std::string& tag : tags) {
    Values of_tag = {11};
    Put(of_tag, tag);
    sum += Hash(of_tag);
  }
  values.push_back(sum);
}

std::uint64_t OfObstacles(const core::ObstacleTable& obstacles) {
  std::uint64_t digest = 0;
  obstacles.VisitAfter("", [&](const core::Obstacle& obstacle) {
    const core::Shape& shape = obstacle.shape;
    Values values = {6};
    PutAll(values, obstacle.id, shape.cells.size());
    for (const Cell& cell : shape.cells) {
      PutAll(values, cell.x, cell.y);
    }
    Put(values, shape.rectangles.size());
    for (const core::Rectangle& rectangle : shape.rectangles) {
      PutAll(values, rectangle.x, rectangle.y, rectangle.width, rectangle.height);
    }
    Put(values, shape.discs.size());
    for (const core::Disc& disc : shape.discs) {
      PutAll(values, disc.center.x, disc.center.y, disc.radius);
    }
    Put(values, shape.polygons.size());
    for (const core::Polygon& polygon : shape.polygons) {
      Put(values, polygon.vertices.size());
      for (const core::Point& vertex : polygon.vertices) {
        PutAll(values, vertex.x, vertex.y);
      }
    }
    Put(values, shape.lines.size());
    for (const core::Line& line : shape.lines) {
      PutAll(values, line.start.x, line.start.y, line.end.x, line.end.y, line.width);
    }
    PutAll(values, static_cast<int>(obstacle.effect.kind), obstacle.effect.amount,
           static_cast<int>(obstacle.effect.falloff));
    digest += Hash(values);
    return true;
  });
  return digest;
}

std::uint64_t OfPortals(const core::PortalTable& portals) {
  std::uint64_t digest = 0;
  portals.VisitAfter("", [&](const core::Portal& portal) {
    Values values = {5};
    PutAll(values, portal.id, portal.from.x, portal.from.y, portal.to_map, portal.to.x, portal.to.y,
           std::int64_t{portal.cost}, portal.both_ways);
    PutTags(values, portal.tags);
    Put(values, portal.closed);
    digest += Hash(values);
    return true;
  });
  return digest;
}

std::uint64_t OfProfiles(const core::ProfileTable& profiles) {
  std::uint64_t digest = 0;
  for (const auto& [name, profile] : profiles) {
    Values values = {4};
    PutAll(values, name, profile.footprint, static_cast<int>(profile.corner_rule),
           profile.terrain_costs.size());
    for (const core::TerrainCost& terrain : profile.terrain_costs) {
      PutSymbol(values, terrain.symbol);
      Put(values, terrain.cost);
    }
    Put(values, std::string(profile.forbidden_terrains.begin(), profile.forbidden_terrains.end()));
    PutTags(values, profile.required_tags);
    Put(values, profile.no_diagonals);
    digest += Hash(values);
  }
  return digest;
}

std::uint64_t OfSettings(const GridMap& map) {
  const core::GridSettings& settings = map.settings();
  Values values = {1};
  PutAll(values, map.width(), map.height(), static_cast<int>(settings.connectivity), settings.diagonal_cost,
         settings.terrains.size());
  for (const core::Terrain& terrain : settings.terrains) {
    PutSymbol(values, terrain.symbol);
    PutAll(values, terrain.name, terrain.cost, terrain.impassable);
  }
  const core::WorldFrame& frame = settings.frame;
  PutAll(values, settings.world, frame.origin.x, frame.origin.y, frame.origin.z, frame.cell_size,
         frame.hexagons.has_value());
  if (frame.hexagons) {
    PutAll(values, static_cast<int>(frame.hexagons->layout), static_cast<int>(frame.hexagons->columns),
           static_cast<int>(frame.hexagons->rows));
  }
  return Hash(values);
}

// Returns the digest of words that hold the numbers of `cells` cells each; the first word of a row begins
// `first` cells before it.
template <typename NumberOf>
std::uint64_t OfWords(std::uint64_t kind, int width, int height, int first, int cells, NumberOf number_of) {
  std::uint64_t digest = 0;
  for (int y = 0; y < height; ++y) {
    std::vector<std::uint64_t> words(static_cast<std::size_t>((width + first) / cells + 1), 0);
    for (int x = 0; x < width; ++x) {
      words[static_cast<std::size_t>((x + first) / cells)] |= number_of(Cell{x, y})
                                                              << ((x + first) % cells * (64 / cells));
    }
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] != 0) {
        digest += Hash({kind, (static_cast<std::uint64_t>(y) << 32) + i, words[i]});
      }
    }
  }
  return digest;
}

Values OfRule(const WaypointGraph& graph) {
  Values values = {8};
  const core::GridSight* const grid = graph.sight().grid();
  PutAll(values, *graph.max_distance(), grid != nullptr);
  if (grid == nullptr) {
    return values;
  }
  const int width = grid->walkable().width();
  const int height = grid->walkable().height();
  PutAll(values, grid->origin().x, grid->origin().y, grid->cell_size(), width, height);
  for (int y = 0; y < height; ++y) {
    for (int bit = 0; bit <= width; ++bit) {
      if (bit % 64 == 0) {
        values.push_back(0);
      }
      const bool is_walkable = bit > 0 && grid->walkable().Test({bit - 1, y});
      values.back() += std::uint64_t{is_walkable ? 1U : 0U} << (bit % 64);
    }
  }
  return values;
}

}  // namespace

std::uint64_t SlowDigest(const GridMap& map) {
  return OfSettings(map) + OfProfiles(map.profiles()) + OfPortals(map.portals()) +
         OfObstacles(map.obstacles()) +
         OfWords(2, map.width(), map.height(), 0, 8,
                 [&](Cell cell) { return std::uint64_t{map.TerrainAt(cell)}; }) +
         OfWords(3, map.width(), map.height(), 1, 64,
                 [&](Cell cell) { return std::uint64_t{map.HasNamelessObstacle(cell) ? 1U : 0U}; });
}

std::uint64_t SlowDigest(const WaypointGraph& graph) {
  std::uint64_t digest = Hash({7}) + OfObstacles(graph.sight().obstacles());
  if (graph.max_distance()) {
    digest += Hash(OfRule(graph));
  }
  for (core::NodeNumber node = 0; node < graph.number_limit(); ++node) {
    if (!graph.Exists(node)) {
      continue;
    }
    const core::WorldPoint& position = graph.PositionOf(node);
    Values of_node = {9};
    PutAll(of_node, graph.IdOf(node), position.x, position.y, position.z, graph.IsEnabled(node));
    PutTags(of_node, graph.NamesOf(graph.TagsOf(node)));
    if (const std::string label(graph.LabelOf(node)); !label.empty()) {
      Put(of_node, label);
    }
    digest += Hash(of_node);
    for (const core::Arc& arc : graph.ArcsOf(node)) {
      if (arc.is_auto()) {
        continue;
      }
      const bool is_length = (arc.flags & core::Arc::kCostIsLength) != 0;
      Values of_arc = {10};
      PutAll(of_arc, graph.IdOf(node), graph.IdOf(arc.to), (arc.flags & core::Arc::kEnabled) != 0, is_length,
             is_length ? std::int64_t{0} : std::int64_t{arc.cost});
      PutTags(of_arc, graph.NamesOf(graph.TagsOfArc(node, arc)));
      digest += Hash(of_arc);
    }
  }
  return digest;
}

}  // namespace waystar
