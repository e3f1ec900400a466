#include "server/core/mesh/search/mesh_path_check.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/elements/waypoint.h"
#include "server/core/mesh/search/mesh_path.h"
#include "server/core/mesh/search/mesh_ray.h"
#include "server/core/mesh/search/polygon_set.h"
#include "server/core/mesh/search/polygons_around.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

double LegLength(const WorldPoint& a, const WorldPoint& b) {
  return Distance({a.x, a.y, 0.0}, {b.x, b.y, 0.0});
}

// Maximum displacement of a corner out of its polygon by rounding, with some tolerance.
constexpr double kRounding = 2.0 / kFixedScale;

class MeshPathValidator {
 public:
  MeshPathValidator(const NavMesh& mesh, absl::Span<const WorldPoint> corners, const Budget& budget)
      : mesh_(mesh), corners_(corners), budget_(Unlimited(budget)), meter_(budget_) {}

  absl::StatusOr<MeshPathCheck> Run() {
    WAYSTAR_RETURN_IF_ERROR(CheckMeshCorners(corners_));
    MeshPathCheck check{.is_walkable = true};
    WorldPoint last;
    for (std::size_t i = 0; i < corners_.size(); ++i) {
      if (const std::optional<SearchEnd> end = Interruption(budget_)) {
        return InterruptionError(*end, 0);
      }
      const std::optional<MeshPlace> place = PlaceOf(corners_[i]);
      if (place) {
        FindPlacesAt(*place);
        if (i > 0) {
          KeepReached();
        }
      }
      if (meter_.end()) {
        return InterruptionError(*meter_.end(), 0);
      }
      if (!place || there_.empty()) {
        check.is_walkable = false;
        check.blocked_index = i;
        check.blocked_at = EndOfWalk(place, corners_[i]);
        break;
      }
      if (i > 0) {
        check.cost += LegLength(last, place->point);
      }
      last = place->point;
      std::swap(here_, there_);
    }
    return check;
  }

 private:
  static Budget Unlimited(Budget budget) {
    budget.max_expansions = Budget().max_expansions;
    return budget;
  }

  // Returns the place that represents a corner. A corner that was already rounded keeps its position.
  std::optional<MeshPlace> PlaceOf(const WorldPoint& corner) const {
    std::optional<MeshPlace> place = FindMeshPlace(mesh_, corner, {});
    if (place) {
      const WorldPoint rounded = Rounded(corner);
      if (LegLength(rounded, place->point) <= kRounding) {
        place->point = {rounded.x, rounded.y, place->point.z};
      }
    }
    return place;
  }

  // Sets `there_` to the place and to further places at its point, one per fan that no edge connects to the
  // others.
  void FindPlacesAt(const MeshPlace& place) {
    there_.clear();
    PolygonSet around;
    near_.assign(1, place);
    mesh_.FindAllNear({.position = place.point, .radius = kRounding, .height = kMeshTolerance}, near_);
    for (const MeshPlace& other : near_) {
      if (!around.Has(other.polygon)) {
        there_.push_back({other.polygon, {place.point.x, place.point.y, other.point.z}});
        AddPolygonsAround(mesh_, there_.back(), around);
      }
    }
  }

  // Removes from `there_` the places that no straight walk from the last corner reaches.
  void KeepReached() {
    std::erase_if(there_, [&](const MeshPlace& to) {
      return std::none_of(here_.begin(), here_.end(), [&](const MeshPlace& from) {
        return CastMeshRayInFan(mesh_, from, to, &meter_).reaches_goal;
      });
    });
  }

  // Returns nothing if the walk has not started.
  std::optional<WorldPoint> EndOfWalk(const std::optional<MeshPlace>& place, const WorldPoint& corner) {
    if (here_.empty()) {
      return std::nullopt;
    }
    const MeshPlace& from = here_.front();
    return CastMeshRayInFan(mesh_, from, place.value_or(MeshPlace{kNoPolygon, Rounded(corner)}), &meter_)
        .end.point;
  }

  const NavMesh& mesh_;
  const absl::Span<const WorldPoint> corners_;
  const Budget budget_;
  PolygonMeter meter_;
  // Places at the last corner that the walk has reached, and places at the next corner: one per group of
  // polygons that edges connect there. There are several if polygons or floors meet only in the corner.
  std::vector<MeshPlace> here_;
  std::vector<MeshPlace> there_;
  // Scratch list of FindPlacesAt.
  std::vector<MeshPlace> near_;
};

}  // namespace

absl::Status CheckMeshCorners(absl::Span<const WorldPoint> corners) {
  if (corners.empty()) {
    return MakeError(ErrorReason::kMissingField, "positions", "a path has at least one corner");
  }
  if (corners.size() > kMaxValidatedCorners) {
    return MakeError(ErrorReason::kPathTooLong, "positions",
                     absl::StrCat("a path to validate has at most ", kMaxValidatedCorners, " corners, not ",
                                  corners.size()));
  }
  for (std::size_t i = 0; i < corners.size(); ++i) {
    if (absl::Status status = CheckPosition(corners[i]); !status.ok()) {
      return WithFieldPrefix(status, IndexedField("positions", i));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<MeshPathCheck> ValidateMeshPath(const NavMesh& mesh, absl::Span<const WorldPoint> corners,
                                               const Budget& budget) {
  return MeshPathValidator(mesh, corners, budget).Run();
}

}  // namespace waystar::core
