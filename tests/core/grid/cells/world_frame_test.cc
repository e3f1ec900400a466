#include "server/core/grid/cells/world_frame.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "gtest/gtest.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

TEST(WorldFrameTest, FarAwayIsOffEveryMap) {
  const WorldFrame frame{.cell_size = kMinCellSize};
  constexpr double kFar = std::numeric_limits<double>::max();
  EXPECT_LT(frame.CellAt({-kFar, 0}).x, -8192);
  EXPECT_GT(frame.CellAt({kFar, kFar}).y, 8192);
}

// Whatever the rounding of the division, the edges decide.
TEST(WorldFrameTest, EdgesDecideAndCentresComeBack) {
  Random random(5);
  for (int i = 0; i < 100'000; ++i) {
    const WorldFrame frame{
        .origin = {random.Between(-1000000, 1000000) / 7.0, random.Between(-1000, 1000) * 1e6},
        .cell_size = random.Between(1, 5000) / 1000.0};
    const Cell cell{random.Between(0, 8191), random.Between(0, 8191)};
    ASSERT_EQ(frame.CellAt(frame.CenterOf(cell)), cell);
    const double edge = std::fma(cell.x, frame.cell_size, frame.origin.x);
    const double middle = frame.CenterOf(cell).y;
    ASSERT_EQ(frame.CellAt({edge, middle}), cell);
    ASSERT_EQ(frame.CellAt({std::nextafter(edge, -1e300), middle}).x, cell.x - 1);
  }
}

constexpr HexLayout kLayouts[] = {HexLayout::kAxialPointy, HexLayout::kAxialFlat,  HexLayout::kOddRows,
                                  HexLayout::kEvenRows,    HexLayout::kOddColumns, HexLayout::kEvenColumns};
constexpr HexLayout kOffsetLayouts[] = {HexLayout::kOddRows, HexLayout::kEvenRows, HexLayout::kOddColumns,
                                        HexLayout::kEvenColumns};

bool AreNeighbours(Cell a, Cell b) {
  const int dx = a.x - b.x;
  const int dy = a.y - b.y;
  return std::abs(dx) <= 1 && std::abs(dy) <= 1 && dx != dy;
}

// Where the centre of a hexagon lies if the rows, or columns, are drawn as people do, a step being 1.
std::pair<double, double> CenterOfOffset(HexLayout layout, Cell offset) {
  const bool is_odd = ((IsFlatTopped(layout) ? offset.x : offset.y) & 1) != 0;
  const bool is_shifted = is_odd == (layout == HexLayout::kOddRows || layout == HexLayout::kOddColumns);
  const double half = is_shifted ? 0.5 : 0.0;
  const double height = std::sqrt(0.75);
  return IsFlatTopped(layout) ? std::pair(offset.x * height, offset.y + half)
                              : std::pair(offset.x + half, offset.y * height);
}

TEST(HexBoardTest, OffsetsAreWherePeopleDrawThem) {
  for (const HexLayout layout : kOffsetLayouts) {
    for (int ay = -3; ay <= 3; ++ay) {
      for (int ax = -3; ax <= 3; ++ax) {
        const Cell a{ax, ay};
        EXPECT_EQ(OffsetOf(layout, AxialOf(layout, a)), a);
        for (int by = -3; by <= 3; ++by) {
          for (int bx = -3; bx <= 3; ++bx) {
            const auto [x, y] = CenterOfOffset(layout, a);
            const auto [other_x, other_y] = CenterOfOffset(layout, {bx, by});
            const double distance = std::hypot(x - other_x, y - other_y);
            EXPECT_EQ(AreNeighbours(AxialOf(layout, a), AxialOf(layout, {bx, by})),
                      std::abs(distance - 1.0) < 1e-9);
          }
        }
      }
    }
    EXPECT_EQ(AxialOf(layout, {0, 0}), (Cell{0, 0}));
  }
}

TEST(HexBoardTest, ThePlaneIsJustLargeEnough) {
  for (const HexLayout layout : kOffsetLayouts) {
    for (int columns = 1; columns <= 6; ++columns) {
      for (int rows = 1; rows <= 6; ++rows) {
        const HexBoard board{layout, columns, rows};
        std::set<std::pair<int, int>> on_board;
        int max_x = 0;
        int max_y = 0;
        for (int row = 0; row < rows; ++row) {
          for (int column = 0; column < columns; ++column) {
            const Cell cell = board.PlaneCellOf({column, row});
            EXPECT_EQ(board.CountedAt(cell), (Cell{column, row}));
            EXPECT_GE(cell.x, 0);
            EXPECT_GE(cell.y, 0);
            on_board.emplace(cell.x, cell.y);
            max_x = std::max(max_x, cell.x);
            max_y = std::max(max_y, cell.y);
          }
        }
        EXPECT_EQ(board.plane_width(), max_x + 1);
        EXPECT_EQ(board.plane_height(), max_y + 1);
        for (int y = 0; y < board.plane_height(); ++y) {
          const HexBoard::Span span = board.InRow(y);
          for (int x = 0; x < board.plane_width(); ++x) {
            EXPECT_EQ(x >= span.begin && x < span.end, on_board.contains({x, y}));
          }
        }
      }
    }
  }
}

