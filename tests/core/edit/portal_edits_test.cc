// Edits of the portals of grids and of navigation meshes: all or none, and what is refused.

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/elements/portal.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;

// One kind of map with portals.
struct GridKind {
  using Editor = BatchEditor;
  using Put = PutPortal;

  static GridMap Map() {
    return DrawMap({"....",  //
                    "...."});
  }
  static Portal Gate(std::string id = "gate") {
    return {.id = std::move(id), .from = {0, 0}, .to = {3, 1}, .cost = kCostScale, .tags = {"wide", "lit"}};
  }
  static GridMap Finished(BatchEditor&& editor) { return std::move(editor).Finish().map; }

  static constexpr Cell kFree = {1, 0};
  static constexpr Cell kOther = {2, 0};
  static constexpr Cell kOffMap = {4, 0};
  static constexpr const char* kFrom = ".from";
  static constexpr const char* kTo = ".to";
  static constexpr const char* kWrongKind = "WRONG_MAP_KIND edits[1].add_portal.from_position";
};

struct MeshKind {
  using Editor = MeshBatchEditor;
  using Put = PutMeshPortal;

  static NavMesh Map() {
    MeshSpec spec;
    spec.vertices = {{0, 0, 0}, {10, 0, 0}, {10, 10, 0}, {0, 10, 0}};
    spec.AddPolygon({0, 1, 2, 3});
    return *NavMesh::Create(std::move(spec));
  }
  static MeshPortal Gate(std::string id = "gate") {
    return {.id = std::move(id), .from = {1, 1, 0}, .to = {9, 9, 0}, .cost = 0.5, .tags = {"wide", "lit"}};
  }
  static NavMesh Finished(MeshBatchEditor&& editor) { return std::move(editor).Finish(); }

  static constexpr WorldPoint kFree = {2, 2, 0};
  static constexpr WorldPoint kOther = {3, 3, 0};
  static constexpr WorldPoint kOffMap = {-1, 0, 0};
  static constexpr const char* kFrom = ".from_position";
  static constexpr const char* kTo = ".to_position";
  static constexpr const char* kWrongKind = "WRONG_MAP_KIND edits[1].add_portal.from";
};

template <typename Kind>
class PortalEditsTest : public ::testing::Test {
 protected:
  // Returns "OK", or the reason and field of the error.
  std::string Apply(const std::vector<Edit>& edits) {
    const absl::Status status = editor_.Apply(edits, absl::UnixEpoch()).status();
    return status.ok() ? "OK" : absl::StrCat(ErrorReasonOf(status), " ", ErrorFieldOf(status));
  }
  // Puts a portal and applies an edit in one batch.
  std::string ApplySecond(const Edit& edit) {
    auto other = Kind::Gate("other");
    other.from = Kind::kOther;
    return Apply({typename Kind::Put{.portal = other}, edit});
  }
  template <typename Change>
  std::string PutWith(Change change) {
    auto portal = Kind::Gate("new");
    portal.from = Kind::kFree;
    change(portal);
    return ApplySecond(typename Kind::Put{.portal = portal});
  }

  const decltype(Kind::Map()) base_ = Kind::Map();
  typename Kind::Editor editor_{base_};
};

using KindsWithPortals = ::testing::Types<GridKind, MeshKind>;
TYPED_TEST_SUITE(PortalEditsTest, KindsWithPortals);

TYPED_TEST(PortalEditsTest, PortalsComeAndGoAndTheDigestFollows) {
  using Put = typename TypeParam::Put;
  const std::uint64_t empty = this->editor_.digest();
  ASSERT_EQ(
      this->Apply({Put{.portal = TypeParam::Gate("z")}, RemovePortal{"z"}, Put{.portal = TypeParam::Gate()}}),
      "OK");
  const std::uint64_t open = this->editor_.digest();
  EXPECT_NE(open, empty);
  ASSERT_EQ(this->Apply({SwitchPortal{.id = "gate", .closed = true}}), "OK");
  EXPECT_NE(this->editor_.digest(), open);
  ASSERT_EQ(this->Apply({SwitchPortal{.id = "gate", .closed = false}}), "OK");
  EXPECT_EQ(this->editor_.digest(), open);
  ASSERT_EQ(this->Apply({RemovePortal{.id = "gate"}}), "OK");
  EXPECT_EQ(this->editor_.digest(), empty);
  EXPECT_TRUE(TypeParam::Finished(std::move(this->editor_)).portals().empty());
}

