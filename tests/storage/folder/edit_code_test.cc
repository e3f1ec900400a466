#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/storage/folder/commit_fields.h"
#include "server/storage/folder/log_entry.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"

namespace waystar::storage {
namespace {

using ::waystar::testing::DrawMap;
using ::waystar::testing::Generator;

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000) + absl::Nanoseconds(7);

// One edit of each kind.
std::vector<core::Edit> AllKinds() {
  const core::Shape shape{.cells = {{1, -2}},
                          .rectangles = {{3, 4, 5, 6}},
                          .discs = {{.center = {1.5, 2.5}, .radius = 3.25}},
                          .polygons = {{.vertices = {{0, 0}, {1, 0}, {0.5, 1}}}},
                          .lines = {{.start = {0, 1}, .end = {2, 3}, .width = 0.5}}};
  const core::EdgeName edge{.from = "a", .to = "b", .one_way = true};
  return {core::BlockCells{shape},
          core::UnblockCells{shape},
          core::SetTerrain{shape, '~'},
          core::PutObstacle{
              .obstacle = {.id = "crate",
                           .shape = shape,
                           .effect = {.kind = core::ObstacleEffect::Kind::kAddCost, .amount = -2.5}},
              .lifetime = absl::Milliseconds(1500),
              .replace = true},
          core::PutObstacle{.obstacle = {.id = "crate2", .shape = shape}},
          core::MoveObstacle{.id = "crate", .dx = 1.25, .dy = -3},
          core::ResizeObstacle{"crate", shape},
          core::RemoveObstacle{"crate"},
          core::PutPortal{.portal = {.id = "p",
                                     .from = {1, 2},
                                     .to_map = "other",
                                     .to = {3, 4},
                                     .cost = 1234,
                                     .tags = {"boat"},
                                     .closed = true},
                          .replace = true},
          core::PutMeshPortal{.portal = {.id = "m",
                                         .from = {1.5, 2, -3},
                                         .to_map = "other",
                                         .to = {3, 4.25, 5},
                                         .cost = 0.75,
                                         .tags = {"boat"},
                                         .closed = true},
                              .replace = true},
          core::PutMeshPortal{.portal = {.id = "n", .to = {1, 0, 0}, .both_ways = true}},
          core::RemovePortal{"p"},
          core::SwitchPortal{.id = "p", .closed = true},
          core::PutProfile{{.name = "cart",
                            .profile = {.footprint = 3,
                                        .corner_rule = core::CornerRule::kAlways,
                                        .terrain_costs = {{.symbol = '~', .cost = 2.5}},
                                        .forbidden_terrains = {'a', 'b'},
                                        .required_tags = {"key"},
                                        .no_diagonals = true}}},
          core::RemoveProfile{"cart"},
          core::PutNodes{.nodes = {{.id = "a", .position = {1, 2, 3}, .enabled = false, .tags = {"x"}}},
                         .replace = true},
          core::PutNodes{.nodes = {{.id = "koln-hbf", .label = "Köln/Hbf"}, {.id = "b"}}},
          core::RemoveNodes{{"a", "b"}},
          core::PutEdges{.edges = {{.name = edge, .cost = 2.5, .enabled = false, .tags = {"y"}}},
                         .replace = true},
          core::RemoveEdges{{edge}},
          core::SetEnabled{.nodes = {"a"}, .edges = {edge}, .enabled = true}};
}

core::LoggedCommit CommitOf(std::vector<core::Edit> edits) {
  core::Commit commit{.revision = 42, .time = kNow, .edits = std::move(edits)};
  commit.summary = {.changed_cells = 3,
                    .changed_bounds = {-1, 2, 3, 4},
                    .clipped_cells = std::numeric_limits<std::int64_t>::max(),
                    .changed_nodes = 5,
                    .changed_edges = 6};
  commit.changed_areas = {{-1, 2, 1, 1}, {1, 4, 1, 2}};
  return {.commit = std::make_shared<const core::Commit>(std::move(commit)),
          .request_id = "request 1",
          .fingerprint = {.high = ~std::uint64_t{0}, .low = 17},
          .request_time = kNow - absl::Seconds(3)};
}

void ExpectSame(const core::LoggedCommit& read, const core::LoggedCommit& written) {
  EXPECT_EQ(read.commit->revision, written.commit->revision);
  EXPECT_EQ(read.commit->time, written.commit->time);
  EXPECT_EQ(read.commit->edits, written.commit->edits);
  EXPECT_EQ(read.commit->summary.changed_cells, written.commit->summary.changed_cells);
  EXPECT_EQ(read.commit->summary.changed_bounds, written.commit->summary.changed_bounds);
  EXPECT_EQ(read.commit->summary.clipped_cells, written.commit->summary.clipped_cells);
  EXPECT_EQ(read.commit->summary.changed_nodes, written.commit->summary.changed_nodes);
  EXPECT_EQ(read.commit->summary.changed_edges, written.commit->summary.changed_edges);
  EXPECT_EQ(read.commit->changed_areas, written.commit->changed_areas);
  EXPECT_EQ(read.request_id, written.request_id);
  EXPECT_EQ(read.fingerprint, written.fingerprint);
  EXPECT_EQ(read.request_time, written.request_time);
}

TEST(EditCodeTest, EveryKindOfEditComesBack) {
  static_assert(std::variant_size_v<core::Edit> == 18, "put the new kind above");
  const core::LoggedCommit written = CommitOf(AllKinds());
  const std::string entry = EncodeCommits("map", 99, {written}).bytes;
  std::string record;
  AddEntry(entry, record);
  const auto entries = DecodeEntries(record);
  ASSERT_EQ(entries.status(), absl::OkStatus());
  ASSERT_EQ(entries->size(), 1U);
  EXPECT_EQ(entries->front().map, "map");
  EXPECT_EQ(entries->front().epoch, 99U);
  EXPECT_EQ(entries->front().first_revision, 42U);
  EXPECT_EQ(entries->front().revision, 42U);
  const auto commits = DecodeCommits(entries->front().body);
  ASSERT_EQ(commits.status(), absl::OkStatus());
  ASSERT_EQ(commits->size(), 1U);
  ExpectSame(commits->front(), written);
}

TEST(EditCodeTest, RandomEditsComeBack) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Generator generator(seed);
    const core::GridMap map = generator.Map({});
    core::LoggedCommit written = CommitOf(generator.AnyEdits(map, 10));
    written.request_id.clear();
    written.fingerprint = {};
    written.request_time.reset();
    const auto read = core::Decoded<core::LoggedCommit>(core::Encoded(written));
    ASSERT_EQ(read.status(), absl::OkStatus());
    ExpectSame(*read, written);
  }
}

