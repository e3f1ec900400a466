// Lines of the log, and how they are written.

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/runtime/logging.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/patience.h"

namespace waystar::runtime {
namespace {

using ::testing::ElementsAre;

constexpr std::chrono::minutes kTwoMinutes{2};

class LogWriterTest : public ::testing::Test {
 protected:
  LogWriterTest() {
    std::signal(SIGPIPE, SIG_IGN);
    EXPECT_EQ(::pipe2(pipe_, O_CLOEXEC), 0);
    writer_ = std::make_unique<LogWriter>(
        pipe_[1], [](std::uint64_t lines) { return absl::StrCat("dropped ", lines, "\n"); });
  }
  ~LogWriterTest() override {
    StopReading();
    writer_.reset();
    ::close(pipe_[1]);
  }

  void StopReading() {
    if (pipe_[0] >= 0) {
      ::close(pipe_[0]);
      pipe_[0] = -1;
    }
  }

  // Returns all lines up to the first that begins so.
  std::vector<std::string> ReadUpTo(absl::string_view begin) {
    std::string text;
    for (;;) {
      const std::size_t last = text.rfind('\n', text.empty() ? 0 : text.size() - 2);
      const absl::string_view line = absl::string_view(text).substr(last == std::string::npos ? 0 : last + 1);
      if (absl::StartsWith(line, begin) && absl::EndsWith(line, "\n")) {
        return absl::StrSplit(text, '\n', absl::SkipEmpty());
      }
      char c = 0;
      pollfd polled = {.fd = pipe_[0], .events = POLLIN, .revents = 0};
      if (::poll(&polled, 1, static_cast<int>(absl::ToInt64Milliseconds(kPatience))) != 1) {
        ADD_FAILURE() << "waited in vain for a line that begins with " << begin;
        return {};
      }
      if (::read(pipe_[0], &c, 1) != 1) {
        ADD_FAILURE() << "the log ends";
        return {};
      }
      text.push_back(c);
    }
  }

  // Writes more than the pipe and the queue hold together. Returns the number of lines.
  std::uint64_t Overfill() {
    const std::string line = std::string(1000, 'x') + "\n";
    std::uint64_t lines = 0;
    const Patience patience("the first line that is dropped");
    while (writer_->dropped() == 0 && patience.Lasts()) {
      writer_->Write(line);
      ++lines;
    }
    return lines;
  }

  int pipe_[2] = {-1, -1};
  std::unique_ptr<LogWriter> writer_;
};

TEST_F(LogWriterTest, WritesLinesInOrder) {
  writer_->Write("a\n");
  writer_->Write("b\n");
  EXPECT_TRUE(writer_->Flush(kTwoMinutes, kTwoMinutes));
  writer_->Write("c\n");
  EXPECT_THAT(ReadUpTo("c"), ElementsAre("a", "b", "c"));
  EXPECT_EQ(writer_->dropped(), 0);
}

TEST_F(LogWriterTest, DropsTheOldestLinesOfALogThatNobodyReadsAndSaysHowMany) {
  const std::uint64_t lines = Overfill();
  writer_->Write("last\n");
  std::uint64_t read = 0;
  std::uint64_t told = 0;
  for (const std::string& line : ReadUpTo("last")) {
    absl::string_view rest = line;
    std::uint64_t count = 0;
    if (absl::ConsumePrefix(&rest, "dropped ") && absl::SimpleAtoi(rest, &count)) {
      told += count;
    } else {
      ++read;
    }
  }
  EXPECT_GT(told, 0);
  EXPECT_EQ(told, writer_->dropped());
  EXPECT_EQ(read + told, lines + 1);
}

TEST_F(LogWriterTest, FlushDoesNotWaitForAReaderThatTakesNothing) {
  Overfill();
  EXPECT_FALSE(writer_->Flush(std::chrono::milliseconds(1), kTwoMinutes));
  EXPECT_FALSE(writer_->Flush(kTwoMinutes, std::chrono::milliseconds(1)));
}

TEST_F(LogWriterTest, LinesForNobodyAreDropped) {
  StopReading();
  writer_->Write("a\n");
  writer_->Write("b\n");
  EXPECT_TRUE(writer_->Flush(kTwoMinutes, kTwoMinutes));
  EXPECT_EQ(writer_->dropped(), 2);
}

TEST_F(LogWriterTest, TellsOfLinesThatCouldNotBeWrittenWithTheNextThatIs) {
  // Nothing can be written to the end of a pipe that is read from.
  const int writing_end = ::dup(pipe_[1]);
  ASSERT_EQ(::dup2(pipe_[0], pipe_[1]), pipe_[1]);
  writer_->Write("a\n");
  writer_->Write("b\n");
  EXPECT_TRUE(writer_->Flush(kTwoMinutes, kTwoMinutes));
  ASSERT_EQ(::dup2(writing_end, pipe_[1]), pipe_[1]);
  ::close(writing_end);
  writer_->Write("c\n");
  writer_->Write("end\n");
  EXPECT_THAT(ReadUpTo("end"), ElementsAre("dropped 2", "c", "end"));
}

TEST_F(LogWriterTest, WritesToAFileThatDoesNotBlock) {
  ASSERT_EQ(::fcntl(pipe_[1], F_SETFL, O_NONBLOCK), 0);
  const std::uint64_t lines = Overfill();
  writer_->Write("last\n");
  EXPECT_EQ(ReadUpTo("last").size() - 1 + writer_->dropped(), lines + 1);
}

TEST(LoggingTest, WritesPlainValuesBare) {
  EXPECT_EQ(FormatLogLine("map_loaded", {{"map", "arena-1"}, {"width", 49}}),
            "event=map_loaded map=arena-1 width=49");
}

TEST(LoggingTest, ValuesCannotForgeFieldsOrLines) {
  EXPECT_EQ(FormatLogLine("x", {{"a", "b c=d"}}), "event=x a=\"b c=d\"");
  EXPECT_EQ(FormatLogLine("x", {{"a", "1\nlevel=error"}}), "event=x a=\"1\\nlevel=error\"");
  EXPECT_EQ(FormatLogLine("x", {{"a", "say \"hi\""}}), "event=x a=\"say \\\"hi\\\"\"");
  EXPECT_EQ(FormatLogLine("x", {{"a", ""}}), "event=x a=\"\"");
  EXPECT_EQ(FormatLogLine("x", {{"a", "\x1b[31m\xff"}}), "event=x a=\"\\x1b[31m\\xff\"");
}

TEST(LoggingTest, KnowsItsLevels) {
  for (const char* level : {"debug", "info", "warning", "error"}) {
    EXPECT_TRUE(StartLogging(level).ok()) << level;
  }
  EXPECT_EQ(StartLogging("loud").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(StartLogging("").code(), absl::StatusCode::kInvalidArgument);
}

TEST(LineLimitTest, AdmitsSoManyASecondAndCountsTheRest) {
  FakeClock clock;
  LineLimit limit(clock);
  for (int i = 0; i < LineLimit::kLines; ++i) {
    EXPECT_EQ(limit.Admit(), 0);
  }
  EXPECT_EQ(limit.Admit(), std::nullopt);
  limit.LeaveOut();
  clock.Advance(absl::Milliseconds(999));
  EXPECT_EQ(limit.Admit(), std::nullopt);
  clock.Advance(absl::Milliseconds(1));
  EXPECT_EQ(limit.Admit(), 3);
  EXPECT_EQ(limit.Admit(), 0);
}

}  // namespace
}  // namespace waystar::runtime