TYPED_TEST(PortalEditsTest, AReplacedPortalIsAsPutWithItsTagsSorted) {
  using Put = typename TypeParam::Put;
  auto gate = TypeParam::Gate();
  ASSERT_EQ(this->Apply({Put{.portal = gate}, SwitchPortal{.id = "gate", .closed = true}}), "OK");
  gate.to = TypeParam::kOther;
  gate.closed = true;
  ASSERT_EQ(this->Apply({Put{.portal = gate, .replace = true}}), "OK");
  const auto map = TypeParam::Finished(std::move(this->editor_));
  const auto found = map.portals().Find("gate");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->to, TypeParam::kOther);
  EXPECT_TRUE(found->closed);
  EXPECT_THAT(found->tags, ElementsAre("lit", "wide"));
  EXPECT_TRUE(this->base_.portals().empty()) << "the base stays";
}

TYPED_TEST(PortalEditsTest, ABadBatchChangesNothing) {
  using Put = typename TypeParam::Put;
  using OnePortal = decltype(TypeParam::Gate());
  ASSERT_EQ(this->Apply({Put{.portal = TypeParam::Gate()}}), "OK");
  const std::uint64_t before = this->editor_.digest();
  const std::string portal = "edits[1].add_portal";
  EXPECT_EQ(this->ApplySecond(Put{.portal = TypeParam::Gate()}), "PORTAL_EXISTS " + portal + ".id");
  EXPECT_EQ(this->ApplySecond(Put{.portal = TypeParam::Gate("twin")}), "PORTAL_OVERLAPS " + portal);
  EXPECT_EQ(this->PutWith([](OnePortal& p) { p.id = ""; }), "BAD_PORTAL_ID " + portal + ".id");
  EXPECT_EQ(this->PutWith([](OnePortal& p) { p.id = "a b"; }), "BAD_PORTAL_ID " + portal + ".id");
  EXPECT_EQ(this->PutWith([](OnePortal& p) { p.from = TypeParam::kOffMap; }),
            "OFF_MAP " + portal + TypeParam::kFrom);
  EXPECT_EQ(this->PutWith([](OnePortal& p) { p.to = TypeParam::kOffMap; }),
            "OFF_MAP " + portal + TypeParam::kTo);
  EXPECT_EQ(this->PutWith([](OnePortal& p) { p.to = p.from; }), "BAD_PORTAL " + portal + TypeParam::kTo);
  EXPECT_EQ(this->PutWith([](OnePortal& p) {
    p.to_map = "cellar";
    p.both_ways = true;
  }),
            "BAD_PORTAL " + portal + ".both_ways");
  EXPECT_EQ(this->PutWith([](OnePortal& p) { p.cost = -1; }), "BAD_VALUE " + portal + ".cost");
  EXPECT_EQ(this->PutWith([](OnePortal& p) {
    p.tags = {"a", "b", "a"};
  }),
            "BAD_PORTAL " + portal + ".tags[2]");
  EXPECT_EQ(this->PutWith([](OnePortal& p) { p.tags = {""}; }), "BAD_PORTAL " + portal + ".tags[0]");
  EXPECT_EQ(this->ApplySecond(RemovePortal{.id = "none"}), "PORTAL_NOT_FOUND edits[1].remove_portal");
  EXPECT_EQ(this->ApplySecond(SwitchPortal{.id = "none"}), "PORTAL_NOT_FOUND edits[1].switch_portal.id");
  EXPECT_EQ(this->ApplySecond(SwitchPortal{.id = ""}), "BAD_PORTAL_ID edits[1].switch_portal.id");
  EXPECT_EQ(this->Apply({}), "EMPTY_BATCH edits");
  EXPECT_EQ(this->editor_.digest(), before);
}

TYPED_TEST(PortalEditsTest, TheWayBackIsAnotherPortalUnlessOneGoesBothWays) {
  using Put = typename TypeParam::Put;
  ASSERT_EQ(this->Apply({Put{.portal = TypeParam::Gate()}}), "OK");
  auto back = TypeParam::Gate("back");
  std::swap(back.from, back.to);
  back.both_ways = true;
  EXPECT_EQ(this->Apply({Put{.portal = back}}), "PORTAL_OVERLAPS edits[0].add_portal");
  back.both_ways = false;
  EXPECT_EQ(this->Apply({Put{.portal = back}}), "OK");
}

TYPED_TEST(PortalEditsTest, APortalToAnotherMapNeedNoPlaceHere) {
  auto portal = TypeParam::Gate();
  portal.to_map = "cellar";
  portal.to = TypeParam::kOffMap;
  EXPECT_EQ(this->Apply({typename TypeParam::Put{.portal = portal}}), "OK");
}

