#include "server/formats/parts/import_notes.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(ImportNotesTest, CountsNotesOfOneText) {
  ImportNotes notes;
  notes.Add("hidden layers", "layer \"a\"");
  notes.Add("nothing blocks");
  notes.Add("hidden layers", "layer \"b\"");
  EXPECT_THAT(notes.notes(),
              ElementsAre(ImportNote{.text = "hidden layers", .first_place = "layer \"a\"", .count = 2},
                          ImportNote{.text = "nothing blocks", .first_place = "", .count = 1}));
  EXPECT_EQ(LineOf(notes.notes()[0]), "hidden layers: layer \"a\" and 1 more");
  EXPECT_EQ(LineOf(notes.notes()[1]), "nothing blocks");
}

TEST(ImportNotesTest, KeepsSoManyTexts) {
  ImportNotes notes;
  for (std::size_t i = 0; i < ImportNotes::kMaxNotes + 3; ++i) {
    notes.Add(absl::StrCat("text ", i));
  }
  ASSERT_THAT(notes.notes(), SizeIs(ImportNotes::kMaxNotes + 1));
  EXPECT_EQ(LineOf(notes.notes().back()), "notes of other kinds, 3 times");
}

TEST(ImportNotesTest, SomeNamesSoundLikeWalls) {
  for (const char* const name :
       {"wall", "Wall_1", "StoneWall", "STONE WALLS", "collision-layer", "isSolid", "2 blockers", "fence"}) {
    EXPECT_TRUE(SoundsLikeWall(name)) << name;
  }
  for (const char* const name : {"", "wallpaper", "walk", "Ground", "consolidate", "unblocked", "path"}) {
    EXPECT_FALSE(SoundsLikeWall(name)) << name;
  }
}

}  // namespace
}  // namespace waystar::core
