#include <gtest/gtest.h>

#include "client/cli/cell_argument.h"

namespace waystar::cli {
namespace {

TEST(TerrainArgumentTest, ReadsSymbolNameAndCost) {
  const auto terrain = ParseTerrain("~=river:3.5");
  ASSERT_TRUE(terrain.ok()) << terrain.status();
  EXPECT_EQ(terrain->symbol(), "~");
  EXPECT_EQ(terrain->name(), "river");
  EXPECT_EQ(terrain->cost(), 3.5);
  EXPECT_FALSE(terrain->has_impassable());
}

TEST(TerrainArgumentTest, ReadsImpassableTerrain) {
  const auto terrain = ParseTerrain("^=peak:impassable");
  ASSERT_TRUE(terrain.ok()) << terrain.status();
  EXPECT_TRUE(terrain->impassable());
  EXPECT_FALSE(terrain->has_cost());
}

TEST(TerrainArgumentTest, NameAndCostAreOptional) {
  const auto unnamed = ParseTerrain("~=:2");
  ASSERT_TRUE(unnamed.ok()) << unnamed.status();
  EXPECT_EQ(unnamed->name(), "");
  EXPECT_EQ(unnamed->cost(), 2);
  const auto unpriced = ParseTerrain("~=river");
  ASSERT_TRUE(unpriced.ok()) << unpriced.status();
  EXPECT_EQ(unpriced->name(), "river");
  EXPECT_FALSE(unpriced->has_cost());
}

TEST(TerrainArgumentTest, EverySymbolIsPossible) {
  const auto terrain = ParseTerrain("==sign:1");
  ASSERT_TRUE(terrain.ok()) << terrain.status();
  EXPECT_EQ(terrain->symbol(), "=");
  EXPECT_EQ(terrain->name(), "sign");
}

TEST(TerrainArgumentTest, RefusesOthers) {
  for (const char* text : {"", "~", "~river:3", "river=3", "~=river:", "~=river:wet", "~:river=3"}) {
    EXPECT_FALSE(ParseTerrain(text).ok()) << text;
  }
}

}  // namespace
}  // namespace waystar::cli
