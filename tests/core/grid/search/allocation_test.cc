// Once a scratch and a map are warm, a query takes nothing from the heap.
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "tests/core/grid/agents.h"
#include "tests/core/grid/search/allocation_counter.h"
#include "tests/testing/layouts.h"
#include "tests/testing/oracle.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

constexpr std::size_t kScratchBytes = std::size_t{1} << 26;
// Closed in by walls three cells thick, and large enough for all agents.
constexpr Rectangle kCell = {150, 100, 20, 20};
constexpr int kWall = 3;

// Agents of one cell on maps of squares.
std::vector<MapAndAgent> MapKinds() {
  std::vector<MapAndAgent> kinds = EveryMapAndAgent();
  std::erase_if(kinds, [](const MapAndAgent& one) {
    return one.agent.footprint > 1 || one.connectivity == Connectivity::kSix ||
           (one.weighted && one.own_costs);
  });
  return kinds;
}

void Fill(GridMapEditor& editor, const Rectangle& all, bool obstacle) {
  for (int y = all.y; y < all.y + all.height; ++y) {
    editor.SetObstacles(y, all.x, all.x + all.width, obstacle);
  }
}

GridMap MakeMap(const MapAndAgent& kind) {
  GridSettings settings;
  settings.connectivity = kind.connectivity;
  if (kind.weighted) {
    // Other costs for each rule: what is remembered of one map is nothing to the next.
    settings.terrains.push_back(
        {.symbol = '~', .name = "swamp", .cost = 2.5 + static_cast<int>(kind.agent.corner_rule)});
    settings.terrains.push_back({.symbol = '=', .name = "road", .cost = 0.5});
  }
  GridMap map = *GridMap::Create(200, 150, std::move(settings));
  Random random(1);
  LayField(random, 60, map);
  GridMapEditor editor(map);
  if (kind.weighted) {
    for (int y = 0; y < map.height(); ++y) {
      std::vector<TerrainId> row;
      for (int x = 0; x < map.width(); ++x) {
        row.push_back(map.HasObstacle({x, y}) ? GridMapEditor::kObstacle
                                              : static_cast<TerrainId>((x / 9 + y / 7) % 3));
      }
      editor.SetRow(y, row);
    }
  }
  for (int y = 20; kind.own_costs && y < 100; ++y) {
    for (int x = 30; x < 130; ++x) {
      editor.SetStepCost({x, y}, kCostScale / 2 + (x < 80 ? 0 : x * y) * kCostScale / 1000);
    }
  }
  Fill(editor, {kCell.x - kWall, kCell.y - kWall, kCell.width + 2 * kWall, kCell.height + 2 * kWall}, true);
  Fill(editor, kCell, false);
  return std::move(editor).Finish();
}

bool IsSuited(const GridMap& map, const PathQuery& query) {
  const bool uniform = map.HasUniformCost();
  switch (query.algorithm) {
    case Algorithm::kJumpPoint:
      return uniform || (map.settings().connectivity == Connectivity::kEight && query.footprint == 1);
    case Algorithm::kLazyThetaStar:
      return uniform && query.path_form != PathForm::kDirections;
    case Algorithm::kSubgoalHierarchy:
      return uniform && map.settings().connectivity == Connectivity::kEight && query.footprint == 1 &&
             query.corner_rule == CornerRule::kNoCornerCutting;
    default:
      return true;
  }
}

enum class Goal { kReachable, kClosedIn, kBlocked };

// Random, from `seed`, of that kind and for that agent.
PathQuery QueryFor(const GridMap& map, Goal kind, int footprint, std::uint64_t seed) {
  Random random(seed);
  const auto cell_where = [&](auto predicate) {
    Cell cell;
    do {
      cell = {random.Between(0, map.width() - 1), random.Between(0, map.height() - 1)};
    } while (!predicate(cell));
    return cell;
  };
  const auto is_inside = [](Cell cell) { return !Intersect(kCell, {cell.x, cell.y, 1, 1}).empty(); };
  const auto is_outside = [&](Cell cell) { return CanStand(map, cell, footprint) && !is_inside(cell); };
  PathQuery query{.footprint = footprint};
  query.start = cell_where(is_outside);
  switch (kind) {
    case Goal::kReachable:
      query.goal = cell_where([&](Cell cell) {
        return is_outside(cell) &&
               map.walk(footprint)->components(Adjacency::kStraight).AreConnected(query.start, cell);
      });
      break;
    case Goal::kClosedIn:
      query.goal = cell_where([&](Cell cell) { return CanStand(map, cell, footprint) && is_inside(cell); });
      break;
    case Goal::kBlocked:
      query.goal = cell_where([&](Cell cell) { return !CanStand(map, cell, footprint); });
      break;
  }
  return query;
}

struct Question {
  PathQuery query;
  Outcome outcome = Outcome::kFound;
  std::string name;
};

