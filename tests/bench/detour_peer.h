// Detour's answers to the questions that a navigation mesh of ours is asked.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/geometry/world_point.h"
#include "tests/testing/detour_file.h"

namespace waystar::bench {

// A position on a polygon, in Detour's coordinates.
struct DetourPlace {
  dtPolyRef polygon = 0;
  float point[3] = {0.0F, 0.0F, 0.0F};

  core::WorldPoint position() const { return {point[0], point[2], point[1]}; }
};

// Points are in our coordinates, where z is the height. Every polygon may be walked, at the same cost unless
// SetCost says otherwise.
class DetourPeer {
 public:
  // How far a place may be from its position: to each side, and up or down.
  static constexpr double kRadius = 2.0;
  static constexpr double kHeight = 4.0;

  // Loads an MSET file, and ends the program if Detour refuses it.
  explicit DetourPeer(absl::string_view mset);

  // Sets what a unit of length costs in an area.
  void SetCost(int area, double cost) { filter_.setAreaCost(area, static_cast<float>(cost)); }

  // Returns the nearest place; its polygon is 0 if there is none.
  DetourPlace FindNearest(const core::WorldPoint& position) const;

  // Finds a path and its corners. Returns false if the goal is out of reach.
  bool FindPath(const DetourPlace& start, const DetourPlace& goal);
  // Returns the length of the last path found, seen from above.
  double PathLength() const;
  // Returns its corners.
  std::vector<core::WorldPoint> PathCorners() const;
  // Returns how often the nodes did not suffice for a search.
  int exhausted_count() const { return exhausted_count_; }

  // Returns which part of the way a ray comes, at most 1.
  double CastRay(const DetourPlace& start, const core::WorldPoint& goal) const;

  // Returns where an agent comes that moves along the surface.
  core::WorldPoint Move(const DetourPlace& start, const core::WorldPoint& target) const;
  // Returns how far the nearest wall is, or the radius if none is so near.
  double DistanceToWall(const DetourPlace& start, double radius) const;

  std::size_t tile_count() const;
  std::size_t polygon_count() const;
  // Returns the bytes of the tiles and of what the mesh keeps for each.
  std::size_t memory_bytes() const;

 private:
  OwnedDetourMesh mesh_;
  OwnedDetourQuery query_;
  dtQueryFilter filter_;
  std::vector<dtPolyRef> corridor_;
  std::vector<float> corners_;
  std::size_t corner_count_ = 0;
  int exhausted_count_ = 0;
};

}  // namespace waystar::bench
