// Cells of a grid, steps between them, and rectangles of cells. x grows to the right and y downwards.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace waystar::core {

struct Cell {
  std::int32_t x = 0;
  std::int32_t y = 0;

  friend bool operator==(const Cell&, const Cell&) = default;
};

// Row-major order (smaller y first, then smaller x); breaks ties between cells.
inline bool RowMajorLess(Cell a, Cell b) { return a.y != b.y ? a.y < b.y : a.x < b.x; }

// Directions run clockwise from north; odd values are diagonals. Protos add 1 to each.
enum class Direction : std::uint8_t {
  kNorth,
  kNorthEast,
  kEast,
  kSouthEast,
  kSouth,
  kSouthWest,
  kWest,
  kNorthWest,
};

inline constexpr int kDirectionCount = 8;

// Set of directions: bit d stands for the Direction of value d.
using DirectionSet = std::uint8_t;

constexpr DirectionSet SetOf(Direction direction) {
  return static_cast<DirectionSet>(1U << static_cast<unsigned>(direction));
}

// Returns the direction `eighths` of a turn clockwise from `direction`.
constexpr Direction Turned(Direction direction, int eighths) {
  return static_cast<Direction>((static_cast<unsigned>(direction) + static_cast<unsigned>(eighths)) %
                                kDirectionCount);
}

inline constexpr std::array<Cell, kDirectionCount> kSteps = {
    {{0, -1}, {1, -1}, {1, 0}, {1, 1}, {0, 1}, {-1, 1}, {-1, 0}, {-1, -1}}};

constexpr bool IsDiagonal(Direction direction) { return (static_cast<unsigned>(direction) & 1U) != 0; }

constexpr Direction Opposite(Direction direction) {
  return static_cast<Direction>((static_cast<unsigned>(direction) + 4U) % kDirectionCount);
}

constexpr Cell Step(Cell cell, Direction direction) {
  const Cell step = kSteps[static_cast<std::size_t>(direction)];
  return {cell.x + step.x, cell.y + step.y};
}

constexpr int Sign(int value) { return (value > 0) - (value < 0); }

// REQUIRES: both coordinates are from -1 to 1 and not both 0.
constexpr Direction DirectionOf(Cell step) {
  constexpr std::array<Direction, 9> kByStep = {
      Direction::kNorthWest, Direction::kNorth, Direction::kNorthEast,
      Direction::kWest,      Direction::kNorth, Direction::kEast,
      Direction::kSouthWest, Direction::kSouth, Direction::kSouthEast};
  return kByStep[static_cast<std::size_t>(step.y + 1) * 3 + static_cast<std::size_t>(step.x + 1)];
}

// Cells with x <= cell.x < x + width and y <= cell.y < y + height. Empty if a side is 0 or negative.
struct Rectangle {
  std::int32_t x = 0;
  std::int32_t y = 0;
  std::int32_t width = 0;
  std::int32_t height = 0;

  bool empty() const { return width <= 0 || height <= 0; }

  // Returns the number of cells. Exact for all values of the fields.
  std::int64_t area() const { return empty() ? 0 : std::int64_t{width} * height; }

  // Returns true if the rectangle contains the cell. Exact for all values of the fields.
  bool Contains(Cell cell) const {
    return cell.x >= x && std::int64_t{cell.x} - x < width && cell.y >= y &&
           std::int64_t{cell.y} - y < height;
  }

  friend bool operator==(const Rectangle&, const Rectangle&) = default;
};

// Returns the cells in both rectangles. Exact for all values of the fields.
inline Rectangle Intersect(const Rectangle& a, const Rectangle& b) {
  const auto left = std::max<std::int64_t>(a.x, b.x);
  const auto top = std::max<std::int64_t>(a.y, b.y);
  const auto right = std::min(std::int64_t{a.x} + a.width, std::int64_t{b.x} + b.width);
  const auto bottom = std::min(std::int64_t{a.y} + a.height, std::int64_t{b.y} + b.height);
  if (right <= left || bottom <= top) {
    return {};
  }
  return {static_cast<std::int32_t>(left), static_cast<std::int32_t>(top),
          static_cast<std::int32_t>(right - left), static_cast<std::int32_t>(bottom - top)};
}

// Returns the smallest rectangle that contains `rectangle` and `cell`.
inline Rectangle Extend(const Rectangle& rectangle, Cell cell) {
  if (rectangle.empty()) {
    return {cell.x, cell.y, 1, 1};
  }
  const std::int32_t left = std::min(rectangle.x, cell.x);
  const std::int32_t top = std::min(rectangle.y, cell.y);
  const std::int32_t right = std::max(rectangle.x + rectangle.width, cell.x + 1);
  const std::int32_t bottom = std::max(rectangle.y + rectangle.height, cell.y + 1);
  return {left, top, right - left, bottom - top};
}

// Returns the smallest rectangle that contains both.
inline Rectangle Union(const Rectangle& a, const Rectangle& b) {
  if (a.empty() || b.empty()) {
    return a.empty() ? b : a;
  }
  return Extend(Extend(a, {b.x, b.y}), {b.x + b.width - 1, b.y + b.height - 1});
}

}  // namespace waystar::core
