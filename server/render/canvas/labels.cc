#include "server/render/canvas/labels.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "server/render/canvas/marks.h"

namespace waystar::picture {
namespace {

constexpr std::uint8_t kTaken = 1;
constexpr std::uint8_t kLine = 2;

// The part of a picture that names may use, as squares with what lies there.
class Room {
 public:
  explicit Room(const Box& box)
      : box_(box),
        columns_(static_cast<int>(std::ceil(box.width / kSquare))),
        rows_(static_cast<int>(std::ceil(box.height / kSquare))),
        squares_(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_)) {}

  void Take(const Box& part, std::uint8_t what) {
    Any(part, [what](std::uint8_t& square) {
      square |= what;
      return false;
    });
  }

  void TakeLine(Point from, Point to) {
    if (const auto shown = ClipTo(box_, from, to)) {
      const Point way = shown->second - shown->first;
      const double steps = std::max(1.0, std::ceil(Distance(shown->first, shown->second) / kSquare));
      for (double step = 0; step <= steps; ++step) {
        const Point at = shown->first + way * (step / steps);
        Take({at.x, at.y, 0, 0}, kLine);
      }
    }
  }

  bool IsFree(const Box& part, std::uint8_t without) {
    return part.x >= box_.x && part.y >= box_.y && part.right() <= box_.right() &&
           part.bottom() <= box_.bottom() &&
           !Any(part, [without](std::uint8_t square) { return (square & without) != 0; });
  }

 private:
  static constexpr double kSquare = 4.0;

  static int SquareAt(double distance, int most) {
    return static_cast<int>(std::floor(std::clamp(distance / kSquare, -1.0, static_cast<double>(most))));
  }

  // Tests squares until one passes.
  template <typename Test>
  bool Any(const Box& part, Test test) {
    const int right = std::min(SquareAt(part.right() - box_.x, columns_), columns_ - 1);
    const int bottom = std::min(SquareAt(part.bottom() - box_.y, rows_), rows_ - 1);
    for (int row = std::max(0, SquareAt(part.y - box_.y, rows_)); row <= bottom; ++row) {
      for (int column = std::max(0, SquareAt(part.x - box_.x, columns_)); column <= right; ++column) {
        if (test(squares_[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) +
                          static_cast<std::size_t>(column)])) {
          return true;
        }
      }
    }
    return false;
  }

  const Box box_;
  const int columns_;
  const int rows_;
  std::vector<std::uint8_t> squares_;
};

constexpr double kGap = 4.0;
constexpr double kHeight = kTextSize + 6;

// Returns the upper left corners that a name of that width may have, the best first.
std::vector<Point> CornersFor(const NamedItem& item, double width) {
  const auto [x, y] = item.middle;
  const double across = item.across + kGap;
  const double down = item.down + kGap;
  std::vector<Point> corners;
  if (item.is_area && width <= 2 * item.across) {
    corners.push_back({x - width / 2, y - kHeight / 2});
  }
  const double left = x - across - width;
  const double right = x + across;
  const double above = y - down - kHeight;
  const double below = y + down;
  for (const Point corner : {Point{x - width / 2, above},
                             {x - width / 2, below},
                             {right, y - kHeight / 2},
                             {left, y - kHeight / 2},
                             {right, y - kHeight},
                             {right, y},
                             {left, y - kHeight},
                             {left, y},
                             {right - kGap, above + kGap},
                             {right - kGap, below - kGap},
                             {left + kGap, above + kGap},
                             {left + kGap, below - kGap}}) {
    corners.push_back(corner);
  }
  return corners;
}

bool Contains(const Box& box, Point point) {
  return point.x >= box.x && point.x <= box.right() && point.y >= box.y && point.y <= box.bottom();
}

}  // namespace

void WriteNames(absl::Span<const NamedItem> items, absl::Span<const std::pair<Point, Point>> lines,
                const Box& box, const Palette& palette, Surface& surface) {
  Room room(box);
  for (const auto& [from, to] : lines) {
    room.TakeLine(from, to);
  }
  for (const NamedItem& item : items) {
    if (!item.is_area) {
      room.Take({item.middle.x - item.across, item.middle.y - item.down, 2 * item.across, 2 * item.down},
                kTaken);
    }
  }
  for (const NamedItem& item : items) {
    if (item.name.empty() || !Contains(box, item.middle)) {
      continue;
    }
    const double width = TextWidth(item.name, kTextSize) + 4;
    std::optional<Box> place;
    for (const std::uint8_t without : {std::uint8_t{kTaken | kLine}, kTaken}) {
      for (const Point corner : CornersFor(item, width)) {
        const Box part = {corner.x, corner.y, width, kHeight};
        if (!place && room.IsFree(part, without)) {
          place = part;
        }
      }
    }
    if (place) {
      room.Take(*place, kTaken);
      surface.Fill(place->corners(), {palette.paper, 0.75});
      surface.Write(item.name, {place->x + 2, place->bottom() - 3}, {palette.ink, kTextSize});
    }
  }
}

}  // namespace waystar::picture
