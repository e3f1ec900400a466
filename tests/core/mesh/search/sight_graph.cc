#include "tests/core/mesh/search/sight_graph.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <numbers>
#include <utility>

#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "server/core/mesh/map/plan.h"
#include "server/core/mesh/search/interval_search.h"
#include "server/formats/mesh/mesh_readers.h"
#include "tests/testing/movingai_data.h"

namespace waystar {
namespace {

using core::FixedPoint;
using core::Int128;
using core::kNoPolygon;
using core::MeshPlace;
using core::MeshSpec;
using core::NavMesh;
using core::PolygonNumber;
using core::SideOf;
using core::ToFixed;
using core::WorldPoint;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

int SignOf(Int128 value) { return value > 0 ? 1 : value < 0 ? -1 : 0; }

bool IsInBox(const FixedPoint& a, const FixedPoint& b, const FixedPoint& p) {
  return std::min(a.x, b.x) <= p.x && p.x <= std::max(a.x, b.x) && std::min(a.y, b.y) <= p.y &&
         p.y <= std::max(a.y, b.y);
}

// Returns whether the segments, ends included, have a point in common.
bool Touch(const FixedPoint& a, const FixedPoint& b, const FixedPoint& c, const FixedPoint& d) {
  const int c_side = SignOf(SideOf(a, b, c));
  const int d_side = SignOf(SideOf(a, b, d));
  const int a_side = SignOf(SideOf(c, d, a));
  const int b_side = SignOf(SideOf(c, d, b));
  if (c_side * d_side < 0 && a_side * b_side < 0) {
    return true;
  }
  return (c_side == 0 && IsInBox(a, b, c)) || (d_side == 0 && IsInBox(a, b, d)) ||
         (a_side == 0 && IsInBox(c, d, a)) || (b_side == 0 && IsInBox(c, d, b));
}

// Returns the polygons that can be reached from these through edges that touch the segment.
std::vector<PolygonNumber> Flood(const NavMesh& mesh, std::vector<PolygonNumber> polygons,
                                 const FixedPoint& a, const FixedPoint& b) {
  for (std::size_t i = 0; i < polygons.size(); ++i) {
    const absl::Span<const std::uint32_t> vertices = mesh.VerticesOf(polygons[i]);
    for (std::size_t k = 0; k < vertices.size(); ++k) {
      const PolygonNumber neighbour = mesh.Across(polygons[i], k);
      if (neighbour != kNoPolygon && std::ranges::find(polygons, neighbour) == polygons.end() &&
          Touch(a, b, ToFixed(mesh.VertexAt(vertices[k])),
                ToFixed(mesh.VertexAt(vertices[(k + 1) % vertices.size()])))) {
        polygons.push_back(neighbour);
      }
    }
  }
  return polygons;
}

// How far along a segment a point is: a fraction whose lower number is positive.
struct Share {
  Int128 upper = 0;
  Int128 lower = 1;

