#include "server/storage/fleet/cluster_values.h"

#include <chrono>
#include <optional>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/storage/fleet/cluster_keys.h"
#include "server/storage/fleet/cluster_log.h"
#include "server/storage/fleet/presence.h"
#include "server/storage/folder/record_file.h"
#include "tests/testing/status_matchers.h"

namespace waystar::cluster {
namespace {

MATCHER_P(HasCode, code, "") { return waystar::AsStatus(arg).code() == code; }

TEST(ClusterValuesTest, HeadsAndReportsComeBack) {
  const MapHead head{
      .version = {.epoch = 7, .revision = 1ULL << 60}, .digest = ~0ULL, .append = {.server = 5, .number = 6}};
  EXPECT_EQ(*Decode<MapHead>(Encode(head)), head);
  const absl::Time start = absl::FromUnixMillis(1'700'000'000'123);
  const ServerReport report{.address = "game-7:7450",
                            .version = "0.1.0",
                            .start_time = start,
                            .report_time = start + absl::Hours(1),
                            .maps = 3,
                            .revision = 77,
                            .lag = 2,
                            .staleness = absl::Milliseconds(1500)};
  EXPECT_EQ(*Decode<ServerReport>(Encode(report)), report);
}

// Servers of the first release and of later ones share a fleet: what either writes, the other reads.
TEST(ClusterValuesTest, Version1IsWrittenAsItWas) {
  const auto expect = [](const std::string& value, const std::string& hex) {
    EXPECT_EQ(absl::BytesToHexString(value), hex);
    return absl::HexStringToBytes(hex);
  };
  const MapHead head{
      .version = {.epoch = 7, .revision = 300}, .digest = 9, .append = {.server = 5, .number = 6}};
  EXPECT_EQ(*Decode<MapHead>(expect(Encode(head), "35636132666535620107ac02090506")), head);
  const MapBase base{.version = {.epoch = 7, .revision = 3}, .file = "map-a"};
  EXPECT_EQ(Decode<MapBase>(expect(Encode(base), "313166326138356101070300000000056d61702d61"))->file,
            "map-a");
  const LogRecord record{.append = {.server = 1, .number = 2}, .entries = "what happened"};
  EXPECT_EQ(Decode<LogRecord>(expect(Encode(record), "3535303232633135010102000d776861742068617070656e6564"))
                ->entries,
            "what happened");
  const ServerReport report{.address = "game-7:7450",
                            .version = "0.1.0",
                            .start_time = absl::FromUnixMillis(1'700'000'000'123),
                            .report_time = absl::FromUnixMillis(1'700'000'001'123),
                            .maps = 3,
                            .revision = 77,
                            .lag = 2,
                            .staleness = absl::Milliseconds(1500)};
  EXPECT_EQ(*Decode<ServerReport>(expect(
                Encode(report),
                "3434656238306335010b67616d652d373a3734353005302e312e30fbd095ffbc31e3d895ffbc31034d02dc0b")),
            report);
}

TEST(ClusterValuesTest, RecordsComeBackWithWhatTheyHoldOrWhereItLies) {
  const LogRecord held =
      Decode<LogRecord>(Encode(LogRecord{.append = {.server = 1, .number = 2}, .entries = "what happened"}))
          .value();
  EXPECT_EQ(held.entries, "what happened");
  const std::string value(2 * kMaxValueBytes + 1, 'x');
  const LogRecord elsewhere = Decode<LogRecord>(Encode(LogRecord{.parts = PartsOf(value, "there/")})).value();
  EXPECT_EQ(elsewhere.entries, "");
  EXPECT_EQ(elsewhere.parts.count, 3U);
  EXPECT_EQ(CutIntoParts(value).size(), 3U);
  EXPECT_THAT(CheckParts(elsewhere.parts, value), IsOk());
  EXPECT_THAT(CheckParts(elsewhere.parts, value.substr(1)), HasCode(absl::StatusCode::kDataLoss));
  EXPECT_THAT(CheckParts(elsewhere.parts, std::string(value.size(), 'y')),
              HasCode(absl::StatusCode::kDataLoss));
}

TEST(ClusterValuesTest, RefusesWhatItDoesNotKnow) {
  for (const std::string file : {"", "map-a"}) {
    const std::string base = Encode(MapBase{.version = {.epoch = 7, .revision = 3}, .file = file});
    ASSERT_THAT(Decode<MapBase>(base), IsOk());
    EXPECT_EQ(Decode<MapBase>(base)->file, file);
    for (std::size_t size = 0; size < base.size(); ++size) {
      EXPECT_THAT(Decode<MapBase>(base.substr(0, size)), HasCode(absl::StatusCode::kInvalidArgument)) << size;
    }
    EXPECT_THAT(Decode<MapBase>(base + "x"), HasCode(absl::StatusCode::kInvalidArgument));
  }
  for (const char format : {'\0', '\2', '\3'}) {
    const std::string value = storage::WithChecksum(format + std::string("what this does not know"));
    EXPECT_THAT(Decode<MapHead>(value), HasCode(absl::StatusCode::kFailedPrecondition));
    EXPECT_THAT(Decode<MapBase>(value), HasCode(absl::StatusCode::kFailedPrecondition));
    EXPECT_THAT(Decode<LogRecord>(value), HasCode(absl::StatusCode::kFailedPrecondition));
    EXPECT_THAT(Decode<ServerReport>(value), HasCode(absl::StatusCode::kFailedPrecondition));
  }
  EXPECT_THAT(Decode<MapHead>(storage::WithChecksum("\1too short")),
              HasCode(absl::StatusCode::kInvalidArgument));
  for (const std::string& value :
       {std::string("X"), std::string("nonsense"), std::string(4, '\0'), std::string("\xff\x7f"),
        std::string("\xff\xff"), std::string("\2"), std::string("\x11")}) {
    EXPECT_THAT(Decode<MapHead>(value), HasCode(absl::StatusCode::kInvalidArgument)) << value;
  }
}

TEST(ClusterValuesTest, NoDamageLooksLikeAnotherVersion) {
  const std::string head = Encode(MapHead{.version = {.epoch = 7, .revision = 3}, .digest = 1ULL << 60});
  const std::string base = Encode(MapBase{.version = {.epoch = 7, .revision = 3}, .file = "map-a"});
  const std::string record =
      Encode(LogRecord{.append = {.server = 1, .number = 2}, .entries = "what happened"});
  const auto expect_damage = [](const std::string& value, const auto& decode) {
    ASSERT_THAT(decode(value), IsOk());
    for (std::size_t at = 0; at < value.size(); ++at) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string damaged = value;
        damaged[at] = static_cast<char>(byte);
        if (damaged != value) {
          EXPECT_THAT(decode(damaged), HasCode(absl::StatusCode::kInvalidArgument)) << at << " " << byte;
        }
      }
    }
    EXPECT_THAT(decode(value.substr(1)), HasCode(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(decode(std::string()), HasCode(absl::StatusCode::kInvalidArgument));
  };
  expect_damage(head, Decode<MapHead>);
  expect_damage(base, Decode<MapBase>);
  expect_damage(record, Decode<LogRecord>);
}

TEST(ClusterKeysTest, AreReadAsTheyWereMade) {
  using Kind = ClusterKeys::MapKey::Kind;
  const ClusterKeys keys("/games/");
  const auto kind_of = [&](const std::string& key) -> std::optional<Kind> {
    const std::optional<ClusterKeys::MapKey> parsed = keys.ParseMapKey(key);
    if (parsed) {
      EXPECT_EQ(parsed->id, "arena.1");
    }
    return parsed ? std::optional(parsed->kind) : std::nullopt;
  };
  const core::MapVersion version{.epoch = 0xFEDCBA9876543210, .revision = 12};
  EXPECT_EQ(kind_of(keys.Head("arena.1")), Kind::kHead);
  EXPECT_EQ(kind_of(keys.End("arena.1")), Kind::kEnd);
  EXPECT_EQ(kind_of(keys.Log("arena.1", version)), Kind::kRecord);
  EXPECT_EQ(keys.ParseMapKey(keys.Log("arena.1", version))->version, version);
  EXPECT_EQ(keys.ParseBaseKey(keys.Base("arena.1")), "arena.1");
  for (const std::string other : {"", "/games/maps/", "/games/maps/arena.1", "/games/maps/ARENA/head",
                                  "/games/maps/arena.1/log/1/2", "/other/maps/arena.1/head"}) {
    EXPECT_EQ(kind_of(other), std::nullopt) << other;
  }
}

TEST(ClusterKeysTest, PartsTellWhatTheyAreOf) {
  const ClusterKeys keys("/games/");
  const core::MapVersion version{.epoch = 0xFEDCBA9876543210, .revision = 12};
  const std::string data = keys.Data("arena.1-a", version, 7);
  const std::optional<ClusterKeys::DataKey> parsed = keys.ParseDataKey(PartKey(data, 3));
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->id, "arena.1-a");
  EXPECT_EQ(parsed->version, version);
  EXPECT_EQ(parsed->data, data);
  EXPECT_TRUE(data.starts_with(keys.AllData()));
  for (const std::string& other : {std::string(), data, data + "3", "/other" + PartKey(data, 3),
                                   keys.Head("arena.1-a"), keys.DataBegin("arena.1-a", 7) + "x/y"}) {
    EXPECT_FALSE(keys.ParseDataKey(other).has_value()) << other;
  }
}

TEST(ClusterKeysTest, RangesHoldWhatTheySay) {
  const ClusterKeys keys("/p/");
  const core::MapVersion first{.epoch = 7, .revision = 1};
  const core::MapVersion second{.epoch = 7, .revision = 2};
  EXPECT_LT(keys.LogBegin("a", 7), keys.Log("a", first));
  EXPECT_LT(keys.Log("a", first), keys.Log("a", second));
  EXPECT_LT(keys.Log("a", {.epoch = 7, .revision = ~0ULL}), keys.LogEnd("a", 7));
  EXPECT_LT(keys.LogEnd("a", 7), keys.Log("a", {.epoch = 8, .revision = 0}));
  EXPECT_LT(PartKey(keys.Data("a", first, 9), 3), keys.DataOf("a", second));
  EXPECT_GT(PartKey(keys.Data("a", second, 9), 3), keys.DataOf("a", second));
  EXPECT_LT(PartKey(keys.Data("a", second, 9), 3), keys.DataEnd("a", 7));
}

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

void NoteAhead(ClockOffsets& offsets, absl::string_view server, int seconds) {
  offsets.Note(server, kNow - absl::Seconds(seconds), kNow);
}

TEST(ClockOffsetsTest, OneWrongClockShowsAtItsOwnServer) {
  ClockOffsets offsets;
  EXPECT_EQ(offsets.Offset(), absl::ZeroDuration());
  NoteAhead(offsets, "a", 60);
  EXPECT_EQ(offsets.Offset(), absl::Seconds(60));
  NoteAhead(offsets, "b", 0);
  EXPECT_EQ(offsets.Offset(), absl::ZeroDuration());
  NoteAhead(offsets, "c", 1);
  EXPECT_EQ(offsets.Offset(), absl::Seconds(1));
  for (const char* const server : {"a", "b", "c"}) {
    NoteAhead(offsets, server, -30);
  }
  EXPECT_EQ(offsets.Offset(), absl::Seconds(-30));
}

TEST(ClockOffsetsTest, CountsTheLastReportOfServersThatAreThere) {
  ClockOffsets offsets;
  NoteAhead(offsets, "a", 60);
  NoteAhead(offsets, "a", 2);
  EXPECT_EQ(offsets.Offset(), absl::Seconds(2));
  offsets.Forget("a");
  EXPECT_EQ(offsets.Offset(), absl::ZeroDuration());
}

using TimePoint = NewestKnown::TimePoint;

TimePoint At(int seconds) { return TimePoint() + std::chrono::seconds(seconds); }

TEST(NewestKnownTest, AServerIsAsNewAsTheLastAnswerThatItHasFollowed) {
  NewestKnown newest;
  EXPECT_EQ(newest.Reach(100), std::nullopt);
  newest.Note(At(1), 10);
  EXPECT_EQ(newest.Reach(10), At(1));
  // The same revision proves nothing of later times.
  EXPECT_EQ(newest.Reach(10), std::nullopt);
  newest.Note(At(2), 10);
  newest.Note(At(3), 20);
  newest.Note(At(4), 30);
  EXPECT_EQ(newest.Reach(19), At(2));
  EXPECT_EQ(newest.Reach(19), std::nullopt);
  EXPECT_EQ(newest.Reach(30), At(4));
}

TEST(NewestKnownTest, ABacklogIsAsOldAsItsOldestPart) {
  NewestKnown newest;
  for (int second = 0; second < 10'000; ++second) {
    newest.Note(At(second), second);
  }
  EXPECT_EQ(newest.Reach(58), At(58));
  EXPECT_EQ(newest.Reach(59), At(59));
}

}  // namespace
}  // namespace waystar::cluster
