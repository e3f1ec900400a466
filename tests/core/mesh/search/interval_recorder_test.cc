#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/mesh/map/cell_layer.h"
#include "server/core/mesh/search/interval_search.h"
#include "server/core/mesh/search/mesh_path.h"
#include "tests/core/mesh/search/sight_graph.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::size_t kAmple = std::size_t{1} << 28;

// Returns whether the point lies on the edge between those vertices, in space.
bool IsOnEdge(const WorldPoint& point, const WorldPoint& a, const WorldPoint& b) {
  const double slack = 1e-9 * std::max({1.0, std::abs(point.x), std::abs(point.y)});
  const double share = PlanDistance(a, point) / PlanDistance(a, b);
  return std::abs(PlanDistance(a, point) + PlanDistance(point, b) - PlanDistance(a, b)) < slack &&
         std::abs(point.z - (a.z + share * (b.z - a.z))) < 1e-6;
}

// Returns whether both lie on a side of the cell.
bool HasOnSide(const CellLayer& cells, PolygonNumber cell, const WorldPoint& left, const WorldPoint& right) {
  const auto vertices = cells.VerticesOf(cell);
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const WorldPoint& a = cells.VertexAt(vertices[i]);
    const WorldPoint& b = cells.VertexAt(vertices[(i + 1) % vertices.size()]);
    if (IsOnEdge(left, a, b) && IsOnEdge(right, a, b)) {
      return true;
    }
  }
  return false;
}

// Returns whether this is a corner of a cell that has the interval on a side.
bool IsCornerBeside(const CellLayer& cells, const TracedInterval& interval, const WorldPoint& point) {
  for (PolygonNumber cell = 0; cell < cells.cell_count(); ++cell) {
    if (HasOnSide(cells, cell, interval.left, interval.right) &&
        std::ranges::any_of(cells.VerticesOf(cell),
                            [&](std::uint32_t vertex) { return cells.VertexAt(vertex) == point; })) {
      return true;
    }
  }
  return false;
}

void ExpectOnMesh(const NavMesh& mesh, const TracedInterval& interval) {
  ASSERT_LT(interval.polygon, mesh.polygon_count());
  const CellLayer cells(mesh);
  bool is_on_side = false;
  double greatest = 0.0;
  for (PolygonNumber cell = 0; cell < cells.cell_count(); ++cell) {
    if (HasOnSide(cells, cell, interval.left, interval.right)) {
      is_on_side = true;
      for (const std::uint32_t vertex : cells.VerticesOf(cell)) {
        greatest = std::max(greatest, PlanDistance(cells.VertexAt(vertex), interval.left));
      }
    }
  }
  EXPECT_TRUE(is_on_side);
  const double x = (interval.left.x + interval.right.x) / 2;
  const double y = (interval.left.y + interval.right.y) / 2;
  EXPECT_LE(PlanDistance(mesh.NearestPoint(interval.polygon, x, y), {x, y, 0}), greatest / 32);
  EXPECT_GE(interval.f, interval.g);
}

// Expects that the events explain the search, each step by those before.
void ExpectExplained(const NavMesh& mesh, const MeshPlace& start, const MeshSearchReport& report,
                     const IntervalRecorder& recorder) {
  const std::vector<TracedInterval>& intervals = recorder.intervals();
  const auto rounding = [](double length) { return 1e-9 * std::max(1.0, length); };
  IntervalNumber generated = 0;
  std::uint64_t expanded = 0;
  std::vector<bool> is_expanded(intervals.size(), false);
  std::optional<IntervalNumber> last;
  int successors = 0;
  double highest = 0.0;
  for (const IntervalEvent& event : recorder.events()) {
    ASSERT_LT(event.interval, intervals.size());
    const TracedInterval& interval = intervals[event.interval];
    if (event.kind == SearchEvent::Kind::kGenerated) {
      ASSERT_EQ(event.interval, generated++);
      ExpectOnMesh(mesh, interval);
      if (interval.parent == MeshInterval::kNoParent) {
        EXPECT_FALSE(last.has_value());
        EXPECT_EQ(interval.root, start.point);
        EXPECT_EQ(interval.g, 0.0);
        continue;
      }
      // What is seen through an interval is generated right after it was expanded.
      ASSERT_EQ(interval.parent, last);
      ++successors;
      const TracedInterval& parent = intervals[interval.parent];
      EXPECT_NEAR(interval.g, parent.g + PlanDistance(parent.root, interval.root), rounding(interval.g));
      if (interval.root != parent.root) {
        EXPECT_TRUE(IsCornerBeside(CellLayer(mesh), parent, interval.root));
      }
      EXPECT_GE(interval.f, parent.f - rounding(parent.f));
      continue;
    }
    ASSERT_LT(event.interval, generated);
    EXPECT_FALSE(is_expanded[event.interval]);
    is_expanded[event.interval] = true;
    ++expanded;
    // A single one that is seen through the one before, from the same root, need not wait for its turn.
    const bool is_single = last.has_value() && successors == 1 && interval.parent == *last &&
                           interval.root == intervals[*last].root;
    if (!is_single) {
      EXPECT_GE(interval.f, highest - rounding(highest));
      highest = std::max(highest, interval.f);
    }
    last = event.interval;
    successors = 0;
  }
  EXPECT_EQ(generated, report.statistics.generated);
  EXPECT_EQ(expanded, report.statistics.expanded);
  EXPECT_FALSE(recorder.is_truncated());
  if (report.end != SearchEnd::kGoalReached || intervals.empty()) {
    return;
  }
  // The path arrives through one that was left open.
  bool arrives = false;
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    arrives |= !is_expanded[i] && std::abs(intervals[i].f - report.length) <= rounding(report.length);
  }
  EXPECT_TRUE(arrives);
}

