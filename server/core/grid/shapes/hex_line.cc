// Compiled without contraction of floating-point operations, so that costs are the same on every machine.
#include "server/core/grid/shapes/hex_line.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

namespace waystar::core {
namespace {

using Place = HexLine::Place;

// Returns three linear functions of a place; all are from -1 to 1 exactly in the hexagon, one step wide,
// around the origin.
std::array<std::int64_t, 3> HeightsOf(const Place& place) {
  return {2 * place.x + place.y, place.x + 2 * place.y, place.x - place.y};
}

}  // namespace

HexLine::HexLine(Place from, Place to, std::int64_t scale) : scale_(scale) {
  if (to.y < from.y || (to.y == from.y && to.x < from.x)) {
    std::swap(from, to);
  }
  origin_ = from;
  along_ = {to.x - from.x, to.y - from.y};
  reach_ = 0;
  for (const std::int64_t height : HeightsOf(along_)) {
    reach_ = std::max(reach_, Int128{std::abs(height)} * scale);
  }
}

int HexLine::first_row() const {
  return static_cast<int>(CeilDivide(3 * origin_.y - 2 * scale_, 3 * scale_));
}

int HexLine::last_row() const {
  return static_cast<int>(FloorDivide(3 * (origin_.y + along_.y) + 2 * scale_, 3 * scale_));
}

HexLine::Run HexLine::InRow(int y) const {
  // Centres lie at x * scale_ of the row; `row` is the row's distance below the upper end.
  const std::int64_t row = y * scale_ - origin_.y;
  const std::array<std::int64_t, 3> along = HeightsOf(along_);
  const auto low = [&](std::size_t i) { return std::min<std::int64_t>(0, along[i]) - scale_; };
  const auto high = [&](std::size_t i) { return std::max<std::int64_t>(0, along[i]) + scale_; };
  std::int64_t first = std::max({CeilDivide(low(0) - row, 2), low(1) - 2 * row, low(2) + row});
  std::int64_t last = std::min({FloorDivide(high(0) - row, 2), high(1) - 2 * row, high(2) + row});
  if (along_.y > 0) {
    const Int128 middle = Int128{3} * row * along_.x;
    first = std::max(first, CeilDivide(middle - reach_, 3 * along_.y));
    last = std::min(last, FloorDivide(middle + reach_, 3 * along_.y));
  }
  return {static_cast<int>(CeilDivide(origin_.x + first, scale_)),
          static_cast<int>(FloorDivide(origin_.x + last, scale_))};
}

HexParts HexPartsOf(Cell from, Cell to) { return HexPartsOf(Place{from.x, from.y}, Place{to.x, to.y}, 1); }

HexParts HexPartsOf(HexLine::Place from, HexLine::Place to, std::int64_t scale) {
  HexParts parts;
  const std::array<std::int64_t, 3> along = HeightsOf({to.x - from.x, to.y - from.y});
  const bool has_length = from.x != to.x || from.y != to.y;
  const HexLine line(from, to, scale);
  for (int y = line.first_row(); y <= line.last_row(); ++y) {
    const HexLine::Run run = line.InRow(y);
    for (int x = run.first; x <= run.last; ++x) {
      const std::array<std::int64_t, 3> center = HeightsOf({x * scale - from.x, y * scale - from.y});
      double entry = 0.0;
      double exit = 1.0;
      double weight = 1.0;
      for (std::size_t i = 0; i < along.size(); ++i) {
        if (along[i] == 0) {
          weight = has_length && std::abs(center[i]) == scale ? 0.5 : weight;
          continue;
        }
        const std::int64_t near = along[i] > 0 ? center[i] - scale : center[i] + scale;
        const std::int64_t far = along[i] > 0 ? center[i] + scale : center[i] - scale;
        entry = std::max(entry, static_cast<double>(near) / static_cast<double>(along[i]));
        exit = std::min(exit, static_cast<double>(far) / static_cast<double>(along[i]));
      }
      parts.push_back({{x, y}, entry, weight * std::max(0.0, exit - entry)});
    }
  }
  const auto is_at = [scale](Cell cell, const Place& place) {
    return cell.x * scale == place.x && cell.y * scale == place.y;
  };
  std::sort(parts.begin(), parts.end(), [&](const HexPart& a, const HexPart& b) {
    if (is_at(a.cell, from) || is_at(b.cell, from)) {
      return is_at(a.cell, from) && !is_at(b.cell, from);
    }
    if (is_at(a.cell, to) || is_at(b.cell, to)) {
      return is_at(b.cell, to) && !is_at(a.cell, to);
    }
    return a.entry != b.entry ? a.entry < b.entry : RowMajorLess(a.cell, b.cell);
  });
  return parts;
}

}  // namespace waystar::core
