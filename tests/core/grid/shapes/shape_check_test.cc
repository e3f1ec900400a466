#include "server/core/grid/shapes/shape_check.h"

#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Rectangle kMap{0, 0, 10, 8};

absl::Status Check(const Shape& shape, ShapeOverlap overlap = ShapeOverlap::kEachPart) {
  return CheckShape(shape, kMap, overlap);
}

TEST(CheckShapeTest, TakesWhatOverlapsTheMap) {
  EXPECT_TRUE(Check({.cells = {{9, 7}}}).ok());
  EXPECT_TRUE(Check({.rectangles = {{-3, -3, 4, 4}}}).ok());
  EXPECT_TRUE(Check({.discs = {{{-1, -1}, 2}, {{4.5, 4.5}, 0}}}).ok());
  EXPECT_TRUE(Check({.polygons = {{{{-9, -9}, {99, -9}, {4, 99}}}}}).ok());
  EXPECT_TRUE(Check({.lines = {{{2, 2}, {2, 2}, 0}, {{-kMaxReach, 0}, {kMaxReach, 0}, kMaxReach}}}).ok());
}

TEST(CheckShapeTest, NamesWhatIsOutOfRange) {
  const std::vector<Point> too_many(kMaxVertices + 1, {1, 1});
  const struct {
    Shape shape;
    ErrorReason reason;
    const char* field;
  } cases[] = {
      {{}, ErrorReason::kEmptyShape, ""},
      {{.rectangles = {{0, 0, 1, 0}}}, ErrorReason::kBadRectangle, ".rectangles[0].height"},
      {{.discs = {{{1, 1}, 1}, {{1, 1}, -0.5}}}, ErrorReason::kBadDisc, ".discs[1].radius"},
      {{.discs = {{{1, kMaxReach * 2}, 1}}}, ErrorReason::kBadDisc, ".discs[0].center.y"},
      {{.discs = {{{kNaN, 1}, 1}}}, ErrorReason::kBadValue, ".discs[0].center.x"},
      {{.discs = {{{1, 1}, -1e-300}}}, ErrorReason::kBadDisc, ".discs[0].radius"},
      {{.discs = {{{1, 1}, 1e7}}}, ErrorReason::kBadDisc, ".discs[0].radius"},
      {{.discs = {{{1, 1}, 1e308}}}, ErrorReason::kBadDisc, ".discs[0].radius"},
      {{.discs = {{{1, 1}, kNaN}}}, ErrorReason::kBadValue, ".discs[0].radius"},
      {{.discs = {{{1, 1}, kInfinity}}}, ErrorReason::kBadValue, ".discs[0].radius"},
      {{.discs = {{{1, 1}, -kInfinity}}}, ErrorReason::kBadValue, ".discs[0].radius"},
      {{.polygons = {{}}}, ErrorReason::kBadPolygon, ".polygons[0].vertices"},
      {{.polygons = {{{{0, 0}, {1, 1}}}}}, ErrorReason::kBadPolygon, ".polygons[0].vertices"},
      {{.polygons = {{{{0, 0}, {0, 0}, {1, 1}, {3, 3}}}}}, ErrorReason::kBadPolygon, ".polygons[0].vertices"},
      {{.polygons = {{{{1, 1}, {1, 1}, {1, 1}}}}}, ErrorReason::kBadPolygon, ".polygons[0].vertices"},
      {{.polygons = {{too_many}}}, ErrorReason::kBadPolygon, ".polygons[0].vertices"},
      {{.polygons = {{{{0, 0}, {1, kInfinity}, {1, 0}}}}},
       ErrorReason::kBadValue,
       ".polygons[0].vertices[1].y"},
      {{.lines = {{{0, 0}, {-2e6, 0}, 1}}}, ErrorReason::kBadLine, ".lines[0].end.x"},
      {{.lines = {{{0, 0}, {1, kNaN}, 1}}}, ErrorReason::kBadValue, ".lines[0].end.y"},
      {{.lines = {{{0, 0}, {1, 0}, kInfinity}}}, ErrorReason::kBadValue, ".lines[0].width"},
      {{.lines = {{{0, 0}, {1, 0}, -1}}}, ErrorReason::kBadLine, ".lines[0].width"},
      {{.lines = {{{0, 0}, {1, 0}, 2e6}}}, ErrorReason::kBadLine, ".lines[0].width"},
  };
  for (const auto& [shape, reason, field] : cases) {
    EXPECT_THAT(Check(shape), IsError(kInvalid, reason, field));
  }
}

TEST(CheckShapeTest, EachPartOrAnyHasToOverlapTheMap) {
  const std::vector<Shape> off = {{.rectangles = {{10, 0, 5, 5}}},
                                  {.discs = {{{-4, 3}, 3}}},
                                  {.polygons = {{{{11, 11}, {12, 11}, {12, 12}}}}},
                                  {.lines = {{{0, 9}, {9, 9}, 1}}}};
  const char* const fields[] = {".rectangles[0]", ".discs[0]", ".polygons[0]", ".lines[0]"};
  for (std::size_t i = 0; i < off.size(); ++i) {
    EXPECT_THAT(Check(off[i]), IsError(kOutOfRange, ErrorReason::kOffMap, fields[i]));
    EXPECT_THAT(Check(off[i], ShapeOverlap::kAny), IsError(kOutOfRange, ErrorReason::kOffMap, ""));
    EXPECT_TRUE(Check(off[i], ShapeOverlap::kNone).ok());
    Shape both = off[i];
    both.cells = {{3, 3}};
    EXPECT_THAT(Check(both), IsError(kOutOfRange, ErrorReason::kOffMap, fields[i]));
    EXPECT_TRUE(Check(both, ShapeOverlap::kAny).ok());
  }
  EXPECT_THAT(Check({.cells = {{3, 3}, {-1, 3}}}), IsError(kOutOfRange, ErrorReason::kOffMap, ".cells[1]"));
  EXPECT_TRUE(Check({.cells = {{3, 3}, {-1, 3}}}, ShapeOverlap::kAny).ok());
}

}  // namespace
}  // namespace waystar::core
