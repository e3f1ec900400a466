#include "server/core/mesh/map/face_cut.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "server/core/mesh/map/plan.h"

namespace waystar::core {
namespace {

std::vector<WorldPoint> PointsOf(const std::vector<BorderPoint>& border) {
  std::vector<WorldPoint> points;
  points.reserve(border.size());
  for (const BorderPoint& at : border) {
    points.push_back(at.point);
  }
  return points;
}

// Returns how far a point is inside of a convex outline; negative outside.
double DepthIn(const ConvexOutline& outline, const WorldPoint& point) {
  double depth =
      outline.size() < 3 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < outline.size(); ++k) {
    const WorldPoint& a = outline[k];
    const WorldPoint& b = outline[k + 1 < outline.size() ? k + 1 : 0];
    const double cross = (b.x - a.x) * (point.y - a.y) - (b.y - a.y) * (point.x - a.x);
    depth = std::min(depth, cross / DistanceInPlan(a, b));
  }
  return depth;
}

}  // namespace

FaceCut::FaceCut(std::vector<BorderPoint> border, const std::vector<ConvexOutline>& outlines, Mode mode)
    : mode_(mode), border_(std::move(border)), mesh_(PointsOf(border_)) {
  for (const ConvexOutline& outline : outlines) {
    mesh_.AddOutline(outline);
  }
  is_cut_ = mesh_.CountOutlines();
  if (is_cut_) {
    if (mode_ == Mode::kDivide) {
      is_cut_ = NoteCovers(outlines);
    }
    if (is_cut_) {
      JoinTriangles();
    }
  }
}

bool FaceCut::NoteCovers(const std::vector<ConvexOutline>& outlines) {
  // Some 100 ms.
  constexpr std::size_t kMostTests = std::size_t{1} << 20;
  if (mesh_.triangles().size() * outlines.size() > kMostTests) {
    return false;
  }
  std::map<Cover, std::uint32_t> numbers = {{{}, 0}};
  cover_of_.resize(mesh_.triangles().size());
  for (std::size_t i = 0; i < cover_of_.size(); ++i) {
    const Triangulation::Triangle& triangle = mesh_.triangles()[i];
    if (!triangle.is_inside || triangle.outlines == 0) {
      continue;
    }
    const auto at = [&](std::size_t k) { return mesh_.PointAt(triangle.corners[k]); };
    const WorldPoint middle{(at(0).x + at(1).x + at(2).x) / 3.0, (at(0).y + at(1).y + at(2).y) / 3.0, 0.0};
    // Lines are bent over points near them, so that the middle of a thin triangle may be just outside of an
    // outline around it. Their number is exact.
    std::vector<std::pair<double, std::uint32_t>> depths;
    for (std::uint32_t k = 0; k < outlines.size(); ++k) {
      depths.emplace_back(-DepthIn(outlines[k], middle), k);
    }
    const auto count = std::min<std::size_t>(static_cast<std::size_t>(triangle.outlines), depths.size());
    std::ranges::sort(depths);
    Cover cover;
    for (std::size_t k = 0; k < count; ++k) {
      cover.push_back(depths[k].second);
    }
    std::ranges::sort(cover);
    const auto [entry, is_new] = numbers.try_emplace(cover, static_cast<std::uint32_t>(covers_.size()));
    if (is_new) {
      covers_.push_back(std::move(cover));
    }
    cover_of_[i] = entry->second;
  }
  return true;
}

std::vector<FaceCut::Cover> FaceCut::CoversOfPieces() const {
  std::vector<Cover> covers;
  for (const Half piece : pieces_) {
    covers.push_back(covers_[cover_of_[piece / 3]]);
  }
  return covers;
}

