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

TEST(PlayingOrderTest, MapsTakeTurnsAsTheirRequestsCame) {
  EXPECT_THAT(Ordered({MakeUnit(1, kFindPath, 0, 5, 9, "a"), MakeUnit(2, kFindPath, 10, 15, 1, "b"),
                       MakeUnit(3, kFindPath, 20, 25, 9, "a")}),
              ElementsAre(1, 2, 3));
}

}  // namespace
}  // namespace waystar::record
