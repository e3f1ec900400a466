#include "tests/formats/build/drawn_level.h"

#include <cstdint>

namespace waystar::testing {

void DrawnLevel::AddTriangle(const core::WorldPoint& a, const core::WorldPoint& b,
                             const core::WorldPoint& c) {
  const auto first = static_cast<std::uint32_t>(geometry_.vertices.size());
  geometry_.vertices.insert(geometry_.vertices.end(), {a, b, c});
  geometry_.triangles.push_back({first, first + 1, first + 2});
}

void DrawnLevel::AddFace(const core::WorldPoint& a, const core::WorldPoint& b, const core::WorldPoint& c,
                         const core::WorldPoint& d) {
  AddTriangle(a, b, c);
  AddTriangle(a, c, d);
}

void DrawnLevel::AddFloor(double low_x, double low_y, double high_x, double high_y, double z_left,
                          double z_right) {
  AddFace({low_x, low_y, z_left}, {high_x, low_y, z_right}, {high_x, high_y, z_right},
          {low_x, high_y, z_left});
}

void DrawnLevel::AddBox(const core::WorldPoint& low, const core::WorldPoint& high) {
  const core::WorldPoint corners[8] = {
      {low.x, low.y, low.z},  {high.x, low.y, low.z},  {high.x, high.y, low.z},  {low.x, high.y, low.z},
      {low.x, low.y, high.z}, {high.x, low.y, high.z}, {high.x, high.y, high.z}, {low.x, high.y, high.z}};
  AddFace(corners[4], corners[5], corners[6], corners[7]);
  AddFace(corners[3], corners[2], corners[1], corners[0]);
  for (int i = 0; i < 4; ++i) {
    const int next = (i + 1) % 4;
    AddFace(corners[i], corners[next], corners[next + 4], corners[i + 4]);
  }
}

}  // namespace waystar::testing
