// A server whose log nobody reads: it answers and stops like any other.

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/e2e/server_process.h"
#include "tests/service/bounded_context.h"
#include "waystar/v1/map_service.grpc.pb.h"
#include "waystar/v1/path_service.grpc.pb.h"

namespace waystar {
namespace {

using ::testing::HasSubstr;
using ::waystar::testing::BoundedContext;
using ::waystar::testing::ServerProcess;

class LogTest : public ::testing::Test {
 protected:
  LogTest() { EXPECT_EQ(::pipe2(pipe_, O_CLOEXEC), 0); }
  ~LogTest() override {
    CloseEnd(0);
    CloseEnd(1);
  }

  // 0: the one that is read.
  void CloseEnd(int end) {
    if (pipe_[end] >= 0) {
      ::close(pipe_[end]);
      pipe_[end] = -1;
    }
  }

  // Leaves no room in the pipe.
  void Fill() const {
    ASSERT_EQ(::fcntl(pipe_[1], F_SETFL, O_NONBLOCK), 0);
    const std::vector<char> block(4096);
    while (::write(pipe_[1], block.data(), block.size()) > 0) {
    }
    ASSERT_EQ(::fcntl(pipe_[1], F_SETFL, 0), 0);
  }

  void LogToThePipe() const { ::dup2(pipe_[1], STDERR_FILENO); }

  static void ExpectAnswers(const ServerProcess& server) {
    v1::CreateMapRequest creation;
    creation.set_map("small");
    creation.add_rows("....");
    v1::CreateMapResponse created;
    BoundedContext context;
    const auto channel = server.NewChannel();
    ASSERT_TRUE(v1::MapService::NewStub(channel)->CreateMap(&context, creation, &created).ok());
    v1::FindPathRequest request;
    request.set_map("small");
    request.mutable_start()->mutable_cell();
    request.add_goals()->mutable_cell()->set_x(3);
    const auto paths = v1::PathService::NewStub(channel);
    for (int i = 0; i < 100; ++i) {
      BoundedContext finding;
      v1::FindPathResponse response;
      const grpc::Status status = paths->FindPath(&finding, request, &response);
      ASSERT_TRUE(status.ok()) << status.error_message();
    }
  }

  // Expects a server that starts so to answer, and to end by itself when it is told to.
  static void ExpectServes(const std::function<void()>& prepare) {
    // Every query is worth a line.
    ServerProcess server({"--slow_query=1ns", "--max_queue_time=1m", "--queue_target=1m"}, prepare);
    ExpectAnswers(server);
    server.Signal(SIGTERM);
    const int ended = server.Wait();
    EXPECT_TRUE(WIFEXITED(ended) && WEXITSTATUS(ended) == 0) << ended;
  }

  int pipe_[2] = {-1, -1};
};

TEST_F(LogTest, NobodyReads) {
  Fill();
  ExpectServes([this] { LogToThePipe(); });
}

TEST_F(LogTest, TheReaderIsGone) {
  CloseEnd(0);
  ExpectServes([this] { LogToThePipe(); });
}

TEST_F(LogTest, StandardErrorIsClosed) {
  ExpectServes([] { ::close(STDERR_FILENO); });
}

TEST_F(LogTest, AllStandardFilesAreClosed) {
  ExpectServes([] {
    ::close(STDIN_FILENO);
    ::close(STDOUT_FILENO);
    ::close(STDERR_FILENO);
  });
}

TEST_F(LogTest, TheLastLinesAreWritten) {
  ExpectServes([this] { LogToThePipe(); });
  CloseEnd(1);
  std::string log;
  char block[4096];
  for (ssize_t bytes = 0; (bytes = ::read(pipe_[0], block, sizeof(block))) > 0;) {
    log.append(block, static_cast<std::size_t>(bytes));
  }
  EXPECT_THAT(log, HasSubstr("event=serving"));
  EXPECT_THAT(log, HasSubstr("event=slow_query"));
  EXPECT_THAT(log, HasSubstr("event=stopped"));
}

}  // namespace
}  // namespace waystar
