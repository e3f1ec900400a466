#include "client/record/recording_file.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "tests/testing/own_folder.h"

namespace waystar::record {
namespace {

class RecordingFileTest : public ::testing::Test {
 protected:
  // Events with those numbers.
  void WriteEvents(int count) {
    auto writer = RecordingWriter::Create(path_, {});
    ASSERT_TRUE(writer.ok());
    for (int i = 1; i <= count; ++i) {
      v1::RecordedEvent event;
      event.set_call(static_cast<std::uint64_t>(i));
      event.set_request(std::string(100, 'x'));
      (*writer)->Write(event);
    }
    ASSERT_TRUE((*writer)->Close().ok());
  }

  int CountEvents() {
    const auto reader = RecordingReader::Open(path_);
    EXPECT_TRUE(reader.ok()) << reader.status();
    int count = 0;
    v1::RecordedEvent event;
    while ((*reader)->Next(event).value_or(false)) {
      EXPECT_EQ(event.call(), static_cast<std::uint64_t>(++count));
    }
    return count;
  }

  const ::waystar::testing::OwnFolder folder_;
  const std::string path_ = folder_.PathOf("events.rec");
};

TEST_F(RecordingFileTest, GivesBackWhatWasWritten) {
  WriteEvents(1'000);
  EXPECT_EQ(CountEvents(), 1'000);
}

TEST_F(RecordingFileTest, EndsWhereItWasCutOff) {
  WriteEvents(10);
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 5);
  EXPECT_EQ(CountEvents(), 9);
}

TEST_F(RecordingFileTest, RefusesOtherFiles) {
  EXPECT_EQ(RecordingReader::Open(path_).status().code(), absl::StatusCode::kNotFound);
  for (const char* const text : {"", "connectivity 4\nmap\n...\n", "\x05hello"}) {
    std::ofstream(path_) << text;
    EXPECT_EQ(RecordingReader::Open(path_).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace waystar::record
