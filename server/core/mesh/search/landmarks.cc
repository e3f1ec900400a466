#include "server/core/mesh/search/landmarks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "server/base/error.h"
#include "server/core/mesh/map/cell_layer.h"
#include "server/core/mesh/map/plan.h"
#include "server/core/mesh/search/interval_expansion.h"
#include "server/core/mesh/search/mesh_scratch.h"
#include "server/core/mesh/search/polygons_around.h"

namespace waystar::core {
namespace {

// Meshes and parts of fewer cells or polygons than this get no landmarks.
constexpr std::size_t kFewest = 128;
constexpr std::size_t kMostSeeds = 1024;

// Finds the distances from the nearest of several vertices to all others, as FloodMesh does.
class LandmarkFlood : private IntervalExpansion<LandmarkFlood, CellLayer> {
  using Expansion = IntervalExpansion<LandmarkFlood, CellLayer>;
  friend Expansion;

 public:
  // The polygons of the places are cells.
  LandmarkFlood(const CellLayer& cells, absl::Span<const MeshPlace> seeds, MeshScratch& scratch)
      : Expansion(cells, scratch), seeds_(seeds) {}

  // Leaves the distances in the scratch. Returns false if the memory limit is reached.
  bool Run() {
    if (!scratch_.Start(mesh_.vertex_count(), 0)) {
      return false;
    }
    for (std::uint32_t i = 0; i < seeds_.size(); ++i) {
      std::vector<PolygonNumber>& cells = scratch_.start_polygons();
      cells.clear();
      FindPolygonsAround(mesh_, seeds_[i], cells);
      if (!ExpandSeed(MeshInterval::kStart - i, cells)) {
        return false;
      }
    }
    while (!scratch_.is_open_empty()) {
      const IntervalNumber number = scratch_.Pop().interval;
      const MeshInterval& interval = scratch_.At(number);
      if (!IsSeed(interval.root) && scratch_.IsBeaten<false>(interval.g, interval.root)) {
        continue;
      }
      if (!ReserveFor(interval.polygon)) {
        return false;
      }
      Expand(number);
      NoteCorners(number);
    }
    return true;
  }

 private:
  bool IsSeed(std::uint32_t root) const { return MeshInterval::kStart - root < seeds_.size(); }
  const WorldPoint& SeedAt(std::uint32_t root) const { return seeds_[MeshInterval::kStart - root].point; }

  void AddSuccessor(const Root& root, IntervalNumber parent, PolygonNumber cell, std::uint32_t edge_right,
                    std::uint32_t edge_left, const End& right, const End& left) {
    const WorldPoint& from = PointOf(root.vertex);
    if (!NoteEnds(from, root, edge_right, edge_left, right, left)) {
      return;
    }
    Fill(scratch_.AddBlank(), from, root, parent, cell, edge_left, right, left);
    const auto number = static_cast<IntervalNumber>(scratch_.interval_count() - 1);
    scratch_.Push({root.g + NearestOf(from, right, left).distance, number});
  }

  const absl::Span<const MeshPlace> seeds_;
};

// Chooses the landmarks of one mesh.
class LandmarkFinder {
 public:
  explicit LandmarkFinder(const NavMesh& mesh)
      : mesh_(mesh),
        cells_(mesh),
        seed_of_(mesh.part_count(), kNoSeed),
        nearest_(mesh.vertex_count(), std::numeric_limits<float>::infinity()) {
    std::vector<std::size_t> sizes(mesh.part_count());
    for (PolygonNumber polygon = 0; polygon < mesh.polygon_count(); ++polygon) {
      ++sizes[mesh.PartOf(polygon)];
    }
    const std::size_t largest = *std::ranges::max_element(sizes);
    for (std::uint32_t part = 0; part < sizes.size() && seeds_.size() < kMostSeeds; ++part) {
      if (sizes[part] >= std::min(kFewest, largest)) {
        seed_of_[part] = static_cast<std::uint32_t>(seeds_.size());
        seeds_.emplace_back();
      }
    }
  }