TEST(EditCodeTest, CreationsReplacementsAndDeletionsComeBack) {
  const core::MapSnapshot snapshot{
      .id = "m", .epoch = 5, .revision = 9, .create_time = kNow, .map = DrawMap({"..#", "..."}, {})};
  std::string record;
  AddEntry(EncodeCreation(snapshot).bytes, record);
  const core::Fingerprint fingerprint{.high = 1, .low = 2};
  AddEntry(EncodeCreation(snapshot, {.request_id = "r", .fingerprint = fingerprint}).bytes, record);
  AddEntry(EncodeReplacement(snapshot, {.epoch = 4, .revision = 8}).bytes, record);
  AddEntry(EncodeDeletion("m", snapshot.version()).bytes, record);
  const auto entries = DecodeEntries(record);
  ASSERT_EQ(entries.status(), absl::OkStatus());
  ASSERT_EQ(entries->size(), 4U);
  EXPECT_EQ(entries->front().kind, LogEntry::Kind::kCreation);
  EXPECT_EQ(entries->back().kind, LogEntry::Kind::kDeletion);
  EXPECT_EQ(entries->back().revision, 9U);
  const LogEntry& replacement = (*entries)[2];
  EXPECT_EQ(replacement.kind, LogEntry::Kind::kReplacement);
  EXPECT_EQ(replacement.epoch, 5U);
  EXPECT_EQ(replacement.revision, 9U);
  EXPECT_EQ(replacement.replaced, (core::MapVersion{.epoch = 4, .revision = 8}));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(BeginsMap((*entries)[i]));
    const auto creation = DecodeCreation((*entries)[i]);
    ASSERT_EQ(creation.status(), absl::OkStatus());
    EXPECT_EQ(creation->create_time, kNow);
    EXPECT_FALSE(creation->image.empty());
    EXPECT_EQ(creation->request.request_id, i == 1 ? "r" : "");
    EXPECT_EQ(creation->request.fingerprint, i == 1 ? fingerprint : core::Fingerprint());
  }
}

// Whatever the bytes are, reading them ends, with an error or with values.
TEST(EditCodeTest, HostileBytesAreReadInBoundedMemory) {
  const std::string entry = EncodeCommits("map", 99, {CommitOf(AllKinds())}).bytes;
  std::string record;
  AddEntry(entry, record);
  for (std::size_t i = 0; i < record.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes = record;
      bytes[i] = static_cast<char>(bytes[i] ^ (1 << bit));
      const auto entries = DecodeEntries(bytes);
      for (std::size_t k = 0; entries.ok() && k < entries->size(); ++k) {
        static_cast<void>(DecodeCommits((*entries)[k].body));
        static_cast<void>(DecodeCreation((*entries)[k]));
      }
    }
    EXPECT_FALSE(DecodeEntries(record.substr(0, i)).ok() && i > 0) << i;
  }
}

TEST(EditCodeTest, StartsComeBack) {
  const LogStart start{
      .number = 3,
      .previous_end = 12345,
      .maps = {{.id = "a", .epoch = 1, .revision = 2}, {.id = "b", .epoch = 3, .revision = 4}}};
  const auto read = DecodeStart(EncodeStart(start));
  ASSERT_EQ(read.status(), absl::OkStatus());
  EXPECT_EQ(read->number, 3U);
  EXPECT_EQ(read->previous_end, 12345U);
  EXPECT_EQ(read->maps, start.maps);
  EXPECT_FALSE(DecodeStart(EncodeStart(start) + "x").ok());
}

}  // namespace
}  // namespace waystar::storage