  friend bool operator<(const Share& a, const Share& b) { return a.upper * b.lower < b.upper * a.lower; }
};

// Returns the first and the last share of the segment from a to b that the edge from c to d has a point at.
// REQUIRES: they touch.
std::pair<Share, Share> SharesAt(const FixedPoint& a, const FixedPoint& b, const FixedPoint& c,
                                 const FixedPoint& d) {
  const Int128 dx = b.x - a.x;
  const Int128 dy = b.y - a.y;
  const Int128 squared = dx * dx + dy * dy;
  if (squared == 0) {
    return {};
  }
  if (SideOf(a, b, c) == 0 && SideOf(a, b, d) == 0) {
    const auto share = [&](const FixedPoint& p) {
      return Share{std::clamp<Int128>(dx * (p.x - a.x) + dy * (p.y - a.y), 0, squared), squared};
    };
    return std::minmax({share(c), share(d)});
  }
  const Int128 a_side = SideOf(c, d, a);
  const Int128 b_side = SideOf(c, d, b);
  const Share share = a_side > b_side ? Share{a_side, a_side - b_side} : Share{-a_side, b_side - a_side};
  return {share, share};
}

// Returns whether the segment from a, where these polygons are, leads on through edges to one of the others,
// which are at b.
bool LeadsOn(const NavMesh& mesh, const std::vector<PolygonNumber>& at_a,
             const std::vector<PolygonNumber>& at_b, const FixedPoint& a, const FixedPoint& b) {
  // The first share of the segment at which each polygon is reached.
  std::map<PolygonNumber, Share> reached;
  std::vector<PolygonNumber> changed = at_a;
  for (const PolygonNumber polygon : at_a) {
    reached[polygon];
  }
  while (!changed.empty()) {
    const PolygonNumber polygon = changed.back();
    changed.pop_back();
    const Share from = reached.at(polygon);
    const absl::Span<const std::uint32_t> vertices = mesh.VerticesOf(polygon);
    for (std::size_t k = 0; k < vertices.size(); ++k) {
      const PolygonNumber neighbour = mesh.Across(polygon, k);
      const FixedPoint c = ToFixed(mesh.VertexAt(vertices[k]));
      const FixedPoint d = ToFixed(mesh.VertexAt(vertices[(k + 1) % vertices.size()]));
      if (neighbour == kNoPolygon || !Touch(a, b, c, d)) {
        continue;
      }
      const auto [first, last] = SharesAt(a, b, c, d);
      if (last < from) {
        continue;
      }
      const Share to = std::max(from, first);
      const auto [entry, is_new] = reached.try_emplace(neighbour, to);
      if (is_new || to < entry->second) {
        entry->second = to;
        changed.push_back(neighbour);
      }
    }
  }
  return std::ranges::any_of(at_b, [&](PolygonNumber polygon) { return reached.contains(polygon); });
}

}  // namespace

MeshSpec DrawRooms(const std::vector<std::string>& rows, Random* random) {
  const int height = static_cast<int>(rows.size());
  const int width = static_cast<int>(rows[0].size());
  // The rectangle that each square belongs to, or -1.
  std::vector<std::vector<int>> owner(rows.size(), std::vector<int>(rows[0].size(), -1));
  struct Rectangle {
    int x, y, width, height;
  };
  std::vector<Rectangle> rectangles;
  const auto is_free = [&](int x, int y) {
    return x < width && y < height && rows[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)] != '#' &&
           owner[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)] < 0;
  };
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      if (!is_free(x, y)) {
        continue;
      }
      Rectangle r{x, y, 1, 1};
      const int most_wide = random == nullptr ? 1 : random->Between(1, 5);
      const int most_high = random == nullptr ? 1 : random->Between(1, 5);
      while (r.width < most_wide && is_free(x + r.width, y)) {
        ++r.width;
      }
      const auto is_row_free = [&](int at) {
        for (int i = 0; i < r.width; ++i) {
          if (!is_free(x + i, at)) {
            return false;
          }
        }
        return true;
      };
      while (r.height < most_high && is_row_free(y + r.height)) {
        ++r.height;
      }
      for (int j = 0; j < r.height; ++j) {
        for (int i = 0; i < r.width; ++i) {
          owner[static_cast<std::size_t>(y + j)][static_cast<std::size_t>(x + i)] =
              static_cast<int>(rectangles.size());
        }
      }
      rectangles.push_back(r);
    }
  }

  MeshSpec spec;
  std::map<std::pair<int, int>, std::uint32_t> numbers;
  const auto owner_at = [&](int x, int y) {
    return x < 0 || y < 0 || x >= width || y >= height
               ? -1
               : owner[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)];
  };
  // A point is a vertex where it is a corner of some rectangle.
  const auto is_vertex = [&](int x, int y) {
    const int a = owner_at(x - 1, y - 1);
    const int b = owner_at(x, y - 1);
    const int c = owner_at(x, y);
    const int d = owner_at(x - 1, y);
    return !((a == b && d == c) || (a == d && b == c));
  };
  const auto vertex = [&](int x, int y) {
    const auto [entry, is_new] =
        numbers.try_emplace({x, y}, static_cast<std::uint32_t>(spec.vertices.size()));
    if (is_new) {
      spec.vertices.push_back({static_cast<double>(x), static_cast<double>(y), 0.0});
    }
    return entry->second;
  };
  for (const Rectangle& r : rectangles) {
    std::vector<std::uint32_t> loop;
    const auto add = [&](int x, int y) {
      const bool is_corner = (x == r.x || x == r.x + r.width) && (y == r.y || y == r.y + r.height);
      if (is_corner || is_vertex(x, y)) {
        loop.push_back(vertex(x, y));
      }
    };
    for (int x = r.x; x < r.x + r.width; ++x) {
      add(x, r.y);
    }
    for (int y = r.y; y < r.y + r.height; ++y) {
      add(r.x + r.width, y);
    }
    for (int x = r.x + r.width; x > r.x; --x) {
      add(x, r.y + r.height);
    }
    for (int y = r.y + r.height; y > r.y; --y) {
      add(r.x, y);
    }
    if (random != nullptr && loop.size() == 4 && random->Chance(0.4)) {
      std::rotate(loop.begin(), loop.begin() + random->Between(0, 1), loop.end());
      spec.AddPolygon({loop[0], loop[1], loop[2]});
      spec.AddPolygon({loop[2], loop[3], loop[0]});
    } else {
      spec.AddPolygon(loop);
    }
  }
  return spec;
}