  absl::StatusOr<NavMesh> Find(const StopCheck* stop) {
    std::vector<std::array<float, LandmarkTable::kCount>> distances(mesh_.vertex_count());
    MeshScratch scratch(kLandmarkScratchBytes);
    std::vector<double> to(mesh_.vertex_count());
    for (std::size_t k = 0; k < LandmarkTable::kCount; ++k) {
      WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
      ChooseSeeds(k == 0);
      if (!LandmarkFlood(cells_, seeds_, scratch).Run()) {
        return mesh_;
      }
      for (std::uint32_t vertex = 0; vertex < mesh_.vertex_count(); ++vertex) {
        to[vertex] = scratch.DistanceTo(vertex);
      }
      NoteAroundSeeds(to);
      for (std::uint32_t vertex = 0; vertex < mesh_.vertex_count(); ++vertex) {
        const auto distance = static_cast<float>(to[vertex]);
        distances[vertex][k] = distance;
        nearest_[vertex] = std::min(nearest_[vertex], distance);
      }
    }
    return mesh_.WithLandmarks(TableOf(distances));
  }

 private:
  static constexpr std::uint32_t kNoSeed = std::numeric_limits<std::uint32_t>::max();

  // Rounds the distances.
  static std::shared_ptr<const LandmarkTable> TableOf(
      absl::Span<const std::array<float, LandmarkTable::kCount>> distances) {
    float longest = 0.0F;
    for (const auto& of_vertex : distances) {
      for (const float distance : of_vertex) {
        longest = std::isfinite(distance) ? std::max(longest, distance) : longest;
      }
    }
    auto table = std::make_shared<LandmarkTable>();
    // The greatest is below kUnknown, also if it was rounded up to single precision.
    table->unit = std::max(double{longest}, 1.0) / (LandmarkTable::kUnknown - 2);
    table->distances.reserve(distances.size());
    for (const auto& of_vertex : distances) {
      LandmarkTable::Distances units;
      for (std::size_t k = 0; k < LandmarkTable::kCount; ++k) {
        if (!std::isfinite(of_vertex[k])) {
          units.fill(LandmarkTable::kUnknown);
          break;
        }
        units[k] = static_cast<std::int16_t>(of_vertex[k] / table->unit);
      }
      table->distances.push_back(units);
    }
    return table;
  }

  // Sets each seed to the vertex of its part that is furthest from all landmarks, or first to the leftmost.
  void ChooseSeeds(bool is_first) {
    std::vector<double> most(seeds_.size(), -std::numeric_limits<double>::infinity());
    for (PolygonNumber polygon = 0; polygon < mesh_.polygon_count(); ++polygon) {
      const std::uint32_t seed = seed_of_[mesh_.PartOf(polygon)];
      if (seed == kNoSeed) {
        continue;
      }
      for (const std::uint32_t vertex : mesh_.VerticesOf(polygon)) {
        const WorldPoint& point = mesh_.VertexAt(vertex);
        const double score = is_first ? -point.x : static_cast<double>(nearest_[vertex]);
        if (score > most[seed] && std::isfinite(score)) {
          most[seed] = score;
          seeds_[seed] = {cells_.CellOf(polygon), point};
        }
      }
    }
  }

  // Adds the distances in the cells around the seeds, where no interval leads.
  void NoteAroundSeeds(std::vector<double>& to) const {
    std::vector<PolygonNumber> around;
    for (const MeshPlace& seed : seeds_) {
      around.clear();
      FindPolygonsAround(cells_, seed, around);
      for (const PolygonNumber cell : around) {
        for (const std::uint32_t vertex : cells_.VerticesOf(cell)) {
          to[vertex] = std::min(to[vertex], DistanceInPlan(seed.point, mesh_.VertexAt(vertex)));
        }
      }
    }
  }

