#include "server/core/graph/map/sight_map.h"

#include <algorithm>

#include "server/core/graph/map/sight_line.h"

namespace waystar::core {

Box BoxAroundPart(const Shape& shape, std::size_t part) {
  const FixedBox fixed = BoxOfPart(shape, part);
  const auto low = [](std::int64_t value) { return static_cast<double>(value - 1) / kFixedScale; };
  const auto high = [](std::int64_t value) { return static_cast<double>(value + 1) / kFixedScale; };
  return {low(fixed.x_low), low(fixed.y_low), high(fixed.x_high), high(fixed.y_high)};
}

SightMap::Part SightMap::PartOf(const Obstacle& obstacle, std::size_t number) {
  return {.around = BoxAroundPart(obstacle.shape, number), .obstacle = &obstacle, .number = number};
}

bool SightMap::IsNear(const Obstacle& obstacle, const Box& area) {
  for (std::size_t i = 0; i < PartCount(obstacle.shape); ++i) {
    if (BoxAroundPart(obstacle.shape, i).Overlaps(area)) {
      return true;
    }
  }
  return false;
}

void SightMap::Put(std::shared_ptr<const Obstacle> obstacle, Owner owner) {
  if (obstacles_.Find(obstacle->id) != nullptr) {
    Remove(obstacle->id, owner);
  }
  for (std::size_t i = 0; i < PartCount(obstacle->shape); ++i) {
    parts_.Put(PartOf(*obstacle, i), owner);
  }
  obstacles_.Put(obstacle);
}

void SightMap::Remove(absl::string_view id, Owner owner) {
  const std::shared_ptr<const Obstacle> obstacle = obstacles_.Find(id);
  for (std::size_t i = 0; i < PartCount(obstacle->shape); ++i) {
    parts_.Remove(PartOf(*obstacle, i), owner);
  }
  obstacles_.Remove(obstacle->id);
}

bool SightMap::IsClearOfObstacles(const WorldPoint& a, const WorldPoint& b) const {
  if (parts_.size() == 0) {
    return true;
  }
  const Segment segment{ToFixed(a), ToFixed(b)};
  return VisitPartsAlong(a, b, [&](const Obstacle& obstacle, std::size_t part) {
    return !TouchesPart(segment, obstacle.shape, part);
  });
}

std::vector<const Obstacle*> SightMap::ObstaclesNear(const Box& area) const {
  std::vector<const Obstacle*> found;
  parts_.VisitOverlapping(area, [&](const Part& part) {
    found.push_back(part.obstacle);
    return true;
  });
  std::sort(found.begin(), found.end(), [](const Obstacle* a, const Obstacle* b) { return a->id < b->id; });
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::size_t SightMap::memory_bytes() const {
  return obstacles_.memory_bytes() + parts_.BytesBeyond({}) + (grid_ != nullptr ? grid_->memory_bytes() : 0);
}

std::size_t SightMap::BytesBeyond(const SightMap& other) const {
  return obstacles_.BytesBeyond(other.obstacles_) + parts_.BytesBeyond(other.parts_);
}

}  // namespace waystar::core