MeshSpec DrawStoreys(const std::vector<std::vector<std::string>>& storeys) {
  MeshSpec spec;
  std::map<std::array<int, 3>, std::uint32_t> numbers;
  const auto add = [&](const std::vector<std::array<int, 3>>& corners) {
    std::vector<std::uint32_t> loop;
    for (const std::array<int, 3>& at : corners) {
      const auto [entry, is_new] = numbers.try_emplace(at, static_cast<std::uint32_t>(spec.vertices.size()));
      if (is_new) {
        spec.vertices.push_back({1.0 * at[0], 1.0 * at[1], 1.0 * at[2]});
      }
      loop.push_back(entry->second);
    }
    spec.AddPolygon(loop);
  };
  const int end = static_cast<int>(storeys[0][0].size());
  int z = 0;
  for (const std::vector<std::string>& rows : storeys) {
    for (int y = 0; y < static_cast<int>(rows.size()); ++y) {
      for (int x = 0; x < end; ++x) {
        if (rows[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)] != '#') {
          add({{x, y, z}, {x + 1, y, z}, {x + 1, y + 1, z}, {x, y + 1, z}});
        }
      }
    }
    if (&rows != &storeys.back()) {
      const int x = end + 2;
      add({{end, 0, z}, {x, 0, z + 2}, {x, 1, z + 2}, {end, 1, z}});
      add({{x, 0, z + 2}, {x + 1, 0, z + 2}, {x + 1, 2, z + 2}, {x, 2, z + 2}, {x, 1, z + 2}});
      add({{end, 1, z + 4}, {x, 1, z + 2}, {x, 2, z + 2}, {end, 2, z + 4}});
    }
    z += 4;
  }
  return spec;
}

MeshSpec DrawFans() {
  return DrawMesh({{0, 0},
                   {4, 0},
                   {4, 1},
                   {4, 4},
                   {0, 4},
                   {8, 0},
                   {8, 3},
                   {5, 3},
                   {8, 4},
                   {8, 8},
                   {4, 8},
                   {0, 8},
                   {0, 5}},
                  {{0, 1, 2, 3}, {0, 3, 4}, {1, 5, 6, 7, 2}, {7, 6, 8, 3}, {3, 8, 9, 10}, {12, 3, 10, 11}});
}

std::vector<std::string> RandomRooms(Random& random) {
  const int columns = random.Between(2, 9);
  const double walls = random.Between(1, 5) / 10.0;
  const int rows = random.Between(2, 9);
  return RandomRooms(columns, rows, walls, random);
}

