#include "server/core/mesh/map/triangulate.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "server/base/status_macros.h"
#include "server/core/mesh/map/plan.h"

namespace waystar::core {
namespace {

class EarClipper {
 public:
  EarClipper(absl::Span<const FixedPoint> loop, const StopCheck* stop, std::vector<LoopTriangle>* flat)
      : loop_(loop),
        stop_(stop),
        flat_(flat),
        next_(loop.size()),
        previous_(loop.size()),
        left_(loop.size()) {
    for (std::uint32_t i = 0; i < loop.size(); ++i) {
      next_[i] = i + 1 < loop.size() ? i + 1 : 0;
      previous_[next_[i]] = i;
    }
  }

  absl::StatusOr<std::vector<LoopTriangle>> Clip() {
    std::uint32_t corner = 0;
    while (left_ >= 3) {
      WAYSTAR_ASSIGN_OR_RETURN(corner, FindCorner(corner));
      if (corner == kNone) {
        break;
      }
      const LoopTriangle triangle = {previous_[corner], corner, next_[corner]};
      if (SideAt(corner) > 0) {
        triangles_.push_back(triangle);
      } else if (flat_ != nullptr) {
        flat_->push_back(triangle);
      }
      corner = Remove(corner);
    }
    return std::move(triangles_);
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFU;

  Int128 SideAt(std::uint32_t tip) const {
    return SideOf(loop_[previous_[tip]], loop_[tip], loop_[next_[tip]]);
  }

  // Returns the corner to cut off, searching from `from`: an ear; else, as in a polygon that touches itself,
  // a corner without area; else any convex corner. If all corners are clockwise, returns the one of the least
  // area if flat triangles are collected, else kNone.
  absl::StatusOr<std::uint32_t> FindCorner(std::uint32_t from) {
    std::uint32_t flat = kNone;
    std::uint32_t convex = kNone;
    std::uint32_t best = kNone;
    Int128 best_side = 0;
    std::uint32_t corner = from;
    for (std::size_t i = 0; i < left_; ++i, corner = next_[corner]) {
      WAYSTAR_ASSIGN_OR_RETURN(const bool is_ear, IsEar(corner));
      if (is_ear) {
        return corner;
      }
      const Int128 side = SideAt(corner);
      flat = flat == kNone && side == 0 ? corner : flat;
      convex = convex == kNone && side > 0 ? corner : convex;
      if (best == kNone || side > best_side) {
        best = corner;
        best_side = side;
      }
    }
    if (flat != kNone || convex != kNone) {
      return flat != kNone ? flat : convex;
    }
    return flat_ != nullptr ? best : kNone;
  }

  // Returns true if the triangle at the corner is an ear: it has an area and contains no other corner.
  absl::StatusOr<bool> IsEar(std::uint32_t tip) {
    if (SideAt(tip) <= 0) {
      return false;
    }
    const FixedPoint& a = loop_[previous_[tip]];
    const FixedPoint& b = loop_[tip];
    const FixedPoint& c = loop_[next_[tip]];
    const auto [low_x, high_x] = std::minmax({a.x, b.x, c.x});
    const auto [low_y, high_y] = std::minmax({a.y, b.y, c.y});
    for (std::uint32_t i = next_[next_[tip]]; i != previous_[tip]; i = next_[i]) {
      WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, ++steps_));
      const FixedPoint& p = loop_[i];
      if (p.x < low_x || p.x > high_x || p.y < low_y || p.y > high_y || p == a || p == b || p == c) {
        continue;
      }
      if (SideOf(a, b, p) >= 0 && SideOf(b, c, p) >= 0 && SideOf(c, a, p) >= 0) {
        return false;
      }
    }
    return true;
  }

  // Returns the previous corner, which is often the next ear.
  std::uint32_t Remove(std::uint32_t corner) {
    next_[previous_[corner]] = next_[corner];
    previous_[next_[corner]] = previous_[corner];
    --left_;
    return previous_[corner];
  }

  absl::Span<const FixedPoint> loop_;
  const StopCheck* stop_;
  // Null if flat triangles are not collected.
  std::vector<LoopTriangle>* flat_;
  // Ring of the remaining corners.
  std::vector<std::uint32_t> next_;
  std::vector<std::uint32_t> previous_;
  std::size_t left_;
  std::size_t steps_ = 0;
  std::vector<LoopTriangle> triangles_;
};

}  // namespace

absl::StatusOr<std::vector<LoopTriangle>> TriangulateLoop(absl::Span<const FixedPoint> loop,
                                                          const StopCheck* stop,
                                                          std::vector<LoopTriangle>* flat) {
  return EarClipper(loop, stop, flat).Clip();
}

}  // namespace waystar::core