void ExpectAllExplained(const NavMesh& mesh, int pairs, Random& random) {
  MeshScratch scratch(kAmple);
  MeshScratch other(kAmple);
  for (int i = 0; i < pairs && !::testing::Test::HasFailure(); ++i) {
    const MeshSearchTask task{.start = RandomPlace(mesh, random), .goal = RandomPlace(mesh, random)};
    IntervalRecorder recorder(1'000'000);
    const MeshSearchReport report = SearchMesh(mesh, task, {}, scratch, &recorder);
    ExpectExplained(mesh, task.start, report, recorder);
    const MeshSearchReport unwatched = SearchMesh(mesh, task, {}, other);
    EXPECT_EQ(report.end, unwatched.end);
    EXPECT_EQ(report.length, unwatched.length);
    EXPECT_EQ(report.corners, unwatched.corners);
    EXPECT_EQ(report.statistics.expanded, unwatched.statistics.expanded);
    EXPECT_EQ(report.statistics.generated, unwatched.statistics.generated);
  }
}

TEST(IntervalRecorderTest, ExplainsSearches) {
  ForMeshes(60, 1, [](const NavMesh& mesh, Random& random) { ExpectAllExplained(mesh, 30, random); });
}

// Each polygon is a cell of its own.
NavMesh ApartMeshOf(MeshSpec spec) {
  for (std::size_t i = 0; i < spec.polygons.size(); ++i) {
    spec.polygons[i].area = static_cast<std::uint8_t>(i);
  }
  return MeshOf(std::move(spec));
}

TEST(IntervalRecorderTest, KeepsTheFirstEventsUpToItsLimit) {
  const NavMesh mesh = MeshOf(DrawRooms({"......", ".####.", "......"}));
  MeshScratch scratch(kAmple);
  const MeshSearchTask task{.start = PlaceAt(mesh, 0.5, 1.5), .goal = PlaceAt(mesh, 5.5, 1.5)};
  IntervalRecorder all(1000);
  const MeshSearchReport report = SearchMesh(mesh, task, {}, scratch, &all);
  ASSERT_GT(all.events().size(), 4);
  EXPECT_FALSE(all.is_truncated());
  for (std::size_t limit = 0; limit <= all.events().size(); ++limit) {
    IntervalRecorder some(limit);
    EXPECT_EQ(SearchMesh(mesh, task, {}, scratch, &some).length, report.length);
    ASSERT_THAT(some.events(), SizeIs(limit));
    EXPECT_EQ(some.is_truncated(), limit < all.events().size());
    for (std::size_t i = 0; i < limit; ++i) {
      EXPECT_EQ(some.events()[i].kind, all.events()[i].kind);
      EXPECT_EQ(some.events()[i].interval, all.events()[i].interval);
      EXPECT_LT(some.events()[i].interval, some.intervals().size());
    }
  }
}

TEST(IntervalRecorderTest, CountsTheIntervalsOfAllSearches) {
  const NavMesh mesh = MeshOf(DrawRooms({"......", ".####.", "......"}));
  MeshScratch scratch(kAmple);
  const MeshSearchTask task{.start = PlaceAt(mesh, 0.5, 1.5), .goal = PlaceAt(mesh, 5.5, 1.5)};
  IntervalRecorder recorder(1000);
  SearchMesh(mesh, task, {}, scratch, &recorder);
  const std::size_t once = recorder.intervals().size();
  const std::size_t events = recorder.events().size();
  SearchMesh(mesh, task, {}, scratch, &recorder);
  ASSERT_THAT(recorder.intervals(), SizeIs(2 * once));
  ASSERT_THAT(recorder.events(), SizeIs(2 * events));
  for (std::size_t i = 0; i < events; ++i) {
    EXPECT_EQ(recorder.events()[events + i].interval, once + recorder.events()[i].interval);
  }
  for (std::size_t i = 0; i < once; ++i) {
    const TracedInterval& first = recorder.intervals()[i];
    const TracedInterval& again = recorder.intervals()[once + i];
    EXPECT_EQ(again.left, first.left);
    EXPECT_EQ(again.parent,
              first.parent == MeshInterval::kNoParent ? MeshInterval::kNoParent : once + first.parent);
  }
}

TEST(IntervalRecorderTest, SeesNothingWhereNothingIsSearched) {
  const NavMesh mesh = ApartMeshOf(DrawRooms({"..#.."}));
  MeshScratch scratch(kAmple);
  IntervalRecorder recorder(100);
  const auto find = [&](const WorldPoint& goal) {
    MeshQuery query{.start = {0.25, 0.5, 0}, .goals = {goal}};
    return FindMeshPath(mesh, query, {}, scratch, &recorder);
  };
  // Within a polygon, and to another part.
  EXPECT_THAT(find({0.75, 0.5, 0}), IsOk());
  EXPECT_THAT(find({3.5, 0.5, 0}), IsOk());
  EXPECT_THAT(recorder.events(), IsEmpty());
  EXPECT_THAT(find({1.5, 0.5, 0}), IsOk());
  EXPECT_THAT(recorder.intervals(), SizeIs(1));
}

}  // namespace
}  // namespace waystar::core