std::vector<std::string> RandomRooms(int columns, int rows, double walls, Random& random) {
  std::vector<std::string> drawn(static_cast<std::size_t>(rows));
  for (std::string& row : drawn) {
    for (int x = 0; x < columns; ++x) {
      row += random.Chance(walls) ? '#' : '.';
    }
  }
  drawn[0][0] = '.';
  return drawn;
}

MeshPlace PlaceAt(const NavMesh& mesh, double x, double y, double z) {
  const std::optional<MeshPlace> place = mesh.FindNearest({{x, y, z}, 0.001, 0.5});
  EXPECT_TRUE(place.has_value()) << x << " " << y << " " << z;
  return place.value_or(MeshPlace{0, {}});
}

double PlanDistance(const WorldPoint& a, const WorldPoint& b) { return std::hypot(a.x - b.x, a.y - b.y); }

double DistanceToSegment(const WorldPoint& a, const WorldPoint& b, const WorldPoint& p) {
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  const double squared = dx * dx + dy * dy;
  const double share =
      squared == 0.0 ? 0.0 : std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / squared, 0.0, 1.0);
  return PlanDistance({a.x + share * dx, a.y + share * dy}, p);
}

double DistanceToWalls(const NavMesh& mesh, const WorldPoint& point, PolygonNumber begin, PolygonNumber end) {
  double least = kInfinity;
  ForEachWall(mesh, begin, end, [&](const WorldPoint& a, const WorldPoint& b) {
    least = std::min(least, DistanceToSegment(a, b, point));
  });
  return least;
}

MeshPlace RandomPlace(const NavMesh& mesh, Random& random) {
  const std::vector<PolygonNumber> polygons = mesh.Polygons();
  const PolygonNumber polygon =
      polygons[static_cast<std::size_t>(random.Between(0, static_cast<int>(polygons.size()) - 1))];
  const absl::Span<const std::uint32_t> vertices = mesh.VerticesOf(polygon);
  const auto corner = static_cast<std::size_t>(random.Between(0, static_cast<int>(vertices.size()) - 1));
  const WorldPoint& a = mesh.VertexAt(vertices[corner]);
  const WorldPoint& b = mesh.VertexAt(vertices[(corner + 1) % vertices.size()]);
  WorldPoint point = a;
  const int kind = random.Between(0, 3);
  if (kind == 1) {
    const double share = random.Between(1, 3) / 4.0;
    point = {a.x + share * (b.x - a.x), a.y + share * (b.y - a.y), 0.0};
  } else if (kind > 1) {
    double sum = 0.0;
    point = {};
    for (const std::uint32_t vertex : vertices) {
      const double weight = random.Between(1, 1000);
      sum += weight;
      point.x += weight * mesh.VertexAt(vertex).x;
      point.y += weight * mesh.VertexAt(vertex).y;
    }
    point = {point.x / sum, point.y / sum, 0.0};
  }
  point = mesh.NearestPoint(polygon, point.x, point.y);
  // An edge may have no point between its ends once that is rounded.
  return {polygon, mesh.Contains(polygon, ToFixed(point)) ? point : a};
}

MeshPlace RoundedPlace(const NavMesh& mesh, Random& random) {
  const WorldPoint position{random.Between(-1000, 7000) / 1000.0, random.Between(-1000, 7000) / 1000.0, 0.5};
  return *mesh.FindNearest({position, 8.0, 8.0});
}

NavMesh SpiralStairs(int steps, bool has_post) {
  constexpr int kStepsRound = 8;
  MeshSpec spec;
  const auto corner = [&](int step, double radius) {
    const double angle = 2.0 * std::numbers::pi * step / kStepsRound;
    return WorldPoint{std::round(radius * std::cos(angle) * 4.0) / 4.0,
                      std::round(radius * std::sin(angle) * 4.0) / 4.0, 0.5 * step};
  };
  if (!has_post) {
    spec.vertices.push_back({0, 0, 0});
  }
  for (int step = 0; step <= steps; ++step) {
    spec.vertices.push_back(corner(step, 4.0));
    if (has_post) {
      spec.vertices.push_back(corner(step, 1.0));
    }
  }
  for (int step = 0; step < steps; ++step) {
    const auto first = static_cast<std::uint32_t>(has_post ? 2 * step : step + 1);
    if (has_post) {
      spec.AddPolygon({first + 1, first, first + 2, first + 3});
    } else {
      spec.AddPolygon({0, first, first + 1});
    }
  }
  return MeshOf(std::move(spec));
}

