// A long run of random commits: the log gives each the digest that the store had.

#include <cstdint>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/store/map_store.h"
#include "server/data_tool/data_tool.h"
#include "server/storage/folder/data_folder.h"
#include "server/storage/folder/folder.h"
#include "tests/storage/folder/durable_store.h"
#include "tests/testing/generator.h"
#include "tests/testing/own_folder.h"
#include "tests/testing/patience.h"
#include "tests/testing/slow_digest.h"
#include "tests/testing/status_matchers.h"

namespace waystar::data_tool {
namespace {

using ::waystar::testing::DurableStore;
using ::waystar::testing::Generator;
using ::waystar::testing::IsOk;
using ::waystar::testing::SlowDigest;
using ::waystar::testing::WaitUntil;

constexpr absl::Time kBegun = absl::FromUnixSeconds(1'600'000'000);
constexpr int kBatches = 3000;

// An edit of a graph, of any kind; the graph may refuse it.
core::Edit AnyGraphEdit(Generator& random) {
  const auto node = [&] { return absl::StrCat("n", random.Between(0, 20)); };
  const auto place = [&] { return 1.0 * random.Between(0, 30); };
  const core::EdgeName edge{.from = node(), .to = node(), .one_way = random.Chance(0.3)};
  const core::Shape shape{.discs = {{.center = {place(), place()}, .radius = 2}}};
  const std::string obstacle = absl::StrCat("o", random.Between(0, 5));
  switch (random.Between(0, 9)) {
    case 0:
    case 1:
      return core::PutNodes{.nodes = {{.id = node(), .position = {place(), place(), place()}, .tags = {"t"}}},
                            .replace = true};
    case 2:
      return core::RemoveNodes{{node()}};
    case 3:
    case 4:
      return core::PutEdges{.edges = {{.name = edge, .cost = place(), .enabled = random.Chance(0.8)}},
                            .replace = true};
    case 5:
      return core::RemoveEdges{{edge}};
    case 6:
      return core::SetEnabled{.nodes = {node()}, .enabled = random.Chance(0.5)};
    case 7:
      return core::RemoveObstacle{obstacle};
    case 8:
      return core::MoveObstacle{obstacle, 1, -1};
    default:
      return core::PutObstacle{.obstacle = {.id = obstacle, .shape = shape}, .replace = true};
  }
}

// An edit of what lies on squares or hexagons beside obstacles and terrain; the map may refuse it.
core::Edit AnyLinkEdit(const core::GridMap& map, Generator& random) {
  const std::string id = absl::StrCat("p", random.Between(0, 5));
  switch (random.Between(0, 4)) {
    case 0:
      return core::RemovePortal{id};
    case 1:
      return core::SwitchPortal{.id = id, .closed = random.Chance(0.5)};
    case 2:
      return core::PutProfile{
          {.name = absl::StrCat("a", random.Between(0, 3)), .profile = {.footprint = random.Between(1, 3)}}};
    case 3:
      return core::RemoveProfile{absl::StrCat("a", random.Between(0, 3))};
    default:
      return core::PutPortal{.portal = {.id = id, .from = random.CellOf(map), .to = random.CellOf(map)},
                             .replace = true};
  }
}

std::vector<core::Edit> AnyBatch(const core::MapSnapshot& map, Generator& random) {
  if (map.as_graph() != nullptr) {
    return {AnyGraphEdit(random)};
  }
  if (random.Chance(0.2)) {
    return {AnyLinkEdit(map.grid(), random)};
  }
  std::vector<core::Edit> edits = random.AnyEdits(map.grid(), random.Between(1, 4));
  if (random.Chance(0.1)) {
    if (auto* const put = std::get_if<core::PutObstacle>(&edits.back())) {
      put->lifetime = absl::Hours(1);
    }
  }
  return edits;
}

// The parameter is max_log_bytes: how long the log grows before images are made.
class ReplayTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  ReplayTest() { Open(); }

  void Open() {
    store_.reset();
    storage::DataOptions options{.max_log_bytes = GetParam()};
    options.log.durability = storage::Durability::kRelaxed;
    store_.emplace(storage::OpenPosixFolder(folder_), options);
    ASSERT_THAT(store_->status(), IsOk());
  }

  void CreateMaps(Generator& random) {
    for (const auto connectivity :
         {core::Connectivity::kFour, core::Connectivity::kEight, core::Connectivity::kSix}) {
      const std::string id = absl::StrCat("grid-", static_cast<int>(connectivity));
      ASSERT_THAT(
          store_->store().Create(id, random.Map({.weighted = true, .connectivity = connectivity}), kBegun),
          IsOk());
      digests_[id];
    }
    ASSERT_THAT(
        store_->store().Create("graph", *core::WaypointGraph::Create({.nodes = {{.id = "n0"}}}), kBegun),
        IsOk());
    digests_["graph"];
  }

  const testing::OwnFolder own_;
  const std::string folder_ = own_.PathOf("data");
  std::optional<DurableStore> store_;
  // The digests that the store had, by map and revision.
  std::map<std::string, std::map<std::uint64_t, std::uint64_t>> digests_;
};

TEST_P(ReplayTest, EachCommitHasTheDigestThatTheStoreHad) {
  Generator random(11);
  CreateMaps(random);
  std::vector<std::string> ids;
  for (const auto& [id, digests] : digests_) {
    ids.push_back(id);
  }
  std::size_t applied = 0;
  for (int i = 0; i < kBatches; ++i) {
    const std::string& id =
        ids[static_cast<std::size_t>(random.Between(0, static_cast<int>(ids.size()) - 1))];
    const core::PinnedSnapshot before = *store_->store().Pin(id);
    const auto result = store_->store().UpdateAndWait(
        id, {.edits = AnyBatch(*before, random), .request_id = absl::StrCat("request-", i)});
    if (result.ok()) {
      ++applied;
      digests_[id][result->revision] = result->digest;
    }
  }
  EXPECT_GT(applied, kBatches / 2);
  if (GetParam() < 1'000'000) {
    EXPECT_TRUE(WaitUntil([&] { return store_->data().Statistics().images.count > 0; }, "the first image"));
  }

  store_.reset();
  for (const auto& [id, digests] : digests_) {
    std::ostringstream out;
    std::ostringstream err;
    ASSERT_EQ(RunDataTool({"dump", folder_, id}, out, err), 0) << err.str();
    std::size_t dumped = 0;
    for (const absl::string_view line : absl::StrSplit(out.str(), '\n', absl::SkipEmpty())) {
      const auto commit = nlohmann::json::parse(line);
      const std::uint64_t revision = std::stoull(commit["version"]["revision"].get<std::string>());
      const std::uint64_t digest = std::stoull(commit["digest"].get<std::string>(), nullptr, 16);
      ASSERT_TRUE(digests.contains(revision)) << id << " " << revision;
      EXPECT_EQ(digest, digests.at(revision)) << id << " " << revision;
      ++dumped;
    }
    if (GetParam() >= 1'000'000) {
      EXPECT_EQ(dumped, digests.size()) << id;
    }
  }

  Open();
  for (const auto& [id, digests] : digests_) {
    const core::PinnedSnapshot map = *store_->store().Pin(id);
    EXPECT_EQ(map->revision, digests.rbegin()->first) << id;
    EXPECT_EQ(map->digest(), digests.rbegin()->second) << id;
    EXPECT_EQ(map->digest(), SlowDigest(map->map)) << id;
  }
}

INSTANTIATE_TEST_SUITE_P(LogBytes, ReplayTest, ::testing::Values(20'000, std::uint64_t{1} << 30));

}  // namespace
}  // namespace waystar::data_tool