bool FaceCut::HasGroundAt(std::size_t border_point) const {
  const int point = static_cast<int>(border_point) + Triangulation::kFirstOfBorder;
  const Triangulation::Corner first = mesh_.CornerAt(point);
  Triangulation::Corner corner = first;
  do {
    if (mesh_.EdgeAt(corner).is_border && mesh_.At(corner.triangle).is_inside) {
      return IsGround(corner.triangle);
    }
    corner = mesh_.Across(Triangulation::Before(corner));
  } while (!(corner == first));
  return false;
}

FaceCut::Half FaceCut::Opposite(Half half) const {
  const Triangulation::Edge& edge = mesh_.EdgeAt(CornerOf(half));
  return edge.is_border || !IsGround(edge.beyond) ? kNoHalf : HalfOf(mesh_.Across(CornerOf(half)));
}

FaceCut::Half FaceCut::TwinOf(Half half) const {
  const Half twin = Opposite(half);
  const bool is_apart =
      mode_ == Mode::kDivide && twin != kNoHalf && cover_of_[twin / 3] != cover_of_[half / 3];
  return is_apart ? kNoHalf : twin;
}

std::optional<std::size_t> FaceCut::BorderOf(Half half) const {
  return mesh_.EdgeAt(CornerOf(half)).is_border
             ? std::optional(Index(PointOf(half) - Triangulation::kFirstOfBorder))
             : std::nullopt;
}

bool FaceCut::IsOpen(Half half) const {
  const std::optional<std::size_t> border = BorderOf(half);
  return border && is_open_[*border];
}

void FaceCut::JoinTriangles() {
  const std::size_t count = mesh_.triangles().size();
  std::vector<Half> next(3 * count);
  std::vector<Half> twin(3 * count, kNoHalf);
  std::vector<std::uint32_t> face_of(3 * count);
  for (std::uint32_t triangle = 0; triangle < count; ++triangle) {
    for (std::uint32_t place = 0; place < 3; ++place) {
      const Half half = 3 * triangle + place;
      next[half] = 3 * triangle + (place + 1) % 3;
      face_of[half] = triangle;
      if (IsGround(static_cast<int>(triangle))) {
        twin[half] = TwinOf(half);
      }
    }
  }
  join_.emplace(std::move(next), std::move(face_of), std::move(twin), count);
  join_->Join([&](Half half) -> const WorldPoint& { return mesh_.PointAt(PointOf(half)); }).IgnoreError();
  std::vector<bool> is_listed(count);
  for (Half half = 0; half < 3 * count; ++half) {
    if (IsGround(static_cast<int>(half / 3)) && !join_->IsRemoved(half) &&
        !is_listed[join_->RootBeside(half)]) {
      is_listed[join_->RootBeside(half)] = true;
      pieces_.push_back(half);
    }
  }
}

void FaceCut::FindFans() {
  fan_of_.assign(3 * mesh_.triangles().size(), -1);
  for (const Half piece : pieces_) {
    Half corner = piece;
    do {
      if (fan_of_[corner] < 0) {
        Half first = corner;
        for (Half twin = TwinOf(first); twin != kNoHalf; twin = TwinOf(first)) {
          first = join_->Next(twin);
          if (first == corner) {
            break;
          }
        }
        Fan fan{first, first, 0};
        for (Half at = first; at != kNoHalf && fan_of_[at] < 0; at = TwinOf(join_->Previous(at))) {
          fan_of_[at] = static_cast<int>(fans_.size());
          fan.last = at;
        }
        fans_.push_back(fan);
      }
      corner = join_->Next(corner);
    } while (corner != piece);
  }
}

std::optional<int> FaceCut::WallBeyond(const Fan& fan) const {
  const bool is_first = IsOpen(fan.first);
  const Half open = is_first ? fan.first : join_->Previous(fan.last);
  if (!border_[*BorderOf(open)].is_alike ||
      !border_[Index(PointOf(fan.first) - Triangulation::kFirstOfBorder)].is_split) {
    return std::nullopt;
  }
  // Turns around the point, away from the fan.
  Triangulation::Corner across = mesh_.Across(CornerOf(open));
  while (true) {
    const Triangulation::Corner edge =
        is_first ? Triangulation::After(across) : Triangulation::Before(across);
    if (mesh_.EdgeAt(edge).is_border) {
      return std::nullopt;
    }
    if (mesh_.EdgeAt(edge).winding != 0) {
      return mesh_.PointOf(is_first ? Triangulation::After(edge) : edge);
    }
    across = mesh_.Across(edge);
  }
}