std::optional<NavMesh> LoadMesh(const std::string& name) {
  const std::optional<std::filesystem::path> folder = DataFolder();
  if (!folder || !std::filesystem::exists(*folder / "meshes" / "polyanya")) {
    return std::nullopt;
  }
  std::ifstream file(*folder / "meshes" / "polyanya" / (name + ".mesh"), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  absl::StatusOr<NavMesh> mesh = core::ParsePolyanyaMesh(bytes);
  EXPECT_TRUE(mesh.ok()) << name << ": " << mesh.status();
  return *std::move(mesh);
}

::testing::Message Between(const MeshPlace& start, const WorldPoint& goal) {
  return ::testing::Message() << std::hexfloat << "from " << start.point.x << " " << start.point.y << " in "
                              << start.polygon << " to " << goal.x << " " << goal.y;
}

double LengthOf(const NavMesh& mesh, const MeshPlace& start, const MeshPlace& goal,
                core::MeshScratch& scratch) {
  const core::MeshSearchReport report = core::SearchMesh(mesh, {start, goal}, {}, scratch);
  return report.end == core::SearchEnd::kGoalReached ? report.length : kInfinity;
}

SightGraph::SightGraph(const NavMesh& mesh) : mesh_(mesh) {
  for (const PolygonNumber polygon : mesh.Polygons()) {
    for (const std::uint32_t vertex : mesh.VerticesOf(polygon)) {
      Node node = NodeOf({polygon, mesh.VertexAt(vertex)});
      // Each group of polygons is met first by its least one.
      if (*std::min_element(node.around.begin(), node.around.end()) == polygon) {
        nodes_.push_back(std::move(node));
      }
    }
  }
  distances_.resize(nodes_.size(), std::vector<double>(nodes_.size()));
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      distances_[i][j] = distances_[j][i] = Distance(nodes_[i], nodes_[j]);
    }
  }
}

SightGraph::Node SightGraph::NodeOf(const MeshPlace& place) const {
  const FixedPoint point = ToFixed(place.point);
  return {place.point, Flood(mesh_, {place.polygon}, point, point)};
}

SightGraph::Node SightGraph::EndOf(const MeshPlace& place) const {
  Node end = NodeOf(place);
  for (const Node& node : nodes_) {
    if (node.point.x == place.point.x && node.point.y == place.point.y &&
        std::abs(node.point.z - place.point.z) < 0.01) {
      end.around.insert(end.around.end(), node.around.begin(), node.around.end());
    }
  }
  return end;
}

double SightGraph::Distance(const Node& a, const Node& b) const {
  return LeadsOn(mesh_, a.around, b.around, ToFixed(a.point), ToFixed(b.point))
             ? PlanDistance(a.point, b.point)
             : kInfinity;
}

double SightGraph::Length(const MeshPlace& start, const MeshPlace& goal) const {
  const Node first = EndOf(start);
  const Node last = EndOf(goal);
  double least = Distance(first, last);
  std::vector<double> lengths(nodes_.size(), kInfinity);
  std::vector<bool> is_done(nodes_.size(), false);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    lengths[i] = Distance(first, nodes_[i]);
  }
  while (true) {
    std::size_t best = nodes_.size();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!is_done[i] && lengths[i] < (best == nodes_.size() ? least : lengths[best])) {
        best = i;
      }
    }
    if (best == nodes_.size()) {
      return least;
    }
    is_done[best] = true;
    least = std::min(least, lengths[best] + Distance(nodes_[best], last));
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      lengths[i] = std::min(lengths[i], lengths[best] + distances_[best][i]);
    }
  }
}

}  // namespace waystar
