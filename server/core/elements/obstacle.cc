#include "server/core/elements/obstacle.h"

#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/elements/element_hash.h"
#include "server/core/elements/tags.h"
#include "server/core/grid/shapes/shape_check.h"

namespace waystar::core {
namespace {

absl::Status CheckAmount(double amount, double low, double high, absl::string_view field) {
  if (!std::isfinite(amount)) {
    return BadNumber(ErrorReason::kBadValue, field, amount, "a finite number");
  }
  if (amount < low || amount > high) {
    return BadNumber(ErrorReason::kBadEffect, field, amount, absl::StrCat(low, " to ", high));
  }
  return absl::OkStatus();
}

bool IsOneDisc(const Shape& shape) {
  return shape.discs.size() == 1 && shape.cells.empty() && shape.rectangles.empty() &&
         shape.polygons.empty() && shape.lines.empty();
}

absl::Status CheckEffect(const Obstacle& obstacle) {
  const ObstacleEffect& effect = obstacle.effect;
  switch (effect.kind) {
    case ObstacleEffect::Kind::kBlock:
      break;
    case ObstacleEffect::Kind::kMultiplyCost:
      WAYSTAR_RETURN_IF_ERROR(CheckAmount(effect.amount, kMinCostFactor, kMaxCostFactor, ".cost_factor"));
      break;
    case ObstacleEffect::Kind::kAddCost:
      WAYSTAR_RETURN_IF_ERROR(
          CheckAmount(effect.amount, -kMaxCostAddition, kMaxCostAddition, ".cost_addition"));
      break;
  }
  if (effect.falloff != ObstacleEffect::Falloff::kNone &&
      (effect.kind == ObstacleEffect::Kind::kBlock || !IsOneDisc(obstacle.shape))) {
    return MakeError(ErrorReason::kBadEffect, ".falloff",
                     "only an effect on costs falls off, and only over a shape that is one disc");
  }
  return absl::OkStatus();
}

template <typename Part, typename AddPart>
void AddList(const std::vector<Part>& parts, ElementHash& hash, AddPart add) {
  hash.Add(parts.size());
  for (const Part& part : parts) {
    add(part);
  }
}

}  // namespace

void AddShape(const Shape& shape, ElementHash& hash) {
  const auto add_point = [&](const Point& point) {
    hash.AddDouble(point.x);
    hash.AddDouble(point.y);
  };
  AddList(shape.cells, hash, [&](Cell cell) {
    hash.AddSigned(cell.x);
    hash.AddSigned(cell.y);
  });
  AddList(shape.rectangles, hash, [&](const Rectangle& rectangle) {
    hash.AddSigned(rectangle.x);
    hash.AddSigned(rectangle.y);
    hash.AddSigned(rectangle.width);
    hash.AddSigned(rectangle.height);
  });
  AddList(shape.discs, hash, [&](const Disc& disc) {
    add_point(disc.center);
    hash.AddDouble(disc.radius);
  });
  AddList(shape.polygons, hash, [&](const Polygon& polygon) { AddList(polygon.vertices, hash, add_point); });
  AddList(shape.lines, hash, [&](const Line& line) {
    add_point(line.start);
    add_point(line.end);
    hash.AddDouble(line.width);
  });
}

std::size_t BytesOf(const Obstacle& obstacle) {
  // The reference count, and the heap's rounding of three blocks.
  constexpr std::size_t kOverhead = 48;
  return sizeof(Obstacle) + kOverhead + obstacle.id.capacity() + BytesOf(obstacle.shape);
}

std::uint64_t DigestOf(const Obstacle& obstacle) {
  ElementHash hash(ElementKind::kNamedObstacle);
  hash.AddText(obstacle.id);
  AddShape(obstacle.shape, hash);
  hash.Add(static_cast<std::uint64_t>(obstacle.effect.kind));
  hash.AddDouble(obstacle.effect.amount);
  hash.Add(static_cast<std::uint64_t>(obstacle.effect.falloff));
  if (obstacle.heights) {
    hash.AddDouble(obstacle.heights->low);
    hash.AddDouble(obstacle.heights->high);
  }
  return hash.value();
}

absl::Status CheckObstacleId(absl::string_view id) {
  return CheckName(id, "an obstacle's id", ErrorReason::kBadObstacleId);
}

absl::Status CheckOnlyBlocks(const Obstacle& obstacle, absl::string_view map) {
  if (obstacle.effect.kind == ObstacleEffect::Kind::kBlock) {
    return absl::OkStatus();
  }
  const bool is_factor = obstacle.effect.kind == ObstacleEffect::Kind::kMultiplyCost;
  return MakeError(ErrorReason::kBadEffect, is_factor ? ".cost_factor" : ".cost_addition",
                   absl::StrCat("an obstacle on ", map, " only blocks"));
}

absl::Status CheckObstacle(const Obstacle& obstacle, const Rectangle& bounds) {
  if (obstacle.heights && !(obstacle.heights->low <= obstacle.heights->high)) {
    return MakeError(ErrorReason::kBadValue, ".heights.low", "heights are from a low one up to a high one");
  }
  WAYSTAR_RETURN_IF_ERROR_AT(".id", CheckObstacleId(obstacle.id));
  WAYSTAR_RETURN_IF_ERROR_AT(".shape", CheckShape(obstacle.shape, bounds, ShapeOverlap::kNone));
  return CheckEffect(obstacle);
}

absl::Status CheckLifetime(absl::Duration lifetime) {
  if (lifetime >= absl::Milliseconds(1) && lifetime <= absl::Hours(24 * 365)) {
    return absl::OkStatus();
  }
  return MakeError(ErrorReason::kBadLifetime, "",
                   absl::StrCat("a lifetime must be 1 ms to 365 days, got ", absl::FormatDuration(lifetime)));
}

}  // namespace waystar::core
