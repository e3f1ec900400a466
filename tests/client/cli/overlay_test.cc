#include "client/cli/draw/overlay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/client/cli/cells.h"
#include "tests/client/cli/drawn.h"

namespace waystar::cli {
namespace {

using ::testing::ElementsAre;
using ::waystar::testing::At;
using ::waystar::testing::Drawn;

Overlay Walk() {
  Overlay overlay;
  overlay.start = At(0, 0);
  overlay.goal = At(3, 0);
  overlay.path = {At(0, 0), At(0, 1), At(1, 2), At(2, 2), At(3, 1), At(3, 0)};
  return overlay;
}

TEST(OverlayTest, DrawsStartGoalAndPath) {
  Picture picture = DrawMap({".##.",  //
                             ".##.", "...."},
                            {0, 0, 4, 3, 1});
  DrawOverlay(Walk(), {}, picture);
  EXPECT_THAT(Drawn(picture), ElementsAre("S##G",  //
                                          "*##*",  //
                                          ".**."));
}

TEST(OverlayTest, ThePathWinsOverObstaclesInOneCharacter) {
  Picture picture = DrawMap({".##.",  //
                             ".##.", "...."},
                            {0, 0, 4, 3, 2});
  DrawOverlay(Walk(), {}, picture);
  EXPECT_THAT(Drawn(picture), ElementsAre("SG", "**"));
}

TEST(OverlayTest, MarksTheEndOfAPartialPath) {
  Picture picture = DrawMap({"..#."}, {0, 0, 4, 1, 1});
  Overlay overlay;
  overlay.start = At(0, 0);
  overlay.goal = At(3, 0);
  overlay.end = At(1, 0);
  overlay.path = {At(0, 0), At(1, 0)};
  DrawOverlay(overlay, {}, picture);
  EXPECT_THAT(Drawn(picture), ElementsAre("SE#G"));
}

TEST(OverlayTest, DrawsTheSearchBelowThePath) {
  Picture picture = DrawMap({".##.",  //
                             "....", "...."},
                            {0, 0, 4, 3, 1});
  Overlay overlay;
  overlay.start = At(0, 0);
  overlay.path = {At(0, 0), At(0, 1)};
  overlay.expanded = {At(0, 0), At(0, 1), At(1, 1), At(0, 2), At(3, 1)};
  overlay.open = {At(3, 0), At(1, 1), At(3, 2)};
  DrawOverlay(overlay, {}, picture);
  EXPECT_THAT(Drawn(picture), ElementsAre("S##o",  //
                                          "*4.8",  //
                                          "6..o"));
}

TEST(OverlayTest, ACharacterOfSeveralCellsShowsTheFirstToBeExpanded) {
  Picture picture = DrawMap({"....", "...."}, {0, 0, 4, 2, 2});
  Overlay overlay;
  overlay.expanded = {At(0, 0), At(1, 0), At(1, 1), At(0, 1)};
  overlay.open = {At(0, 1), At(2, 0)};
  DrawOverlay(overlay, {}, picture);
  EXPECT_THAT(Drawn(picture), ElementsAre("0o"));
}

TEST(OverlayTest, LeavesOutWhatTheViewDoesNotShow) {
  Picture picture = DrawMap({"....", "...."}, {1, 0, 2, 2, 1});
  DrawOverlay(Walk(), {}, picture);
  EXPECT_THAT(Drawn(picture), ElementsAre("..", ".."));
}

TEST(OverlayTest, MarkersAreNoTerrainOfThePicture) {
  EXPECT_EQ(ChooseMarkers(DrawMap({".#~"}, {0, 0, 3, 1, 1})).start, 'S');
  const Markers markers = ChooseMarkers(DrawMap({".SG"}, {0, 0, 3, 1, 1}));
  EXPECT_EQ(markers.start, 'A');
  EXPECT_EQ(markers.goal, 'B');
  EXPECT_EQ(ChooseMarkers(DrawMap({"SA*1"}, {0, 0, 4, 1, 1})).start, '<');
  EXPECT_EQ(ChooseMarkers(DrawMap({".#~"}, {0, 0, 3, 1, 1})).expanded, '0');
  EXPECT_EQ(ChooseMarkers(DrawMap({".7~"}, {0, 0, 3, 1, 1})).expanded, 'a');
  EXPECT_EQ(ChooseMarkers(DrawMap({".SA"}, {0, 0, 3, 1, 1})).expanded, 'a') << "the marks are digits";
}

}  // namespace
}  // namespace waystar::cli
