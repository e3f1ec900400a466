#include "server/core/map/obstacle.h"

#include <cmath>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/map/tags.h"
#include "server/core/shape/shape_check.h"

namespace waystar::core {
namespace {

absl::Status CheckAmount(double amount, double low, double high, absl::string_view field) {
  if (!std::isfinite(amount)) {
    return InvalidArgument(ErrorReason::kBadValue, field, "is a finite number");
  }
  if (amount < low || amount > high) {
    return InvalidArgument(ErrorReason::kBadEffect, field,
                           absl::StrCat("is from ", low, " to ", high, ", not ", amount));
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
    return InvalidArgument(ErrorReason::kBadEffect, ".falloff",
                           "only an effect on costs falls off, and only over a shape that is one disc");
  }
  return absl::OkStatus();
}

}  // namespace

std::size_t BytesOf(const Obstacle& obstacle) {
  // What counts its users, and what the heap rounds three blocks up by.
  constexpr std::size_t kOverhead = 48;
  return sizeof(Obstacle) + kOverhead + obstacle.id.capacity() + BytesOf(obstacle.shape);
}

absl::Status CheckObstacleId(absl::string_view id) {
  return CheckName(id, "an obstacle's id", ErrorReason::kBadObstacleId);
}

absl::Status CheckObstacle(const Obstacle& obstacle, const Rectangle& bounds) {
  if (absl::Status status = CheckObstacleId(obstacle.id); !status.ok()) {
    return WithFieldPrefix(status, ".id");
  }
  if (absl::Status status = CheckShape(obstacle.shape, bounds, ShapeOverlap::kNone); !status.ok()) {
    return WithFieldPrefix(status, ".shape");
  }
  return CheckEffect(obstacle);
}

absl::Status CheckLifetime(absl::Duration lifetime) {
  if (lifetime >= absl::Milliseconds(1) && lifetime <= absl::Hours(24 * 365)) {
    return absl::OkStatus();
  }
  return InvalidArgument(
      ErrorReason::kBadLifetime, "",
      absl::StrCat("a lifetime is from 1 ms to 365 days, not ", absl::FormatDuration(lifetime)));
}

}  // namespace waystar::core
