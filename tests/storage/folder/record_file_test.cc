#include "server/storage/folder/record_file.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/storage/folder/checksum.h"
#include "tests/storage/folder/crashing_folder.h"

namespace waystar::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::waystar::testing::CrashingFolder;

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
  const auto file = Read(bytes);
  ASSERT_EQ(file.status(), absl::OkStatus());
  EXPECT_THAT(PayloadsOf(*file), ElementsAre("one", "", std::string(100'000, 'x')));
  EXPECT_EQ(file->end, bytes.size());
  EXPECT_EQ(file->torn_bytes, 0U);
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
  const auto file = Read(bytes);
  ASSERT_EQ(file.status(), absl::OkStatus());
  EXPECT_THAT(PayloadsOf(*file), ElementsAre("one"));
}

TEST(RecordFileTest, WhatFollowsTheEndDoesNotCount) {
  CrashingFolder folder;
  const std::string bytes = Written(folder, {"one", "two"});
  const std::size_t second = bytes.size() - kRecordHead - 3;
  // What is read lies in these bytes.
  const std::string longer = bytes + "rubbish";
  const auto file = Read(longer, second);
  ASSERT_EQ(file.status(), absl::OkStatus());
  EXPECT_THAT(PayloadsOf(*file), ElementsAre("one"));
  EXPECT_FALSE(Read(bytes, second + 1).ok());
  EXPECT_FALSE(Read(bytes, bytes.size() + 1).ok());
}

TEST(RecordFileTest, ARecordOfAnotherFileIsNone) {
  CrashingFolder folder;
  const std::string one = Written(folder, {"one"}, 1);
  const std::string other = Written(folder, {"two"}, 2);
  const std::string mixed = one.substr(0, kFileHead) + other.substr(kFileHead);
  const auto file = Read(mixed);
  ASSERT_EQ(file.status(), absl::OkStatus());
  EXPECT_THAT(file->records, IsEmpty());
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

}  // namespace
}  // namespace waystar::storage
