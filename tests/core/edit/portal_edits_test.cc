// Edits of portals: all or none, and what is refused.

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/edit/edit.h"
#include "server/core/elements/portal.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::waystar::testing::DrawMap;
using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;
using ::waystar::testing::kInvalid;

Portal Gate(std::string id = "gate") {
  return {.id = std::move(id), .from = {0, 0}, .to = {3, 1}, .cost = kCostScale};
}

GridMap Ground() {
  return DrawMap({"....",  //
                  "...."});
}

std::vector<std::string> IdsOf(const GridMap& map) {
  std::vector<std::string> ids;
  map.portals().VisitAfter("", [&](const Portal& portal) {
    ids.push_back(portal.id);
    return true;
  });
  return ids;
}

absl::StatusOr<EditResult> Apply(const GridMap& map, const std::vector<Edit>& edits) {
  return ApplyEdits(map, edits);
}

TEST(PortalEditsTest, PutEnableReplaceAndRemove) {
  Portal gate = Gate();
  gate.tags = {"wide", "lit"};
  auto result = Apply(Ground(), {PutPortal{.portal = Gate("z")}, RemovePortal{"z"}, PutPortal{.portal = gate},
                                 SwitchPortal{.id = "gate", .closed = true}});
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->summary.changed_cells, 0);
  EXPECT_THAT(IdsOf(result->map), ElementsAre("gate"));
  EXPECT_TRUE(result->map.portals().Find("gate")->closed);
  EXPECT_THAT(result->map.portals().Find("gate")->tags, ElementsAre("lit", "wide"));
  gate.to = {2, 0};
  result = Apply(result->map, {PutPortal{.portal = gate, .replace = true}});
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->map.portals().Find("gate")->to, (Cell{2, 0}));
}

TEST(PortalEditsTest, OldRevisionsKeepTheirs) {
  const GridMap before = Apply(Ground(), {PutPortal{.portal = Gate()}})->map;
  const GridMap after = Apply(before, {RemovePortal{"gate"}})->map;
  EXPECT_THAT(IdsOf(before), ElementsAre("gate"));
  EXPECT_TRUE(after.portals().empty());
}

TEST(PortalEditsTest, ChangesTellOfPortals) {
  const GridMap map = Ground();
  BatchEditor editor(map);
  const std::vector<Edit> edits = {PutPortal{.portal = Gate()}};
  ASSERT_THAT(editor.Apply(edits, absl::UnixEpoch()), IsOk());
  const BatchEditor::Result result = std::move(editor).Finish();
  EXPECT_TRUE(result.changes.portals);
  EXPECT_TRUE(result.changes.walkability.empty());
}

TEST(PortalEditsTest, RefusesBadOnes) {
  const GridMap map = Apply(Ground(), {PutPortal{.portal = Gate()}})->map;
  const auto expect = [&](const Edit& edit, absl::StatusCode code, ErrorReason reason,
                          const std::string& field) {
    EXPECT_THAT(Apply(map, {BlockCells{{.cells = {{1, 1}}}}, edit}),
                IsError(code, reason, "edits[1]." + field));
  };
  const auto with = [](auto change) {
    Portal portal = Gate("new");
    portal.to = {2, 1};
    change(portal);
    return PutPortal{.portal = std::move(portal)};
  };
  expect(PutPortal{.portal = Gate()}, absl::StatusCode::kAlreadyExists, ErrorReason::kPortalExists,
         "put_portal.portal.id");
  expect(PutPortal{.portal = Gate("other")}, absl::StatusCode::kAlreadyExists, ErrorReason::kPortalOverlaps,
         "put_portal.portal");
  Portal back = Gate("back");
  std::swap(back.from, back.to);
  EXPECT_THAT(Apply(map, {PutPortal{.portal = back}}), IsOk());
  back.both_ways = true;
  expect(PutPortal{.portal = back}, absl::StatusCode::kAlreadyExists, ErrorReason::kPortalOverlaps,
         "put_portal.portal");
  expect(with([](Portal& portal) { portal.id = "a b"; }), kInvalid, ErrorReason::kBadPortalId,
         "put_portal.portal.id");
  expect(with([](Portal& portal) {
           portal.from = {4, 0};
         }),
         absl::StatusCode::kOutOfRange, ErrorReason::kOffMap, "put_portal.portal.from");
  expect(with([](Portal& portal) {
           portal.to = {0, -1};
         }),
         absl::StatusCode::kOutOfRange, ErrorReason::kOffMap, "put_portal.portal.to");
  expect(with([](Portal& portal) { portal.to = portal.from; }), kInvalid, ErrorReason::kBadPortal,
         "put_portal.portal.to");
  expect(with([](Portal& portal) {
           portal.to_map = "cellar";
           portal.both_ways = true;
         }),
         kInvalid, ErrorReason::kBadPortal, "put_portal.portal.both_ways");
  expect(with([](Portal& portal) { portal.cost = -1; }), kInvalid, ErrorReason::kBadValue,
         "put_portal.portal.cost");
  expect(with([](Portal& portal) { portal.cost = CostFromDouble(kMaxPortalCost) + 1; }), kInvalid,
         ErrorReason::kBadValue, "put_portal.portal.cost");
  expect(with([](Portal& portal) {
           portal.tags = {"a", "b", "a"};
         }),
         kInvalid, ErrorReason::kBadPortal, "put_portal.portal.tags[2]");
  expect(with([](Portal& portal) { portal.tags = {""}; }), kInvalid, ErrorReason::kBadPortal,
         "put_portal.portal.tags[0]");
  expect(RemovePortal{"nope"}, absl::StatusCode::kNotFound, ErrorReason::kPortalNotFound, "remove_portal.id");
  expect(SwitchPortal{.id = ""}, kInvalid, ErrorReason::kBadPortalId, "switch_portal.id");
}

TEST(PortalEditsTest, AMapHoldsOnlySoMany) {
  std::vector<Edit> edits;
  const GridMap map = *GridMap::Create(64, 64, {});
  for (std::size_t i = 0; i < kMaxPortals; ++i) {
    const auto n = static_cast<int>(i);
    edits.emplace_back(PutPortal{
        .portal = {.id = absl::StrCat("p", i), .from = {n % 64, n / 64}, .to = {63 - n % 64, 63 - n / 64}}});
  }
  const auto full = Apply(map, edits);
  ASSERT_THAT(full, IsOk());
  EXPECT_EQ(full->map.portals().size(), kMaxPortals);
  EXPECT_THAT(
      Apply(full->map, {PutPortal{.portal = {.id = "more", .from = {0, 63}, .to = {5, 5}}}}),
      IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kTooManyPortals, "edits[0].put_portal"));
}

}  // namespace
}  // namespace waystar::core