// Every way to ask that has an answer and not an error, over the same few starts and goals.
std::vector<Question> QuestionsFor(const GridMap& map, CornerRule rule) {
  constexpr int kQueries = 2;
  std::vector<Question> questions;
  const auto add = [&](PathQuery query, Goal goal, UnreachablePolicy policy) {
    query.corner_rule = rule;
    query.unreachable_policy = policy;
    const Outcome outcome = goal == Goal::kReachable               ? Outcome::kFound
                            : policy == UnreachablePolicy::kReport ? Outcome::kUnreachable
                                                                   : Outcome::kPartial;
    for (const Algorithm algorithm :
         {Algorithm::kAuto, Algorithm::kAStar, Algorithm::kDijkstra, Algorithm::kJumpPoint,
          Algorithm::kLazyThetaStar, Algorithm::kSubgoalHierarchy}) {
      for (const PathForm form :
           {PathForm::kEveryCell, PathForm::kCorners, PathForm::kDirections, PathForm::kSmoothed}) {
        query.algorithm = algorithm;
        query.path_form = form;
        if (IsSuited(map, query)) {
          questions.push_back(
              {.query = query,
               .outcome = outcome,
               .name = absl::StrCat("algorithm ", static_cast<int>(algorithm), ", form ",
                                    static_cast<int>(form), ", goal ", static_cast<int>(goal), ", policy ",
                                    static_cast<int>(policy), ", footprint ", query.footprint)});
        }
      }
    }
  };
  for (const int footprint : {1, 3}) {
    for (std::uint64_t seed = 1; seed <= kQueries; ++seed) {
      for (const Goal goal : {Goal::kReachable, Goal::kClosedIn, Goal::kBlocked}) {
        const PathQuery query = QueryFor(map, goal, footprint, seed);
        add(query, goal, UnreachablePolicy::kNearestByDistance);
        if (goal != Goal::kBlocked) {
          add(query, goal, UnreachablePolicy::kReport);
        }
      }
    }
  }
  return questions;
}

// What one query takes from the heap. It must have that outcome.
std::int64_t AllocationsOf(const GridMap& map, const Question& question, Scratch& scratch,
                           const Budget& budget = {}) {
  const std::int64_t before = AllocationCount();
  const auto result = FindPath(map, question.query, budget, scratch);
  const std::int64_t after = AllocationCount();
  EXPECT_TRUE(result.ok()) << question.name << ": " << result.status();
  if (result.ok()) {
    EXPECT_EQ(result->outcome, question.outcome) << question.name;
  }
  return after - before;
}

TEST(AllocationCounterTest, CountsEveryOperatorNew) {
  constexpr std::align_val_t kAlignment{256};
  const auto counts = [](auto allocate, auto free) {
    const std::int64_t before = AllocationCount();
    void* memory = allocate();
    const bool has_counted = AllocationCount() == before + 1;
    free(memory);
    return has_counted && memory != nullptr;
  };
  EXPECT_TRUE(counts([] { return ::operator new(9); }, [](void* p) { ::operator delete(p); }));
  EXPECT_TRUE(counts([] { return ::operator new[](9); }, [](void* p) { ::operator delete[](p); }));
  EXPECT_TRUE(counts([] { return ::operator new(9, std::nothrow); }, [](void* p) { ::operator delete(p); }));
  EXPECT_TRUE(
      counts([] { return ::operator new[](9, std::nothrow); }, [](void* p) { ::operator delete[](p); }));
  EXPECT_TRUE(counts([] { return ::operator new(9, kAlignment); },
                     [](void* p) { ::operator delete(p, kAlignment); }));
  EXPECT_TRUE(counts([] { return ::operator new[](9, kAlignment); },
                     [](void* p) { ::operator delete[](p, kAlignment); }));
  EXPECT_TRUE(counts([] { return ::operator new(9, kAlignment, std::nothrow); },
                     [](void* p) { ::operator delete(p, kAlignment); }));
  EXPECT_TRUE(counts([] { return ::operator new[](9, kAlignment, std::nothrow); },
                     [](void* p) { ::operator delete[](p, kAlignment); }));
}

class AllocationTest : public ::testing::TestWithParam<MapAndAgent> {
 protected:
  const GridMap map_ = MakeMap(GetParam());
  const std::vector<Question> questions_ = QuestionsFor(map_, GetParam().agent.corner_rule);
};

// The question itself is all that a scratch needs to have heard. A cold one allocates, and the counter sees
// it.
TEST_P(AllocationTest, AQuestionAskedAgainAllocatesNothing) {
  for (const Question& question : questions_) {
    Scratch scratch(kScratchBytes);
    const std::int64_t cold = AllocationsOf(map_, question, scratch);
    EXPECT_TRUE(cold > 0 || question.outcome == Outcome::kUnreachable) << question.name;
    EXPECT_EQ(AllocationsOf(map_, question, scratch), 0) << question.name;
  }
}

TEST_P(AllocationTest, NorDoesRunningOutOfABudget) {
  Scratch scratch(kScratchBytes);
  for (Question question : questions_) {
    if (question.outcome == Outcome::kFound) {
      question.outcome = Outcome::kBudgetExhausted;
      AllocationsOf(map_, question, scratch, {.max_expansions = 1});
      EXPECT_EQ(AllocationsOf(map_, question, scratch, {.max_expansions = 1}), 0) << question.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, AllocationTest, ::testing::ValuesIn(MapKinds()), NameOf);

// As a worker gets them: maps of every kind by turns.
TEST(ManyMapsAllocationTest, NorDoesGoingFromMapToMap) {
  Scratch scratch(kScratchBytes);
  std::vector<std::pair<GridMap, Question>> questions;
  for (const MapAndAgent& kind : MapKinds()) {
    const GridMap map = MakeMap(kind);
    for (Question& question : QuestionsFor(map, kind.agent.corner_rule)) {
      questions.emplace_back(map, std::move(question));
    }
  }
  // By turns: far apart in the list is another map.
  const std::size_t step = questions.size() / MapKinds().size();
  const auto ask_all = [&](auto judge) {
    for (std::size_t first = 0; first < step; first += 7) {
      for (std::size_t i = first; i < questions.size(); i += step) {
        const auto& [map, question] = questions[i];
        judge(AllocationsOf(map, question, scratch), question);
      }
    }
  };
  ask_all([](std::int64_t, const Question&) {});
  ask_all([](std::int64_t count, const Question& question) { EXPECT_EQ(count, 0) << question.name; });
}

}  // namespace
}  // namespace waystar::core