// The rectangles around parts are the smallest ones that hold all their cells, here and there.
TEST(HexBoardTest, PartsLieOnThePlaneRowByRow) {
  for (const HexLayout layout : kLayouts) {
    const HexBoard board{layout, 5, 6};
    for (const Rectangle& part : {Rectangle{0, 0, 5, 6}, Rectangle{1, 1, 1, 4}, Rectangle{1, 2, 3, 1},
                                  Rectangle{2, 1, 2, 3}, Rectangle{4, 5, 1, 1}}) {
      Rectangle around;
      int cells = 0;
      for (int y = part.y; y < part.y + part.height; ++y) {
        for (int x = part.x; x < part.x + part.width; ++x) {
          const Cell cell = board.PlaneCellOf({x, y});
          around = Union(around, {cell.x, cell.y, 1, 1});
        }
      }
      EXPECT_EQ(board.PlaneBoundsOf(part), around);
      for (int y = around.y; y < around.y + around.height; ++y) {
        const HexBoard::Span span = board.InRow(y, part);
        cells += span.end - span.begin;
        for (int x = span.begin; x < span.end; ++x) {
          EXPECT_TRUE(part.Contains(board.CountedAt({x, y})));
        }
      }
      EXPECT_EQ(cells, part.area());
      const Rectangle counted = board.PartAround(around);
      EXPECT_EQ(Intersect(part, counted), part);
    }
  }
}

TEST(HexBoardTest, NamesAreReadAsWritten) {
  for (const HexLayout layout : kLayouts) {
    EXPECT_EQ(HexLayoutOf(HexLayoutName(layout)), layout);
  }
  EXPECT_EQ(HexLayoutOf("octile"), std::nullopt);
}

TEST(HexWorldFrameTest, APositionIsInTheHexagonWithTheNearestCentre) {
  for (const HexLayout layout : kLayouts) {
    const WorldFrame frame{
        .origin = {-7.5, 3.25, 2.0}, .cell_size = 1.75, .hexagons = HexBoard{layout, 9, 7}};
    Random random(static_cast<std::uint64_t>(layout));
    for (int i = 0; i < 2000; ++i) {
      const WorldPoint position{-20.0 + random.Between(0, 4000) / 100.0,
                                -10.0 + random.Between(0, 4000) / 100.0, 0.0};
      const auto distance = [&](Cell cell) {
        const WorldPoint center = frame.CenterOf(cell);
        return std::hypot(center.x - position.x, center.y - position.y);
      };
      const Cell cell = frame.CellAt(position);
      for (int dy = -3; dy <= 3; ++dy) {
        for (int dx = -3; dx <= 3; ++dx) {
          ASSERT_LE(distance(cell), distance({cell.x + dx, cell.y + dy}) + 1e-9);
        }
      }
      ASSERT_LE(distance(cell), 1.75 / std::sqrt(3.0) + 1e-9);
    }
    EXPECT_EQ(frame.CenterOf(frame.hexagons->zero()), (WorldPoint{-7.5, 3.25, 2.0}));
    for (int y = 0; y < 5; ++y) {
      for (int x = 0; x < 5; ++x) {
        EXPECT_EQ(frame.CellAt(frame.CenterOf({x, y})), (Cell{x, y}));
      }
    }
  }
}

TEST(HexWorldFrameTest, ABorderBelongsToTheLastInRowMajorOrder) {
  const WorldFrame frame{.hexagons = HexBoard{HexLayout::kAxialPointy}};
  EXPECT_EQ(frame.CellAt({0.5, 0.0, 0.0}), (Cell{1, 0}));
  EXPECT_EQ(frame.CellAt({-0.5, 0.0, 0.0}), (Cell{0, 0}));
  EXPECT_EQ(frame.CellAt({1e300, -1e300, 0.0}).x > 8192, true);
}

TEST(HexBoardTest, ARectangleOverlapsTheBoardIfOneOfItsCellsDoes) {
  constexpr std::pair<int, int> kSizes[] = {{1, 1}, {3, 1}, {1, 3}, {2, 3}, {9, 9}, {1, 0}};
  for (const HexLayout layout : kOffsetLayouts) {
    const HexBoard board{layout, 5, 4};
    for (int y = -2; y <= board.plane_height(); ++y) {
      for (int x = -2; x <= board.plane_width(); ++x) {
        for (const auto& [width, height] : kSizes) {
          bool overlaps = false;
          for (int i = 0; i < board.rows * board.columns; ++i) {
            const Cell cell = board.PlaneCellOf({i % board.columns, i / board.columns});
            overlaps |= Rectangle{x, y, width, height}.Contains(cell);
          }
          EXPECT_EQ(board.Overlaps({x, y, width, height}), overlaps)
              << HexLayoutName(layout) << " " << x << "," << y << "+" << width << "x" << height;
        }
      }
    }
  }
}

}  // namespace
}  // namespace waystar::core
