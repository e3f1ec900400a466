#include "client/record/playing_order.h"

#include <string>
#include <vector>

#include "client/record/methods.h"
#include "gmock/gmock.h"

namespace waystar::record {
namespace {

using ::testing::ElementsAre;

Unit MakeUnit(std::uint64_t call, const std::string& method, std::int64_t begin, std::int64_t end,
              std::uint64_t revision, const std::string& map = "m") {
  Unit unit;
  unit.call = call;
  unit.method = method;
  unit.begin_nanos = begin;
  unit.end_nanos = end;
  unit.revision = revision;
  unit.map = map;
  unit.is_update = method != kFindPath;
  return unit;
}

std::vector<std::uint64_t> Ordered(std::vector<Unit> units) {
  PutInPlayingOrder(units);
  std::vector<std::uint64_t> calls;
  for (const Unit& unit : units) {
    calls.push_back(unit.call);
  }
  return calls;
}

TEST(PlayingOrderTest, RevisionsTellWhatCameFirst) {
  // The first query was answered before the update that came in before it.
  EXPECT_THAT(Ordered({MakeUnit(1, kUpdateObstacles, 0, 30, 5), MakeUnit(2, kFindPath, 10, 40, 4),
                       MakeUnit(3, kFindPath, 20, 25, 5)}),
              ElementsAre(2, 1, 3));
}

TEST(PlayingOrderTest, WhatTellsNoRevisionStaysWhereItCameIn) {
  EXPECT_THAT(Ordered({MakeUnit(1, kUpdateObstacles, 0, 5, 5), MakeUnit(2, kFindPath, 10, 15, 0),
                       MakeUnit(3, kUpdateObstacles, 20, 25, 6)}),
              ElementsAre(1, 2, 3));
}

TEST(PlayingOrderTest, QueriesOfADeletedMapStayBehindItsEnd) {
  EXPECT_THAT(Ordered({MakeUnit(1, kFindPath, 0, 5, 5), MakeUnit(2, kDeleteMap, 10, 15, 5),
                       MakeUnit(3, kFindPath, 20, 25, 0), MakeUnit(4, kCreateMap, 30, 35, 6)}),
              ElementsAre(1, 2, 3, 4));
}

TEST(PlayingOrderTest, AMapThatIsCreatedAgainComesBehindTheOneBefore) {
  const auto of = [](std::uint64_t epoch, Unit unit) {
    unit.epoch = epoch;
    return unit;
  };
  // The first query is answered late, by the old map; the last is answered by the new one, whose creation is
  // still to be told.
  EXPECT_THAT(
      Ordered({of(9, MakeUnit(1, kFindPath, 0, 60, 4)), of(9, MakeUnit(2, kUpdateObstacles, 5, 8, 5)),
               of(9, MakeUnit(3, kDeleteMap, 10, 15, 5)), MakeUnit(4, kFindPath, 16, 17, 0),
               of(2, MakeUnit(5, kCreateMap, 20, 35, 1)), of(2, MakeUnit(6, kUpdateObstacles, 40, 45, 2)),
               of(2, MakeUnit(7, kFindPath, 18, 50, 1))}),
      ElementsAre(1, 2, 3, 4, 5, 7, 6));
}

TEST(PlayingOrderTest, AMapThatTakesAnothersPlaceComesBehindIt) {
  Unit query = MakeUnit(1, kFindPath, 0, 40, 7);
  query.epoch = 9;
  Unit import = MakeUnit(2, kImportMap, 10, 20, 1);
  import.epoch = 2;
  Unit later = MakeUnit(3, kFindPath, 25, 30, 1);
  later.epoch = 2;
  EXPECT_THAT(Ordered({import, query, later}), ElementsAre(1, 2, 3));
}

TEST(PlayingOrderTest, MapsTakeTurnsAsTheirRequestsCame) {
  EXPECT_THAT(Ordered({MakeUnit(1, kFindPath, 0, 5, 9, "a"), MakeUnit(2, kFindPath, 10, 15, 1, "b"),
                       MakeUnit(3, kFindPath, 20, 25, 9, "a")}),
              ElementsAre(1, 2, 3));
}

}  // namespace
}  // namespace waystar::record
