#include "server/core/mesh/map/mesh_fans.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"

namespace waystar::core {
namespace {

class FanSplitter {
 public:
  FanSplitter(MeshSpec& spec, const std::vector<PolygonNumber>& neighbours, const StopCheck* stop)
      : spec_(spec),
        neighbours_(neighbours),
        stop_(stop),
        is_done_(spec.corners.size(), false),
        has_fan_(spec.vertices.size(), false) {
    std::uint32_t first = 0;
    for (const MeshPolygon& polygon : spec.polygons) {
      first_corners_.push_back(first);
      first += polygon.corner_count;
    }
  }

  absl::Status Run() {
    // First the fans that start at a wall, then the closed ones.
    WAYSTAR_RETURN_IF_ERROR(Visit(/*at_walls=*/true));
    WAYSTAR_RETURN_IF_ERROR(Visit(/*at_walls=*/false));
    return spec_.vertices.size() <= kMaxMeshVertices
               ? absl::OkStatus()
               : MakeError(
                     ErrorReason::kBadSize, "vertices",
                     absl::StrCat("where polygons meet in a vertex alone, each has one of its own: there "
                                  "are more than ",
                                  kMaxMeshVertices, " then"));
  }

 private:
  // A corner of a polygon, by its position there.
  struct Corner {
    PolygonNumber polygon = 0;
    std::uint32_t place = 0;
  };

  std::size_t IndexOf(const Corner& corner) const { return first_corners_[corner.polygon] + corner.place; }
  std::uint32_t CountOf(PolygonNumber polygon) const { return spec_.polygons[polygon].corner_count; }
  Corner Before(const Corner& corner) const {
    const std::uint32_t count = CountOf(corner.polygon);
    return {corner.polygon, corner.place == 0 ? count - 1 : corner.place - 1};
  }

  absl::Status Visit(bool at_walls) {
    for (PolygonNumber polygon = 0; polygon < spec_.polygons.size(); ++polygon) {
      WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, polygon));
      for (std::uint32_t place = 0; place < CountOf(polygon); ++place) {
        const Corner corner{polygon, place};
        const bool begins_here = !at_walls || neighbours_[IndexOf(corner)] == kNoPolygon;
        if (begins_here && !is_done_[IndexOf(corner)]) {
          SplitFanFrom(corner);
        }
      }
    }
    return absl::OkStatus();
  }

  // Visits the fan counterclockwise around the vertex.
  void SplitFanFrom(const Corner& corner) {
    const std::uint32_t vertex = spec_.corners[IndexOf(corner)];
    std::uint32_t own = vertex;
    if (has_fan_[vertex]) {
      own = static_cast<std::uint32_t>(spec_.vertices.size());
      spec_.vertices.push_back(spec_.vertices[vertex]);
    }
    has_fan_[vertex] = true;
    for (std::optional<Corner> at = corner; at && !is_done_[IndexOf(*at)];) {
      is_done_[IndexOf(*at)] = true;
      spec_.corners[IndexOf(*at)] = own;
      const PolygonNumber next = neighbours_[IndexOf(Before(*at))];
      at = next == kNoPolygon ? std::nullopt : CornerAcross(next, vertex, at->polygon);
    }
  }

  // Returns the corner of the polygon at the vertex from which its edge to the other polygon leads away, or
  // nothing once the fan has returned to its start.
  std::optional<Corner> CornerAcross(PolygonNumber polygon, std::uint32_t vertex, PolygonNumber other) const {
    for (std::uint32_t place = 0; place < CountOf(polygon); ++place) {
      const std::size_t index = first_corners_[polygon] + place;
      if (spec_.corners[index] == vertex && neighbours_[index] == other) {
        return Corner{polygon, place};
      }
    }
    return std::nullopt;
  }

  MeshSpec& spec_;
  const std::vector<PolygonNumber>& neighbours_;
  const StopCheck* const stop_;
  std::vector<std::uint32_t> first_corners_;
  // For each corner, true if its fan has been visited; for each original vertex, true if a fan uses it.
  std::vector<bool> is_done_;
  std::vector<bool> has_fan_;
};

}  // namespace

absl::Status SplitFans(MeshSpec& spec, const std::vector<PolygonNumber>& neighbours, const StopCheck* stop) {
  return FanSplitter(spec, neighbours, stop).Run();
}

}  // namespace waystar::core
