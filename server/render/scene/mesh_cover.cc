#include "server/render/scene/mesh_cover.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace waystar::core {
namespace {

using Part = std::pair<double, double>;

// A point on the picture, with its height.
struct Seen {
  picture::Point at;
  double z = 0.0;
};

// Positive if c lies on one side of the line from a to b, negative on the other.
double Turn(picture::Point a, picture::Point b, picture::Point c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

// Clips `part` to where the linear function with these values at 0 and 1 is positive.
void KeepPositive(double at_begin, double at_end, Part& part) {
  if (at_begin <= 0 && at_end <= 0) {
    part.second = part.first;
  } else if (at_begin <= 0) {
    part.first = std::max(part.first, at_begin / (at_begin - at_end));
  } else if (at_end <= 0) {
    part.second = std::min(part.second, at_begin / (at_begin - at_end));
  }
}

// Returns the part of a line that a triangle hides.
std::optional<Part> HiddenBy(const std::array<Seen, 3>& triangle, const Seen& from, const Seen& to,
                             double slack) {
  const double area = Turn(triangle[0].at, triangle[1].at, triangle[2].at);
  if (area == 0) {
    return std::nullopt;
  }
  Part part(0.0, 1.0);
  double z_from = 0.0;
  double z_to = 0.0;
  for (std::size_t i = 0; i < triangle.size() && part.first < part.second; ++i) {
    const picture::Point a = triangle[(i + 1) % 3].at;
    const picture::Point b = triangle[(i + 2) % 3].at;
    const double weight_from = Turn(a, b, from.at) / area;
    const double weight_to = Turn(a, b, to.at) / area;
    KeepPositive(weight_from, weight_to, part);
    z_from += weight_from * triangle[i].z;
    z_to += weight_to * triangle[i].z;
  }
  KeepPositive(z_from - from.z - slack, z_to - to.z - slack, part);
  return part.first < part.second ? std::optional(part) : std::nullopt;
}

std::vector<Part> Joined(std::vector<Part> parts) {
  std::ranges::sort(parts);
  std::vector<Part> joined;
  for (const Part& part : parts) {
    // Adjacent triangles hide without a gap, up to rounding errors.
    constexpr double kGap = 1e-6;
    if (!joined.empty() && part.first <= joined.back().second + kGap) {
      joined.back().second = std::max(joined.back().second, part.second);
    } else {
      joined.push_back(part);
    }
  }
  return joined;
}

}  // namespace

MeshCover::MeshCover(const NavMesh& mesh, const WorldProjection& projection,
                     absl::Span<const PolygonNumber> polygons, double slack)
    : mesh_(mesh), projection_(projection), slack_(slack) {
  covers_.reserve(polygons.size());
  for (const PolygonNumber polygon : polygons) {
    const absl::Span<const std::uint32_t> vertices = mesh.VerticesOf(polygon);
    Cover cover{.polygon = polygon, .box = {}, .top = mesh.VertexAt(vertices.front()).z};
    for (const std::uint32_t vertex : vertices) {
      const picture::Point at = projection.At(mesh.VertexAt(vertex));
      cover.box = cover.box.And(Box::Around(at.x, at.y, 0));
      cover.top = std::max(cover.top, mesh.VertexAt(vertex).z);
    }
    covers_.push_back(cover);
  }
}

std::vector<Part> MeshCover::HiddenParts(const WorldPoint& from, const WorldPoint& to) const {
  const Seen begin{projection_.At(from), from.z};
  const Seen end{projection_.At(to), to.z};
  const Box box = Box::Around(begin.at.x, begin.at.y, 0).And(Box::Around(end.at.x, end.at.y, 0));
  const double low = std::min(from.z, to.z) + slack_;
  std::vector<Part> parts;
  for (const Cover& cover : covers_) {
    if (cover.top <= low || !cover.box.Overlaps(box)) {
      continue;
    }
    std::vector<Seen> corners;
    Seen middle;
    for (const std::uint32_t vertex : mesh_.VerticesOf(cover.polygon)) {
      corners.push_back({projection_.At(mesh_.VertexAt(vertex)), mesh_.VertexAt(vertex).z});
      middle = {middle.at + corners.back().at, middle.z + corners.back().z};
    }
    const double share = 1.0 / static_cast<double>(corners.size());
    middle = {middle.at * share, middle.z * share};
    for (std::size_t i = 0; i < corners.size(); ++i) {
      const Seen& next = corners[i + 1 < corners.size() ? i + 1 : 0];
      if (const auto part = HiddenBy({middle, corners[i], next}, begin, end, slack_)) {
        parts.push_back(*part);
      }
    }
  }
  return Joined(std::move(parts));
}

}  // namespace waystar::core
