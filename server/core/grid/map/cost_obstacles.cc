// The part of GridMapEditor that computes step costs under obstacles that change costs. It is compiled
// without contraction of floating-point operations, so that costs are the same on every machine.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "absl/types/span.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "server/core/grid/shapes/shape_raster.h"

namespace waystar::core {
namespace {

constexpr int kSquareShift = 5;
constexpr int kSquareSide = 1 << kSquareShift;

int SquareOf(int coordinate) { return coordinate >> kSquareShift; }

// Splits spans at the borders of squares and sorts the pieces by square.
std::vector<RowSpan> BySquare(absl::Span<const RowSpan> cells) {
  std::vector<RowSpan> pieces;
  for (RowSpan rest : cells) {
    while (rest.x_begin < rest.x_end) {
      const int end = std::min(rest.x_end, (SquareOf(rest.x_begin) + 1) * kSquareSide);
      pieces.push_back({rest.y, rest.x_begin, end});
      rest.x_begin = end;
    }
  }
  const auto key = [](const RowSpan& span) {
    return std::tuple(SquareOf(span.y), SquareOf(span.x_begin), span.y, span.x_begin);
  };
  std::sort(pieces.begin(), pieces.end(),
            [&](const RowSpan& a, const RowSpan& b) { return key(a) < key(b); });
  return pieces;
}

bool IsSameSquare(const RowSpan& a, const RowSpan& b) {
  return SquareOf(a.y) == SquareOf(b.y) && SquareOf(a.x_begin) == SquareOf(b.x_begin);
}

// Strength of an effect at a cell, from 0 to 1.
double StrengthAt(const Obstacle& obstacle, Lattice lattice, int x, int y) {
  if (obstacle.effect.falloff == ObstacleEffect::Falloff::kNone) {
    return 1.0;
  }
  const Disc& disc = obstacle.shape.discs.front();
  const double dx = x - disc.center.x;
  const double dy = y - disc.center.y;
  const double distance = std::sqrt(dx * dx + dy * dy + (lattice == Lattice::kHexagonal ? dx * dy : 0.0));
  return distance == 0.0 ? 1.0 : std::max(0.0, 1.0 - distance / disc.radius);
}

// Combined effects of all obstacles on the cells of one square.
class SquareCosts {
 public:
  explicit SquareCosts(Lattice lattice) : lattice_(lattice) {}

  void Add(const Obstacle& obstacle, const Rectangle& window) {
    const ObstacleEffect& effect = obstacle.effect;
    SpanSet spans = SpansOf(obstacle.shape, lattice_, window);
    for (const RowSpan& span : spans.Sorted()) {
      for (int x = span.x_begin; x < span.x_end; ++x) {
        const double strength = StrengthAt(obstacle, lattice_, x, span.y);
        Effects& effects = At(x, span.y);
        if (effect.kind == ObstacleEffect::Kind::kMultiplyCost) {
          effects.factor *= 1.0 + (effect.amount - 1.0) * strength;
        } else {
          effects.addition += effect.amount * strength;
        }
      }
    }
  }

  double Apply(double cost, int x, int y) {
    const Effects& effects = At(x, y);
    return std::clamp(cost * effects.factor + effects.addition, kMinTerrainCost, kMaxTerrainCost);
  }

 private:
  struct Effects {
    double factor = 1.0;
    double addition = 0.0;
  };

  Effects& At(int x, int y) {
    return effects_[static_cast<std::size_t>((y & (kSquareSide - 1)) << kSquareShift |
                                             (x & (kSquareSide - 1)))];
  }

  Lattice lattice_;
  std::array<Effects, std::size_t{kSquareSide} * kSquareSide> effects_;
};

// REQUIRES: all pieces lie in one square, in row order.
void RefreshSquare(absl::Span<const RowSpan> pieces, GridMapEditor& editor) {
  const GridMap& map = editor.map();
  const Rectangle window = {SquareOf(pieces.front().x_begin) * kSquareSide, pieces.front().y, kSquareSide,
                            pieces.back().y + 1 - pieces.front().y};
  SquareCosts costs(map.lattice());
  std::vector<const Obstacle*> found = map.obstacles().Overlapping(window);
  std::erase_if(
      found, [](const Obstacle* obstacle) { return obstacle->effect.kind == ObstacleEffect::Kind::kBlock; });
  for (const Obstacle* obstacle : found) {
    costs.Add(*obstacle, window);
  }
  for (const RowSpan& piece : pieces) {
    for (int x = piece.x_begin; x < piece.x_end; ++x) {
      const TerrainId id = map.TerrainAt({x, piece.y});
      const Terrain& terrain = map.settings().terrains[id];
      std::optional<Cost> own;
      if (!found.empty() && !terrain.impassable) {
        own = CostFromDouble(costs.Apply(terrain.cost, x, piece.y));
      }
      editor.SetStepCost({x, piece.y}, own == map.step_costs().straight[id] ? std::nullopt : own);
    }
  }
}

}  // namespace

void GridMapEditor::RefreshCosts(absl::Span<const RowSpan> cells) {
  const std::vector<RowSpan> pieces = BySquare(cells);
  has_refreshed_costs_ = has_refreshed_costs_ || !pieces.empty();
  for (std::size_t begin = 0; begin < pieces.size();) {
    std::size_t end = begin + 1;
    while (end < pieces.size() && IsSameSquare(pieces[begin], pieces[end])) {
      ++end;
    }
    RefreshSquare(absl::MakeConstSpan(pieces).subspan(begin, end - begin), *this);
    begin = end;
  }
}

}  // namespace waystar::core