std::optional<CutFace> FaceCut::Number(PolygonNumber polygon, const CutNumbers& numbers) {
  FindFans();
  CutFace face;
  const auto add_point = [&](int point) {
    const std::size_t border = Index(point - Triangulation::kFirstOfBorder);
    own_points_.push_back(point);
    face.points.push_back(border < border_.size() ? border_[border].point : mesh_.PointAt(point));
    return numbers.FirstVertexOf(polygon) + static_cast<std::uint32_t>(face.points.size() - 1);
  };
  for (Fan& fan : fans_) {
    const int point = PointOf(fan.first);
    const std::size_t border = Index(point - Triangulation::kFirstOfBorder);
    fan.vertex = border < border_.size() && border_[border].vertex != VertexWalls::kNone
                     ? border_[border].vertex
                     : add_point(point);
  }
  const auto vertex_of = [&](Half half) { return fans_[Index(fan_of_[half])].vertex; };
  const std::size_t owned = face.points.size();
  std::vector<VertexWalls> walls(owned);
  for (const Fan& fan : fans_) {
    if (fan.vertex < numbers.FirstVertexOf(polygon)) {
      continue;
    }
    const Half out = fan.first;
    const Half in = join_->Previous(fan.last);
    const bool is_round = TwinOf(out) != kNoHalf;
    VertexWalls& at = walls[fan.vertex - numbers.FirstVertexOf(polygon)];
    if (is_round) {
      continue;
    }
    if (mode_ == Mode::kDivide) {
      at = {VertexWalls::kSeveral, VertexWalls::kSeveral};
      continue;
    }
    at = {.from = IsOpen(in) ? VertexWalls::kNone : vertex_of(in),
          .to = IsOpen(out) ? VertexWalls::kNone : vertex_of(join_->Next(out))};
    if (IsOpen(in) != IsOpen(out)) {
      if (const std::optional<int> beyond = WallBeyond(fan)) {
        (IsOpen(in) ? at.from : at.to) = add_point(*beyond);
      }
    }
    if (at.from == VertexWalls::kNone || at.to == VertexWalls::kNone) {
      at = {VertexWalls::kSeveral, VertexWalls::kSeveral};
    }
  }
  walls.resize(face.points.size());
  face.walls = std::move(walls);

  std::vector<PolygonNumber> number_of(mesh_.triangles().size(), kNoPolygon);
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    number_of[join_->RootBeside(pieces_[i])] = numbers.FirstPieceOf(polygon) + static_cast<PolygonNumber>(i);
  }
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    CutFace::Piece piece{static_cast<std::uint32_t>(face.corners.size()), 0};
    Half half = pieces_[i];
    do {
      const Half twin = Opposite(half);
      face.corners.push_back(vertex_of(half));
      if (IsOpen(half)) {
        const WorldPoint& start = mesh_.PointAt(PointOf(half));
        face.entries.push_back(
            {start.x, start.y, numbers.FirstPieceOf(polygon) + static_cast<PolygonNumber>(i)});
        face.neighbours.push_back(border_[*BorderOf(half)].beyond);
      } else {
        face.neighbours.push_back(twin == kNoHalf ? kNoPolygon : number_of[join_->RootBeside(twin)]);
      }
      ++piece.corner_count;
      half = join_->Next(half);
    } while (half != pieces_[i]);
    face.pieces.push_back(piece);
  }
  if (face.pieces.size() > numbers.most() || face.points.size() > numbers.most()) {
    return std::nullopt;
  }
  return face;
}

}  // namespace waystar::core