using GridPortalEditsTest = PortalEditsTest<GridKind>;
using MeshPortalEditsTest = PortalEditsTest<MeshKind>;

TEST_F(GridPortalEditsTest, CostsHaveALimitAndPortalsOfMeshesAreNamed) {
  EXPECT_EQ(PutWith([](Portal& p) { p.cost = CostFromDouble(kMaxPortalCost) + 1; }),
            "BAD_VALUE edits[1].add_portal.cost");
  EXPECT_EQ(ApplySecond(PutMeshPortal{}), GridKind::kWrongKind);
}

TEST_F(MeshPortalEditsTest, CoordinatesHaveALimitAndEditsOfGridsAreNamed) {
  EXPECT_EQ(PutWith([](MeshPortal& p) { p.to.x = 1e9; }), "BAD_VALUE edits[1].add_portal.to_position.x");
  EXPECT_EQ(PutWith([](MeshPortal& p) { p.width = -1; }), "BAD_VALUE edits[1].add_portal.width");
  EXPECT_EQ(PutWith([](MeshPortal& p) { p.width = 1001; }), "BAD_VALUE edits[1].add_portal.width");
  EXPECT_EQ(PutWith([](MeshPortal& p) {
              p.width = 1;
              p.to_map = "cellar";
            }),
            "BAD_PORTAL edits[1].add_portal.width");
  EXPECT_EQ(PutWith([](MeshPortal& p) {
              p.width = 1;
              p.to = {p.from.x, p.from.y, 5};
            }),
            "BAD_PORTAL edits[1].add_portal.width");
  EXPECT_EQ(ApplySecond(PutPortal{}), MeshKind::kWrongKind);
  EXPECT_EQ(ApplySecond(BlockCells{}), "WRONG_MAP_KIND edits[1].block");
}

TEST_F(MeshPortalEditsTest, APortalIsPlaced) {
  ASSERT_EQ(Apply({PutMeshPortal{.portal = MeshKind::Gate()}}), "OK");
  EXPECT_TRUE(editor_.changes().portals);
  const NavMesh mesh = std::move(editor_).Finish();
  EXPECT_EQ(mesh.portals().Find("gate")->lanes[0].from, (MeshPlace{0, {1, 1, 0}}));
  EXPECT_EQ(mesh.portals().Find("gate")->lanes[0].to, (MeshPlace{0, {9, 9, 0}}));
}

TEST_F(GridPortalEditsTest, ChangesTellOfPortals) {
  ASSERT_EQ(Apply({PutPortal{.portal = GridKind::Gate()}}), "OK");
  const BatchEditor::Result result = std::move(editor_).Finish();
  EXPECT_TRUE(result.changes.portals);
  EXPECT_TRUE(result.changes.walkability.empty());
  EXPECT_EQ(ApplyEdits(result.map, {RemovePortal{"gate"}})->map.portals().size(), 0U);
  EXPECT_EQ(result.map.portals().size(), 1U) << "earlier revisions keep theirs";
}

// Puts as many portals as a map may have, and one more.
template <typename Kind, typename Place>
void ExpectLimit(std::size_t most, typename Kind::Editor editor, Place place_of) {
  std::vector<Edit> edits;
  for (std::size_t i = 0; i <= most; ++i) {
    auto portal = Kind::Gate(absl::StrCat("p", i));
    place_of(static_cast<int>(i), portal);
    edits.push_back(typename Kind::Put{.portal = portal});
  }
  const absl::Status status = editor.Apply(edits, absl::UnixEpoch()).status();
  EXPECT_EQ(ErrorReasonOf(status), "TOO_MANY_PORTALS");
  EXPECT_EQ(ErrorFieldOf(status), absl::StrCat("edits[", most, "].add_portal"));
  edits.pop_back();
  EXPECT_THAT(editor.Apply(edits, absl::UnixEpoch()), IsOk());
}

TEST(PortalLimitTest, AMapHoldsOnlySoMany) {
  const GridMap grid = *GridMap::Create(64, 64, {});
  ExpectLimit<GridKind>(kMaxPortals, BatchEditor(grid), [](int i, Portal& portal) {
    portal.from = {i % 64, i / 64};
    portal.to = {63 - i % 64, 63 - i / 64};
  });
  ExpectLimit<MeshKind>(kMaxMeshPortals, MeshBatchEditor(MeshKind::Map()), [](int i, MeshPortal& portal) {
    portal.from = {0.0001 * i, 1, 0};
  });
}

}  // namespace
}  // namespace waystar::core
