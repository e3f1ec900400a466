// Edits of the portals of navigation meshes.

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/core/edit/edit.h"
#include "server/core/edit/mesh_batch_editor.h"
#include "server/core/elements/portal.h"
#include "server/core/mesh/map/nav_mesh.h"

namespace waystar::core {
namespace {

NavMesh Yard() {
  MeshSpec spec;
  spec.vertices = {{0, 0, 0}, {10, 0, 0}, {10, 10, 0}, {0, 10, 0}};
  spec.AddPolygon({0, 1, 2, 3});
  return *NavMesh::Create(std::move(spec));
}

MeshPortal Slide() {
  return {.id = "slide", .from = {1, 1, 0}, .to = {9, 9, 0}, .cost = 0.5, .tags = {"b", "a"}};
}

class MeshPortalEditsTest : public ::testing::Test {
 protected:
  absl::Status Apply(const std::vector<Edit>& edits) {
    return editor_.Apply(edits, absl::UnixEpoch()).status();
  }
  static std::string Told(const absl::Status& status) {
    return ErrorReasonOf(status) + " " + ErrorFieldOf(status);
  }

  const NavMesh yard_ = Yard();
  MeshBatchEditor editor_{yard_};
};

TEST_F(MeshPortalEditsTest, PortalsComeAndGoAndTheDigestFollows) {
  const std::uint64_t empty = editor_.digest();
  ASSERT_TRUE(Apply({PutMeshPortal{.portal = Slide()}}).ok());
  const std::uint64_t open = editor_.digest();
  EXPECT_NE(open, empty);
  EXPECT_TRUE(editor_.changes().portals);
  ASSERT_TRUE(Apply({SwitchPortal{.id = "slide", .closed = true}}).ok());
  EXPECT_NE(editor_.digest(), open);
  ASSERT_TRUE(Apply({SwitchPortal{.id = "slide", .closed = false}}).ok());
  EXPECT_EQ(editor_.digest(), open);
  ASSERT_TRUE(Apply({RemovePortal{.id = "slide"}}).ok());
  EXPECT_EQ(editor_.digest(), empty);
  EXPECT_TRUE(std::move(editor_).Finish().portals().empty());
  EXPECT_TRUE(yard_.portals().empty()) << "the base stays";
}

TEST_F(MeshPortalEditsTest, APortalIsPlacedAndItsTagsAreSorted) {
  ASSERT_TRUE(Apply({PutMeshPortal{.portal = Slide()}}).ok());
  const NavMesh mesh = std::move(editor_).Finish();
  const auto portal = mesh.portals().Find("slide");
  ASSERT_NE(portal, nullptr);
  EXPECT_EQ(portal->from_place, (MeshPlace{0, {1, 1, 0}}));
  EXPECT_EQ(portal->to_place, (MeshPlace{0, {9, 9, 0}}));
  EXPECT_THAT(portal->tags, ::testing::ElementsAre("a", "b"));
}

TEST_F(MeshPortalEditsTest, ABadBatchChangesNothing) {
  const std::uint64_t before = editor_.digest();
  const auto with = [](auto change) {
    MeshPortal portal = Slide();
    change(portal);
    return PutMeshPortal{.portal = portal};
  };
  const std::string portal = "edits[1].put_portal.portal";
  const auto told = [&](const Edit& edit) {
    MeshPortal other = Slide();
    other.id = "other";
    other.from = {2, 2, 0};
    return Told(Apply({PutMeshPortal{.portal = other}, edit}));
  };
  EXPECT_EQ(told(with([](MeshPortal& p) { p.id = ""; })), "BAD_PORTAL_ID " + portal + ".id");
  EXPECT_EQ(told(with([](MeshPortal& p) { p.from = {-1, 0, 0}; })), "OFF_MAP " + portal + ".from_position");
  EXPECT_EQ(told(with([](MeshPortal& p) { p.to = {0, 11, 0}; })), "OFF_MAP " + portal + ".to_position");
  EXPECT_EQ(told(with([](MeshPortal& p) { p.to.x = 1e9; })), "BAD_VALUE " + portal + ".to_position.x");
  EXPECT_EQ(told(with([](MeshPortal& p) { p.to = p.from; })), "BAD_PORTAL " + portal + ".to_position");
  EXPECT_EQ(told(with([](MeshPortal& p) { p.cost = -1; })), "BAD_VALUE " + portal + ".cost");
  EXPECT_EQ(told(with([](MeshPortal& p) {
              p.to_map = "cellar";
              p.both_ways = true;
            })),
            "BAD_PORTAL " + portal + ".both_ways");
  EXPECT_EQ(told(with([](MeshPortal& p) { p.id = "other"; })), "PORTAL_EXISTS " + portal + ".id");
  EXPECT_EQ(told(with([](MeshPortal& p) { p.from = {2, 2, 0}; })), "PORTAL_OVERLAPS " + portal);
  EXPECT_EQ(told(RemovePortal{.id = "none"}), "PORTAL_NOT_FOUND edits[1].remove_portal.id");
  EXPECT_EQ(told(SwitchPortal{.id = "none"}), "PORTAL_NOT_FOUND edits[1].switch_portal.id");
  EXPECT_EQ(told(PutPortal{}), "WRONG_MAP_KIND " + portal + ".from");
  EXPECT_EQ(told(BlockCells{}), "WRONG_MAP_KIND edits[1].block");
  EXPECT_EQ(Told(Apply({})), "EMPTY_BATCH edits");
  EXPECT_EQ(editor_.digest(), before);
}

TEST_F(MeshPortalEditsTest, AMapHasAtMostSoManyPortals) {
  std::vector<Edit> edits;
  for (std::size_t i = 0; i <= kMaxPortals; ++i) {
    MeshPortal portal = Slide();
    portal.id = "p" + std::to_string(i);
    portal.from = {0.001 * static_cast<double>(i), 1, 0};
    edits.push_back(PutMeshPortal{.portal = portal});
  }
  EXPECT_EQ(Told(Apply(edits)), "TOO_MANY_PORTALS edits[1000].put_portal");
  edits.pop_back();
  EXPECT_TRUE(Apply(edits).ok());
}

TEST_F(MeshPortalEditsTest, APortalToAnotherMapNeedNoPlaceHere) {
  MeshPortal portal = Slide();
  portal.to_map = "cellar";
  portal.to = {500, 500, -20};
  EXPECT_TRUE(Apply({PutMeshPortal{.portal = portal}}).ok());
}

}  // namespace
}  // namespace waystar::core