  const NavMesh& mesh_;
  const CellLayer cells_;
  // For each part, its seed.
  std::vector<std::uint32_t> seed_of_;
  std::vector<MeshPlace> seeds_;
  // For each vertex, the distance from the nearest landmark.
  std::vector<float> nearest_;
};

}  // namespace

absl::StatusOr<NavMesh> WithLandmarks(const NavMesh& mesh, const StopCheck* stop) {
  return LandmarkFinder(mesh).Find(stop);
}

absl::StatusOr<NavMesh> CreateMesh(MeshSpec spec, const StopCheck* stop) {
  WAYSTAR_ASSIGN_OR_RETURN(NavMesh mesh, NavMesh::Create(std::move(spec), stop));
  if (CellLayer(mesh).cell_count() < kFewest) {
    return mesh;
  }
  return WithLandmarks(mesh, stop);
}

absl::StatusOr<NavMesh> WithLandmarksAsFile(const NavMesh& mesh, const StopCheck* stop) {
  const auto complete = [&](const NavMesh& made) -> absl::StatusOr<NavMesh> {
    const bool lacks_landmarks = made.landmarks() == nullptr && made.of_file().landmarks() != nullptr;
    return lacks_landmarks ? WithLandmarks(made, stop) : made;
  };
  std::vector<NavMesh> larger;
  for (const NavMesh& surface : mesh.larger()) {
    WAYSTAR_ASSIGN_OR_RETURN(NavMesh completed, complete(surface));
    larger.push_back(std::move(completed));
  }
  WAYSTAR_ASSIGN_OR_RETURN(const NavMesh completed, complete(mesh));
  return completed.WithLarger(std::move(larger));
}

GoalBounds::GoalBounds(const NavMesh& mesh, absl::Span<const MeshPlace> goals)
    : mesh_(mesh), table_(*mesh.landmarks()) {
  using Units = std::array<double, LandmarkTable::kCount>;
  constexpr double kAny = std::numeric_limits<double>::infinity();
  Units low;
  Units high;
  low.fill(kAny);
  high.fill(-kAny);
  const CellLayer cells(mesh);
  for (const MeshPlace& goal : goals) {
    Units low_here;
    Units high_here;
    low_here.fill(0.0);
    high_here.fill(kAny);
    const PolygonNumber polygon = mesh.WholeOf(goal.polygon);
    for (const absl::Span<const std::uint32_t> corners :
         {mesh.VerticesOf(polygon), cells.VerticesOf(cells.CellOf(polygon))}) {
      for (const std::uint32_t vertex : corners) {
        const LandmarkTable::Distances& to = table_.distances[vertex];
        if (to.front() == LandmarkTable::kUnknown) {
          continue;
        }
        const double beside = DistanceInPlan(mesh.VertexAt(vertex), goal.point) / table_.unit;
        for (std::size_t k = 0; k < LandmarkTable::kCount; ++k) {
          low_here[k] = std::max(low_here[k], to[k] - beside);
          high_here[k] = std::min(high_here[k], to[k] + 1 + beside);
        }
      }
    }
    for (std::size_t k = 0; k < LandmarkTable::kCount; ++k) {
      low[k] = std::min(low[k], low_here[k]);
      high[k] = std::max(high[k], high_here[k]);
    }
  }
  // Distances in single precision may be rounded by a share of a unit, and those of vertices are rounded
  // down.
  constexpr double kRoom = 1.0;
  for (std::size_t k = 0; k < LandmarkTable::kCount; ++k) {
    low_[k] = static_cast<std::int16_t>(std::max(0.0, std::floor(low[k]) - 1.0 - kRoom));
    high_[k] =
        static_cast<std::int16_t>(std::min<double>(std::ceil(high[k]) + kRoom, LandmarkTable::kUnknown));
  }
}

double GoalBounds::AtNew(std::uint32_t vertex) const {
  const WorldPoint& point = mesh_.VertexAt(vertex);
  double most = 0.0;
  for (const std::uint32_t corner :
       mesh_.VerticesOf(mesh_.cuts()->polygons.numbers().OwnerOfVertex(vertex).first)) {
    most = std::max(most, AtOwn(corner) - DistanceInPlan(mesh_.VertexAt(corner), point));
  }
  return most;
}

}  // namespace waystar::core
