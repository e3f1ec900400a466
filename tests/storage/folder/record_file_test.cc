// Files of records, and what their records hold.

#include "server/storage/folder/record_file.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/storage/folder/commit_fields.h"
#include "server/storage/folder/log_entry.h"
#include "tests/storage/folder/crashing_folder.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"

namespace waystar::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::size_t kFileHead = 24;
constexpr std::size_t kRecordHead = 20;

std::vector<std::string> PayloadsOf(const RecordFile& file) {
  std::vector<std::string> payloads;
  for (const Record& record : file.records) {
    payloads.emplace_back(record.payload);
  }
  return payloads;
}

// Writes records with a sync after each.
std::string Written(CrashingFolder& folder, const std::vector<std::string>& payloads,
                    std::uint64_t number = 7) {
  auto writer = *RecordWriter::Create(folder, "f", FileKind::kLog, number);
  EXPECT_EQ(writer->Publish(), absl::OkStatus());
  for (const std::string& payload : payloads) {
    EXPECT_EQ(writer->Append(payload), absl::OkStatus());
    EXPECT_EQ(writer->Sync(), absl::OkStatus());
  }
  return *folder.Read("f");
}

absl::StatusOr<RecordFile> Read(const std::string& bytes, std::optional<std::uint64_t> end = std::nullopt) {
  return ReadRecords("/data/f", bytes, FileKind::kLog, end);
}

TEST(ChecksumTest, IsThatOfTheStandard) {
  EXPECT_EQ(Crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(Crc32c("456789", Crc32c("123")), 0xE3069283U);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8A9136AAU);
}

