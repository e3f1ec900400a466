// Terrains of a mesh in its picture and its legend.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "server/render/canvas/palette.h"
#include "server/render/scene/map_scenes.h"
#include "tests/core/mesh/map/drawn_mesh.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;

// Two squares side by side, the second of another area.
Scene Draw(MeshTerrain terrain, std::uint8_t area = 1, const RenderOptions& options = {}) {
  MeshSpec spec = DrawMesh({{0, 0, 0}, {5, 0, 0}, {9, 0, 0}, {9, 5, 0}, {5, 5, 0}, {0, 5, 0}},
                           {{0, 1, 4, 5}, {1, 2, 3, 4}});
  spec.polygons[1].area = area;
  for (std::size_t i = 0; i < area; ++i) {
    spec.terrains.push_back(DefaultMeshTerrain(i));
  }
  spec.terrains.push_back(std::move(terrain));
  const NavMesh mesh = MeshOf(std::move(spec));
  auto scene = MakeMeshScene(mesh, {}, options, /*query=*/nullptr, Budget());
  EXPECT_THAT(scene, IsOk());
  return *std::move(scene);
}

std::vector<std::string> LegendOf(const Scene& scene) {
  std::vector<std::string> texts;
  for (const picture::LegendEntry& entry : scene.legend) {
    texts.push_back(entry.text);
  }
  return texts;
}

std::ptrdiff_t AreasOf(picture::Color color, const Scene& scene) {
  return std::ranges::count_if(scene.marks, [&](const SceneMark& mark) {
    return mark.kind == SceneMark::Kind::kArea && mark.points.size() == 4 && mark.paint.color == color;
  });
}

TEST(MeshSceneTest, TerrainsHaveTheirColours) {
  for (const picture::Palette& palette : {picture::kLightPalette, picture::kDarkPalette}) {
    const RenderOptions options{.legend = false, .palette = palette};
    const picture::Color water = palette.ColorOf("water", 0, /*is_impassable=*/false, 1);
    const Scene scene = Draw({.name = "water", .cost = 2.5}, 1, options);
    EXPECT_EQ(AreasOf(water, scene), 1);
    EXPECT_EQ(AreasOf(palette.high, scene), 1);
    EXPECT_EQ(scene.legend[1].color, water);
    const picture::Color lava = palette.ColorOf("lava", 0, /*is_impassable=*/true, 1);
    EXPECT_EQ(AreasOf(lava, Draw({.name = "lava", .is_impassable = true}, 1, options)), 1);
    // A name that says nothing has a colour by its area.
    const picture::Color other = palette.ColorOf("", 0, /*is_impassable=*/false, 3);
    EXPECT_EQ(AreasOf(other, Draw({.name = "area-3", .tags = {"flag-1"}}, 3, options)), 1);
  }
}

TEST(MeshSceneTest, LegendNamesTerrains) {
  EXPECT_THAT(LegendOf(Draw({.name = "water", .cost = 2.5})),
              ElementsAre("polygon", "water, cost 2.5", "wall"));
  EXPECT_THAT(LegendOf(Draw({.name = "road"})), ElementsAre("polygon", "road", "wall"));
  EXPECT_THAT(LegendOf(Draw({.name = "lava", .is_impassable = true})),
              ElementsAre("polygon", "lava, impassable", "wall"));
  // Text does not show terrains.
  EXPECT_THAT(LegendOf(Draw({.name = "water"}, 1, {.is_text = true})), ElementsAre("polygon", "wall"));
}

TEST(MeshSceneTest, PlainGroundLooksAlike) {
  for (const auto& [area, terrain] :
       {std::pair(7, DefaultMeshTerrain(7)), {63, MeshTerrain{.name = "walkable", .tags = {"flag-0"}}}}) {
    const Scene scene = Draw(terrain, static_cast<std::uint8_t>(area), {.legend = false});
    EXPECT_THAT(LegendOf(scene), ElementsAre("polygon", "wall"));
    EXPECT_EQ(AreasOf(scene.palette.high, scene), 2);
  }
}

}  // namespace
}  // namespace waystar::core
