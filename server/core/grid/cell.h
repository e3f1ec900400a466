// Cells of a grid, the steps between them and rectangles of them. x grows to the right, y down.
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

// Row-major order, the order in which ties between cells are broken: smaller y first, then smaller x.
inline bool RowMajorLess(Cell a, Cell b) { return a.y != b.y ? a.y < b.y : a.x < b.x; }

// Clockwise from north, so that odd values are the diagonals. Value plus one is the number on the wire.
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

// A set of directions: bit d stands for the Direction of value d.
using DirectionSet = std::uint8_t;

constexpr DirectionSet SetOf(Direction direction) {
  return static_cast<DirectionSet>(1U << static_cast<unsigned>(direction));
}

// Clockwise from `direction` by so many eighths of a turn.
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

// Of a step. REQUIRES: both parts are from -1 to 1, and not both 0.
constexpr Direction DirectionOf(Cell step) {
  constexpr std::array<Direction, 9> kByStep = {
      Direction::kNorthWest, Direction::kNorth, Direction::kNorthEast,
      Direction::kWest,      Direction::kNorth, Direction::kEast,
      Direction::kSouthWest, Direction::kSouth, Direction::kSouthEast};
  return kByStep[static_cast<std::size_t>(step.y + 1) * 3 + static_cast<std::size_t>(step.x + 1)];
}

// The cells with x <= cell.x < x + width and y <= cell.y < y + height. Empty if width or height is 0 or less.
struct Rectangle {
  std::int32_t x = 0;
  std::int32_t y = 0;
  std::int32_t width = 0;
  std::int32_t height = 0;

  bool empty() const { return width <= 0 || height <= 0; }

  // In cells; right for any values of the fields.
  std::int64_t area() const { return empty() ? 0 : std::int64_t{width} * height; }

  friend bool operator==(const Rectangle&, const Rectangle&) = default;
};

// What both hold. Right for any values of the fields.
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

// The smallest rectangle that holds both `rectangle` and `cell`.
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

}  // namespace waystar::core