TEST(RecordFileTest, RecordsComeBack) {
  CrashingFolder folder;
  const std::string bytes = Written(folder, {"one", "", std::string(100'000, 'x')});
  const auto file = Read(bytes).value();
  EXPECT_THAT(PayloadsOf(file), ElementsAre("one", "", std::string(100'000, 'x')));
  EXPECT_EQ(file.end, bytes.size());
  EXPECT_EQ(file.torn_bytes, 0U);
}

TEST(RecordFileTest, ATornEndIsCutOff) {
  CrashingFolder folder;
  const std::string bytes = Written(folder, {"one", "two", "three"});
  const std::size_t third = bytes.size() - kRecordHead - 5;
  for (std::size_t size = third; size < bytes.size(); ++size) {
    const std::string torn = bytes.substr(0, size);
    const auto file = Read(torn);
    ASSERT_EQ(file.status(), absl::OkStatus()) << size;
    EXPECT_THAT(PayloadsOf(*file), ElementsAre("one", "two"));
    EXPECT_EQ(file->end, third);
    EXPECT_EQ(file->torn_bytes, size - third);
  }
}

TEST(RecordFileTest, ABadRecordBelowWhatWasSyncedIsDamage) {
  CrashingFolder folder;
  const std::string bytes = Written(folder, {"one", "two", "three"});
  const std::size_t third = bytes.size() - kRecordHead - 5;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      const auto file = Read(damaged);
      if (i >= third) {
        // Nothing tells it from a record that was being written.
        ASSERT_EQ(file.status(), absl::OkStatus()) << i;
        EXPECT_THAT(PayloadsOf(*file), ElementsAre("one", "two"));
        EXPECT_GT(file->torn_bytes, 0U);
      } else {
        ASSERT_FALSE(file.ok()) << i;
        const std::size_t offset = i < kFileHead ? 0 : i < kFileHead + kRecordHead + 3 ? kFileHead : 67 - 20;
        if (i < kFileHead || i >= kFileHead + kRecordHead + 3) {
          EXPECT_THAT(std::string(file.status().message()),
                      HasSubstr(absl::StrCat("/data/f is damaged at byte ", offset)))
              << i;
        }
      }
      EXPECT_FALSE(Read(damaged, bytes.size()).ok()) << i;
    }
  }
}

TEST(RecordFileTest, RecordsThatWereNotSyncedMayBeReordered) {
  CrashingFolder folder;
  auto writer = *RecordWriter::Create(folder, "f", FileKind::kLog, 7);
  ASSERT_EQ(writer->Publish(), absl::OkStatus());
  ASSERT_EQ(writer->Append("one"), absl::OkStatus());
  ASSERT_EQ(writer->Sync(), absl::OkStatus());
  ASSERT_EQ(writer->Append("two"), absl::OkStatus());
  ASSERT_EQ(writer->Append("three"), absl::OkStatus());
  std::string bytes = *folder.Read("f");
  bytes[bytes.find("two")] = '\0';
  const auto file = Read(bytes).value();
  EXPECT_THAT(PayloadsOf(file), ElementsAre("one"));
}

TEST(RecordFileTest, WhatFollowsTheEndDoesNotCount) {
  CrashingFolder folder;
  const std::string bytes = Written(folder, {"one", "two"});
  const std::size_t second = bytes.size() - kRecordHead - 3;
  // What is read lies in these bytes.
  const std::string longer = bytes + "rubbish";
  const auto file = Read(longer, second).value();
  EXPECT_THAT(PayloadsOf(file), ElementsAre("one"));
  EXPECT_FALSE(Read(bytes, second + 1).ok());
  EXPECT_FALSE(Read(bytes, bytes.size() + 1).ok());
}

TEST(RecordFileTest, ARecordOfAnotherFileIsNone) {
  CrashingFolder folder;
  const std::string one = Written(folder, {"one"}, 1);
  const std::string other = Written(folder, {"two"}, 2);
  const std::string mixed = one.substr(0, kFileHead) + other.substr(kFileHead);
  const auto file = Read(mixed).value();
  EXPECT_THAT(file.records, IsEmpty());
  EXPECT_EQ(ReadRecords("f", one, FileKind::kImage, std::nullopt).status().code(),
            absl::StatusCode::kDataLoss);
}

TEST(RecordFileTest, AFileThatWasNotPublishedHasAnotherName) {
  CrashingFolder folder;
  auto writer = *RecordWriter::Create(folder, "f", FileKind::kLog, 7);
  ASSERT_EQ(writer->Append("one"), absl::OkStatus());
  EXPECT_THAT(*folder.List(), ElementsAre(::testing::ResultOf(&IsTemporary, true)));
  ASSERT_EQ(writer->Publish(), absl::OkStatus());
  EXPECT_THAT(*folder.List(), ElementsAre("f"));
  EXPECT_FALSE(IsTemporary("f"));
}

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
          core::PutMeshObstacle{{.obstacle = {.id = "crate3", .shape = shape}}, {-1.5, 2}},
          core::PutGround{{.id = "bridge",
                           .region = shape,
                           .heights = {-1, 4.5},
                           .polygons = {{.agent_radius = 0.5,
                                         .terrain = "water",
                                         .corners = {{0, 0, 1}, {1, 0, 1}, {0, 1, 2.5}}}},
                           .weld = 0.25}},
          core::PutGround{{.id = "pit", .polygons = {{.corners = {{0, 0, 1}, {1, 0, 1}, {0, 1, 2.5}}}}}},
          core::RemoveGround{"bridge"},
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
          core::PutMeshPortal{.portal = {.id = "n", .to = {1, 0, 0}, .both_ways = true, .width = 2.5}},
          core::RemovePortal{"p"},
          core::SwitchPortal{.id = "p", .closed = true},
          core::PutProfile{{.name = "cart",
                            .profile = {.footprint = 3,
                                        .corner_rule = core::CornerRule::kAlways,
                                        .terrain_costs = {{.symbol = '~', .cost = 2.5}},
                                        .forbidden_terrains = {'a', 'b'},
                                        .required_tags = {"key"},
                                        .no_diagonals = true}}},
          core::PutMeshProfile{{.name = "boat",
                                .ground = {.costs = {{"water", 2.5}},
                                           .forbidden = {"road", "grass"},
                                           .allowed_tags = {"wet"},
                                           .forbidden_tags = {"deep"}},
                                .required_tags = {"key"}}},
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
  static_assert(std::variant_size_v<core::Edit> == 22, "put the new kind above");
  const core::LoggedCommit written = CommitOf(AllKinds());
  const std::string entry = EncodeCommits("map", 99, {written}).bytes;
  std::string record;
  AddEntry(entry, record);
  const auto entries = DecodeEntries(record).value();
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries.front().map, "map");
  EXPECT_EQ(entries.front().epoch, 99U);
  EXPECT_EQ(entries.front().first_revision, 42U);
  EXPECT_EQ(entries.front().revision, 42U);
  const auto commits = DecodeCommits(entries.front().body).value();
  ASSERT_EQ(commits.size(), 1U);
  ExpectSame(commits.front(), written);
}

TEST(EditCodeTest, RandomEditsComeBack) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Generator generator(seed);
    const core::GridMap map = generator.Map({});
    core::LoggedCommit written = CommitOf(generator.AnyEdits(map, 10));
    written.request_id.clear();
    written.fingerprint = {};
    written.request_time.reset();
    const auto read = core::Decoded<core::LoggedCommit>(core::Encoded(written)).value();
    ExpectSame(read, written);
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
  const auto entries = DecodeEntries(record).value();
  ASSERT_EQ(entries.size(), 4U);
  EXPECT_EQ(entries.front().kind, LogEntry::Kind::kCreation);
  EXPECT_EQ(entries.back().kind, LogEntry::Kind::kDeletion);
  EXPECT_EQ(entries.back().revision, 9U);
  const LogEntry& replacement = (entries)[2];
  EXPECT_EQ(replacement.kind, LogEntry::Kind::kReplacement);
  EXPECT_EQ(replacement.epoch, 5U);
  EXPECT_EQ(replacement.revision, 9U);
  EXPECT_EQ(replacement.replaced, (core::MapVersion{.epoch = 4, .revision = 8}));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(BeginsMap((entries)[i]));
    const auto creation = DecodeCreation((entries)[i]).value();
    EXPECT_EQ(creation.create_time, kNow);
    EXPECT_FALSE(creation.image.empty());
    EXPECT_EQ(creation.request.request_id, i == 1 ? "r" : "");
    EXPECT_EQ(creation.request.fingerprint, i == 1 ? fingerprint : core::Fingerprint());
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
  const auto read = DecodeStart(EncodeStart(start)).value();
  EXPECT_EQ(read.number, 3U);
  EXPECT_EQ(read.previous_end, 12345U);
  EXPECT_EQ(read.maps, start.maps);
  EXPECT_FALSE(DecodeStart(EncodeStart(start) + "x").ok());
}

}  // namespace
}  // namespace waystar::storage
