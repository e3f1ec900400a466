// A server whose descriptors run out, and one whose log nobody reads: it answers and stops like any other.

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/config.h"
#include "gmock/gmock.h"
#include "tests/e2e/server_process.h"
#include "tests/service/about_map.h"
#include "tests/service/transport/net/tcp_client.h"
#include "tests/testing/patience.h"
#include "waystar/v1/map_service.grpc.pb.h"

namespace waystar {
namespace {

using ::testing::HasSubstr;

bool Serves(const std::shared_ptr<grpc::Channel>& channel) {
  BoundedContext context;
  v1::ListMapsResponse response;
  return v1::MapService::NewStub(channel)->ListMaps(&context, {}, &response).ok();
}

class DescriptorsTest : public ::testing::Test {
 protected:
  void SetUp() override {
#ifdef ABSL_HAVE_ADDRESS_SANITIZER
    // The sanitizer of undefined behaviour, which comes with that of addresses, opens a pipe to look at
    // memory, and takes the lack of descriptors for an object that there is not.
    GTEST_SKIP() << "the sanitizer needs descriptors";
#endif
  }

  // Leaves fewer descriptors than the server has connections for.
  void Squeeze(rlim_t descriptors) {
    rlimit limit{};
    EXPECT_EQ(::prlimit(server_.pid(), RLIMIT_NOFILE, nullptr, &limit), 0);
    limit.rlim_cur = descriptors;
    EXPECT_EQ(::prlimit(server_.pid(), RLIMIT_NOFILE, &limit, nullptr), 0);
  }

  void Flood() {
    for (int i = 0; i < 200; ++i) {
      flood_.push_back(std::make_unique<TcpClient>(server_.port()));
    }
    // Whoever is accepted last is turned away.
    flood_.back()->ReadToTheEnd();
  }

  ServerProcess server_{{"--handshake_timeout=2s", "--max_queue_time=1m", "--queue_target=1m"}};
  std::vector<std::unique_ptr<TcpClient>> flood_;
};

TEST_F(DescriptorsTest, AcceptsAgainOnceAFloodIsOver) {
  const auto channel = server_.NewChannel();
  EXPECT_TRUE(WaitUntil([&] { return Serves(channel); }, "a connection that is made in time"));
  Squeeze(64);
  Flood();
  EXPECT_TRUE(Serves(channel));
  flood_.clear();
  EXPECT_TRUE(WaitUntil([&] { return Serves(server_.NewChannel()); }, "a descriptor"));
}

TEST_F(DescriptorsTest, AcceptsAgainOnceAFloodIsCut) {
  Squeeze(64);
  Flood();
  EXPECT_TRUE(WaitUntil([&] { return Serves(server_.NewChannel()); }, "a descriptor"));
}

// Less than it has open already: not even the reserve can be opened again.
TEST_F(DescriptorsTest, AcceptsAgainOnceThereAreDescriptorsAtAll) {
  const auto channel = server_.NewChannel();
  EXPECT_TRUE(WaitUntil([&] { return Serves(channel); }, "a connection that is made in time"));
  Squeeze(1);
  TcpClient waiting(server_.port());
  EXPECT_TRUE(waiting.is_connected());
  EXPECT_TRUE(Serves(channel));
  Squeeze(64);
  EXPECT_TRUE(WaitUntil([&] { return Serves(server_.NewChannel()); }, "a descriptor"));
}

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
    const auto client = server.NewClient();
    ASSERT_TRUE(client->CreateMap(BlankMap("small", 4)).ok());
    for (int i = 0; i < 100; ++i) {
      const auto response = client->FindPath(PathAcross("small", 4));
      ASSERT_TRUE(response.ok()) << response.status();
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
